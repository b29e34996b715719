import type { Json } from './json.ts';

/** What happens at run time and can teach something. Others can be reported, too: they feed no candidate until they are registered. */
export const EVENT_KINDS = [
  'failed_tdd',
  'successful_heal',
  'repeated_retry',
  'task_conflict',
  'budget_incident',
  'human_approval',
  'agent_error',
  'successful_bubble',
  'guidance_applied',
  'guidance_noisy',
  'stale_guidance',
  'teaching_refresh',
  'cloud_sync_failure',
  'cloud_memory_recall_hit',
  'tool_sequence',
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** What events become: a proposal for a change of the running system. */
export const CANDIDATE_TYPES = [
  'prompt_fragment',
  'fix_template',
  'routing_hint',
  'validator_policy_tweak',
  'flow_offload',
] as const;
export type CandidateType = (typeof CANDIDATE_TYPES)[number];

/** Whom a record is about: an agent, a kind of run, or one task. */
export interface RecordScope {
  readonly type: 'agent' | 'run_kind' | 'task';
  readonly id: string;
}

/** An event that was worth keeping, with a score of 0 to 100. */
export interface LearningRecord {
  readonly id: string;
  readonly at: number;
  readonly kind: string;
  /** What the record is called where it is compared with others; the kind unless the event names another. */
  readonly sourceLabel: string;
  readonly scope: RecordScope;
  readonly agent?: string;
  readonly runKind?: string;
  readonly score: number;
  readonly session?: string;
  /** The id of the key that reported it; `instar` for what Instar saw itself. */
  readonly by?: string;
  /** Whose it is: a key that stands for itself, or a client with its own credential. Absent: the home's own person's. */
  readonly member?: string;
  /** The key that reported it, or whose session Instar saw it in. Absent: the owner reported it, or no session was involved. */
  readonly key?: string;
  readonly payload: { readonly [name: string]: Json | undefined };
}

/** A proposed change, with the records that it was drafted from. */
export interface CandidateDraft {
  readonly type: CandidateType;
  readonly scope: RecordScope;
  readonly sourceLabel: string;
  /** As in its records. */
  readonly member?: string;
  /** Of records of one key: it acts on that key's sessions alone. */
  readonly key?: string;
  /** `type:scope_type:scope_id:source_label`, and `@` with the member or the key: one candidate at a time has it. */
  readonly dedupeKey: string;
  /** That of its first record. */
  readonly score: number;
  /** Ids of the records that it was drafted from: they are no evidence for it. */
  readonly records: readonly string[];
}
