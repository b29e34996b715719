import type { Fact } from '../../core/fact.ts';
import { compact } from '../../core/json.ts';
import type { Scope } from '../../core/lesson.ts';
import type { Records } from '../../core/records.ts';
import type { NewFact } from '../../core/store.ts';
import { readEpisodeEvidence } from '../episodes/episode-evidence.ts';
import type { EvidenceReader } from './evidence-reader.ts';
import type { LearningState } from './learning-state.ts';

type Appraised = Fact & { readonly type: 'turn-appraised' };

export interface AppraiseParts {
  readonly records: Records;
  readonly evidence: EvidenceReader;
  readonly state: LearningState;
  readonly now: number;
  readonly succeeded: (turn: string, task: string) => void;
}

const MOST_UNDECIDED = 500;

/** What is to be said anew of a session's turns; nothing that was said before in the same words. */
export async function appraiseSession(
  session: string,
  wanted: readonly string[] | undefined,
  { records, evidence, state, now, succeeded }: AppraiseParts,
): Promise<readonly NewFact[]> {
  const scope = await scopeOf(session, records);
  if (scope === undefined) return [];
  const facts: NewFact[] = [];
  for (const { appraisal, task, generation, isFollowed } of await evidence.appraise(session, wanted)) {
    const { turn, verdict, reward, source, signals, digests } = appraisal;
    const said = JSON.stringify([verdict, reward, source]);
    const before = state.appraised.get(turn);
    if (verdict === 'ambiguous' && isFollowed) undecide(state, turn, session);
    // Not a word on what nothing is known of, unless something was believed before.
    if (said === before || (verdict === 'ambiguous' && before === undefined)) continue;
    const type = 'turn-appraised' as const;
    const known = { type, turn, session, scope, generation, verdict, reward, source, signals, digests };
    const fact: Appraised = compact(known);
    if (verdict === 'success') succeeded(turn, task);
    facts.push({ at: now, fact });
  }
  return facts;
}

function undecide({ undecided }: LearningState, turn: string, session: string): void {
  undecided.set(turn, session);
  const oldest = undecided.keys().next().value;
  if (undecided.size > MOST_UNDECIDED && oldest !== undefined) undecided.delete(oldest);
}

/** Whose work it was; undefined when there is nothing of it. */
async function scopeOf(session: string, records: Records): Promise<Scope | undefined> {
  const view = await records.session(session);
  if (view !== undefined)
    return view.erased ? undefined : compact({ agent: view.agent, project: view.project?.id });
  const told = await readEpisodeEvidence(session, records);
  return told && compact({ agent: told.episode.agent, project: told.episode.project });
}
