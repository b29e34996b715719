import { createIds } from '../../../src/base/ids.ts';
import type { Json } from '../../../src/core/json.ts';
import type { TrialOutcome } from '../../../src/core/trial.ts';
import { runTrials, type TrialSettings } from '../../../src/learn/trial/trials.ts';
import { readTrials } from '../../../src/lessons/effect/fold-trials.ts';
import { openLessons } from '../../../src/lessons/open-lessons.ts';
import { toRecords } from '../../../src/record/records.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import {
  createKnownEffects,
  createScriptedRecall,
  type KnownLesson,
  type ScriptedWorld,
  scriptedTasks,
  scriptedText,
} from './known-effects.ts';

/** How the trial of one candidate ended. */
export interface TrialResult {
  readonly candidate: KnownLesson;
  readonly outcome: TrialOutcome;
  /** `live`, `retired` or `trial`: what the library says. */
  readonly state: string;
  /** Pairs with a grade on both sides. */
  readonly pairs: number;
  readonly attempts: number;
  readonly tokens: number;
}

const TRIAL_SETTINGS: TrialSettings = {
  repeats: 1,
  temperature: 0.7,
  timeoutMs: 300_000,
  pairs: 160,
};

/**
 * One library from its first trial to its last, through the code that a daemon runs: facts in a store, the library, recall with a
 * lesson forced in or out, attempts, verdicts after every batch.
 */
export async function runLibrary(
  world: ScriptedWorld,
  settings: TrialSettings = TRIAL_SETTINGS,
): Promise<readonly TrialResult[]> {
  let time = 1_700_000_000_000;
  const clock = { now: () => time++, monotonic: () => time };
  const records = toRecords(createMemoryStore(), clock.now);
  const { library, effects } = await openLessons({
    records,
    clock,
    newId: createIds(clock),
    onFault: (error) => {
      throw error;
    },
  });
  await library.publish({
    id: 'candidates',
    by: { kind: 'learner', name: 'practice' },
    reason: 'practice',
    changes: world.candidates.map(({ id }) => ({
      op: 'add',
      id,
      kind: 'experience',
      state: 'trial',
      text: scriptedText(id),
    })),
  });
  const tasks = scriptedTasks(world);
  const kept = new Map<string, Json>();
  for await (const event of runTrials(
    {
      library,
      records,
      attempt: createKnownEffects(world),
      lessonsFor: createScriptedRecall((id) => {
        const state = library.lesson(id)?.state;
        return state === 'trial' || state === 'live';
      }),
      gateTasks: async () => tasks,
      effects,
      journal: {
        read: async (unit) => kept.get(unit),
        write: async (unit, value) => void kept.set(unit, value),
      },
      budget: { refusal: () => undefined },
      settings,
      mayPromote: true,
      clock,
    },
    new AbortController().signal,
  )) {
    // What was measured is in the record: its attempts are not needed again.
    if (event.type === 'pairs-measured') kept.clear();
  }
  const trials = await readTrials(records);
  return world.candidates.map((candidate) => {
    const lesson = library.lesson(candidate.id);
    const record = trials.of(`lesson/${candidate.id}/${lesson?.revision ?? 1}`);
    return {
      candidate,
      outcome: record?.end?.outcome ?? 'untested',
      state: lesson?.state ?? 'none',
      pairs: [...(record?.differences.tasks.values() ?? [])].reduce((sum, one) => sum + one.pairs, 0),
      attempts: record?.used.calls ?? 0,
      tokens: record?.used.tokens ?? 0,
    };
  });
}
