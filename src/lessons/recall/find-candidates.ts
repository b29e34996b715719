import { setImmediate as nextTick } from 'node:timers/promises';
import type { Lesson } from '../../core/lesson.ts';
import type { Domain, RecallQuery } from '../../core/recall.ts';
import { isFragment } from '../check-overlay.ts';
import { admit } from '../scope.ts';
import { activationOf, type Usefulness } from './activation.ts';
import type { Int8Query, Int8Vectors } from './int8-vectors.ts';
import { type LessonIndex, NO_SLOT } from './lesson-index.ts';
import { type Background, createEvidence, type RelevanceWeights, USUAL_BACKGROUND } from './relevance.ts';

/** Slots between two pauses: one or two milliseconds of work. */
const SLICE = 16_384;

/** Runs `work` over all slots in slices, with a turn of the event loop between two slices. */
async function inSlices(length: number, work: (from: number, to: number) => void): Promise<void> {
  for (let from = 0; from < length; from += SLICE) {
    if (from > 0) await nextTick();
    work(from, Math.min(from + SLICE, length));
  }
}

/** The top k of a stream of scores, without a full sort. Equal scores keep their order of arrival. */
interface TopK {
  /** The score that an item must exceed to be kept. */
  readonly bar: number;
  readonly isFull: boolean;
  offer(item: number, score: number): void;
  /** Best first. */
  items(): readonly number[];
}

function createTopK(most: number): TopK {
  const items = new Int32Array(most);
  const scores = new Float64Array(most);
  let count = 0;
  // A plain field, not a getter: it is read about 100,000 times for each change.
  const best = {
    bar: Number.NEGATIVE_INFINITY,
    isFull: false,
    offer: (item: number, score: number): void => {
      if (!(score > best.bar)) return;
      let at = best.isFull ? most - 1 : count++;
      for (; at > 0 && (scores[at - 1] ?? 0) < score; at--) {
        scores[at] = scores[at - 1] ?? 0;
        items[at] = items[at - 1] ?? 0;
      }
      scores[at] = score;
      items[at] = item;
      best.isFull = count === most;
      if (best.isFull) best.bar = scores[most - 1] ?? 0;
    },
    items: () => [...items.subarray(0, count)],
  };
  return best;
}

/** The similarity of each slot to a task; 0 for nothing in common. */
interface LessonScan {
  /** By embeddings; undefined without one of the task. */
  readonly similarity: Float32Array | undefined;
  readonly words: Float32Array;
  /** The similarity to requests that need no lesson; undefined without embeddings. */
  readonly idle: number | undefined;
  /** Lessons inserted after this stamp were not scanned. */
  readonly stamp: number;
}

/** Postings between two pauses: one or two milliseconds. */
const WORDS_PAUSE_AFTER = 65_536;

/** The slots that are compared with a task, and which of them may be shown. */
export interface ScanRange {
  readonly length: number;
  /** Lessons inserted later are left out. */
  readonly stamp: number;
  readonly standings: Uint8Array;
}

/** A task, with its embedding if there is one. */
interface ScannedTask {
  readonly text: string;
  readonly meaning?: Float32Array | undefined;
}

/**
 * Compares the lessons with the task, in slices with pauses. 10,000 lessons take less than a millisecond and no pause,
 * 100,000 about 8 ms in seven slices: an approximate nearest-neighbour index would save part of that and miss lessons. Of a large
 * library of which only a small part is in scope, only that part is compared by its meaning.
 */
export async function scanLessons(
  index: LessonIndex,
  range: ScanRange,
  { text, meaning }: ScannedTask,
  weights: RelevanceWeights,
): Promise<LessonScan> {
  const { length, stamp } = range;
  const asked = meaning && index.meanings.query(meaning);
  return {
    stamp,
    words: await scanWords(index, text, length),
    similarity: asked && (await scanMeanings(index, asked, range, weights)),
    idle: asked && idleSimilarity(index.idle, asked),
  };
}

/** One vector alone takes about twice as long as one of a run of them. */
const FEW_IN_SCOPE = 4;
const LARGE = 4096;

/** The slots that may be shown, when they are few of many; undefined: all are compared. */
function fewInScope({ length, standings }: ScanRange): readonly number[] | undefined {
  if (length < LARGE) return undefined;
  const most = length / FEW_IN_SCOPE;
  const slots: number[] = [];
  for (let slot = 0; slot < length; slot++) {
    if (standings[slot] !== ELIGIBILITY.open && standings[slot] !== ELIGIBILITY.due) continue;
    if (slots.length >= most) return undefined;
    slots.push(slot);
  }
  return slots;
}

const NEAREST_IDLE = 3;

/** The mean of the nearest three; undefined before they are embedded. */
function idleSimilarity(idle: Int8Vectors, asked: Int8Query): number | undefined {
  const scores = new Float32Array(idle.length);
  idle.score(asked, 0, idle.length, scores);
  const nearest = scores.sort().slice(-NEAREST_IDLE);
  if (nearest.length < NEAREST_IDLE) return undefined;
  return Math.max(0, nearest.reduce((sum, score) => sum + score, 0) / NEAREST_IDLE);
}

/** Of each lesson its best cue, its second best and its whole text. */
async function scanMeanings(
  index: LessonIndex,
  asked: Int8Query,
  range: ScanRange,
  weights: RelevanceWeights,
): Promise<Float32Array> {
  const { length } = range;
  const few = fewInScope(range);
  if (few !== undefined) return compareFew(index, asked, { length, few }, weights);
  const wholes = await scanRows(index.meanings, asked, length);
  const rowCount = index.cues.length;
  const scores = await scanRows(index.cues, asked, rowCount);
  const best = new Float32Array(length);
  const second = new Float32Array(length);
  await inSlices(rowCount, (from, to) => {
    const owners = index.owners();
    for (let row = from; row < to; row++) {
      const slot = owners[row] ?? NO_SLOT;
      const score = scores[row] ?? 0;
      if (slot >= length || score <= (second[slot] ?? 0)) continue;
      const top = best[slot] ?? 0;
      if (score > top) best[slot] = score;
      second[slot] = score > top ? top : score;
    }
  });
  for (let slot = 0; slot < length; slot++) {
    const top = best[slot] ?? 0;
    // A lesson with a single cue has no second one.
    const next = second[slot] || top;
    wholes[slot] = weights.best * top + weights.second * next + weights.whole * (wholes[slot] ?? 0);
  }
  return wholes;
}

/** The same for some of them: what is out of scope counts as having nothing in common. */
async function compareFew(
  index: LessonIndex,
  asked: Int8Query,
  { length, few }: { readonly length: number; readonly few: readonly number[] },
  weights: RelevanceWeights,
): Promise<Float32Array> {
  const wholes = new Float32Array(length);
  const scores = new Float32Array(index.cues.length);
  await inSlices(few.length, (from, to) => {
    const slots = few.slice(from, to);
    index.meanings.scoreEach(asked, slots, wholes);
    for (const slot of slots) {
      const rows = index.at(slot)?.rows ?? [];
      index.cues.scoreEach(asked, rows, scores);
      let [top, next] = [0, 0];
      for (const row of rows) {
        const score = scores[row] ?? 0;
        if (score > top) [top, next] = [score, top];
        else if (score > next) next = score;
      }
      wholes[slot] =
        weights.best * top + weights.second * (next || top) + weights.whole * (wholes[slot] ?? 0);
    }
  });
  return wholes;
}

async function scanRows(rows: Int8Vectors, query: Int8Query, length: number): Promise<Float32Array> {
  const scores = new Float32Array(length);
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

/** Whether a lesson may be shown for a query. */
const ELIGIBILITY = {
  /** Removed, inserted after the scan, not among the requested lessons, or another member's. */
  absent: 0,
  open: 1,
  /** A guideline of the named domain, or for every task: shown whether or not it matches this one. */
  due: 2,
  /** Of another scope, or expired. */
  shut: 3,
  /** Private to another agent or project. */
  private: 4,
} as const;

/** The eligibility of the first `length` slots; lessons inserted after `stamp` are absent. */
export async function eligibilityOf(
  index: LessonIndex,
  { length, stamp }: Omit<ScanRange, 'standings'>,
  query: RecallQuery,
  { domain, now }: Pick<CandidateContext, 'domain' | 'now'>,
): Promise<Uint8Array> {
  const { table } = index;
  const isNamed = domain.reason === 'header' || domain.reason === 'pattern';
  const admitted = table.audiences.map((audience) =>
    admit(audience, query, isNamed ? domain.name : undefined),
  );
  const ofDomain = Uint8Array.from(table.audiences, ({ scope }) =>
    isNamed && scope.domain === domain.name ? 1 : 0,
  );
  const standings = new Uint8Array(length);
  await inSlices(length, (from, to) => {
    const [stamps, audienceIds, expiries, guidelines, always] = [
      table.stamps(),
      table.audienceIds(),
      table.expiries(),
      table.guidelines(),
      table.always(),
    ];
    for (let slot = from; slot < to; slot++) {
      const placed = stamps[slot] ?? 0;
      if (placed === 0 || placed > stamp) continue;
      const audience = audienceIds[slot] ?? 0;
      const answer = admitted[audience];
      if (answer === 'foreign') continue;
      if (answer === 'private') standings[slot] = ELIGIBILITY.private;
      else if (answer === 'out-of-scope' || (expiries[slot] ?? 0) <= now) standings[slot] = ELIGIBILITY.shut;
      // For every task of others: shared, it is one lesson among the others.
      else if (always[slot] === 1 && answer === 'yes') standings[slot] = ELIGIBILITY.due;
      else if (ofDomain[audience] === 1 && guidelines[slot] === 1) standings[slot] = ELIGIBILITY.due;
      else standings[slot] = ELIGIBILITY.open;
    }
  });
  const { among } = query;
  if (among !== undefined)
    for (let slot = 0; slot < length; slot++)
      if (!among.has(index.at(slot)?.lesson.id ?? '')) standings[slot] = ELIGIBILITY.absent;
  return standings;
}

/** The rank of the background score: up to three similar lessons can still stand out. */
const RANK = 4;
function backgroundOf({ similarity, words, idle }: LessonScan, standings: Uint8Array): Background {
  return {
    similarity: (similarity && ranked(similarity, standings)) ?? USUAL_BACKGROUND.similarity,
    words: ranked(words, standings) ?? USUAL_BACKGROUND.words,
    idle: idle ?? USUAL_BACKGROUND.idle,
  };
}

/** The score at the rank RANK among the lessons that may be shown; undefined when there are fewer. */
function ranked(scores: Float32Array, standings: Uint8Array): number | undefined {
  const best = createTopK(RANK);
  let bar = best.bar;
  for (let slot = 0; slot < scores.length; slot++) {
    const score = scores[slot] ?? 0;
    if (score <= bar) continue;
    if (standings[slot] !== ELIGIBILITY.open && standings[slot] !== ELIGIBILITY.due) continue;
    best.offer(slot, score);
    bar = best.bar;
  }
  return best.isFull ? best.bar : undefined;
}

/** A lesson that may be shown, with the evidence for it. */
export interface RecallCandidate {
  readonly lesson: Lesson;
  readonly slot: number;
  /** From 0 on it is enough for its body. */
  readonly evidence: number;
  readonly activation: number;
  /** Pinned or proven: age does not hide it. */
  readonly isKept: boolean;
  /** Belongs to the guidelines of the domain, which come first. */
  readonly isGuideline: boolean;
  /** Shown whether or not it matches the task: its domain was named, or it is for every task. */
  readonly isDue: boolean;
  /** Guidance for every run in its scope: it comes before everything else. */
  readonly isFragment?: boolean;
  readonly isInScope: boolean;
  /** It is another agent's or another project's, and shown to them only. */
  readonly isPrivate?: boolean;
}

interface CandidateContext {
  readonly domain: Domain;
  readonly now: number;
  /** Subtracted from all evidence. */
  readonly doubt: number;
  readonly usefulness: (lessonId: string) => Usefulness;
  readonly weights: RelevanceWeights;
}

/** More than any budget holds, so that enough remain after duplicates and old lessons are dropped. */
const MOST = 64;
/** Those for every task: what people told is not left out for its number. */
const MOST_DUE = 256;
/** Lessons of other scopes, kept only to explain why they are not shown. */
const MOST_SHUT = 8;

/** The lessons with the most evidence, including those that are always shown. */
export async function findCandidates(
  index: LessonIndex,
  scan: LessonScan,
  standings: Uint8Array,
  { domain, now, doubt, usefulness, weights }: CandidateContext,
): Promise<readonly RecallCandidate[]> {
  const { similarity, words } = scan;
  const evidence = createEvidence(weights, backgroundOf(scan, standings));
  const evidenceOf = (slot: number): number => evidence(similarity?.[slot] ?? 0, words[slot] ?? 0);
  const lists: readonly (TopK | undefined)[] = [
    undefined,
    createTopK(MOST),
    createTopK(MOST_DUE),
    createTopK(MOST_SHUT),
    createTopK(MOST_SHUT),
  ];
  const bars = lists.map((list) => list?.bar ?? Number.POSITIVE_INFINITY);
  await inSlices(standings.length, (from, to) => {
    for (let slot = from; slot < to; slot++) {
      const standing = standings[slot] ?? ELIGIBILITY.absent;
      const score = evidenceOf(slot);
      if (score <= (bars[standing] ?? 0)) continue;
      const list = lists[standing];
      list?.offer(slot, score);
      bars[standing] = list?.bar ?? Number.POSITIVE_INFINITY;
    }
  });

  const guidelines = index.table.guidelines();
  const candidateAt = (slot: number): readonly RecallCandidate[] => {
    const placed = index.at(slot);
    if (placed === undefined || placed.stamp > scan.stamp) return [];
    const { lesson } = placed;
    const use = usefulness(lesson.id);
    return [
      {
        lesson,
        slot,
        evidence: evidenceOf(slot) - doubt,
        activation: activationOf(lesson, use, now),
        isKept: lesson.pinned || use.isProven,
        isGuideline: guidelines[slot] === 1 && lesson.text.scope.domain === domain.name,
        isDue: standings[slot] === ELIGIBILITY.due,
        isFragment: standings[slot] === ELIGIBILITY.due && isFragment(lesson),
        isInScope: standings[slot] !== ELIGIBILITY.shut && standings[slot] !== ELIGIBILITY.private,
        isPrivate: standings[slot] === ELIGIBILITY.private,
      },
    ];
  };
  return lists.flatMap((list) => list?.items() ?? []).flatMap(candidateAt);
}
