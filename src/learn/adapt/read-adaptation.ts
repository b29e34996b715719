import type { CandidateDraft, LearningRecord } from '../../core/adapt.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Records } from '../../core/store.ts';
import { corroborate } from './corroborate.ts';
import { DEFAULT_DIGEST, digestRecords } from './digest.ts';
import { learningRecordOf } from './learning-records.ts';

const PAGE = 1000;
/** The newest that are read; what is older has had its time. */
const MOST_RECORDS = 20_000;
const MOST_LISTED = 50;

/**
 * The learning records of the newest events, and the candidates that they make now, with their scores. Nothing is written, and no
 * candidate acts: `status` says whether the records that it was not drafted from support it.
 */
export async function readAdaptation(records: Pick<Records, 'factsOf'>): Promise<JsonObject> {
  const found: LearningRecord[] = [];
  for (let after = 0; ; ) {
    const page = await records.factsOf('event-reported', after, PAGE);
    for (const stored of page) {
      const record = learningRecordOf(stored);
      if (record !== undefined) found.push(record);
    }
    if (found.length > 2 * MOST_RECORDS) found.splice(0, found.length - MOST_RECORDS);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) break;
    after = last.seq;
  }
  const newest = found.slice(-MOST_RECORDS);
  return {
    events: newest.slice(-MOST_LISTED).toReversed().map(describeRecord),
    candidates: digestRecords(newest, new Set()).map((draft) => describeCandidate(draft, newest)),
    counts: {
      records: newest.length,
      scoring: newest.filter(({ score }) => score >= DEFAULT_DIGEST.minScore).length,
    },
  };
}

const describeRecord = ({
  id,
  at,
  kind,
  sourceLabel,
  scope,
  score,
  session,
}: LearningRecord): JsonObject => ({
  id,
  at: new Date(at).toISOString(),
  kind,
  sourceLabel,
  scopeType: scope.type,
  scopeId: scope.id,
  score,
  ...(session === undefined ? {} : { session }),
});

function describeCandidate(draft: CandidateDraft, records: readonly LearningRecord[]): JsonObject {
  const { type, scope, sourceLabel, dedupeKey, records: used } = draft;
  const { matches, mean, score, passes } = corroborate(draft, records, { onePerSessionAndDay: true });
  return {
    id: dedupeKey,
    type,
    scopeType: scope.type,
    scopeId: scope.id,
    sourceLabel,
    score: Number(score.toFixed(1)),
    status: passes ? 'corroborated' : 'unsupported',
    draftScore: draft.score,
    matches,
    mean: Number(mean.toFixed(1)),
    records: [...used],
  };
}
