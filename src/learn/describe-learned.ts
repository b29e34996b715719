import { type JsonObject, toJson } from '../core/json.ts';
import type { OpenLessons } from '../lessons/open-lessons.ts';
import type { LearningStatus } from './learning-status.ts';
import { encodeWaiting } from './learning-waits.ts';

/** What the learning thread said last. */
interface LearnedStatus {
  readonly status: LearningStatus;
  /** Training samples. */
  readonly buffer: { readonly query: number };
}

/** For `GET /api/status`. */
export function describeLearned(
  { status, buffer }: LearnedStatus,
  fault: { readonly problem?: string },
): JsonObject {
  const { judge, waits, cost, ...rest } = status;
  return {
    ...rest,
    waits: waits.map(encodeWaiting),
    cost: toJson(cost),
    buffer: { ...buffer },
    judge: { ...judge, interval: { ...judge.interval } },
    ...fault,
  };
}

/** For metrics. */
export function countLearned(
  { status, buffer }: LearnedStatus,
  lessons: Pick<OpenLessons, 'library'> | undefined,
  now: number,
): Readonly<Record<string, number>> {
  return {
    generation: lessons?.library.generation ?? 0,
    lessons_shown: lessons?.library.shown(now).length ?? 0,
    failures: status.appraised.failures,
    successes: status.appraised.successes,
    failures_waiting: status.support,
    sessions_waiting: status.waiting,
    pending: status.pending,
    cycles: status.cycles.run,
    cycles_published: status.cycles.published,
    samples: buffer.query,
    usd_today: status.cost.learning.usdToday,
    tokens_today: status.cost.learning.tokensToday,
    unpriced_tokens_today: status.cost.learning.unpricedTokensToday,
  };
}
