import { setImmediate as nextTick } from 'node:timers/promises';
import type { LessonIndex } from './lesson-index.ts';
import type { VectorRows } from './vector-rows.ts';

/** What each slot has in common with a task. Slots that have nothing have 0. */
export interface Scan {
  /** Undefined when the task's meaning is not known. */
  readonly meaning: Float32Array | undefined;
  readonly spelling: Float32Array | undefined;
  readonly words: Float32Array;
  /** Slots placed later than this were not seen. */
  readonly stamp: number;
}

/** Rows or postings between two pauses: a millisecond or two. */
const PAUSE_AFTER = 16_384;
const WORDS_PAUSE_AFTER = 65_536;

/**
 * Every lesson is compared with the task, in slices with pauses. At ten thousand that is less than a millisecond in all
 * and takes no pause; at a hundred thousand some ten, in six slices. An index of neighbours would save part of that at
 * the price of lessons it does not find.
 */
export async function scan(
  index: LessonIndex,
  text: string,
  meaning: Float32Array | undefined,
  spelling: Float32Array | undefined,
): Promise<Scan> {
  const { stamp, length } = index;
  return {
    stamp,
    words: await scanWords(index, text, length),
    meaning: meaning && (await scanRows(index.meanings, meaning, length)),
    spelling: spelling && (await scanRows(index.spellings, spelling, length)),
  };
}

async function scanRows(rows: VectorRows, vector: Float32Array, length: number): Promise<Float32Array> {
  const scores = new Float32Array(length);
  const query = rows.query(vector);
  for (let from = 0; from < length; from += PAUSE_AFTER) {
    if (from > 0) await nextTick();
    rows.score(query, from, Math.min(from + PAUSE_AFTER, length), scores);
  }
  return scores;
}

/** How many of the task's words each lesson has, rare ones counting for nearly one and common ones for less. */
async function scanWords(index: LessonIndex, text: string, length: number): Promise<Float32Array> {
  const scores = new Float32Array(length);
  let work = 0;
  for (const term of index.words.terms(text)) {
    index.words.score(term, scores);
    work += term.count;
    if (work < WORDS_PAUSE_AFTER) continue;
    work = 0;
    await nextTick();
  }
  return scores;
}
