import type { TurnEvidence } from '../../core/evidence.ts';
import type { Fact } from '../../core/fact.ts';
import { compact } from '../../core/json.ts';
import type { Scope } from '../../core/lesson.ts';
import type { Records } from '../../core/records.ts';
import type { NewFact } from '../../core/store.ts';
import { appraise } from '../../signals/appraise.ts';
import { hasFailed } from '../../signals/has-failed.ts';
import { readEpisodeEvidence } from '../episodes/episode-evidence.ts';
import type { LearningState } from './learning-state.ts';
import { readEvidence } from './read-evidence.ts';

export type Appraised = Fact & { readonly type: 'turn-appraised' };

/** What is known of a session's turns; or of an episode that an agent reported, as one turn. */
export async function evidenceOf(session: string, records: Records): Promise<readonly TurnEvidence[]> {
  const turns = await readEvidence(session, { records, hasFailed });
  if (turns.length > 0) return turns;
  const told = await readEpisodeEvidence(session, records);
  return told === undefined ? [] : [told.evidence];
}

/** Whose work it was; undefined when there is nothing of it. */
async function scopeOf(session: string, records: Records): Promise<Scope | undefined> {
  const view = await records.session(session);
  if (view !== undefined)
    return view.erased ? undefined : compact({ agent: view.agent, project: view.project?.id });
  const told = await readEpisodeEvidence(session, records);
  return told && compact({ agent: told.episode.agent, project: told.episode.project });
}

/** An episode has no tokens to train on: no generation is its own. */
const NO_GENERATION = -1;

const MOST_UNDECIDED = 500;

function undecide({ undecided }: LearningState, turn: string, session: string): void {
  undecided.set(turn, session);
  const oldest = undecided.keys().next().value;
  if (undecided.size > MOST_UNDECIDED && oldest !== undefined) undecided.delete(oldest);
}

/** What is to be said anew of a session's turns; nothing that was said before in the same words. */
export async function appraiseSession(
  session: string,
  records: Records,
  state: LearningState,
  now: number,
  succeeded: (turn: string, task: string) => void,
): Promise<readonly NewFact[]> {
  const scope = await scopeOf(session, records);
  if (scope === undefined) return [];
  const facts: NewFact[] = [];
  for (const evidence of await evidenceOf(session, records)) {
    const { turn, verdict, reward, source, signals, digests } = appraise(evidence);
    const said = JSON.stringify([verdict, reward, source]);
    const before = state.appraised.get(turn);
    if (verdict === 'ambiguous' && evidence.next !== undefined) undecide(state, turn, session);
    // Not a word on what nothing is known of, unless something was believed before.
    if (said === before || (verdict === 'ambiguous' && before === undefined)) continue;
    const generation = (await records.turn(turn))?.generation ?? NO_GENERATION;
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
    if (verdict === 'success') succeeded(turn, evidence.task);
    facts.push({ at: now, fact });
  }
  return facts;
}
