import { SandboxError } from '../workspace-limits.ts';
import type { CommandInput, PlainProgram } from './plain-program.ts';
import { readFlags } from './plain-program.ts';

/** Bounds memory: the same file may be named many times. */
const MAX_TEXT = 16 * 1024 * 1024;

const print: PlainProgram = async ({ args, stdin, files }) => ({
  code: 0,
  stdout: (await textsOf({ args, stdin, files })).map(([, text]) => text).join(''),
});

const echo: PlainProgram = async ({ args }) => {
  const isBare = args[0] === '-n';
  return { code: 0, stdout: isBare ? args.slice(1).join(' ') : `${args.join(' ')}\n` };
};

/** Searches for literal text; `^` and `$` at its ends anchor it to the ends of a line. */
const grep: PlainProgram = async ({ args, stdin, files }) => {
  const { given, rest } = readFlags(args, 'ivcnqlF');
  const [pattern, ...names] = rest;
  if (pattern === undefined) throw new SandboxError('a text to search for is missing');
  const fits = matcherOf(pattern, given);
  const texts = await textsOf({ args: names, stdin, files });
  const label = (name: string): string => (names.length > 1 ? `${name}:` : '');
  let stdout = '';
  let isFound = false;
  for (const [name, text] of texts) {
    const hits = linesOf(text).flatMap((line, index) => (fits(line) ? [[index + 1, line] as const] : []));
    if (hits.length > 0) isFound = true;
    if (given.has('l')) stdout += hits.length > 0 ? `${name}\n` : '';
    else if (given.has('c')) stdout += `${label(name)}${hits.length}\n`;
    else
      stdout += hits
        .map(([number, line]) => `${label(name)}${given.has('n') ? `${number}:` : ''}${line}\n`)
        .join('');
  }
  return { code: isFound ? 0 : 1, stdout: given.has('q') ? '' : stdout };
};

function matcherOf(pattern: string, given: ReadonlySet<string>): (line: string) => boolean {
  const isFixed = given.has('F');
  const fold = (text: string): string => (given.has('i') ? text.toLowerCase() : text);
  const atStart = !isFixed && pattern.startsWith('^');
  const atEnd = !isFixed && pattern.endsWith('$');
  const sought = fold(pattern.slice(atStart ? 1 : 0, atEnd ? -1 : undefined));
  if (!isFixed && /[\\.*[\]^$]/.test(sought))
    throw new SandboxError('only literal text can be searched for: use grep -F');
  const isIn = (line: string): boolean =>
    atStart && atEnd
      ? line === sought
      : atStart
        ? line.startsWith(sought)
        : atEnd
          ? line.endsWith(sought)
          : line.includes(sought);
  return (line) => isIn(fold(line)) !== given.has('v');
}

const sort: PlainProgram = async ({ args, stdin, files }) => {
  const { given, rest } = readFlags(args, 'rnu');
  const texts = await textsOf({ args: rest, stdin, files });
  const lines = texts.flatMap(([, text]) => linesOf(text));
  const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  const order = given.has('n') ? (a: string, b: string) => numberOf(a) - numberOf(b) || byText(a, b) : byText;
  const sorted = (given.has('u') ? [...new Set(lines)] : lines).sort(order);
  if (given.has('r')) sorted.reverse();
  return { code: 0, stdout: sorted.map((line) => `${line}\n`).join('') };
};

const numberOf = (line: string): number => Number.parseFloat(line) || 0;

const head: PlainProgram = async ({ args, stdin, files }) => {
  const isCounted = args[0] === '-n';
  const most = isCounted ? Number(args[1]) : 10;
  if (!Number.isInteger(most) || most < 0) throw new SandboxError('-n needs a number of lines');
  const texts = await textsOf({ args: args.slice(isCounted ? 2 : 0), stdin, files });
  const lines = texts.flatMap(([, text]) => linesOf(text).slice(0, most));
  return { code: 0, stdout: lines.map((line) => `${line}\n`).join('') };
};

/** The named files, or standard input. */
export async function textsOf({
  args,
  stdin,
  files,
}: CommandInput): Promise<readonly (readonly [string, string])[]> {
  if (args.length === 0) return [['-', stdin]];
  const texts: (readonly [string, string])[] = [];
  let left = MAX_TEXT;
  for (const name of args) {
    const found = await files.find(name);
    if (found === undefined) throw new SandboxError(`${name}: no such file`);
    left -= found.bytes;
    if (left < 0) throw new SandboxError('the files have more than 16 MiB of text');
    texts.push([name, await files.read(name)]);
  }
  return texts;
}

function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

export const TEXT_COMMANDS: readonly (readonly [string, PlainProgram])[] = [
  ['cat', print],
  ['echo', echo],
  ['grep', grep],
  ['sort', sort],
  ['head', head],
];
