import { createHash } from 'node:crypto';
import { type Json, parseJson } from '../../core/json.ts';
import { SandboxError } from '../sandbox-error.ts';
import { parseJsonPath, withValueAt } from './json-path.ts';
import type { PlainProgram } from './plain-program.ts';
import { readFlags } from './read-flags.ts';
import { textsOf } from './text-commands.ts';

/** `set FILE PATH VALUE` changes one value of a JSON file. The value is parsed as JSON, or else taken as text. */
const set: PlainProgram = async ({ args, stdin, files }) => {
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

const sum: PlainProgram = async (input) => {
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
const count: PlainProgram = async (input) => {
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
  ['set', set],
  ['sha256sum', sum],
  ['wc', count],
];
