import { setImmediate as nextTick } from 'node:timers/promises';
import type { Lesson } from '../../core/lesson.ts';
import type { Domain, RecallQuery } from '../../core/recall.ts';
import { admit } from '../visibility.ts';
import { activationOf, type Usefulness } from './activation.ts';
import type { Int8Vectors } from './int8-vectors.ts';
import type { LessonIndex } from './lesson-index.ts';

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
export async function scanLessons(
  index: LessonIndex,
  text: string,
  meaning: Float32Array | undefined,
  spelling: Float32Array | undefined,
): Promise<LessonScan> {
  const { stamp } = index;
  const { length } = index.table;
  return {
    stamp,
    words: await scanWords(index, text, length),
    meaning: meaning && (await scanRows(index.meanings, meaning, length)),
    spelling: spelling && (await scanRows(index.spellings, spelling, length)),
  };
}

async function scanRows(rows: Int8Vectors, vector: Float32Array, length: number): Promise<Float32Array> {
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

/** Whether a lesson may be shown for a query. */
const ELIGIBILITY = {
  /** Removed, inserted after the scan, or not among the requested lessons. */
  absent: 0,
  open: 1,
  /** A guideline of the named domain, or told to this agent by people: shown whether or not it matches the task. */
  due: 2,
  /** Of another scope, or expired. */
  shut: 3,
  /** Private to another agent or project. */
  private: 4,
} as const;

/** The eligibility of the first `length` slots; lessons inserted after `stamp` are absent. */
export async function eligibilityOf(
  index: LessonIndex,
  { length, stamp }: { readonly length: number; readonly stamp: number },
  query: RecallQuery,
  domain: Domain,
  now: number,
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
    const [stamps, audienceIds, expiries, guidelines, told] = [
      table.stamps(),
      table.audienceIds(),
      table.expiries(),
      table.guidelines(),
      table.told(),
    ];
    for (let slot = from; slot < to; slot++) {
      const placed = stamps[slot] ?? 0;
      if (placed === 0 || placed > stamp) continue;
      const audience = audienceIds[slot] ?? 0;
      const answer = admitted[audience];
      if (answer === 'private') standings[slot] = ELIGIBILITY.private;
      else if (answer === 'out-of-scope' || (expiries[slot] ?? 0) <= now) standings[slot] = ELIGIBILITY.shut;
      // Told to others: shared, it is one lesson among the others.
      else if (told[slot] === 1 && answer === 'yes') standings[slot] = ELIGIBILITY.due;
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

/**
 * The score of lessons that are not meant for the task, estimated by its fourth best score. Relevant lessons stand out from
 * it; a task that matches a whole topic equally well is not about any of its lessons.
 */
interface Background {
  readonly meaning: number;
  readonly spelling: number;
  readonly words: number;
}

/** The rank of the background score: up to three similar lessons can still stand out. */
const RANK = 4;
/** For libraries with fewer lessons. */
const USUAL: Background = { meaning: 0.2, spelling: 0.15, words: 0.3 };
/** In a large library some unrelated lesson is always near; it must not hide a nearer one. */
const MOST_BACKGROUND = 0.35;

function backgroundOf(found: LessonScan, standings: Uint8Array): Background {
  const { meaning, spelling, words } = found;
  return {
    meaning: (meaning && ranked(meaning, standings)) ?? USUAL.meaning,
    spelling: (spelling && ranked(spelling, standings)) ?? USUAL.spelling,
    words: ranked(words, standings) ?? USUAL.words,
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

/**
 * The evidence for a lesson as log-odds: from 0 on it may be shown. Keywords count by their sum, not by their share: two
 * rare names in a long message are enough, whether or not the embedding agrees. Rank fusion would let one side spoil what
 * the other is sure of. The coefficients were fitted to the dev split of `bench/recall` and rounded.
 */
function evidenceFor(found: LessonScan, background: Background): (slot: number) => number {
  const { meaning, spelling, words } = found;
  const wordsAlone = -4.4 * background.words - 3.4;
  const withSpelling = wordsAlone - 1.5 * background.spelling;
  const withMeaning = -7.5 * Math.min(background.meaning, MOST_BACKGROUND) - 2 * background.words - 4.5;
  return (slot) => {
    const word = words[slot] ?? 0;
    const cosine = meaning === undefined ? 0 : (meaning[slot] ?? 0);
    if (cosine === 0) return 5 * word + 2.5 * (spelling?.[slot] ?? 0) + withSpelling;
    const byBoth = 14 * cosine + 2.7 * word + withMeaning;
    const byWords = 5 * word + wordsAlone;
    return byBoth > byWords ? byBoth : byWords;
  };
}

/** Evidence as a number from 0 to 1; 0.5 is the threshold. */
export const relevanceOf = (evidence: number): number => 1 / (1 + Math.exp(-evidence));

/** A lesson that may be shown, with the evidence for it. */
export interface RecallCandidate {
  readonly lesson: Lesson;
  readonly slot: number;
  /** From 0 on it is enough to be shown. */
  readonly evidence: number;
  readonly activation: number;
  /** Pinned or proven: age does not hide it. */
  readonly isKept: boolean;
  /** Belongs to the guidelines of the domain, which come first. */
  readonly isGuideline: boolean;
  /** Shown whether or not it matches the task: its domain was named, or people told it to this agent. */
  readonly isDue: boolean;
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
}

/** More than any budget holds, so that enough remain after duplicates and old lessons are dropped. */
const MOST = 32;
/** Lessons of other scopes, kept only to explain why they are not shown. */
const MOST_SHUT = 8;

/** The lessons with the most evidence, including those that are always shown. */
export async function findCandidates(
  index: LessonIndex,
  found: LessonScan,
  standings: Uint8Array,
  { domain, now, doubt, usefulness }: CandidateContext,
): Promise<readonly RecallCandidate[]> {
  const evidenceOf = evidenceFor(found, backgroundOf(found, standings));
  const lists: readonly (TopK | undefined)[] = [
    undefined,
    createTopK(MOST),
    createTopK(MOST),
    createTopK(MOST_SHUT),
    createTopK(MOST_SHUT),
  ];
  const bars = lists.map((list) => list?.bar ?? Number.POSITIVE_INFINITY);
  await inSlices(standings.length, (from, to) => {
    for (let slot = from; slot < to; slot++) {
      const standing = standings[slot] ?? ELIGIBILITY.absent;
      const evidence = evidenceOf(slot);
      if (evidence <= (bars[standing] ?? 0)) continue;
      const list = lists[standing];
      list?.offer(slot, evidence);
      bars[standing] = list?.bar ?? Number.POSITIVE_INFINITY;
    }
  });

  const guidelines = index.table.guidelines();
  const candidateAt = (slot: number): readonly RecallCandidate[] => {
    const placed = index.at(slot);
    if (placed === undefined || placed.stamp > found.stamp) return [];
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
        isInScope: standings[slot] !== ELIGIBILITY.shut && standings[slot] !== ELIGIBILITY.private,
        isPrivate: standings[slot] === ELIGIBILITY.private,
      },
    ];
  };
  return lists.flatMap((list) => list?.items() ?? []).flatMap(candidateAt);
}
