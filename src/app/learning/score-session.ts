import type { Records } from '../../core/records.ts';
import type { NewFact } from '../../core/store.ts';
import { appraise } from '../../signals/appraise.ts';
import { evidenceOf } from './appraise-session.ts';

/**
 * How a session came out, for the lessons it was shown and those held back from it: the mean reward of its turns.
 * Undefined when nothing is known of any, or when there was no lesson to measure.
 */
export async function scoreSession(
  session: string,
  records: Records,
  now: number,
): Promise<NewFact | undefined> {
  const evidence = await evidenceOf(session, records);
  const rewards = evidence.flatMap((turn) => appraise(turn).reward ?? []);
  if (rewards.length === 0) return undefined;
  const shown = new Set<string>();
  for (const { turn } of evidence) for (const id of (await records.turn(turn))?.lessons ?? []) shown.add(id);
  const heldOut = new Set<string>();
  for (const { fact } of await records.recalls(session))
    if (fact.type === 'lessons-recalled') for (const id of fact.heldOut) heldOut.add(id);
  if (shown.size === 0 && heldOut.size === 0) return undefined;
  const score = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
  const fact = {
    type: 'session-scored' as const,
    session,
    score,
    lessons: [...shown],
    heldOut: [...heldOut],
  };
  return { at: now, fact, key: `scored:${session}` };
}
