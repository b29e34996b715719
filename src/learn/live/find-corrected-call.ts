import { isDeepStrictEqual } from 'node:util';
import { asObject, type Json, type JsonObject, parseJson } from '../../core/json.ts';
import { keywordsOf } from '../../text/topic-words.ts';
import { oneLine } from '../../text/visible-text.ts';
import { nameExperience } from './draft-experience.ts';
import type { LiveMaterial, ToolAttempt } from './live-material.ts';

/** A call that failed, and a later call with other arguments that succeeded in its place. */
interface CorrectedCall {
  readonly failed: ToolAttempt;
  readonly worked: ToolAttempt;
}

type Command = ToolInput & { readonly kind: 'command' };

const LEAST_SIMILARITY = 0.5;
const MOST_ATTEMPTS = 400;
/** A read-only call that reads something else the next time corrects nothing. */
const READ_ONLY: ReadonlySet<string> = new Set(
  `cat ls dir head tail less more grep rg ag find fd stat file wc tree pwd which type echo read view list glob search
  fetch get open browse show describe query lookup`.split(/\s+/),
);
/** An operand or a flag may change, a subcommand may not: `git pull` is no corrected `git push`. */
const SUBCOMMAND = /^[a-z][a-z-]*$/;

/** The most similar such pair of a session: the failed call's turn must be appraised as a failure, and the same call must never have succeeded. */
export function findCorrectedCall({ cases, tries = [] }: LiveMaterial): CorrectedCall | undefined {
  const failures = new Set(cases.map(({ turn }) => turn));
  const read = tries.slice(-MOST_ATTEMPTS).map((one) => {
    const input = readToolInput(one.input);
    return { one, input, key: JSON.stringify([one.tool, input]) };
  });
  const good = new Set(read.flatMap(({ one, key }) => (one.isOk ? [key] : [])));
  let best: (CorrectedCall & { readonly similarity: number }) | undefined;
  for (const [index, { one: failed, input, key }] of read.entries()) {
    if (failed.isOk || good.has(key) || !failures.has(failed.turn) || isReadOnly(failed.tool, input))
      continue;
    for (const { one: worked, input: other } of read.slice(index + 1)) {
      if (!worked.isOk || worked.tool !== failed.tool) continue;
      if (worked.turn !== failed.turn && failures.has(worked.turn)) continue;
      const similarity = similarityOf(input, other);
      if (similarity >= LEAST_SIMILARITY && similarity > (best?.similarity ?? 0))
        best = { failed, worked, similarity };
    }
  }
  return best && { failed: best.failed, worked: best.worked };
}

function isReadOnly(tool: string, input: ToolInput): boolean {
  if (input.kind === 'command') return READ_ONLY.has(input.program);
  const words = tool
    .replace(/([a-z])(?=[A-Z])/g, '$1 ')
    .toLowerCase()
    .split(/[^a-z]+/);
  return words.some((word) => READ_ONLY.has(word));
}

/** 0 to 1; below 0.5 the calls are unrelated. */
function similarityOf(failed: ToolInput, worked: ToolInput): number {
  if (failed.kind === 'command' && worked.kind === 'command') {
    const isRelated =
      failed.program !== '' &&
      worked.program !== '' &&
      (failed.program.includes(worked.program) ||
        worked.program.includes(failed.program) ||
        worked.words.includes(failed.program) ||
        failed.words.includes(worked.program));
    if (!isRelated || !keepsSubcommand(failed, worked)) return 0;
    return overlap(tokensOf(failed.words.join(' ')), tokensOf(worked.words.join(' ')));
  }
  if (failed.kind !== 'fields' || worked.kind !== 'fields') return 0;
  const names = new Set([...Object.keys(failed.fields), ...Object.keys(worked.fields)]);
  const same = [...names].filter((name) => isDeepStrictEqual(failed.fields[name], worked.fields[name]));
  return same.length === names.size ? 0 : same.length / names.size;
}

function keepsSubcommand({ words, program }: Command, worked: Command): boolean {
  const subcommand = words[words.findIndex((word) => word.split('/').at(-1) === program) + 1] ?? '';
  const kept = tokensOf(worked.words.join(' '));
  return !SUBCOMMAND.test(subcommand) || [...tokensOf(subcommand)].every((token) => kept.has(token));
}

const tokensOf = (text: string): ReadonlySet<string> =>
  new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);

function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const shared = [...a].filter((token) => b.has(token)).length;
  const isSame = shared === a.size && shared === b.size;
  // The same words in another order or with other punctuation are the closest possible pair.
  return a.size + b.size === 0 ? 0 : isSame ? 1 : (2 * shared) / (a.size + b.size);
}

const LONGEST_CODE = 160;

interface CorrectedCallNote {
  readonly name: string;
  readonly description: string;
  readonly content: string;
  readonly keywords: readonly string[];
}

/** A corrected call as a note; undefined when the calls are too long to quote. */
export function describeCorrectedCall({ failed, worked }: CorrectedCall): CorrectedCallNote | undefined {
  const before = readToolInput(failed.input);
  const after = readToolInput(worked.input);
  const wrong = code(written(failed, before));
  const right = code(written(worked, after));
  const changed = describeDifference(before, after);
  if (wrong === undefined || right === undefined || changed === undefined || wrong === right)
    return undefined;
  const error = failed.digest === undefined ? undefined : code(failed.digest);
  const what = before.kind === 'command' ? before.words.join(' ') : failed.tool;
  return {
    name: `when-${nameExperience(what)}-fails`,
    description:
      error === undefined
        ? `When you are about to try ${wrong}.`
        : `When you are about to try ${wrong}, or it fails with ${error}.`,
    content: `${wrong} failed${error === undefined ? '' : ` with ${error}`}; ${right} worked.\n\nWhat changed: ${changed}.`,
    keywords: keywordsOf(`${what} ${failed.digest ?? ''} ${right}`, 8),
  };
}

const written = ({ tool }: ToolAttempt, input: ToolInput): string =>
  input.kind === 'command' ? input.words.join(' ') : `${tool} ${JSON.stringify(input.fields)}`;

/** As inline code; undefined for text that does not fit. */
function code(text: string): string | undefined {
  const line = oneLine(text);
  if (line === '' || line.length > LONGEST_CODE || line.includes('``')) return undefined;
  return line.includes('`') ? `\`\` ${line} \`\`` : `\`${line}\``;
}

function describeDifference(before: ToolInput, after: ToolInput): string | undefined {
  if (before.kind === 'command' && after.kind === 'command')
    return describeReplacement(
      without(before.words, after.words).join(' '),
      without(after.words, before.words).join(' '),
      'the order of its parts',
    );
  if (before.kind !== 'fields' || after.kind !== 'fields') return undefined;
  const names = [...new Set([...Object.keys(before.fields), ...Object.keys(after.fields)])];
  const changes = names.flatMap((name) => {
    const [old, now] = [before.fields[name], after.fields[name]];
    if (isDeepStrictEqual(old, now)) return [];
    const value = (one: typeof old): string => (one === undefined ? '' : JSON.stringify(one));
    const change = describeReplacement(value(old), value(now), 'nothing');
    return [change === undefined ? undefined : `${code(name) ?? 'a field'}: ${change}`];
  });
  return changes.length === 0 || changes.includes(undefined) ? undefined : changes.join('; ');
}

function describeReplacement(old: string, now: string, otherwise: string): string | undefined {
  if (old === '' && now === '') return otherwise;
  const [gone, come] = [code(old), code(now)];
  if (old === '') return come && `${come} was added`;
  if (now === '') return gone && `${gone} was left out`;
  return gone && come && `${come} in place of ${gone}`;
}

/** Multiset difference: the words of a list that another list lacks. */
function without(words: readonly string[], others: readonly string[]): readonly string[] {
  const left = [...others];
  return words.filter((word) => {
    const at = left.indexOf(word);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** The arguments of a tool call: a shell command, or named fields. */
type ToolInput =
  | { readonly kind: 'command'; readonly words: readonly string[]; readonly program: string }
  | { readonly kind: 'fields'; readonly fields: JsonObject };

const COMMAND_FIELDS = ['command', 'cmd', 'script'] as const;
const ASSIGNMENT = /^[A-Za-z_]\w*=/;
const PREFIXES: ReadonlySet<string> = new Set(['sudo', 'time', 'env', 'exec', 'nice']);
const LONGEST_COMMAND = 2000;

function readToolInput(input: string): ToolInput {
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
