import { asObject, type Json, type JsonObject, parseJson } from '../../core/json.ts';
import { oneLine } from '../../text/visible-text.ts';
import type { ToolAttempt } from './live-material.ts';

const LONGEST_CODE = 160;

/** A call as it is quoted: the command, or the tool with its arguments. */
export const callText = ({ tool }: ToolAttempt, input: ToolInput): string =>
  input.kind === 'command' ? input.words.join(' ') : `${tool} ${JSON.stringify(input.fields)}`;

/** As inline code; undefined for text that does not fit. */
export function inlineCode(text: string): string | undefined {
  const line = oneLine(text);
  if (line === '' || line.length > LONGEST_CODE || line.includes('``')) return undefined;
  return line.includes('`') ? `\`\` ${line} \`\`` : `\`${line}\``;
}

/** A read-only call that reads something else the next time corrects nothing. */
const READ_ONLY: ReadonlySet<string> = new Set(
  `cat ls dir head tail less more grep rg ag find fd stat file wc tree pwd which type echo read view list glob search
  fetch get open browse show describe query lookup`.split(/\s+/),
);
export function isReadOnlyCall(tool: string, input: ToolInput): boolean {
  if (input.kind === 'command') return READ_ONLY.has(input.program);
  const words = tool
    .replace(/([a-z])(?=[A-Z])/g, '$1 ')
    .toLowerCase()
    .split(/[^a-z]+/);
  return words.some((word) => READ_ONLY.has(word));
}

/** The arguments of a tool call: a shell command, or named fields. */
export type ToolInput =
  | { readonly kind: 'command'; readonly words: readonly string[]; readonly program: string }
  | { readonly kind: 'fields'; readonly fields: JsonObject };

const COMMAND_FIELDS = ['command', 'cmd', 'script'] as const;
const ASSIGNMENT = /^[A-Za-z_]\w*=/;
const PREFIXES: ReadonlySet<string> = new Set(['sudo', 'time', 'env', 'exec', 'nice']);
const LONGEST_COMMAND = 2000;

export function readToolInput(input: string): ToolInput {
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
  if (!Array.isArray(value)) return undefined;
  const words = value.filter((word) => typeof word === 'string');
  if (words.length !== value.length) return undefined;
  const [shell = '', option = '', line] = words;
  const isWrapped = words.length === 3 && SHELL.test(shell) && /^-[a-z]{0,2}c$/.test(option);
  return isWrapped
    ? line
    : words.map((word) => (/\s/.test(word) ? `'${word.replaceAll("'", `'\\''`)}'` : word)).join(' ');
};

const SHELL = /^(?:\S{0,40}\/)?(?:ba|z|da|k)?sh$/;

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
