import { setImmediate as nextTick } from 'node:timers/promises';
import { inSlices } from './in-slices.ts';
import type { LessonIndex } from './lesson-index.ts';
import type { VectorRows } from './vector-rows.ts';

/** The similarity of each slot to a task; 0 for nothing in common. */
export interface Scan {
  /** Undefined without an embedding of the task. */
  readonly meaning: Float32Array | undefined;
  readonly spelling: Float32Array | undefined;
  readonly words: Float32Array;
  /** Lessons inserted after this stamp were not scanned. */
  readonly stamp: number;
}

/** Postings between two pauses: one or two milliseconds. */
const WORDS_PAUSE_AFTER = 65_536;

/**
 * Compares every lesson with the task, in slices with pauses. 10,000 lessons take less than a millisecond and no pause,
 * 100,000 about 8 ms in seven slices: an approximate nearest-neighbour index would save part of that and miss lessons.
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

/** How many of the task's terms each lesson contains; rare ones count nearly one, common ones less. */
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
