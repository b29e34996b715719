import type { Log } from '../../base/log.ts';
import type { Records } from '../../core/records.ts';
import type { NewFact } from '../../core/store.ts';
import type { ServedTraining } from './serve-training.ts';

/** Passes rewards of the policy's own turns on, to compare a canary with the live version. Never rejects. */
export async function noticeRewards(
  facts: readonly NewFact[],
  records: Records,
  training: ServedTraining | undefined,
  log: Log,
): Promise<void> {
  if (training === undefined || training.policy.answered() === 0) return;
  const mark = `instar/${training.policy.name}@`;
  try {
    for (const { fact } of facts) {
      if (fact.type !== 'reward-given' || fact.turn === undefined) continue;
      const turn = await records.turn(fact.turn);
      if (turn?.policy.startsWith(mark) === true) await training.heard(turn.session, fact.score);
    }
  } catch (error) {
    log.warn({ err: error }, 'a reward could not be counted for the canary');
  }
}
