import type { JsonObject } from '../core/json.ts';
import type { Records } from '../core/store.ts';
import { createLearningState, loadLearning, readLearningSwitch } from '../learn/learning-state.ts';
import { createProjectLabels, encodeWaiting, listLearningWaits } from '../learn/learning-waits.ts';

/** What waits to be learned from while no daemon runs, folded from the record. */
export async function describeLearningOffline(
  records: Records,
  failures: number,
  now: number,
): Promise<JsonObject> {
  const state = createLearningState();
  state.turn(await readLearningSwitch(records));
  await loadLearning(state, records);
  const waits = await listLearningWaits({
    state,
    failures,
    now,
    open: { count: 0, oldest: undefined },
    anonymous: 0,
    labelOf: createProjectLabels(records),
    isOffline: true,
  });
  const { isOn, since } = state.switch;
  return {
    on: isOn,
    ...(since === undefined ? {} : { since: new Date(since).toISOString() }),
    running: false,
    threshold: failures,
    waiting: waits.map(encodeWaiting),
  };
}
