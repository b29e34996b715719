import type { Lesson } from '../../../src/core/lesson.ts';
import type { EmbeddingModel } from '../../../src/core/recall.ts';
import { taughtText } from '../plain-lesson.ts';

/** The text of a lesson. */
export interface PairLesson {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly content: string;
  readonly triggers?: readonly string[];
}

/** A live skill with this text and default notes. */
export function createLiveSkill(
  { id, name, description, content, triggers }: PairLesson,
  revision = 1,
): Lesson {
  return {
    id,
    revision,
    kind: 'skill',
    state: 'live',
    pinned: false,
    frozen: false,
    createdAt: 0,
    changedAt: 0,
    text: taughtText(
      { name, description, content },
      { visibility: 'shared', halfLifeDays: 30, ...(triggers === undefined ? {} : { triggers }) },
    ),
  };
}

/** Mulberry32: numbers from 0 to 1, the same on every run. */
export function createMulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

const SYLLABLES =
  'ba be bi bo ca co da de di fa fe ga go ha ka la le lo ma me mi mo na ne no pa pe ra re ri ro sa se so ta te ti to va ve'.split(
    ' ',
  );
const VOCABULARY = 8000;
const DESCRIPTION_WORDS = 14;
const CONTENT_WORDS = 60;
const QUERY_WORDS = 12;

const wordAt = (rank: number): string =>
  [rank % 40, Math.floor(rank / 40) % 40, Math.floor(rank / 1600), rank % 7]
    .map((at) => SYLLABLES[at] ?? 'zu')
    .join('');

/** Texts of invented words with a frequency distribution like that of a language. */
export function createSyntheticTexts(seed: number): {
  lesson(id: number): PairLesson;
  query(about: PairLesson): string;
} {
  const random = createMulberry32(seed);
  const word = (): string => wordAt(Math.floor(VOCABULARY ** random()));
  const words = (count: number): string => Array.from({ length: count }, word).join(' ');
  return {
    lesson: (id) => ({
      id: `L${id}`,
      name: `lesson-${id}`,
      description: words(DESCRIPTION_WORDS),
      content: words(CONTENT_WORDS),
    }),
    query: (about) => {
      const own = about.description.split(' ').filter((_, at) => at % 2 === 0);
      return [...own, words(QUERY_WORDS - own.length)].join(' ');
    },
  };
}

export function randomVector(random: () => number, dimensions: number): Float32Array {
  const vector = Float32Array.from(
    { length: dimensions },
    () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()),
  );
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

const POOL = 2000;

/** Random unit vectors from a pool without delay, to measure recall without the model. */
export function createRandomEmbed(dimensions: number): EmbeddingModel {
  const random = createMulberry32(7);
  const pool = Array.from({ length: POOL }, () => randomVector(random, dimensions));
  let next = 0;
  return {
    id: `random/${dimensions}`,
    dimensions,
    embed: async (texts) => texts.flatMap(() => pool[next++ % POOL] ?? []),
    close: async () => undefined,
  };
}
