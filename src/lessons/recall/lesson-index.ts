import { setImmediate as nextTick } from 'node:timers/promises';
import type { Lesson, LessonKind } from '../../core/lesson.ts';
import type { EmbeddingModel } from '../../core/recall.ts';
import { isFragment } from '../check-overlay.ts';
import type { Audience } from '../scope.ts';
import { type Bm25Index, createBm25Index } from './bm25-index.ts';
import { createDomainCentroids, type DomainCentroids, domainLabel } from './domain.ts';
import { createEmbeddingQueue, type EmbeddingQueue } from './embedding-queue.ts';
import { IDLE_REQUESTS, readIdleVectors } from './idle-requests.ts';
import { type IndexFile, indexEntryOf } from './index-file.ts';
import { createInt8Vectors, type Int8Vectors } from './int8-vectors.ts';
import { comparedKey, lessonTexts } from './lesson-texts.ts';
import type { QuantisedVector, VectorCache } from './vector-cache.ts';

/**
 * The fields that decide whether a lesson is eligible, as columns by slot: reading them from 100,000 objects would take
 * longer than comparing the embeddings.
 */
interface SlotTable {
  /** The distinct audiences of all lessons. */
  readonly audiences: readonly Audience[];
  /** The highest slot ever set, plus one. */
  readonly length: number;
  set(slot: number, lesson: Lesson, stamp: number): void;
  /** For fields that change without a revision. */
  refresh(slot: number, lesson: Lesson): void;
  clear(slot: number): void;
  /** The insertion stamp; 0 for an empty slot. */
  stamps(): Uint32Array;
  /** Indices into `audiences`. */
  audienceIds(): Uint32Array;
  /** Infinity for never. */
  expiries(): Float64Array;
  /** 1 for lessons about how to work, 0 for experiences. */
  guidelines(): Uint8Array;
  /** 1 for lessons that are for every task in their scope. */
  always(): Uint8Array;
}

const GUIDELINES: ReadonlySet<LessonKind> = new Set(['skill', 'fragment', 'identity']);

/** What practice found for a domain is a guideline of it, like a skill; other experiences are shown where they fit. */
const isGuideline = ({ kind, text }: Lesson): boolean =>
  GUIDELINES.has(kind) || (kind === 'experience' && text.note.source === 'practice');

function createSlotTable(audienceOf: (lesson: Lesson) => Audience): SlotTable {
  const audiences: Audience[] = [];
  const audienceKeys = new Map<string, number>();
  let stamps = new Uint32Array(256);
  let audienceIds = new Uint32Array(256);
  let expiries = new Float64Array(256);
  let guidelines = new Uint8Array(256);
  let always = new Uint8Array(256);
  let length = 0;

  const grow = (): void => {
    const size = stamps.length * 2;
    const moved = <A extends { set(from: A): void }>(from: A, to: A): A => {
      to.set(from);
      return to;
    };
    stamps = moved(stamps, new Uint32Array(size));
    audienceIds = moved(audienceIds, new Uint32Array(size));
    expiries = moved(expiries, new Float64Array(size));
    guidelines = moved(guidelines, new Uint8Array(size));
    always = moved(always, new Uint8Array(size));
  };
  const audienceId = (lesson: Lesson): number => {
    const audience = audienceOf(lesson);
    const { scope, learnedIn, acrossAgents, isForAllAgents } = audience;
    const { visibility } = lesson.text.note;
    const key = JSON.stringify([
      scope.agent,
      scope.project,
      scope.runKind,
      scope.domain,
      scope.member,
      visibility === 'shared',
      learnedIn,
      acrossAgents !== undefined,
      isForAllAgents,
    ]);
    const id = audienceKeys.get(key) ?? audiences.push(audience) - 1;
    audienceKeys.set(key, id);
    return id;
  };
  const refresh = (slot: number, lesson: Lesson): void => {
    expiries[slot] = lesson.expiresAt ?? Number.POSITIVE_INFINITY;
  };

  return {
    audiences,
    get length() {
      return length;
    },
    set: (slot, lesson, stamp) => {
      while (slot >= stamps.length) grow();
      length = Math.max(length, slot + 1);
      stamps[slot] = stamp;
      audienceIds[slot] = audienceId(lesson);
      guidelines[slot] = isGuideline(lesson) ? 1 : 0;
      always[slot] =
        lesson.text.note.isAlways === true || isFragment(lesson) || lesson.kind === 'identity' ? 1 : 0;
      refresh(slot, lesson);
    },
    refresh,
    clear: (slot) => {
      stamps[slot] = 0;
    },
    stamps: () => stamps,
    audienceIds: () => audienceIds,
    expiries: () => expiries,
    guidelines: () => guidelines,
    always: () => always,
  };
}

/** A lesson and its slot in the tables; a revised lesson gets a new slot. */
interface IndexedLesson {
  lesson: Lesson;
  readonly slot: number;
  /** Increases with each insertion: a scan ignores lessons that were inserted after it began. */
  readonly stamp: number;
  /** The rows of its cues. */
  readonly rows: readonly number[];
  /** Of its texts. */
  readonly key: string;
  /** The model has read its description. */
  isDescribed: boolean;
  /** Its vector in `meanings` is of its whole text. */
  isWhole: boolean;
  /** The last update that contained it. */
  round: number;
}

/**
 * The index of the lessons that may be recalled: keywords (BM25) and embeddings (`meanings`) under the same slots, and the
 * embeddings of each lesson's cues (`cues`), in rows of their own. Keywords and a first vector of each lesson are ready when
 * `update` resolves; the model's embeddings of new lessons follow in the background.
 */
export interface LessonIndex {
  readonly size: number;
  /** The stamp of the lesson that was inserted last. */
  readonly stamp: number;
  readonly table: SlotTable;
  readonly words: Bm25Index;
  /** Of whole lessons; of their descriptions until then, by a first look until the model has read them. */
  readonly meanings: Int8Vectors;
  readonly cues: Int8Vectors;
  /** The slot of each row of `cues`; `NO_SLOT` for an empty one. */
  owners(): Uint32Array;
  /** Of `IDLE_REQUESTS`. */
  readonly idle: Int8Vectors;
  readonly middles: DomainCentroids;
  at(slot: number): IndexedLesson | undefined;
  find(id: string): IndexedLesson | undefined;
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

/** Insertions between two pauses: about a millisecond of work; of those that were computed before, many more. */
const PAUSE_AFTER = 8;
const KNOWN_PAUSE_AFTER = 64;
const LOOK_PAUSE_AFTER = 2048;
export const NO_SLOT = 0xffff_ffff;
/** About 100 MB. Beyond it a further lesson gets one cue, its description. */
const MOST_ROWS = 262_144;

/** Which lesson each row of the cues belongs to. */
interface CueRows {
  owners(): Uint32Array;
  readonly inUse: number;
  take(slot: number): number;
  release(row: number): void;
}

function createCueRows(): CueRows {
  let owners = new Uint32Array(1024).fill(NO_SLOT);
  let count = 0;
  const free: number[] = [];
  return {
    owners: () => owners,
    get inUse() {
      return count - free.length;
    },
    take: (slot) => {
      const row = free.pop() ?? count++;
      if (row >= owners.length) {
        const larger = new Uint32Array(owners.length * 2).fill(NO_SLOT);
        larger.set(owners);
        owners = larger;
      }
      owners[row] = slot;
      return row;
    },
    release: (row) => {
      owners[row] = NO_SLOT;
      free.push(row);
    },
  };
}

interface IndexState extends Pick<LessonIndex, 'table' | 'words' | 'meanings' | 'cues' | 'idle' | 'middles'> {
  readonly places: (IndexedLesson | undefined)[];
  readonly byId: Map<string, IndexedLesson>;
  /** Slots without a lesson. */
  readonly free: number[];
  readonly rows: CueRows;
  stamp: number;
  /** Lessons whose description is embedded. */
  described: number;
  round: number;
  hasIdle: boolean;
  /** Of the first lessons: where each vector of theirs belongs, until all are read at once. */
  awaited: Map<string, VectorPlace[]> | undefined;
}

interface VectorPlace {
  readonly placed: IndexedLesson;
  /** Which of its cues; after the last one its whole text. */
  readonly nth: number;
}

interface IndexQueues {
  readonly cues: EmbeddingQueue;
  readonly wholes: EmbeddingQueue;
  readonly idle: EmbeddingQueue;
}

interface IndexSources extends IndexQueues, Pick<IndexEngines, 'embed' | 'cache' | 'file'> {}

/** What the index compares lessons with. */
interface IndexEngines {
  readonly embed: EmbeddingModel;
  /** Its vectors may be compared with those of `embed`, and are there at once. */
  readonly first: EmbeddingModel;
  readonly cache?: VectorCache | undefined;
  readonly file?: IndexFile | undefined;
}

export function createLessonIndex(
  { embed, first, cache, file }: IndexEngines,
  audienceOf: (lesson: Lesson) => Audience,
): LessonIndex {
  const state: IndexState = {
    places: [],
    byId: new Map(),
    free: [],
    rows: createCueRows(),
    table: createSlotTable(audienceOf),
    words: createBm25Index(),
    meanings: createInt8Vectors(embed.dimensions),
    cues: createInt8Vectors(embed.dimensions),
    idle: createInt8Vectors(embed.dimensions),
    middles: createDomainCentroids(),
    stamp: 0,
    described: 0,
    round: 0,
    hasIdle: false,
    awaited: cache === undefined ? undefined : new Map(),
  };
  const { table, words, meanings, cues, idle, middles, rows, places, byId } = state;
  const lookAt = async (row: number, text: string): Promise<void> => {
    const [vector] = await first.embed([text]).catch(() => []);
    if (vector !== undefined) takeFirst(state, row, vector);
  };
  const queues: IndexQueues = {
    cues: createEmbeddingQueue({
      embed,
      take: (row, vector) => takeCue(state, queues, row, vector),
      cache,
      ...(first === embed ? {} : { first: lookAt }),
    }),
    wholes: createEmbeddingQueue({ embed, take: (slot, vector) => takeWhole(state, slot, vector), cache }),
    idle: createEmbeddingQueue({ embed, take: idle.set, cache }),
  };
  let wanted: readonly Lesson[] | undefined;
  let work: Promise<void> | undefined;
  const workOff = async (): Promise<void> => {
    while (wanted !== undefined) {
      const lessons = wanted;
      wanted = undefined;
      if (state.round === 0) await file?.load();
      await applyLessons(state, { ...queues, embed, cache, file }, lessons);
      file?.indexed(() => new Set([...byId.values()].map(({ key }) => key)));
    }
  };
  return {
    get size() {
      return byId.size;
    },
    get stamp() {
      return state.stamp;
    },
    table,
    words,
    meanings,
    cues,
    owners: rows.owners,
    idle,
    middles,
    at: (slot) => places[slot],
    find: (id) => byId.get(id),
    update: (lessons) => {
      wanted = lessons;
      work ??= workOff().finally(() => {
        work = undefined;
      });
      return work;
    },
    settled: async () => {
      await work;
      // The first cues bring further ones and the whole texts with them.
      await queues.cues.settled();
      await queues.wholes.settled();
      await queues.idle.settled();
    },
    stats: () => statsOf(state, queues),
  };
}

function statsOf({ byId, described, meanings, cues, awaited }: IndexState, queues: IndexQueues): IndexStats {
  const failure = queues.cues.failure ?? queues.wholes.failure;
  return {
    lessons: byId.size,
    known: described,
    waiting: queues.cues.waiting + queues.wholes.waiting + queues.idle.waiting + (awaited?.size ?? 0),
    ...(failure === undefined ? {} : { failure }),
    vectorBytes: meanings.bytes + cues.bytes,
  };
}

/** A first look at a description, or at another cue. */
function takeFirst({ rows, places, cues, meanings }: IndexState, row: number, vector: Float32Array): void {
  const slot = rows.owners()[row] ?? NO_SLOT;
  const placed = places[slot];
  if (placed === undefined || cues.has(row)) return;
  cues.set(row, vector);
  if (row === placed.rows[0]) meanings.set(slot, vector);
}

/** First the descriptions of all lessons, then their other cues, then the whole texts. */
function takeCue(state: IndexState, queues: IndexQueues, row: number, vector: Float32Array): void {
  const { rows, places, cues, meanings } = state;
  const slot = rows.owners()[row] ?? NO_SLOT;
  const placed = places[slot];
  if (placed === undefined) return;
  cues.set(row, vector);
  if (row !== placed.rows[0]) return;
  meanings.set(slot, vector);
  takeDescription(state, placed);
  const texts = lessonTexts(placed.lesson);
  for (const [at, other] of placed.rows.entries()) {
    const text = texts.cues[at];
    if (at > 0 && text !== undefined) queues.cues.wantLater(other, text);
  }
  queues.wholes.wantLater(slot, texts.whole);
}

/** The first of its cues is embedded. */
function takeDescription(state: IndexState, placed: IndexedLesson): void {
  const { cues, middles } = state;
  state.described++;
  placed.isDescribed = true;
  const label = domainLabel(placed.lesson);
  if (label !== undefined) middles.add(label, cues.read(placed.rows[0] ?? NO_SLOT));
}

/** Takes all vectors of the first lessons that were kept; the others are looked for, and computed, as those of later lessons. */
async function takeAwaited(state: IndexState, queues: IndexQueues, cache: VectorCache): Promise<void> {
  const { cues, meanings, awaited = new Map<string, VectorPlace[]>() } = state;
  const takeKept = (key: string, { numbers, scale }: QuantisedVector): void => {
    for (const { placed, nth } of awaited.get(key) ?? []) {
      const row = placed.rows[nth];
      if (row !== undefined) cues.setQuantised(row, numbers, scale);
      else placed.isWhole = true;
      if (row === undefined || (nth === 0 && !placed.isWhole))
        meanings.setQuantised(placed.slot, numbers, scale);
    }
    awaited.delete(key);
  };
  // A failed read only means that vectors are looked for one by one.
  await cache.readEach((key) => awaited.has(key), takeKept).catch(() => undefined);
  for (const placed of state.byId.values()) {
    const { rows } = placed;
    const isDescribed = cues.has(rows[0] ?? NO_SLOT);
    if (isDescribed) takeDescription(state, placed);
    if (isDescribed && placed.isWhole && rows.every(cues.has)) continue;
    const { cues: texts, whole } = lessonTexts(placed.lesson);
    if (!isDescribed) {
      // Its whole text is read again after its description.
      meanings.clear(placed.slot);
      placed.isWhole = false;
      queues.cues.want(rows[0] ?? NO_SLOT, texts[0] ?? '');
      continue;
    }
    for (const [nth, row] of rows.entries()) if (!cues.has(row)) queues.cues.wantLater(row, texts[nth] ?? '');
    if (!placed.isWhole) queues.wholes.wantLater(placed.slot, whole);
  }
  state.awaited = undefined;
}

function takeWhole({ places, meanings }: IndexState, slot: number, vector: Float32Array): void {
  const placed = places[slot];
  if (placed === undefined) return;
  meanings.set(slot, vector);
  placed.isWhole = true;
}

function removeLesson(state: IndexState, queues: IndexQueues, removed: IndexedLesson): void {
  const { slot, lesson, rows, isDescribed } = removed;
  const { cues, middles, meanings } = state;
  const [first = NO_SLOT] = rows;
  if (isDescribed) {
    state.described--;
    const label = domainLabel(lesson);
    if (label !== undefined) middles.remove(label, cues.read(first));
  }
  for (const row of rows) {
    queues.cues.forget(row);
    cues.clear(row);
    state.rows.release(row);
  }
  queues.wholes.forget(slot);
  meanings.clear(slot);
  state.words.remove(slot);
  state.table.clear(slot);
  state.places[slot] = undefined;
  state.byId.delete(lesson.id);
  state.free.push(slot);
}

/** Whether its texts were read before, so that little was to be done. */
function addLesson(state: IndexState, { cues, file }: IndexSources, lesson: Lesson): boolean {
  const { places, rows: cueRows, awaited } = state;
  const slot = state.free.pop() ?? places.length;
  const key = comparedKey(lesson);
  const known = file?.find(key);
  const { terms, vectors } = known ?? indexEntryOf(lesson);
  if (known === undefined) file?.add(key, { terms, vectors });
  const all = vectors.slice(0, -1);
  const kept = cueRows.inUse + all.length > MOST_ROWS ? all.slice(0, 1) : all;
  const rows = kept.map(() => cueRows.take(slot));
  const placed: IndexedLesson = {
    lesson,
    slot,
    stamp: ++state.stamp,
    rows,
    key,
    isDescribed: false,
    isWhole: false,
    round: state.round,
  };
  places[slot] = placed;
  state.byId.set(lesson.id, placed);
  state.table.set(slot, lesson, placed.stamp);
  state.words.add(slot, terms);
  const [first = NO_SLOT] = rows;
  if (awaited === undefined) cues.want(first, lessonTexts(lesson).cues[0] ?? '');
  else
    for (const [nth, vector] of [...kept, ...vectors.slice(-1)].entries()) {
      const others = awaited.get(vector);
      if (others === undefined) awaited.set(vector, [{ placed, nth }]);
      else others.push({ placed, nth });
    }
  return known !== undefined;
}

async function applyLessons(
  state: IndexState,
  queues: IndexSources,
  lessons: readonly Lesson[],
): Promise<void> {
  const { byId, table } = state;
  const round = ++state.round;
  if (!state.hasIdle && lessons.length > 0) {
    state.hasIdle = true;
    // Without the file, and for another model, they are computed.
    const shipped = await readIdleVectors(queues.embed.id).catch(() => undefined);
    for (const [row, text] of IDLE_REQUESTS.entries()) {
      const vector = shipped?.[row];
      if (vector === undefined) queues.idle.wantLater(row, text);
      else state.idle.set(row, vector);
    }
  }
  let changes = 0;
  let known = 0;
  const pause = async (): Promise<void> => {
    if (++changes % PAUSE_AFTER === 0) await nextTick();
  };
  for (const [at, lesson] of lessons.entries()) {
    const placed = byId.get(lesson.id);
    if (placed?.lesson.revision === lesson.revision) {
      placed.round = round;
      // For fields that change without a revision.
      if (placed.lesson !== lesson) table.refresh(placed.slot, lesson);
      placed.lesson = lesson;
    } else {
      if (placed !== undefined) removeLesson(state, queues, placed);
      if (addLesson(state, queues, lesson)) known++;
      else await pause();
      if (known % KNOWN_PAUSE_AFTER === KNOWN_PAUSE_AFTER - 1) await nextTick();
    }
    if (at % LOOK_PAUSE_AFTER === 0) await nextTick();
  }
  const gone = byId.size === lessons.length ? [] : [...byId.values()].filter((one) => one.round !== round);
  for (const placed of gone) {
    removeLesson(state, queues, placed);
    await pause();
  }
  if (state.awaited !== undefined && queues.cache !== undefined && lessons.length > 0)
    await takeAwaited(state, queues, queues.cache);
  await queues.cues.lookedUp();
}
