import { META_TYPES } from './check-metadata.ts';
import { parseFieldPath } from './field-path.ts';
import type { Word } from './shell-words.ts';
import type { FileName, Step } from './step.ts';

export interface CheckerCall {
  readonly step: Step;
  /** A `--min-count` that a check of done.log was given, which counts no files. */
  readonly stray?: number;
}

/** Reads the arguments of a checker by its name, `iso8601`. Undefined for a name that is none; throws for arguments it does not take. */
export function readCheckerCall(name: string, words: readonly Word[]): CheckerCall | undefined {
  const read = Object.hasOwn(CHECKERS, name) ? CHECKERS[name] : undefined;
  return read?.(splitOptions(words));
}

/** The program of `python -c`, or of a `$(python -c …)`. */
export function readCode(words: readonly Word[]): string {
  const [code] = words;
  if (words.length !== 1 || code === undefined || !('text' in code) || code.text.trim() === '')
    throw new Error('python -c takes one program in quotes');
  return code.text;
}

export const isPython = (program: string | undefined): boolean =>
  program === 'python' || program === 'python3';

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
      throw new Error(`--type ${type} is none of ${META_TYPES.join(', ')}`);
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

/** From 1: to ask for none would let an untouched workspace pass. */
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
