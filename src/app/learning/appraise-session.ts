import type { TurnEvidence } from '../../core/evidence.ts';
import type { Fact } from '../../core/fact.ts';
import { compact } from '../../core/json.ts';
import type { Scope } from '../../core/lesson.ts';
import type { Records } from '../../core/records.ts';
import type { NewFact } from '../../core/store.ts';
import { appraise } from '../../signals/appraise.ts';
import { hasFailed } from '../../signals/has-failed.ts';
import type { LearningState } from './learning-state.ts';
import { readEvidence } from './read-evidence.ts';

export type Appraised = Fact & { readonly type: 'turn-appraised' };

export const evidenceOf = (session: string, records: Records): Promise<readonly TurnEvidence[]> =>
  readEvidence(session, { records, hasFailed });

/** What is to be said anew of a session's turns; nothing that was said before in the same words. */
export async function appraiseSession(
  session: string,
  records: Records,
  state: LearningState,
  now: number,
): Promise<readonly NewFact[]> {
  const view = await records.session(session);
  if (view === undefined || view.erased) return [];
  const scope: Scope = compact({ agent: view.agent, project: view.project?.id });
  const facts: NewFact[] = [];
  for (const evidence of await evidenceOf(session, records)) {
    const { turn, verdict, reward, source, signals, digests } = appraise(evidence);
    const said = JSON.stringify([verdict, reward, source]);
    const before = state.appraised.get(turn);
    // Not a word on what nothing is known of, unless something was believed before.
    if (said === before || (verdict === 'ambiguous' && before === undefined)) continue;
    const generation = (await records.turn(turn))?.generation ?? 0;
    const fact: Appraised = compact({
      type: 'turn-appraised' as const,
      turn,
      session,
      scope,
      generation,
      verdict,
      reward,
      source,
      signals,
      digests,
    });
    facts.push({ at: now, fact });
  }
  return facts;
}
