import { compilePattern, LONGEST_TEXT, type Pattern } from '../../base/linear-regex.ts';
import { createLruMap } from '../../base/lru-map.ts';
import type { CheckTest, LengthUnit, SlowTest } from '../../core/check.ts';
import { isObject, type Json, parseJson } from '../../core/json.ts';
import { languageOf } from '../../text/languages.ts';
import { readCommand } from '../../text/shell-programs.ts';

/** The answer of one test. Undecided: the text does not tell, as a few words do not tell a language. */
export type TestResult =
  | { readonly answer: 'yes' | 'undecided' }
  /** `at`: where the passage begins that is one too many; `quote`: the passage, or what a command printed. */
  | { readonly answer: 'no'; readonly at?: number; readonly quote?: string };

/** A test that a text answers at once. */
export type TextTest = Exclude<CheckTest, SlowTest>;

/** The longest text that is read as JSON. */
const LONGEST_JSON = 1_000_000;
/** A check with more matches than this asks for is broken or kept long before. */
const MOST_MATCHES = 1000;
const MOST_COMPILED = 2000;
const YES: TestResult = { answer: 'yes' };
const NO: TestResult = { answer: 'no' };
const compiled = createLruMap<string, Pattern>(MOST_COMPILED);

/** Throws a PatternError for a pattern that RE2 does not read. */
export function patternOf(source: string, flags = ''): Pattern {
  const key = `${flags}/${source}`;
  const earlier = compiled.get(key);
  if (earlier !== undefined) return earlier;
  const pattern = compilePattern(source, flags);
  compiled.set(key, pattern);
  return pattern;
}

/** Asks one test about texts: several are all files or all commands. Throws a PatternError for a pattern that RE2 does not read. */
export function testText(test: TextTest, texts: readonly string[]): TestResult {
  const whole = texts.join('\n');
  const text = whole.slice(0, LONGEST_TEXT);
  switch (test.is) {
    case 'pattern': {
      const pattern = patternOf(test.pattern, test.flags);
      return counted(
        pattern.places(text, mostNeeded(test)).map(({ from }) => from),
        test,
      );
    }
    case 'program':
      return counted(runsOf(test, texts), test);
    case 'order': {
      const [first] = patternOf(test.first, test.flags).places(text, 1);
      const [second] = patternOf(test.second, test.flags).places(text, 1);
      if (second === undefined) return first === undefined ? { answer: 'undecided' } : YES;
      return first !== undefined && first.from < second.from ? YES : { answer: 'no', at: second.from };
    }
    case 'length':
      return isWithin(COUNTS[test.unit](text), test) ? YES : NO;
    case 'json':
      return hasJson(test, whole) ? YES : NO;
    case 'language': {
      const language = languageOf(text);
      if (language === undefined) return { answer: 'undecided' };
      return language === test.language ? YES : NO;
    }
  }
}

interface Limits {
  readonly min?: number;
  readonly max?: number;
}

const isWithin = (count: number, { min, max }: Limits): boolean =>
  count >= (min ?? 0) && count <= (max ?? Number.POSITIVE_INFINITY);

/** Without limits: at least one. */
const limitsOf = ({ min, max }: Limits): Limits => ({
  min: min ?? (max === undefined ? 1 : 0),
  ...(max === undefined ? {} : { max }),
});

const mostNeeded = ({ min = 1, max }: Limits): number =>
  Math.min(MOST_MATCHES, Math.max(min, (max ?? 0) + 1));

function counted(places: readonly number[], limits: Limits): TestResult {
  if (isWithin(places.length, limitsOf(limits))) return YES;
  const { max } = limits;
  const at = max === undefined ? undefined : places[max];
  return at === undefined ? NO : { answer: 'no', at };
}

/** Every run of the program counts; all of them begin where the command does. */
function runsOf(test: TextTest & { readonly is: 'program' }, commands: readonly string[]): readonly number[] {
  const wanted = test.run.split('|').map((run) => run.split(' '));
  const pattern = test.with === undefined ? undefined : patternOf(test.with);
  return commands.flatMap((command) =>
    readCommand(command).flatMap(({ name, args, typed }) => {
      const isRun = [[name, ...args], typed].some((words) => wanted.some((run) => begins(words, run)));
      return isRun && (pattern === undefined || pattern.test(args.join(' '))) ? [0] : [];
    }),
  );
}

/** Short options that are also written in another way. */
const SAME_OPTIONS: Readonly<Record<string, string>> = { r: 'rR', R: 'rR' };
const LONG_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  r: ['--recursive'],
  R: ['--recursive'],
  f: ['--force'],
  A: ['--all'],
  s: ['--signoff'],
  n: ['--namespace'],
};

/**
 * Options may stand between the words: `git -C app push` is a `git push`, and `rm -fr` is an `rm -r`. A dot for all files is also `-A`.
 */
function begins(words: readonly string[], wanted: readonly string[]): boolean {
  const [program, ...rest] = wanted;
  if (words[0]?.slice(words[0].lastIndexOf('/') + 1) !== program) return false;
  const given = words.slice(1);
  const subcommands = rest.filter((word) => /^\w/.test(word));
  const options = rest.filter((word) => !/^\w/.test(word));
  return (
    subcommands.every((word, index) => {
      const at = given.indexOf(word);
      return at >= 0 && given.slice(0, at).filter((one) => !one.startsWith('-')).length <= index + 1;
    }) && options.every((option) => hasOption(given, option))
  );
}

function hasOption(given: readonly string[], option: string): boolean {
  if (option === '.') return given.some((arg) => ['.', './', '-A', '--all', '*', ':/'].includes(arg));
  if (!/^-[a-zA-Z]+$/.test(option))
    return given.some(
      (arg) => arg === option || arg.startsWith(`${option}=`) || (option === '--force' && arg === '-f'),
    );
  return [...option.slice(1)].every((letter) =>
    given.some(
      (arg) =>
        (/^-[a-zA-Z]+$/.test(arg) &&
          [...(SAME_OPTIONS[letter] ?? letter)].some((same) => arg.includes(same))) ||
        LONG_OPTIONS[letter]?.some((long) => arg === long || arg.startsWith(`${long}=`)) === true,
    ),
  );
}

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line.trim() !== '');

const COUNTS: Readonly<Record<LengthUnit, (text: string) => number>> = {
  characters: (text) => [...text.trim()].length,
  words: (text) => text.match(/\S*[\p{L}\p{N}]\S*/gu)?.length ?? 0,
  // A full stop inside a number or a name ends no sentence.
  sentences: (text) =>
    text.match(/[^\s.!?。！？][^\n.!?。！？]*(?:[.!?](?=\S)[^\n.!?。！？]*)*/gu)?.length ?? 0,
  lines: (text) => linesOf(text).length,
  paragraphs: (text) => text.split(/\n\s*\n/).filter((part) => part.trim() !== '').length,
  // Of the longest list: a text with two lists has no more of them for it.
  bullets: (text) => {
    const runs = linesOf(text).map((line) => (/^\s*(?:[-*+•–]|\d{1,3}[.)])\s/.test(line) ? 'b' : ' '));
    return Math.max(
      ...runs
        .join('')
        .split(' ')
        .map(({ length }) => length),
    );
  },
};

function hasJson({ pointer, pattern }: TextTest & { readonly is: 'json' }, text: string): boolean {
  const value = text.length > LONGEST_JSON ? undefined : parseJson(text);
  const member = value === undefined ? undefined : memberAt(value, pointer ?? '');
  if (member === undefined) return false;
  if (pattern === undefined) return true;
  const words = typeof member === 'string' ? member : JSON.stringify(member);
  return patternOf(pattern).test(words.slice(0, LONGEST_TEXT));
}

function memberAt(value: Json, pointer: string): Json | undefined {
  let member: Json | undefined = value;
  for (const name of pointer.split('/').slice(1)) {
    const key = name.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(member)) member = (member as readonly Json[])[Number(key)];
    else member = isObject(member) && Object.hasOwn(member, key) ? member[key] : undefined;
  }
  return member;
}
