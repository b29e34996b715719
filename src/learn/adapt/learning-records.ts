import {
  type CandidateDraft,
  EVENT_KINDS,
  type EventKind,
  type LearningRecord,
  type RecordScope,
} from '../../core/adapt.ts';
import type { Fact, StoredFact } from '../../core/fact.ts';
import { asString, compact } from '../../core/json.ts';
import { principalOfSession, standsForItself } from '../../core/principal.ts';
import { candidateTypeOf, DEFAULT_DIGEST, digestRecords } from './digest.ts';
import { isByOwner, OBSERVER } from './judge-overlay.ts';
import { SEEN_WITH } from './observed-event.ts';

/**
 * The score of an event that names none, by its kind: the surer it is that something can be learned from it, the higher. From 60 on it
 * can become a candidate. What is merely said to have happened (an approval, an error of a tool, a recall) is below that.
 */
const SCORES: Readonly<Record<EventKind, number>> = {
  failed_tdd: 70,
  successful_heal: 75,
  repeated_retry: 65,
  task_conflict: 65,
  budget_incident: 70,
  human_approval: 50,
  agent_error: 50,
  successful_bubble: 65,
  guidance_applied: 50,
  guidance_noisy: 65,
  stale_guidance: 60,
  teaching_refresh: 60,
  cloud_sync_failure: 60,
  cloud_memory_recall_hit: 55,
  tool_sequence: 65,
};
/** Of kinds that nobody knows here. */
const UNKNOWN = 50;

const LABEL = /^[a-z][a-z0-9_.-]{0,63}$/;

/** An event as a learning record; undefined for facts that are none. The label is the kind, or what the event names as `label`. */
export function learningRecordOf({ seq, at, fact }: StoredFact): LearningRecord | undefined {
  if (fact.type !== 'event-reported') return undefined;
  const { kind, agent, runKind, score = scoreOfKind(kind), session, by, data } = fact;
  const member = fact.member ?? principalOfSession(session ?? '');
  // What members of the team and end users report changes nothing: how requests are served is decided for a key.
  if (member !== undefined && (by === OBSERVER || !standsForItself(member))) return undefined;
  const { label, ...payload } = data;
  const named = asString(label);
  return {
    id: String(seq),
    at,
    kind,
    sourceLabel: named !== undefined && LABEL.test(named) ? named : kind,
    scope: scopeOf(fact),
    score,
    ...compact({ agent, runKind, session, by, member, key: keyOf(fact) }),
    payload,
  };
}

/** Of events of earlier versions nobody knows the key. */
const UNKNOWN_KEY = '-';

/** The key whose word it is; undefined for the owner's, and for what Instar saw outside of sessions. */
function keyOf({ by, session, data }: Fact & { readonly type: 'event-reported' }): string | undefined {
  if (isByOwner({ by })) return undefined;
  if (by !== OBSERVER) return by ?? UNKNOWN_KEY;
  return session === undefined ? undefined : (asString(data[SEEN_WITH]) ?? UNKNOWN_KEY);
}

const isKnown = (kind: string): kind is EventKind => (EVENT_KINDS as readonly string[]).includes(kind);
const scoreOfKind = (kind: string): number => (isKnown(kind) ? SCORES[kind] : UNKNOWN);

/** The narrowest that the event names: its task, the kind of run, else the agent. */
function scopeOf({ agent, runKind, data }: Fact & { readonly type: 'event-reported' }): RecordScope {
  const task = asString(data.task);
  if (task !== undefined && task !== '') return { type: 'task', id: task.slice(0, LONGEST_ID) };
  if (runKind !== undefined) return { type: 'run_kind', id: runKind };
  return { type: 'agent', id: agent ?? 'unknown' };
}

const LONGEST_ID = 120;

/** The newest that are kept; what is older has had its time. */
export const MOST_RECORDS = 20_000;

/**
 * The newest learning records, and what is new of them. A run of the digest looks at the places (label and scope) that have a new
 * record: its time grows with what is new, not with what there is.
 */
export interface RecordWindow {
  add(stored: StoredFact): void;
  /** Drafts of the places with new records, the best first. Those that the limit leaves out are in the next run. */
  digest(taken: ReadonlySet<string>): readonly CandidateDraft[];
  /** The records of the label, scope and principal of a draft, oldest first. */
  alike(draft: Pick<CandidateDraft, 'scope' | 'sourceLabel' | 'member'>): readonly LearningRecord[];
  record(id: string): LearningRecord | undefined;
  readonly size: number;
  /** Whether a run of the digest has something to look at. */
  readonly hasNews: boolean;
}

export function createRecordWindow(most = MOST_RECORDS): RecordWindow {
  const records = new Map<string, LearningRecord>();
  const places = new Map<string, LearningRecord[]>();
  const news = new Set<string>();
  /** Drafts that the limit left out, the best first. */
  let waiting: readonly CandidateDraft[] = [];
  const dropOldest = (): void => {
    for (const [id, record] of records) {
      if (records.size <= most) return;
      records.delete(id);
      const place = placeOf(record);
      const here = places.get(place);
      here?.shift();
      if (here?.length === 0) places.delete(place);
    }
  };
  return {
    add: (stored) => {
      const record = learningRecordOf(stored);
      if (record === undefined || records.has(record.id)) return;
      records.set(record.id, record);
      const place = placeOf(record);
      const here = places.get(place);
      if (here === undefined) places.set(place, [record]);
      else here.push(record);
      if (candidateTypeOf(record.kind) !== undefined) news.add(place);
      dropOldest();
    },
    digest: (taken) => {
      if (news.size > 0) {
        // A draft that waits is replaced by what its place drafts now.
        waiting = waiting.filter((draft) => !news.has(placeOf(draft)));
        const looked = [...news].flatMap((place) => places.get(place) ?? []);
        const drafts = digestRecords(looked, taken, {
          ...DEFAULT_DIGEST,
          limit: looked.length,
        });
        waiting = [...waiting, ...drafts].toSorted((a, b) => b.score - a.score);
        news.clear();
      }
      const now = waiting.slice(0, DEFAULT_DIGEST.limit);
      waiting = waiting.slice(DEFAULT_DIGEST.limit);
      return now.filter(({ dedupeKey }) => !taken.has(dedupeKey));
    },
    alike: (draft) => places.get(placeOf(draft)) ?? [],
    record: (id) => records.get(id),
    get size() {
      return records.size;
    },
    get hasNews() {
      return news.size > 0 || waiting.length > 0;
    },
  };
}

const placeOf = ({
  sourceLabel,
  scope,
  member = '',
}: Pick<LearningRecord, 'sourceLabel' | 'scope' | 'member'>): string =>
  JSON.stringify([sourceLabel, scope.type, scope.id, member]);
