import { compact, type JsonObject } from '../../core/json.ts';
import type { Lesson } from '../../core/lesson.ts';
import { encodeLesson } from '../../lessons/codec.ts';
import { type Asked, isByPage } from '../router/answer.ts';
import type { InsteadAnswers } from '../router/api-router.ts';
import { createKeptAnswer } from './kept-answer.ts';
import type { PageReads } from './page-reads.ts';

interface SlowParts {
  readonly reads: Pick<PageReads, 'adaptation'>;
  readonly lessons: () => readonly Lesson[];
  readonly now: () => number;
  readonly monotonic: () => number;
}

/** A session of practice that goes on changes what is shown every few seconds. */
const PRACTICE_MS = 1000;
/** The day is read as a whole; a page asks for it every few seconds, also while the machine serves as much as it can. */
const TODAY_MS = 2000;
const TODAY_SHARE = 0.05;
/** Operations of practice that only read. */
const READING: ReadonlySet<string> = new Set(['status', 'due', 'plan', 'report', 'tasks', 'task']);

/**
 * Answers that would keep a person waiting for another thread. Practice is known by the learning thread, which may work for seconds:
 * the last state is shown, with its time, and asked for beside. Who changes practice here is shown what came of it.
 */
export function createSlowAnswers(parts: SlowParts): InsteadAnswers {
  const { reads, now, monotonic } = parts;
  let api: Asked['api'] | undefined;
  const practice = createKeptAnswer<JsonObject>({
    make: async () => ({ ...(await api?.practice({ do: 'status' })), at: new Date(now()).toISOString() }),
    freshMs: PRACTICE_MS,
    monotonic,
    isAwaited: true,
  });
  let lessonsApi: Asked['lessonsApi'] | undefined;
  const today = createKeptAnswer<JsonObject>({
    make: async () => ({ ...(await lessonsApi?.today()) }),
    freshMs: TODAY_MS,
    mostShare: TODAY_SHARE,
    monotonic,
    isAwaited: true,
  });
  return {
    // It says itself until when it knows. Who asks in a terminal waits for the present.
    today: async (asked) => {
      if (!isByPage(asked)) return asked.lessonsApi.today();
      lessonsApi = asked.lessonsApi;
      return { ...(await today.newest()).value };
    },
    practiceStatus: async (asked) => {
      api = asked.api;
      const { value, isNew } = await practice.newest();
      return { ...value, isNew };
    },
    practice: async ({ api: asked, id, body }) => {
      try {
        return await asked.practice({ ...compact(body as JsonObject), do: id });
      } finally {
        if (!READING.has(id)) practice.forget();
      }
    },
    adaptation: () => reads.adaptation(madeOf(parts.lessons())),
  };
}

/** Lessons that candidates became, encoded. */
export const madeOf = (lessons: readonly Lesson[]): readonly JsonObject[] =>
  lessons.filter(({ text }) => text.overlay?.from !== undefined).map(encodeLesson);
