import { setImmediate as nextTick } from 'node:timers/promises';
import { inSlices } from './in-slices.ts';
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

/** Postings between two pauses: a millisecond or two. */
const WORDS_PAUSE_AFTER = 65_536;

/**
 * Every lesson is compared with the task, in slices with pauses. At ten thousand lessons that takes less than a
 * millisecond and no pause, at a hundred thousand some eight in seven slices: an index of neighbours would save part of
 * that, and pay with lessons that it does not find.
 */
export async function scan(
  index: LessonIndex,
  text: string,
  meaning: Float32Array | undefined,
  spelling: Float32Array | undefined,
): Promise<Scan> {
  const { stamp } = index;
  const { length } = index.table;
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
  await inSlices(length, (from, to) => rows.score(query, from, to, scores));
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
