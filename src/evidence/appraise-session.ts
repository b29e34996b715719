import type { Fact } from '../core/fact.ts';
import { compact } from '../core/json.ts';
import type { Scope } from '../core/lesson.ts';
import { placeOfSession } from '../core/principal.ts';
import type { NewFact, Records } from '../core/store.ts';
import { readEpisodeEvidence } from './episode.ts';
import type { EvidenceReader } from './evidence-reader.ts';

type Appraised = Fact & { readonly type: 'turn-appraised' };

/** The part of the learning state that appraisal reads and writes. */
interface AppraisalState {
  /** The last appraisal of a turn, as text to compare. */
  readonly appraised: { get(turn: string): string | undefined };
  /** Turns whose evidence decides nothing, with their sessions. */
  readonly undecided: Map<string, string>;
}

type ScopeRecords = Pick<Records, 'session' | 'events' | 'rewards'>;

export interface AppraiseParts {
  readonly records: ScopeRecords;
  readonly evidence: Pick<EvidenceReader, 'affectedTurns'>;
  readonly state: AppraisalState;
  readonly now: number;
}

const MOST_UNDECIDED = 500;

/** New or changed appraisals of a session's turns, as facts to append. */
export async function appraiseSession(
  session: string,
  wanted: readonly string[] | undefined,
  { records, evidence, state, now }: AppraiseParts,
): Promise<readonly NewFact[]> {
  const scope = await scopeOfEvidence(session, records);
  if (scope === undefined) return [];
  const facts: NewFact[] = [];
  for (const { evidence: known, appraisal, generation } of await evidence.affectedTurns(session, wanted)) {
    const { turn, verdict, reward, source, signals, digests } = appraisal;
    const isRemarked = appraisal.remark === undefined ? undefined : (true as const);
    const current = appraisalMark({ verdict, reward, source, isRemarked });
    const before = state.appraised.get(turn);
    if (verdict === 'ambiguous' && known.next !== undefined) undecide(state, turn, session);
    // An ambiguous turn is recorded only when it replaces an earlier verdict, or when the person remarked on it.
    const isIdle = verdict === 'ambiguous' && before === undefined && !isRemarked;
    if (current === before || isIdle) continue;
    const type = 'turn-appraised' as const;
    const outcome = { verdict, reward, source, signals, digests, isRemarked };
    const fact: Appraised = compact({ type, turn, session, scope, generation, ...outcome });
    facts.push({ at: now, fact });
  }
  return facts;
}

/** Of an appraisal, to tell whether the next one says something else. */
export const appraisalMark = ({
  verdict,
  reward,
  source,
  isRemarked,
}: {
  readonly [Field in 'verdict' | 'reward' | 'source' | 'isRemarked']?: Appraised[Field] | undefined;
}): string => JSON.stringify(isRemarked ? [verdict, reward, source, isRemarked] : [verdict, reward, source]);

function undecide({ undecided }: AppraisalState, turn: string, session: string): void {
  undecided.set(turn, session);
  const oldest = undecided.keys().next().value;
  if (undecided.size > MOST_UNDECIDED && oldest !== undefined) undecided.delete(oldest);
}

/** The agent and project of a session or an episode; undefined when it was erased or is unknown. */
export async function scopeOfEvidence(session: string, records: ScopeRecords): Promise<Scope | undefined> {
  const view = await records.session(session);
  if (view !== undefined)
    return view.erased
      ? undefined
      : placeOfSession(session, { agent: view.agent, project: view.project?.id });
  const reported = await readEpisodeEvidence(session, records);
  return reported && placeOfSession(session, reported.episode);
}
