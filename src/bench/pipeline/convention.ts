import { asArray, asObject, asString, type Json, type JsonObject } from '../../core/json.ts';
import type { Corpus } from './corpus.ts';

/** Where an output stands. */
export interface Place {
  readonly stage: string;
  readonly corpus: Corpus;
}

/**
 * Something the house wants done its way in some of the stages. No prompt states it; a check that fails does. It can be
 * kept or broken without making the content wrong, and whether another convention is kept does not matter to it.
 */
export interface Convention {
  readonly id: string;
  readonly title: string;
  readonly stages: readonly string[];
  /** What the check says when it is broken. */
  readonly demand: string;
  isKept(output: JsonObject, place: Place): boolean;
  /** The same output, with the convention kept. */
  keep(output: JsonObject, place: Place): JsonObject;
  /** Whether a text holds what one needs to keep it. */
  isTaughtBy(text: string): boolean;
}

/** Whether one lesson of a block has all the marks: marks that are scattered over several teach nothing. */
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
      : { gaps: objectsIn(output.gaps).map((gap) => ({ ...gap, statement: changed(gap.statement) })) }),
  };
}

export const objectsIn = (value: Json | undefined): readonly JsonObject[] =>
  asArray(value).map((one) => asObject(one));
