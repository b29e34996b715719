import type { CandidateDraft, CandidateType, EventKind, LearningRecord } from '../../core/adapt.ts';

/** Which candidate a kind of event feeds; undefined for kinds that tell something and propose nothing. */
const FEEDS: Readonly<Record<EventKind, CandidateType | undefined>> = {
  failed_tdd: 'fix_template',
  successful_heal: 'fix_template',
  repeated_retry: 'validator_policy_tweak',
  task_conflict: 'routing_hint',
  budget_incident: 'routing_hint',
  human_approval: undefined,
  agent_error: undefined,
  successful_bubble: 'routing_hint',
  guidance_applied: 'prompt_fragment',
  guidance_noisy: 'validator_policy_tweak',
  stale_guidance: 'validator_policy_tweak',
  teaching_refresh: 'prompt_fragment',
  cloud_sync_failure: 'validator_policy_tweak',
  cloud_memory_recall_hit: 'prompt_fragment',
  tool_sequence: 'flow_offload',
};

/** Kinds beside those of the source, and what they feed. */
export type RegisteredKinds = ReadonlyMap<string, CandidateType>;

export const candidateTypeOf = (
  kind: string,
  registered: RegisteredKinds = new Map(),
): CandidateType | undefined =>
  Object.hasOwn(FEEDS, kind) ? FEEDS[kind as EventKind] : registered.get(kind);

const dedupeKeyOf = ({
  type,
  scope,
  sourceLabel,
}: Pick<CandidateDraft, 'type' | 'scope' | 'sourceLabel'>): string =>
  `${type}:${scope.type}:${scope.id}:${sourceLabel}`;

export interface DigestSettings {
  readonly minScore: number;
  /** The most drafts of one run. */
  readonly limit: number;
}

export const DEFAULT_DIGEST: DigestSettings = { minScore: 60, limit: 5 };

/**
 * Drafts from records, the best first: one for each dedupe key, from the record with the highest score (the oldest of those). Keys that
 * have a candidate already are left out.
 */
export function digestRecords(
  records: readonly LearningRecord[],
  taken: ReadonlySet<string>,
  registered: RegisteredKinds = new Map(),
  { minScore, limit }: DigestSettings = DEFAULT_DIGEST,
): readonly CandidateDraft[] {
  const best = new Map<string, { readonly draft: CandidateDraft; readonly at: number }>();
  for (const { id, at, kind, sourceLabel, scope, score } of records) {
    const type = candidateTypeOf(kind, registered);
    if (type === undefined || !(score >= minScore)) continue;
    const dedupeKey = dedupeKeyOf({ type, scope, sourceLabel });
    if (taken.has(dedupeKey)) continue;
    const before = best.get(dedupeKey);
    if (
      before !== undefined &&
      (before.draft.score > score || (before.draft.score === score && before.at <= at))
    )
      continue;
    best.set(dedupeKey, { at, draft: { type, scope, sourceLabel, dedupeKey, score, records: [id] } });
  }
  return [...best.values()]
    .toSorted((a, b) => b.draft.score - a.draft.score || a.at - b.at)
    .slice(0, limit)
    .map(({ draft }) => draft);
}
