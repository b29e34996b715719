import { asArray, asNumber, asString, type Json } from '../../../src/core/json.ts';

/** Citation keys: a name and two digits. */
const KEY = /\b[a-z]{3,20}\d{2}\b/g;
const PERCENT = /(-?\d{1,4}(?:\.\d{1,6})?) ?(?:%|percent\b)/g;

export const countWords = (text: string): number => text.match(/\S+/g)?.length ?? 0;

/** All citation keys in order, with repetitions. */
export const citationKeysIn = (text: string): readonly string[] => text.match(KEY) ?? [];

/** All percentages in order. */
export const percentagesIn = (text: string): readonly number[] =>
  [...text.matchAll(PERCENT)].map(([, digits = '']) => Number(digits));

export const answerSentences = (text: string): readonly string[] =>
  text
    .match(/[^.!?]+(?:[.!?](?!\s|$)[^.!?]*)*[.!?]?/g)
    ?.map((one) => one.trim())
    .filter(Boolean) ?? [];

/** Reads a number, or a text such as `71.4`, `71.4 %` or `71.4 percent`. */
export function asPercent(value: Json | undefined): number | undefined {
  const number = asNumber(value);
  if (number !== undefined) return number;
  const digits = /^(-?\d{1,4}(?:\.\d{1,6})?)(?: ?(?:%|percent))?$/.exec(asString(value)?.trim() ?? '')?.[1];
  return digits === undefined ? undefined : Number(digits);
}

export const isNear = (a: number | undefined, b: number, by = 0.011): boolean =>
  a !== undefined && Math.abs(a - b) <= by;

/** A list of non-empty texts; undefined when the value is anything else. */
export function textList(value: Json | undefined): readonly string[] | undefined {
  const list = asArray(value);
  const texts = list.filter((one) => typeof one === 'string' && one.trim() !== '');
  return Array.isArray(value) && texts.length === list.length ? (texts as readonly string[]) : undefined;
}

export const mentions = (text: string, what: string): boolean =>
  text.toLowerCase().includes(what.toLowerCase());

export const roundToHundredths = (value: number): number => Math.round(value * 100) / 100;
