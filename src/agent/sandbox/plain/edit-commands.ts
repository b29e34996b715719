import { createHash } from 'node:crypto';
import { isObject, type Json, type JsonObject, parseJson } from '../../../core/json.ts';
import { SandboxError } from '../workspace-limits.ts';
import { type PlainProgram, readFlags } from './plain-program.ts';
import { textsOf } from './text-commands.ts';

/** A member by name, or an entry by index. */
type Step = string | number;

const MAX_LENGTH = 1024;
/** Names with a special meaning in JavaScript. */
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);

/** `tickets[0].state`; a name with dots or brackets is quoted: `files["a.txt"]`. Throws a SandboxError. */
export function parseJsonPath(text: string): readonly Step[] {
  if (text.length > MAX_LENGTH) throw new SandboxError('the path to the value is too long');
  const steps: Step[] = [];
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at);
    const found =
      /^\[(\d{1,9})\]/.exec(rest) ??
      /^\[("(?:[^"\\]|\\.){0,512}")\]/.exec(rest) ??
      (at === 0 ? /^([^.[\]]+)/ : /^\.([^.[\]]+)/).exec(rest);
    const [whole = '', inner = ''] = found ?? [];
    const step = inner.startsWith('"') ? parseJson(inner) : /^\[/.test(whole) ? Number(inner) : inner;
    if (whole === '' || (typeof step !== 'string' && typeof step !== 'number'))
      throw new SandboxError(`${text} cannot be parsed at ${JSON.stringify(rest.slice(0, 20))}: ${SHAPE}`);
    steps.push(step);
    at += whole.length;
  }
  const forbidden = steps.find((step) => typeof step === 'string' && FORBIDDEN.has(step));
  if (forbidden !== undefined) throw new SandboxError(`${forbidden} cannot be the name of a value`);
  if (steps.length === 0) throw new SandboxError(`the path to the value is empty: ${SHAPE}`);
  return steps;
}

const SHAPE = 'write it as tickets[0].state';

/** The document with one value changed. Missing members are created; a new array entry only directly after the last. */
export function withValueAt(document: Json, steps: readonly Step[], value: Json): Json {
  return replaceAt(document, { steps, value }, 0);
}

/** The value that is put at the end of a path. */
interface Replacement {
  readonly steps: readonly Step[];
  readonly value: Json;
}

function replaceAt(here: Json | undefined, change: Replacement, depth: number): Json {
  const { steps, value } = change;
  const step = steps[depth];
  if (step === undefined) return value;
  const index = typeof step === 'string' && Array.isArray(here) ? numberIn(step) : step;
  if (typeof index === 'number') return placeEntry(here, index, change, depth);
  if (here !== undefined && !isObject(here))
    throw new SandboxError(`${nameOf(steps, depth)} is ${kindOf(here)}: it has no ${JSON.stringify(index)}`);
  const members: JsonObject = here ?? {};
  const found = Object.hasOwn(members, index) ? members[index] : undefined;
  return { ...members, [index]: replaceAt(found, change, depth + 1) };
}

function placeEntry(here: Json | undefined, index: number, change: Replacement, depth: number): Json {
  const { steps } = change;
  if (here !== undefined && !Array.isArray(here))
    throw new SandboxError(`${nameOf(steps, depth)} is ${kindOf(here)}, not an array: it has no [${index}]`);
  const entries: readonly Json[] = here ?? [];
  if (index > entries.length)
    throw new SandboxError(
      `${nameOf(steps, depth)} has ${entries.length} entries: the next one would be [${entries.length}], not [${index}]`,
    );
  const next = replaceAt(entries[index], change, depth + 1);
  return [...entries.slice(0, index), next, ...entries.slice(index + 1)];
}

/** `tickets.0` is an entry when `tickets` is an array. */
const numberIn = (step: string): Step => (/^\d{1,9}$/.test(step) ? Number(step) : step);

const nameOf = (steps: readonly Step[], depth: number): string =>
  steps
    .slice(0, depth)
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`))
    .join('') || 'the document';

function kindOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`;
}

/** `set FILE PATH VALUE` changes one value of a JSON file. The value is parsed as JSON, or else taken as text. */
const setValue: PlainProgram = async ({ args, stdin, files }) => {
  const [file, where, ...words] = args;
  if (file === undefined || where === undefined || words.length === 0)
    throw new SandboxError(
      "a file, a path or a value is missing: set FILE PATH VALUE, such as set a.json 'b[0].c' 5",
    );
  const steps = parseJsonPath(where);
  const [[, text] = ['', '']] = await textsOf({ args: [file], stdin, files });
  const document = readDocument(file, text);
  const changed = withValueAt(document, steps, readValue(words.join(' ')));
  await files.write(file, `${JSON.stringify(changed, null, 2)}\n`);
  return { code: 0 };
};

function readValue(text: string): Json {
  const value = parseJson(text);
  if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER)
    throw new SandboxError(`${text} is too large for a number: write it as text, '"${text}"'`);
  return value === undefined ? text : value;
}

function readDocument(file: string, text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 120) : '';
    throw new SandboxError(`${file} is not JSON: ${why}`);
  }
}

const sha256sum: PlainProgram = async (input) => {
  const { rest } = readFlags(input.args, '');
  const texts = await textsOf({ ...input, args: rest });
  const lines = texts.map(([name, text]) => {
    // Files are read as UTF-8 text, so that the sum of a binary file would be wrong.
    if (text.includes('\ufffd'))
      throw new SandboxError(`${name} is not UTF-8 text: its checksum cannot be computed`);
    return `${createHash('sha256').update(text, 'utf8').digest('hex')}  ${name}\n`;
  });
  return { code: 0, stdout: lines.join('') };
};

/** Lines, words and bytes, always in this order; all three without flags. */
const wordCount: PlainProgram = async (input) => {
  const { given, rest } = readFlags(input.args, 'lwc');
  const texts = await textsOf({ ...input, args: rest });
  const counts = texts.map(([, text]) =>
    (
      [
        ['l', () => text.split('\n').length - 1],
        ['w', () => text.split(/\s+/).filter((word) => word !== '').length],
        ['c', () => Buffer.byteLength(text, 'utf8')],
      ] as const
    ).flatMap(([flag, counted]) => (given.size === 0 || given.has(flag) ? [counted()] : [])),
  );
  const totals = counts.reduce((sums, one) => sums.map((total, index) => total + (one[index] ?? 0)));
  const lines = texts.map(([name], index) => [
    ...(counts[index] ?? []),
    ...(rest.length === 0 ? [] : [name]),
  ]);
  if (texts.length > 1) lines.push([...totals, 'total']);
  return { code: 0, stdout: lines.map((line) => `${line.join(' ')}\n`).join('') };
};

export const EDIT_COMMANDS: readonly (readonly [string, PlainProgram])[] = [
  ['set', setValue],
  ['sha256sum', sha256sum],
  ['wc', wordCount],
];
