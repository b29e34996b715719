import { asArray, type JsonObject } from '../core/json.ts';
import type { EmbeddingModel } from '../core/recall.ts';
import type { Job, JobEnd, JobHistory } from '../core/schedule.ts';
import type { OpenLessons } from './open-lessons.ts';
import { comparedText } from './similar/compare.ts';
import { reviewLibrary } from './similar/review-library.ts';

export interface ReviewJobOptions {
  /** Undefined while the record cannot be read. */
  readonly open: () => OpenLessons | undefined;
  readonly embed: EmbeddingModel;
  readonly now: () => number;
  /** What earlier runs left. */
  readonly history: (job: string) => Promise<JobHistory>;
}

export const REVIEW_JOB = 'library-review';

const HOUR_MS = 3_600_000;
const LEAST_REST_MS = 20 * HOUR_MS;
/** What nobody needs shows with time, even where nothing changes. */
const LONGEST_REST_MS = 7 * 24 * HOUR_MS;
/** Texts between two looks at the signal: a few hundred milliseconds of another thread's work. */
const GROUP = 16;
const MS_PER_TEXT = 15;

/**
 * Looks the library over for what says the same, contradicts or is not needed, and says what it found. It changes
 * nothing: `instar lessons review` shows the proposals, a person applies them.
 */
export function createReviewJob({ open, embed, now, history }: ReviewJobOptions): Job {
  /** Worked out once, however often the work is interrupted; a new process begins anew. */
  const vectors = new Map<string, Float32Array>();

  const isReady = async (): Promise<boolean> => {
    const library = open()?.library;
    if (library === undefined || library.lessons().length === 0) return false;
    const { lastDone, run } = await history(REVIEW_JOB);
    if (run !== undefined || lastDone === undefined) return true;
    // A date from the future is a clock that was wrong: it is as long ago as it is ahead.
    const rested = Math.abs(now() - lastDone.at);
    const isNew = lastDone.note?.startsWith(noteOf(library.generation)) !== true;
    return rested >= LONGEST_REST_MS || (isNew && rested >= LEAST_REST_MS);
  };

  return {
    name: REVIEW_JOB,
    priority: 1,
    needsWindow: true,
    estimate: () => 1000 + (open()?.library.lessons().length ?? 0) * MS_PER_TEXT,
    isReady,
    run: async ({ signal, checkpoint }): Promise<JobEnd> => {
      const opened = open();
      if (opened === undefined)
        return { end: 'failed', why: 'the library cannot be read', isRetryable: true };
      const { library, effects, trials } = opened;
      const { generation } = library;
      const lessons = library.lessons();
      const texts = [...new Set(lessons.map((lesson) => comparedText(lesson)))];
      const missing = texts.filter((text) => !vectors.has(text));
      for (let at = 0; at < missing.length; at += GROUP) {
        if (signal.aborted) return { end: 'paused' };
        const group = missing.slice(at, at + GROUP);
        const found = await embed.embed(group);
        group.forEach((text, index) => {
          const vector = found[index];
          if (vector !== undefined) vectors.set(text, vector);
        });
        await checkpoint(
          `generation ${generation}: ${texts.length - missing.length + at + group.length} read`,
        );
      }
      if (signal.aborted) return { end: 'paused' };
      const known: EmbeddingModel = {
        ...embed,
        embed: async (wanted) => wanted.map((text) => vectorOf(text, vectors)),
      };
      const review = await reviewLibrary({
        lessons,
        embed: known,
        isByLetters: false,
        effects,
        trials,
        now: now(),
      });
      vectors.clear();
      return { end: 'done', note: `${noteOf(generation)}${describe(review)}` };
    },
  };
}

const noteOf = (generation: number): string => `generation ${generation}: `;

function vectorOf(text: string, vectors: ReadonlyMap<string, Float32Array>): Float32Array {
  const vector = vectors.get(text);
  if (vector === undefined) throw new Error('the library changed while it was looked over');
  return vector;
}

function describe(review: JsonObject): string {
  const counts = [
    ['same', 'pairs say the same'],
    ['contradictions', 'contradict'],
    ['forgettable', 'are not needed'],
    ['waiting', 'wait for a person'],
  ] as const;
  const found = counts.flatMap(([key, words]) => {
    const count = asArray(review[key]).length;
    return count === 0 ? [] : [`${count} ${words}`];
  });
  return found.length === 0 ? 'all is in order' : found.join(', ');
}
