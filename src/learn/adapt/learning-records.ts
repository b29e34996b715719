import { EVENT_KINDS, type EventKind, type LearningRecord, type RecordScope } from '../../core/adapt.ts';
import type { Fact, StoredFact } from '../../core/fact.ts';
import { asString, compact } from '../../core/json.ts';
import { principalOfSession } from '../../core/principal.ts';

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
  // What changes how requests are served is for everybody: a member's events do not.
  if (fact.type !== 'event-reported' || fact.member !== undefined) return undefined;
  if (principalOfSession(fact.session ?? '') !== undefined) return undefined;
  const { kind, agent, runKind, score = scoreOfKind(kind), session, by, data } = fact;
  const { label, ...payload } = data;
  const named = asString(label);
  return {
    id: String(seq),
    at,
    kind,
    sourceLabel: named !== undefined && LABEL.test(named) ? named : kind,
    scope: scopeOf(fact),
    score,
    ...compact({ agent, runKind, session, by }),
    payload,
  };
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
