import { setImmediate as nextTick } from 'node:timers/promises';
import type { Embed } from '../../core/embed.ts';
import type { Lesson } from '../../core/lesson.ts';
import { createDomainMiddles, type DomainMiddles, labelOf } from './domain.ts';
import { createLexicalIndex, type LexicalIndex } from './lexical-index.ts';
import { createSlotTable, type SlotTable } from './slot-table.ts';
import type { VectorShelf } from './vector-file.ts';
import { createVectorQueue } from './vector-queue.ts';
import { createVectorRows, type VectorRows } from './vector-rows.ts';

/** A lesson and its slot in the tables; a revised lesson gets a new slot. */
export interface Placed {
  lesson: Lesson;
  readonly slot: number;
  /** Increases with each insertion: a scan ignores lessons that were inserted after it began. */
  readonly stamp: number;
  /** The last update that contained it. */
  round: number;
}

/**
 * The index of the lessons that may be recalled: keywords (BM25), embeddings by the sentence model (`meanings`) and by
 * n-grams (`spellings`), all under the same slots. Keywords and n-grams are ready when `update` resolves; the model's
 * embeddings follow in the background.
 */
export interface LessonIndex {
  readonly size: number;
  /** The stamp of the lesson that was inserted last. */
  readonly stamp: number;
  readonly table: SlotTable;
  readonly words: LexicalIndex;
  readonly meanings: VectorRows;
  readonly spellings: VectorRows;
  readonly middles: DomainMiddles;
  at(slot: number): Placed | undefined;
  /** Replaces the lessons. Only new and revised ones cost time. A later call supersedes an earlier one. */
  update(lessons: readonly Lesson[]): Promise<void>;
  /** Resolves when all vectors are computed, or when the model has failed. */
  settled(): Promise<void>;
  stats(): IndexStats;
}

export interface IndexStats {
  readonly lessons: number;
  /** Lessons with an embedding of at least their description. */
  readonly known: number;
  /** Lessons that wait for an embedding. */
  readonly waiting: number;
  /** The last error of the model. */
  readonly failure?: string;
  readonly vectorBytes: number;
}

/** Insertions between two pauses: about a millisecond of work. */
const PAUSE_AFTER = 8;
const LOOK_PAUSE_AFTER = 2048;

export function createLessonIndex(embed: Embed, fallback: Embed, cache?: VectorShelf): LessonIndex {
  const places: (Placed | undefined)[] = [];
  const byId = new Map<string, Placed>();
  const free: number[] = [];
  const table = createSlotTable();
  const words = createLexicalIndex();
  const meanings = createVectorRows(embed.dimensions);
  const spellings = createVectorRows(fallback.dimensions);
  const middles = createDomainMiddles();
  let stamp = 0;
  let known = 0;
  let round = 0;
  let wanted: readonly Lesson[] | undefined;
  let work: Promise<void> | undefined;

  /** First the descriptions of all lessons; then the whole texts, which cost more and improve recall less. */
  const meaningQueue = createVectorQueue(
    embed,
    (slot, text, vector) => {
      const lesson = places[slot]?.lesson;
      if (lesson === undefined) return;
      const isFirst = !meanings.has(slot);
      if (!isFirst) leaveMiddle(slot, lesson);
      meanings.set(slot, isFirst ? vector : halfWay(vector, meanings.read(slot)));
      const label = labelOf(lesson);
      if (label !== undefined) middles.add(label, meanings.read(slot));
      if (isFirst) known++;
      const whole = wholeOf(lesson);
      if (isFirst && whole !== text) meaningQueue.wantLater(slot, whole);
    },
    cache,
  );
  const spellingQueue = createVectorQueue(fallback, (slot, _text, vector) => spellings.set(slot, vector));
  const leaveMiddle = (slot: number, lesson: Lesson): void => {
    const label = labelOf(lesson);
    if (label !== undefined && meanings.has(slot)) middles.remove(label, meanings.read(slot));
  };

  const remove = (placed: Placed): void => {
    const { slot, lesson } = placed;
    leaveMiddle(slot, lesson);
    if (meanings.has(slot)) known--;
    meaningQueue.forget(slot);
    spellingQueue.forget(slot);
    meanings.clear(slot);
    spellings.clear(slot);
    words.remove(slot);
    table.clear(slot);
    places[slot] = undefined;
    byId.delete(lesson.id);
    free.push(slot);
  };

  /** For fields that change without a revision. */
  const renew = (placed: Placed, lesson: Lesson): void => {
    placed.lesson = lesson;
    table.refresh(placed.slot, lesson);
  };

  const replace = (before: Placed | undefined, lesson: Lesson): void => {
    if (before !== undefined) remove(before);
    const slot = free.pop() ?? places.length;
    const placed: Placed = { lesson, slot, stamp: ++stamp, round };
    places[slot] = placed;
    byId.set(lesson.id, placed);
    table.set(slot, lesson, stamp);
    words.add(slot, { head: headOf(lesson), body: bodyOf(lesson) });
    spellingQueue.want(slot, headOf(lesson));
    meaningQueue.want(slot, lesson.text.description || headOf(lesson));
  };

  const apply = async (lessons: readonly Lesson[]): Promise<void> => {
    round++;
    let changes = 0;
    const change = async (work: () => void): Promise<void> => {
      work();
      if (++changes % PAUSE_AFTER === 0) await nextTick();
    };
    for (const [at, lesson] of lessons.entries()) {
      const placed = byId.get(lesson.id);
      if (placed?.lesson.revision === lesson.revision) {
        placed.round = round;
        if (placed.lesson !== lesson) renew(placed, lesson);
      } else await change(() => replace(placed, lesson));
      if (at % LOOK_PAUSE_AFTER === 0) await nextTick();
    }
    const gone = byId.size === lessons.length ? [] : [...byId.values()].filter((one) => one.round !== round);
    for (const placed of gone) await change(() => remove(placed));
    await spellingQueue.settled();
  };

  const workOff = async (): Promise<void> => {
    while (wanted !== undefined) {
      const lessons = wanted;
      wanted = undefined;
      await apply(lessons);
    }
  };

  return {
    get size() {
      return byId.size;
    },
    get stamp() {
      return stamp;
    },
    table,
    words,
    meanings,
    spellings,
    middles,
    at: (slot) => places[slot],
    update: (lessons) => {
      wanted = lessons;
      work ??= workOff().finally(() => {
        work = undefined;
      });
      return work;
    },
    settled: async () => {
      await work;
      await meaningQueue.settled();
    },
    stats: () => ({
      lessons: byId.size,
      known,
      waiting: meaningQueue.waiting,
      ...(meaningQueue.failure === undefined ? {} : { failure: meaningQueue.failure }),
      vectorBytes: meanings.bytes + spellings.bytes,
    }),
  };
}

/** Name as words, description and keywords. */
const headOf = ({ text }: Lesson): string =>
  [text.name.replaceAll('-', ' '), text.description, ...text.note.keywords].join('. ');
const bodyOf = ({ text }: Lesson): string => [text.content, text.note.context ?? ''].join('\n');
const wholeOf = (lesson: Lesson): string => `${headOf(lesson)} ${bodyOf(lesson)}`;

/** A query's cosine with it is the mean of its cosines with the two. */
const halfWay = (one: Float32Array, other: Float32Array): Float32Array =>
  one.map((value, at) => (value + (other[at] ?? 0)) / 2);
