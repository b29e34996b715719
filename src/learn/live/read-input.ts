import { asObject, type Json, type JsonObject, parseJson } from '../../core/json.ts';
import { oneLine } from '../plain-text.ts';

/** The arguments of a tool call: a shell command, or named fields. */
export type ToolInput =
  | { readonly kind: 'command'; readonly words: readonly string[]; readonly program: string }
  | { readonly kind: 'fields'; readonly fields: JsonObject };

const COMMAND_FIELDS = ['command', 'cmd', 'script'] as const;
const ASSIGNMENT = /^[A-Za-z_]\w*=/;
const PREFIXES: ReadonlySet<string> = new Set(['sudo', 'time', 'env', 'exec', 'nice']);
const LONGEST_COMMAND = 2000;

export function readInput(input: string): ToolInput {
  const value = parseJson(input);
  if (value === undefined || typeof value === 'string') return commandOf(String(value ?? input));
  const fields = asObject(value);
  for (const name of COMMAND_FIELDS) {
    const line = lineOf(fields[name]);
    if (line !== undefined) return commandOf(line);
  }
  return { kind: 'fields', fields };
}

/** Some tools take a command as a list of words. */
const lineOf = (value: Json | undefined): string | undefined => {
  if (typeof value === 'string') return value;
  return Array.isArray(value) && value.every((word) => typeof word === 'string')
    ? value.join(' ')
    : undefined;
};

/** A script of several lines is not comparable with a command: its words are left empty. */
function commandOf(text: string): ToolInput {
  const isOne = text.length <= LONGEST_COMMAND && !text.trim().includes('\n');
  const words = isOne ? oneLine(text).split(' ').filter(Boolean) : [];
  return { kind: 'command', words, program: words[programAt(words)]?.split('/').at(-1) ?? '' };
}

/** The index of the program in a command line: after `cd …&&`, variable assignments and prefixes such as `sudo`. */
function programAt(words: readonly string[]): number {
  let at = 0;
  for (;;) {
    const word = words[at] ?? '';
    if (word === 'cd') {
      const end = words.findIndex((one, index) => index > at && (one === '&&' || one.endsWith(';')));
      if (end < 0) return at;
      at = end + 1;
    } else if (PREFIXES.has(word) || ASSIGNMENT.test(word)) at++;
    else return at;
  }
}
