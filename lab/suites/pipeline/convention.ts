import { asArray, asObject, asString, type Json, type JsonObject } from '../../../src/core/json.ts';
import type { Corpus } from './corpus.ts';

/** The stage and corpus of an output. */
export interface ConventionContext {
  readonly stage: string;
  readonly corpus: Corpus;
}

/**
 * A convention of the house for some of the stages. No prompt states it; the check does when it fails. Keeping or breaking it
 * does not make the content wrong, and it is independent of the other conventions.
 */
export interface Convention {
  readonly id: string;
  readonly title: string;
  readonly stages: readonly string[];
  /** The check's finding when it is broken. */
  readonly demand: string;
  isKept(output: JsonObject, place: ConventionContext): boolean;
  /** The same output, changed to keep the convention. */
  keep(output: JsonObject, place: ConventionContext): JsonObject;
  /** Whether a text contains what is needed to keep it. */
  isTaughtBy(text: string): boolean;
}

/** Whether one lesson of a block contains all the marks; marks spread over several lessons do not teach. */
export const hasMarks =
  (...marks: readonly string[]): ((text: string) => boolean) =>
  (text) =>
    text
      .split(/^### /m)
      .map((lesson) => lesson.replaceAll('`', '').toLowerCase())
      .some((lesson) => marks.every((mark) => lesson.includes(mark.toLowerCase())));

/** The running text of an output. */
export const proseOf = (output: JsonObject): readonly string[] => [
  ...(asString(output.text) === undefined ? [] : [asString(output.text) ?? '']),
  ...asArray(output.paragraphs).map((text) => asString(text) ?? ''),
  ...asArray(output.gaps).map((gap) => asString(asObject(gap).statement) ?? ''),
];

export function mapProse(output: JsonObject, change: (text: string) => string): JsonObject {
  const changed = (value: Json | undefined): Json => change(asString(value) ?? '');
  return {
    ...output,
    ...(output.text === undefined ? {} : { text: changed(output.text) }),
    ...(output.paragraphs === undefined ? {} : { paragraphs: asArray(output.paragraphs).map(changed) }),
    ...(output.gaps === undefined
      ? {}
      : { gaps: objectList(output.gaps).map((gap) => ({ ...gap, statement: changed(gap.statement) })) }),
  };
}

export const objectList = (value: Json | undefined): readonly JsonObject[] =>
  asArray(value).map((one) => asObject(one));
