import type { CandidateDraft, LearningRecord } from '../../core/adapt.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Lesson } from '../../core/lesson.ts';
import type { Records } from '../../core/store.ts';
import { lessonIdOf } from './adaptation.ts';
import { DEFAULT_DIGEST, digestRecords } from './digest.ts';
import { createRecordWindow, learningRecordOf, MOST_RECORDS } from './learning-records.ts';
import { type CandidateSupport, createReporters, supportedCandidate } from './support-candidate.ts';

const MOST_LISTED = 50;

/**
 * The learning records of the newest events; the candidates that they make, with their arithmetic; and what became of those that
 * other records supported: the state of their lesson. Nothing is written.
 */
export async function readAdaptation(
  records: Pick<Records, 'newestOf' | 'session' | 'sessions' | 'turns'>,
  lessons: readonly Lesson[],
): Promise<JsonObject> {
  const stored = await records.newestOf('event-reported', MOST_RECORDS);
  const window = createRecordWindow();
  for (const one of stored) window.add(one);
  const newest = stored.flatMap((one) => learningRecordOf(one) ?? []);
  const promoted = lessons.filter(({ text }) => text.overlay?.from !== undefined);
  const reporters = createReporters(records);
  const drafts = digestRecords(newest, new Set(), { ...DEFAULT_DIGEST, limit: MOST_LISTED });
  const listed: JsonObject[] = [];
  const seen = new Set<string>();
  for (const draft of drafts) {
    const found = await supportedCandidate(draft, window, reporters);
    const lesson = promoted.find(({ id }) => id === lessonIdOf(draft));
    seen.add(draft.dedupeKey);
    listed.push(
      lesson === undefined
        ? { ...describeDraft(draft), ...describeSupport(found) }
        : { ...describeDraft(draft), ...describePromoted(lesson) },
    );
  }
  for (const lesson of promoted.slice(-MOST_LISTED)) {
    const { from } = lesson.text.overlay ?? {};
    if (from === undefined || seen.has(from.key)) continue;
    const [type = '', scopeType = '', ...rest] = from.key.split(':');
    const [sourceLabel = ''] = (rest.at(-1) ?? '').split('@', 1);
    const scopeId = rest.slice(0, -1).join(':');
    listed.push({ id: from.key, type, scopeType, scopeId, sourceLabel, ...describePromoted(lesson) });
  }
  return {
    events: newest.slice(-MOST_LISTED).toReversed().map(describeRecord),
    candidates: listed,
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

const describeDraft = ({
  type,
  scope,
  sourceLabel,
  dedupeKey,
  score,
  records,
}: CandidateDraft): JsonObject => ({
  id: dedupeKey,
  type,
  scopeType: scope.type,
  scopeId: scope.id,
  sourceLabel,
  draftScore: score,
  records: [...records],
});

const describeSupport = (result: CandidateSupport): JsonObject => ({
  score: Number(result.support.score.toFixed(1)),
  matches: result.support.matches,
  mean: Number(result.support.mean.toFixed(1)),
  status: result.support.passes ? (result.ok ? 'corroborated' : 'incomplete') : 'unsupported',
  ...(result.ok ? {} : { why: result.why }),
});

function describePromoted({ id, state, reason, text }: Lesson): JsonObject {
  const { from } = text.overlay ?? {};
  return {
    lesson: id,
    status: state,
    score: from?.score ?? 0,
    draftScore: from?.draftScore ?? 0,
    matches: from?.matches ?? 0,
    mean: from?.mean ?? 0,
    ...(reason === undefined ? {} : { why: reason }),
  };
}
