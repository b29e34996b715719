import { readShellQuote } from '../../../src/text/shell-tokens.ts';
import { type FieldPath, META_TYPES, parseFieldPath } from './checkers.ts';

interface ParsedCommand {
  readonly steps: readonly CheckStep[];
  readonly notes: readonly string[];
}

/** Parses `eval.command`. Throws for what it does not understand, with the reason: no check is skipped silently. */
export function parseCommand(line: string): ParsedCommand {
  const calls = readShellWords(line).map(readCall);
  const steps = calls.map(({ step }) => step);
  const strays = calls.flatMap(({ stray }) => stray ?? []);
  return strays.length === 0 ? { steps, notes: [] } : moveStrayCount(steps, strays);
}

function readCall([program, first, ...rest]: readonly Word[]): CheckerCall {
  const [called, script] = [program, first].map((word) =>
    word === undefined || 'text' in word ? word?.text : '$(…)',
  );
  if (!isPython(called)) throw new Error(`it calls ${called}, not python`);
  if (script === '-c') return { step: { kind: 'python', code: readCode(rest) } };
  const [, name] = /^(?:\.\/)?scripts\/check_(\w+)\.py$/.exec(script ?? '') ?? [];
  const call = name === undefined ? undefined : readCheckerCall(name, rest);
  if (call === undefined)
    throw new Error(`python is given ${script ?? 'nothing'}: neither -c nor one of the five checkers`);
  return call;
}

/** In two places, the published data gives the file count to the check after the one that counts files. */
function moveStrayCount(steps: readonly CheckStep[], strays: readonly number[]): ParsedCommand {
  const [minCount = 1] = strays;
  const counting = steps.filter((step) => step.kind === 'filename' && 'folder' in step);
  if (strays.length > 1 || counting.length !== 1)
    throw new Error(
      'check_done_log is given --min-count, and no single check_filename --dir is there to mean it',
    );
  return {
    steps: steps.map((step) => (step === counting[0] ? { ...step, minCount } : step)),
    notes: [
      `check_done_log is given --min-count ${minCount} but counts no files: read as meant for check_filename`,
    ],
  };
}

/** A file that a command names, or the program whose output names it. */
export type FileName = { readonly name: string } | { readonly code: string };

/** One step of a check: Python code, or a call of one of the five checkers. */
export type CheckStep =
  | { readonly kind: 'python'; readonly code: string }
  | { readonly kind: 'iso8601'; readonly file: FileName; readonly fields: readonly FieldPath[] }
  | { readonly kind: 'filename'; readonly file: FileName }
  | {
      readonly kind: 'filename';
      readonly folder: string;
      readonly extension: string;
      readonly minCount: number;
    }
  | { readonly kind: 'metadata'; readonly file: FileName; readonly type?: string }
  | { readonly kind: 'backup'; readonly file: FileName }
  | {
      readonly kind: 'done-log';
      readonly file: FileName;
      readonly minEntries: number;
      readonly taskPrefix?: string;
    };

interface CheckerCall {
  readonly step: CheckStep;
  /** A `--min-count` that was given to the check of done.log, which counts no files. */
  readonly stray?: number;
}

/** Parses the arguments of a checker by its name, `iso8601`. Undefined for an unknown name; throws for unknown arguments. */
function readCheckerCall(name: string, words: readonly Word[]): CheckerCall | undefined {
  const read = Object.hasOwn(CHECKERS, name) ? CHECKERS[name] : undefined;
  return read?.(splitOptions(words));
}

/** The program of `python -c`, or of a `$(python -c …)`. */
function readCode(words: readonly Word[]): string {
  const [code] = words;
  if (words.length !== 1 || code === undefined || !('text' in code) || code.text.trim() === '')
    throw new Error('python -c takes one program in quotes');
  return code.text;
}

const isPython = (program: string | undefined): boolean => program === 'python' || program === 'python3';

type Options = ReadonlyMap<string, string>;

interface Arguments {
  readonly plain: readonly Word[];
  readonly options: Options;
}

const CHECKERS: Readonly<Record<string, (given: Arguments) => CheckerCall>> = {
  iso8601: ({ plain: [file, ...fields], options }) => {
    allowOnly(options);
    if (fields.length === 0) throw new Error('check_iso8601 takes a file and at least one field');
    return { step: { kind: 'iso8601', file: fileOf(file), fields: fields.map(readField) } };
  },
  filename: ({ plain, options }) => {
    allowOnly(options, '--dir', '--ext', '--min-count');
    if (options.size === 0) return { step: { kind: 'filename', file: onlyFile(plain) } };
    const [folder, extension] = [options.get('--dir'), options.get('--ext')];
    if (folder === undefined || extension === undefined || plain.length > 0)
      throw new Error('check_filename takes a name, or --dir and --ext');
    return { step: { kind: 'filename', folder, extension, minCount: countOf(options, '--min-count') ?? 1 } };
  },
  metadata: ({ plain, options }) => {
    allowOnly(options, '--type');
    const type = options.get('--type');
    if (type !== undefined && !META_TYPES.includes(type))
      throw new Error(`--type ${type} is not one of ${META_TYPES.join(', ')}`);
    return { step: { kind: 'metadata', file: onlyFile(plain), ...(type !== undefined && { type }) } };
  },
  backup: ({ plain, options }) => {
    allowOnly(options);
    return { step: { kind: 'backup', file: onlyFile(plain) } };
  },
  done_log: ({ plain, options }) => {
    allowOnly(options, '--task-prefix', '--min-entries', '--min-count');
    const [taskPrefix, stray] = [options.get('--task-prefix'), countOf(options, '--min-count')];
    const minEntries = countOf(options, '--min-entries') ?? 1;
    const asked = { minEntries, ...(taskPrefix !== undefined && { taskPrefix }) };
    return {
      step: { kind: 'done-log', file: onlyFile(plain), ...asked },
      ...(stray !== undefined && { stray }),
    };
  },
};

function splitOptions(words: readonly Word[]): Arguments {
  const plain: Word[] = [];
  const options = new Map<string, string>();
  const left = [...words];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    const name = textOf(word);
    if (name?.startsWith('--')) {
      const value = textOf(left.shift());
      if (!value || options.has(name)) throw new Error(`${name} takes one value, once`);
      options.set(name, value);
    } else plain.push(word);
  }
  return { plain, options };
}

const textOf = (word: Word | undefined): string | undefined =>
  word !== undefined && 'text' in word ? word.text : undefined;

function allowOnly(options: Options, ...known: readonly string[]): void {
  const other = [...options.keys()].find((name) => !known.includes(name));
  if (other !== undefined) throw new Error(`${other} is no option of this checker`);
}

/** From 1: with 0, an untouched workspace would pass. */
function countOf(options: Options, name: string): number | undefined {
  const text = options.get(name);
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new Error(`${name} ${text} is not a number from 1`);
  return Number(text);
}

function onlyFile(plain: readonly Word[]): FileName {
  if (plain.length !== 1) throw new Error('this checker takes one file');
  return fileOf(plain[0]);
}

function fileOf(word: Word | undefined): FileName {
  if (word === undefined) throw new Error('this checker takes a file');
  if ('text' in word) return { name: word.text };
  const [program, flag, ...code] = word.outputOf;
  if (!isPython(program) || flag !== '-c') throw new Error(`$(…) calls ${program}, not python -c`);
  return { code: readCode(code.map((text) => ({ text }))) };
}

function readField(word: Word): NonNullable<ReturnType<typeof parseFieldPath>> {
  const path = parseFieldPath(textOf(word) ?? '');
  if (path === undefined) throw new Error(`${textOf(word) ?? 'an output'} is no field: a.b, list[].x`);
  return path;
}

/** A word of a command: literal text, or the output of a Python program in `$(…)`. */
type Word = { readonly text: string } | { readonly outputOf: readonly string[] };

/**
 * Splits a command line like `sh` into commands joined by `&&`. Supports words, quotes, and `$(…)` as a whole word. Throws for everything
 * else: a guess would grade something other than the check.
 */
export function readShellWords(line: string): readonly (readonly Word[])[] {
  const reader: Reader = { line, at: 0 };
  const commands = readCommands(reader);
  if (reader.at < line.length) throw unknown(reader);
  return commands;
}

interface Reader {
  readonly line: string;
  at: number;
}

/** Characters that start an expansion, a redirection or another command. `[]` is allowed: no file has such a name. */
const SPECIAL = /[|&;<>()$`"'\\*?~#{}!\n]/;
const BLANK = /[ \t]/;

function readCommands(reader: Reader): readonly (readonly Word[])[] {
  const commands: Word[][] = [[]];
  for (;;) {
    while (BLANK.test(peek(reader))) reader.at++;
    if (peek(reader) === '' || peek(reader) === ')') break;
    if (reader.line.startsWith('&&', reader.at)) {
      reader.at += 2;
      commands.push([]);
    } else commands.at(-1)?.push(readWord(reader));
  }
  if (commands.some((words) => words.length === 0)) throw new Error('a command is empty');
  return commands;
}

const peek = ({ line, at }: Reader): string => line[at] ?? '';

const unknown = ({ line, at }: Reader): Error =>
  new Error(`${JSON.stringify(line.slice(at, at + 12))} at character ${at + 1} is unsupported shell syntax`);

function readWord(reader: Reader): Word {
  if (reader.line.startsWith('$(', reader.at)) return readOutput(reader);
  let text = '';
  for (;;) {
    const next = peek(reader);
    if (next === '' || next === ')' || BLANK.test(next) || reader.line.startsWith('&&', reader.at))
      return { text };
    if (next === '"' || next === "'") text += readQuoted(reader);
    else if (SPECIAL.test(next)) throw unknown(reader);
    else {
      text += next;
      reader.at++;
    }
  }
}

function readOutput(reader: Reader): Word {
  const start = reader.at;
  reader.at += 2;
  const [words, ...more] = readCommands(reader);
  if (peek(reader) !== ')' || words === undefined || more.length > 0) throw unknown({ ...reader, at: start });
  reader.at++;
  const after = peek(reader);
  if (after !== '' && after !== ')' && !BLANK.test(after)) throw unknown(reader);
  const plain = words.map((word) => {
    if ('text' in word) return word.text;
    throw unknown({ ...reader, at: start });
  });
  return { outputOf: plain };
}

function readQuoted(reader: Reader): string {
  const { text, end, isClosed, expansionAt } = readShellQuote(reader.line, reader.at);
  if (expansionAt !== undefined) throw unknown({ ...reader, at: expansionAt });
  if (!isClosed) throw new Error('a quote is not closed');
  reader.at = end;
  return text;
}
