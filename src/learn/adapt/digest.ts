import type { CandidateDraft, CandidateType, EventKind, LearningRecord } from '../../core/adapt.ts';
import { compact } from '../../core/json.ts';

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

export const candidateTypeOf = (kind: string): CandidateType | undefined =>
  Object.hasOwn(FEEDS, kind) ? FEEDS[kind as EventKind] : undefined;

type Place = Pick<CandidateDraft, 'type' | 'scope' | 'sourceLabel' | 'member' | 'key'>;

/** The events of a key are a candidate of their own: nobody else's events decide about it, and none of them stands in its way. */
const dedupeKeyOf = ({ type, scope, sourceLabel, member, key }: Place): string => {
  const whose = member ?? key;
  return `${type}:${scope.type}:${scope.id}:${sourceLabel}${whose === undefined ? '' : `@${whose}`}`;
};

interface DigestSettings {
  readonly minScore: number;
  /** The most drafts of one run. */
  readonly limit: number;
}

export const DEFAULT_DIGEST: DigestSettings = { minScore: 60, limit: 5 };

/**
 * Drafts from records, the best first: one for each dedupe key, from the record with the highest score (the oldest of those). Keys that
 * have a candidate already are left out. What several keys of the home's own person report is a draft of each, and one of all of them.
 */
export function digestRecords(
  records: readonly LearningRecord[],
  taken: ReadonlySet<string>,
  { minScore, limit }: DigestSettings = DEFAULT_DIGEST,
): readonly CandidateDraft[] {
  const best = new Map<string, { readonly draft: CandidateDraft; readonly at: number }>();
  const consider = (record: LearningRecord, type: CandidateType, key: string | undefined): void => {
    const { id, at, sourceLabel, scope, score, member } = record;
    const place: Place = { type, scope, sourceLabel, ...compact({ member, key }) };
    const dedupeKey = dedupeKeyOf(place);
    const ofAll = member === undefined ? dedupeKeyOf({ type, scope, sourceLabel }) : dedupeKey;
    if (taken.has(dedupeKey) || taken.has(ofAll)) return;
    const before = best.get(dedupeKey);
    if (
      before !== undefined &&
      (before.draft.score > score || (before.draft.score === score && before.at <= at))
    )
      return;
    best.set(dedupeKey, { at, draft: { ...place, dedupeKey, score, records: [id] } });
  };
  const ofHome = new Map<string, { readonly type: CandidateType; readonly records: LearningRecord[] }>();
  for (const record of records) {
    const { kind, sourceLabel, scope, score, member, key } = record;
    const type = candidateTypeOf(kind);
    if (type === undefined || !(score >= minScore)) continue;
    consider(record, type, key);
    if (member !== undefined) continue;
    const shared = dedupeKeyOf({ type, scope, sourceLabel });
    const group = ofHome.get(shared) ?? { type, records: [] };
    group.records.push(record);
    ofHome.set(shared, group);
  }
  for (const { type, records: group } of ofHome.values()) {
    const keys = new Set(group.map(({ key }) => key));
    // Where the owner spoke, the owner's own words are the draft.
    if (keys.size > 1 && !keys.has(undefined)) for (const record of group) consider(record, type, undefined);
  }
  return [...best.values()]
    .toSorted((a, b) => b.draft.score - a.draft.score || a.at - b.at)
    .slice(0, limit)
    .map(({ draft }) => draft);
}
