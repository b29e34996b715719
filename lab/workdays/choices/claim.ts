import type { Random } from '../../../src/base/random.ts';
import { type Paper, paperPath } from '../documents/papers.ts';
import type { DayFacts, DayWorld } from '../world.ts';

/** A kind of question that can be made from a day. */
export interface QuestionKind {
  readonly name: string;
  /** The papers needed to answer; a day without one of them has no such question. */
  readonly papers: readonly Paper[];
  draft(facts: DayFacts, random: Random): QuestionDraft;
}

/** A question before its options are chosen from the claims. */
export interface QuestionDraft {
  readonly stem: string;
  readonly claims: readonly Claim[];
}

/** A sentence about the papers, true or false. Its truth is computed from the facts, never written down. */
export interface Claim {
  /** Its subject. Two claims on one slot decide each other, so a question takes at most one of them. */
  readonly slot: string;
  /** Without its full stop. */
  readonly text: string;
  readonly isTrue: boolean;
  /** The true sentence on the same slot. */
  readonly truth: string;
  /** The passages that decide it. */
  readonly evidence: readonly PaperQuote[];
}

export interface PaperQuote {
  readonly path: string;
  /** Verbatim. */
  readonly quote: string;
}

export const cite = (day: DayWorld, paper: Paper, quote: string): PaperQuote => ({
  path: paperPath(day, paper),
  quote,
});

interface ValueSlot {
  readonly slot: string;
  readonly actual: string | number;
  /** Values of other things of the day; one that equals the actual value makes no wrong claim. */
  readonly others: readonly (string | number)[];
  say(value: string): readonly string[];
  readonly evidence: readonly PaperQuote[];
}

/** Claims that something has a value: the actual one and each of the others, in every phrasing. */
export function valueClaims({ slot, actual, others, say, evidence }: ValueSlot): readonly Claim[] {
  const truth = say(String(actual))[0] ?? '';
  const values = [...new Set([actual, ...others].map(String))];
  return values.flatMap((value) =>
    say(value).map((text) => ({ slot, text, isTrue: value === String(actual), truth, evidence })),
  );
}

/** What a miscount would give. */
export const wrongCounts = (count: number): readonly number[] =>
  [count - 1, count + 1, count + 2].filter((value) => value >= 0);

interface VerdictSlot {
  readonly slot: string;
  readonly isSo: boolean;
  readonly yes: readonly string[];
  readonly no: readonly string[];
  readonly evidence: readonly PaperQuote[];
}

/** Claims that something holds, and that it does not. */
export function verdictClaims({ slot, isSo, yes, no, evidence }: VerdictSlot): readonly Claim[] {
  const truth = (isSo ? yes : no)[0] ?? '';
  return [
    ...yes.map((text) => ({ slot, text, isTrue: isSo, truth, evidence })),
    ...no.map((text) => ({ slot, text, isTrue: !isSo, truth, evidence })),
  ];
}

/** A comparison of two things. `{a}` and `{b}` in its sentences stand for their names. */
export interface PairRow<T> {
  readonly name: string;
  isSo(a: T, b: T): boolean;
  readonly yes: string;
  readonly no: string;
}

interface PairClaims<T> {
  readonly things: readonly T[];
  nameOf(thing: T): string | number;
  readonly rows: readonly PairRow<T>[];
  evidenceOf(pair: readonly [T, T]): readonly PaperQuote[];
}

/** Compares the first thing with each of the others. */
export function pairClaims<T>({ things, nameOf, rows, evidenceOf }: PairClaims<T>): readonly Claim[] {
  const [first, ...rest] = things;
  if (first === undefined) return [];
  return rest.flatMap((other) => {
    const [a, b] = [String(nameOf(first)), String(nameOf(other))];
    const named = (sentence: string): string => sentence.replace('{a}', () => a).replace('{b}', () => b);
    return rows.flatMap(({ name, isSo, yes, no }) =>
      verdictClaims({
        slot: `${name}/${a}/${b}`,
        isSo: isSo(first, other),
        yes: [named(yes)],
        no: [named(no)],
        evidence: evidenceOf([first, other]),
      }),
    );
  });
}
