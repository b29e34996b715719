import { isObject, type Json, parseJson } from '../core/json.ts';
import type { ReplyRead } from '../core/learn.ts';
import { DEEPEST_JSON, type LooseJson, readLooseJson, TooDeepError } from '../text/loose-json.ts';

const FENCE = /```[\w+-]{0,20}[ \t]*\n?\s{0,40}(?=[[{(])/g;
/** Where JSON begins, as opposed to a bracket in a sentence. */
const START =
  /\{\s{0,200}(?:["'“}]|[A-Za-z_]\w{0,40}["']?\s{0,20}:)|\[\s{0,200}(?:[[{"'“\]\d-]|true|false|null|None|True|False)/g;
/** Between the members of a list that lacks its brackets: one object per line. */
const BETWEEN = /[\s,;]*(?=\{\s{0,200}["'}])/y;
const MOST_STARTS = 24;
const MOST_MEMBERS = 256;

/** The tags in which models put their reasoning before the answer. */
const REASONING: readonly (readonly [open: string, close: string])[] = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<thought>', '</thought>'],
  ['<reasoning>', '</reasoning>'],
  ['<reflection>', '</reflection>'],
  ['<scratchpad>', '</scratchpad>'],
  ['[THINK]', '[/THINK]'],
  ['◁think▷', '◁/think▷'],
  ['<|channel|>analysis', '<|channel|>final'],
];

/**
 * A reply without the reasoning before it: JSON in that is not the answer. Undefined when the reply ended inside its reasoning.
 * Some templates begin the reasoning themselves, so that only its end is in the reply.
 */
export function withoutReasoning(reply: string): string | undefined {
  let text = reply.trimStart();
  for (const [open, close] of REASONING) {
    const isOpen = text.slice(0, open.length).toLowerCase() === open.toLowerCase();
    const end = text.indexOf(close);
    if (isOpen && end < 0) return undefined;
    if (isOpen || (end >= 0 && !text.slice(0, end).includes(open) && isBare(text, end)))
      text = text.slice(end + close.length).trimStart();
  }
  return text.replace(/^<\|message\|>/, '').replace(/<\|(?:end|return|im_end|eot_id)\|>\s*$/, '');
}

/** The end of reasoning whose beginning is not in the reply: a line ends with it, and it stands in no JSON. */
const isBare = (text: string, end: number): boolean =>
  !/["'][^"'\n]{0,200}$/.test(text.slice(Math.max(0, end - 200), end));

/**
 * The first JSON value in a model's reply: the whole reply, a fenced block, or bare JSON between sentences. What is broken in its
 * form is repaired; of a reply that is cut off, the complete members are the value. The first position that holds an object or
 * a list decides: values inside or after it are not the answer.
 */
export function findJson(reply: string): ReplyRead<Json> {
  const text = withoutReasoning(reply)?.trim();
  if (text === undefined) return { ok: false, why: 'it ends inside its reasoning: answer shorter' };
  if (text === '') return { ok: false, why: 'it is empty' };
  const scalar = /^[[{]/.test(text) ? undefined : parseJson(text);
  if (scalar !== undefined) return { ok: true, value: scalar };
  try {
    return valueIn(text);
  } catch (error) {
    if (error instanceof TooDeepError) return { ok: false, why: `its JSON is ${error.message}` };
    throw error;
  }
}

function valueIn(text: string): ReplyRead<Json> {
  let why = 'it holds no JSON';
  let numbers: JsonAt | undefined;
  let broken = -1;
  for (const start of startsIn(text)) {
    if (start < broken) continue;
    const found = valueAt(text, start);
    // A list of numbers may be the note of a sentence: "as in [1]".
    if (found !== undefined && isNumbers(found.value)) numbers ??= found;
    else if (found !== undefined && !(found.isCut === true && isEmpty(found.value)))
      return { ok: true, value: found.value };
    else {
      why =
        found === undefined
          ? 'its JSON does not parse'
          : 'its JSON is cut off before the end: answer shorter';
      // Values inside a broken one are not the answer.
      broken = endOf(text, start) ?? text.length;
    }
  }
  return numbers === undefined ? { ok: false, why } : { ok: true, value: numbers.value };
}

interface JsonAt {
  readonly value: Json;
  /** Only the complete members of a reply that was cut off. */
  readonly isCut?: true;
}

const isNumbers = (value: Json): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'number');

const isEmpty = (value: Json): boolean =>
  isObject(value) ? Object.keys(value).length === 0 : Array.isArray(value) && value.length === 0;

/** Fenced blocks first: what stands before them is a sentence about them. */
function startsIn(text: string): readonly number[] {
  const fenced = [...text.matchAll(FENCE)]
    .slice(0, MOST_STARTS)
    .map(({ index, 0: { length } }) => index + length);
  const bare: number[] = [];
  for (const { index } of text.matchAll(START)) {
    bare.push(index);
    if (bare.length >= MOST_STARTS) break;
  }
  // A fence inside a string is not where the answer begins.
  const first = bare[0] ?? Number.POSITIVE_INFINITY;
  const isWhole = first === 0;
  return isWhole ? bare : [...new Set([...fenced, ...bare])];
}

function valueAt(text: string, start: number): JsonAt | undefined {
  const first = readAt(text, start);
  if (first === undefined) return undefined;
  if (Array.isArray(first.value) || first.isCut) return plain(first.value, first.isCut);
  // Some models write one object after the other.
  const members: Json[] = [first.value];
  let { end } = first;
  let isCut = false;
  while (!isCut && members.length < MOST_MEMBERS) {
    BETWEEN.lastIndex = end;
    const gap = BETWEEN.exec(text)?.[0];
    const next = gap === undefined ? undefined : readAt(text, end + gap.length);
    if (next === undefined) break;
    members.push(next.value);
    ({ end, isCut } = next);
  }
  return members.length === 1 ? plain(first.value, false) : plain(members, isCut);
}

const plain = (value: Json, isCut: boolean): JsonAt => (isCut ? { value, isCut } : { value });

/** What is JSON is read as JSON: the loose reader must not change it. */
function readAt(text: string, start: number): LooseJson | undefined {
  const end = endOf(text, start);
  const value = end === undefined ? undefined : parseJson(text.slice(start, end));
  return value === undefined || end === undefined ? readLooseJson(text, start) : { value, end, isCut: false };
}

/** The index behind the bracket that closes the one at `start`, where all strings are JSON's. */
function endOf(text: string, start: number): number | undefined {
  let depth = 0;
  let isText = false;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (isText) {
      if (char === '\\') at++;
      else if (char === '"') isText = false;
    } else if (char === '"') isText = true;
    else if (char === '[' || char === '{') {
      if (++depth > DEEPEST_JSON) throw new TooDeepError(`nested more than ${DEEPEST_JSON} levels deep`);
    } else if ((char === ']' || char === '}') && --depth === 0) return at + 1;
  }
  return undefined;
}
