import { isDeepStrictEqual } from 'node:util';
import { createLruMap } from '../../base/lru-map.ts';
import type { CandidateDraft, LearningRecord } from '../../core/adapt.ts';
import type { Records } from '../../core/store.ts';
import { type LimitFloors, type MeasuredAgent, readLimitFloors } from '../../lessons/limit-floors.ts';
import { type Corroboration, corroborate } from './corroborate.ts';
import { type DraftedOverlay, draftOverlay } from './draft-overlay.ts';
import { isByOwner } from './judge-overlay.ts';
import type { RecordWindow } from './learning-records.ts';

/** A candidate that other records support, with its lesson. */
export interface SupportedCandidate {
  readonly draft: CandidateDraft;
  readonly support: Corroboration;
  readonly records: readonly LearningRecord[];
  readonly overlay: DraftedOverlay;
  /** The key on whose sessions alone it acts. */
  readonly onlyFor?: string;
  /** Why a person has to decide whom it may reach. */
  readonly doubt?: string;
}

export type CandidateSupport =
  | { readonly ok: true; readonly support: Corroboration; readonly candidate: SupportedCandidate }
  | { readonly ok: false; readonly support: Corroboration; readonly why: string };

/** What the record knows about those who report. */
interface Reporters {
  isRecorded(session: string): Promise<boolean>;
  /** Whether the agent worked with this key. */
  hasAgent(key: string, agent: string): Promise<boolean>;
  floorsOf(agent: MeasuredAgent): Promise<LimitFloors>;
}

/**
 * A candidate with its support and its lesson; or why there is none.
 *
 * Whom it may reach: what one key's events say acts on that key's sessions. What is to act on all of the home's own sessions needs the
 * owner's word, or events of two keys that ask for the same change. One key's events about an agent that never worked with it wait for
 * a person.
 */
export async function supportedCandidate(
  draft: CandidateDraft,
  window: Pick<RecordWindow, 'alike' | 'record'>,
  reporters: Reporters,
): Promise<CandidateSupport> {
  const used = draft.records.flatMap((id) => window.record(id) ?? []);
  const voters = await votersOf(window.alike(draft), reporters);
  const [own] = used;
  const isJoint = draft.key === undefined && own?.key !== undefined;
  const agreeing = isJoint ? voters.filter(asksAs(draft, own)) : voters;
  const support = corroborate(draft, agreeing);
  if (!support.passes) return { ok: false, why: 'other events do not support it', support };
  if (isJoint && new Set(agreeing.map(({ key }) => key)).size < 2)
    return { ok: false, why: 'the events of one key alone support it', support };
  const floors = await reporters.floorsOf({ agent: own?.agent, member: draft.member });
  const drafted = draftOverlay(draft, used, floors);
  if (!drafted.ok) return { ok: false, why: drafted.why, support };
  const { overlay } = drafted;
  const reach = await reachOfKey(draft, overlay, reporters);
  return { ok: true, support, candidate: { draft, support, records: used, overlay, ...reach } };
}

async function reachOfKey(
  { key, member }: CandidateDraft,
  { scope: { agent } }: DraftedOverlay,
  reporters: Reporters,
): Promise<Pick<SupportedCandidate, 'onlyFor' | 'doubt'>> {
  // A principal's is bound to it by its scope.
  if (key === undefined || member !== undefined) return {};
  if (agent === undefined || (await reporters.hasAgent(key, agent))) return { onlyFor: key };
  return { doubt: `only the key ${key} reported it, and the agent ${agent} does not work with it` };
}

/** A session that nobody recorded is a name that the reporter made up: it has no vote of its own, unless the owner says so. */
async function votersOf(
  records: readonly LearningRecord[],
  { isRecorded }: Reporters,
): Promise<readonly LearningRecord[]> {
  const voters: LearningRecord[] = [];
  for (const { session, ...record } of records) {
    const isKnown = session !== undefined && (isByOwner(record) || (await isRecorded(session)));
    voters.push(isKnown ? { ...record, session } : record);
  }
  return voters;
}

/** Whether a record would make the same change: another key's event supports what it asks for, not whatever has its label. */
function asksAs(draft: CandidateDraft, own: LearningRecord): (other: LearningRecord) => boolean {
  const asked = draftOverlay(draft, [own]);
  return (other) => {
    const others = draftOverlay(draft, [other]);
    if (!asked.ok || !others.ok) return false;
    const [one, two] = [asked.overlay, others.overlay];
    return isDeepStrictEqual([one.payload, one.scope], [two.payload, two.scope]);
  };
}

const MOST_KNOWN = 4_096;
const MOST_SESSIONS = 50;

export function createReporters(records: Pick<Records, 'session' | 'sessions' | 'turns'>): Reporters {
  // Remembered while it is true: a session does not go away, except by an erasure, and then its events have no data.
  const known = createLruMap<string, true>(MOST_KNOWN);
  const remember = async (name: string, look: () => Promise<boolean>): Promise<boolean> => {
    if (known.get(name) === true) return true;
    const isTrue = await look();
    if (isTrue) known.set(name, true);
    return isTrue;
  };
  return {
    isRecorded: (session) =>
      remember(`session ${session}`, async () => (await records.session(session)) !== undefined),
    hasAgent: (key, agent) =>
      remember(`agent ${key} ${agent}`, async () => {
        for (const { id } of await records.sessions({ limit: MOST_SESSIONS, agent, withoutPractice: true })) {
          const [first] = await records.turns(id, { limit: 1 });
          if (first?.caller === key) return true;
        }
        return false;
      }),
    floorsOf: (agent) => readLimitFloors(records, agent),
  };
}
