import { type Paper, pathOf } from '../documents/paths.ts';
import type { DayWorld } from '../world.ts';

/** A sentence about the papers that they bear out or not. Its truth is worked out from the facts, never written down. */
export interface Claim {
  /** What it is about. Two claims on one slot decide each other, so a question takes at most one of them. */
  readonly slot: string;
  /** Without its full stop. */
  readonly text: string;
  readonly isTrue: boolean;
  /** The true sentence on the same slot. */
  readonly truth: string;
  /** What has to be read to know. */
  readonly evidence: readonly Evidence[];
}

export interface Evidence {
  readonly path: string;
  /** Stands there letter by letter. */
  readonly quote: string;
}

export const cite = (day: DayWorld, paper: Paper, quote: string): Evidence => ({
  path: pathOf(day, paper),
  quote,
});

export interface ValueSlot {
  readonly slot: string;
  readonly actual: string | number;
  /** Values that other things of the day have; those that are the actual one make true claims like any other. */
  readonly others: readonly (string | number)[];
  say(value: string): readonly string[];
  readonly evidence: readonly Evidence[];
}

/** That something has a value: once the one it has, and once each that something else has, in every phrasing. */
export function valueClaims({ slot, actual, others, say, evidence }: ValueSlot): readonly Claim[] {
  const truth = say(String(actual))[0] ?? '';
  const values = [...new Set([actual, ...others].map(String))];
  return values.flatMap((value) =>
    say(value).map((text) => ({ slot, text, isTrue: value === String(actual), truth, evidence })),
  );
}

export interface VerdictSlot {
  readonly slot: string;
  readonly isSo: boolean;
  readonly yes: readonly string[];
  readonly no: readonly string[];
  readonly evidence: readonly Evidence[];
}

/** That something is so, and that it is not. */
export function verdictClaims({ slot, isSo, yes, no, evidence }: VerdictSlot): readonly Claim[] {
  const truth = (isSo ? yes : no)[0] ?? '';
  return [
    ...yes.map((text) => ({ slot, text, isTrue: isSo, truth, evidence })),
    ...no.map((text) => ({ slot, text, isTrue: !isSo, truth, evidence })),
  ];
}

/** One property that all things of a kind have. */
export interface Property<T> {
  readonly name: string;
  read(thing: T): string | number;
  say(thing: T, value: string): readonly string[];
  /** Wrong values of its own, where those of other things would give themselves away. */
  among?(thing: T): readonly (string | number)[];
}

export interface PropertyClaims<T> {
  /** What the question is about. */
  readonly subjects: readonly T[];
  /** All of the kind on that day: where wrong values come from. */
  readonly all: readonly T[];
  nameOf(thing: T): string | number;
  readonly properties: readonly Property<T>[];
  evidenceOf(thing: T): readonly Evidence[];
}

export const propertyClaims = <T>(about: PropertyClaims<T>): readonly Claim[] =>
  about.subjects.flatMap((thing) =>
    about.properties.flatMap((property) =>
      valueClaims({
        slot: `${about.nameOf(thing)}/${property.name}`,
        actual: property.read(thing),
        others: property.among?.(thing) ?? about.all.map((other) => property.read(other)),
        say: (value) => property.say(thing, value),
        evidence: about.evidenceOf(thing),
      }),
    ),
  );

/** Numbers that a miscount would give. */
export const near = (count: number): readonly number[] =>
  [count - 1, count + 1, count + 2].filter((value) => value >= 0);
