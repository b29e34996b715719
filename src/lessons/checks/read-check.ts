import { PatternError } from '../../base/linear-regex.ts';
import {
  CHECKED_PARTS,
  type CheckTest,
  isSlowTest,
  LENGTH_UNITS,
  type RuleCheck,
  TEST_PLACES,
} from '../../core/check.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { LANGUAGE_CODES } from '../../text/languages.ts';
import { checkChoice, checkString } from '../check-words.ts';
import { patternOf, type TextTest } from './test-text.ts';

export type ReadCheck =
  | { readonly ok: true; readonly check: RuleCheck }
  | { readonly ok: false; readonly why: string };

type Why = string | undefined;

const MOST_TESTS = 8;
const LONGEST_PATTERN = 900;
const LONGEST_WORDS = 300;
const MOST_COUNT = 100_000;
const LONGEST_COMMAND = 500;
const TIMEOUT_MS = { least: 1000, most: 60_000 };
const TESTS = ['pattern', 'program', 'order', 'length', 'json', 'language', 'command', 'judge'] as const;

/** Why a value is no check; undefined for a check. Of the record: it judges form and size, not whether the check is a good one. */
export function checkRuleCheck(value: unknown): Why {
  if (!isObject(value)) return 'a check must be an object';
  return (
    checkChoice('check.looksAt', value.looksAt, CHECKED_PARTS) ??
    checkChoice('check.standing', value.standing, ['accepted', 'provisional']) ??
    checkChoice('check.by', value.by, ['words', 'model', 'person']) ??
    checkString('check.proof', value.proof, { max: LONGEST_WORDS }) ??
    checkTests('check.appliesWhen', value.appliesWhen) ??
    checkTests('check.holdsWhen', value.holdsWhen)
  );
}

/** The caller may modify their object afterwards. */
export const copyCheck = (check: RuleCheck): RuleCheck => structuredClone(check);

/**
 * Reads a check that a model, a person or a learner wrote. Refused, with what to do about it: a pattern that RE2 does not read, one that
 * matches every text or none, a secret, and a check that the text of an answer could switch off.
 */
export function readCheck(value: unknown, hasSecret: (text: string) => boolean): ReadCheck {
  const form = checkRuleCheck(value);
  if (form !== undefined) return { ok: false, why: form };
  const check = value as RuleCheck;
  const why =
    (check.holdsWhen.length === 0 ? 'check.holdsWhen needs at least one test' : undefined) ??
    (hasSecret(JSON.stringify(check)) ? 'the check contains a secret: write it without' : undefined) ??
    check.appliesWhen.map(whySwitchable).find(Boolean) ??
    (check.holdsWhen.filter(isSlowTest).length > 1
      ? 'a check has at most one test that runs a command or asks a model'
      : undefined) ??
    [...check.appliesWhen, ...check.holdsWhen].map((test) => whyUseless(test, check)).find(Boolean);
  return why === undefined ? { ok: true, check: copyCheck(check) } : { ok: false, why };
}

function checkTests(label: string, value: unknown): Why {
  if (!Array.isArray(value)) return `${label} must be a list of tests`;
  if (value.length > MOST_TESTS) return `${label} has more than ${MOST_TESTS} tests`;
  return value.map((test: unknown, index) => checkTest(`${label}[${index}]`, test)).find(Boolean);
}

function checkTest(label: string, test: unknown): Why {
  if (!isObject(test)) return `${label} must be an object`;
  const why =
    checkChoice(`${label}.is`, test.is, TESTS) ??
    (test.in === undefined ? undefined : checkChoice(`${label}.in`, test.in, TEST_PLACES)) ??
    checkCount(`${label}.min`, test.min) ??
    checkCount(`${label}.max`, test.max) ??
    optionalWords(`${label}.flags`, test.flags, 3);
  if (why !== undefined) return why;
  switch (test.is) {
    case 'pattern':
      return (
        checkString(`${label}.pattern`, test.pattern, { max: LONGEST_PATTERN }) ??
        optionalWords(`${label}.means`, test.means, LONGEST_WORDS)
      );
    case 'program':
      return (
        checkString(`${label}.run`, test.run, { max: LONGEST_WORDS }) ??
        optionalWords(`${label}.with`, test.with, LONGEST_PATTERN)
      );
    case 'order':
      return (
        checkString(`${label}.first`, test.first, { max: LONGEST_PATTERN }) ??
        checkString(`${label}.second`, test.second, { max: LONGEST_PATTERN })
      );
    case 'length':
      return checkLength(label, test);
    case 'json':
      return (
        optionalWords(`${label}.pointer`, test.pointer, LONGEST_WORDS) ??
        optionalWords(`${label}.pattern`, test.pattern, LONGEST_PATTERN)
      );
    case 'command':
      return (
        checkString(`${label}.command`, test.command, { max: LONGEST_COMMAND }) ?? whyTimeout(label, test)
      );
    case 'judge':
      return checkString(`${label}.asks`, test.asks, { max: LONGEST_WORDS });
    default:
      return checkChoice(`${label}.language`, test.language, [...LANGUAGE_CODES]);
  }
}

const whyTimeout = (label: string, { timeoutMs }: JsonObject): Why =>
  timeoutMs === undefined ||
  (Number.isInteger(timeoutMs) &&
    Number(timeoutMs) >= TIMEOUT_MS.least &&
    Number(timeoutMs) <= TIMEOUT_MS.most)
    ? undefined
    : `${label}.timeoutMs must be a whole number from ${TIMEOUT_MS.least} to ${TIMEOUT_MS.most}`;

const optionalWords = (label: string, value: unknown, most: number): Why =>
  value === undefined ? undefined : checkString(label, value, { max: most });

const checkCount = (label: string, value: unknown): Why =>
  value === undefined || (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MOST_COUNT)
    ? undefined
    : `${label} must be a whole number from 0 to ${MOST_COUNT}`;

const checkLength = (label: string, { unit, min, max }: JsonObject): Why =>
  checkChoice(`${label}.unit`, unit, LENGTH_UNITS) ??
  (min === undefined && max === undefined ? `${label} needs a min or a max` : undefined);

/** Text that an agent writes must not switch a check off: what is asked of an answer is only whether something is in it. */
function whySwitchable(test: CheckTest): Why {
  if (isSlowTest(test))
    return 'a command or a judge tells whether a rule was kept, not whether the check applies: move it to holdsWhen';
  if (test.in === 'request') return undefined;
  const isPresence =
    (test.is === 'pattern' || test.is === 'program') && test.max === undefined && test.min !== 0;
  return isPresence
    ? undefined
    : 'check.appliesWhen may ask an answer only for a pattern or a program that is there: move the test to holdsWhen, or ask the request';
}

/** Texts that have little in common: what matches all of them says nothing. */
const PROBES = [
  'The report is ready. Shall I send it to the team?',
  'npm run build && git push origin main',
  '{"status":"ok","count":3}',
  'const total = items.reduce((sum, item) => sum + item.price, 0);',
  '# Plan\n\n- first, 2026-11-18\n- then "the rest"\n',
  'Ja, gerne.',
  '12',
];

/** Lines that say the same of every file. */
const CONSTANT = /^(?:true|false|:|exit(?:\s+\d+)?|echo\b[^|;&<>]*)$/;

function whyUseless(test: CheckTest, { looksAt }: RuleCheck): Why {
  if (isSlowTest(test)) {
    if (test.is === 'judge') return undefined;
    if (looksAt !== 'files' && looksAt !== 'work')
      return 'a command looks at the files that the agent wrote: it needs looksAt "files"';
    return CONSTANT.test(test.command.trim())
      ? `the command ${test.command.trim()} looks at no file`
      : undefined;
  }
  if (test.is === 'program') {
    if (test.in !== undefined && test.in !== 'all')
      return 'a test of a program looks at commands: leave out "in"';
    if (!test.run.split('|').every((run) => /^[\w.+-]+(?: [\w:.+*-]+)*$/.test(run)))
      return `"${test.run}" is no program with its subcommands`;
  }
  if (test.in === 'path' && looksAt !== 'files' && looksAt !== 'work')
    return 'a test of a path needs looksAt "files"';
  if ('max' in test && (test.min ?? 0) > (test.max ?? MOST_COUNT))
    return 'no number is at least min and at most max';
  return patternsOf(test)
    .map(({ source, flags }) => whyEmptyPattern(source, flags))
    .find(Boolean);
}

interface PatternSource {
  readonly source: string;
  readonly flags?: string | undefined;
}

function patternsOf(test: TextTest): readonly PatternSource[] {
  switch (test.is) {
    case 'pattern':
      return [{ source: test.pattern, flags: test.flags }];
    case 'order':
      return [test.first, test.second].map((source) => ({ source, flags: test.flags }));
    case 'program':
      return test.with === undefined ? [] : [{ source: test.with }];
    case 'json':
      return test.pattern === undefined ? [] : [{ source: test.pattern }];
    default:
      return [];
  }
}

function whyEmptyPattern(source: string, flags: string | undefined): Why {
  try {
    const pattern = patternOf(source, flags);
    if (pattern.test('')) return `the pattern ${source} matches the empty text: let it name something`;
    if (PROBES.every((probe) => pattern.test(probe)))
      return `the pattern ${source} matches every text: let it name something`;
    const samples = sampleTexts(source);
    return samples.some((sample) => pattern.test(sample))
      ? undefined
      : `no text was found that the pattern ${source} matches: write a simpler one`;
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return `the pattern ${source} cannot be used: ${error.message}`;
  }
}

/** A character for every class that people write. */
const CHARACTERS = [...'aA1 -_.,:;!?"\'`/\\|(){}[]<>#*+=@$%&~^\n\täéÉ€£°–—…•→“”„«»✅🚀😀☀Яяあア中한عאΩगก'];
/** `\b`, `^` and `$` need a neighbour of one kind or the other. */
const AROUND: readonly (readonly [before: string, after: string])[] = [
  ['', ''],
  [' ', ' '],
  ['a', 'a'],
  ['\n', '\n'],
  ['a', ''],
  ['', 'a'],
];

/**
 * A few short texts of which a pattern that matches anything at all should match one. The pattern is known to be a valid one.
 */
export function sampleTexts(source: string): readonly string[] {
  const shortest = readAlternatives({ source, at: 0, takes: 'first' });
  const longest = readAlternatives({ source, at: 0, takes: 'last' });
  return [shortest, longest].flatMap((text) => AROUND.map(([before, after]) => before + text + after));
}

interface Cursor {
  readonly source: string;
  at: number;
  /** Which alternative; the last one also takes what may be left out. */
  readonly takes: 'first' | 'last';
}

function readAlternatives(cursor: Cursor): string {
  const alternatives = [''];
  while (cursor.at < cursor.source.length && cursor.source[cursor.at] !== ')') {
    if (cursor.source[cursor.at] === '|') {
      cursor.at++;
      alternatives.push('');
    } else alternatives.push((alternatives.pop() ?? '') + readRepeated(cursor));
  }
  cursor.at++;
  return (cursor.takes === 'first' ? alternatives[0] : alternatives.at(-1)) ?? '';
}

function readRepeated(cursor: Cursor): string {
  const text = readAtom(cursor);
  const quantifier = /^(?:[*+?]|\{(\d+)(?:,\d*)?\})\??/.exec(cursor.source.slice(cursor.at));
  if (quantifier === null) return text;
  cursor.at += quantifier[0].length;
  const least = quantifier[1] === undefined ? (quantifier[0].startsWith('+') ? 1 : 0) : Number(quantifier[1]);
  return text.repeat(Math.min(1000, cursor.takes === 'last' ? Math.max(1, least) : least));
}

const ATOM =
  /^(?:\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|[\s\S])/u;

function readAtom(cursor: Cursor): string {
  const rest = cursor.source.slice(cursor.at);
  const group = /^\((?:\?(?::|<\w+>))?/.exec(rest);
  if (group !== null) {
    cursor.at += group[0].length;
    return readAlternatives(cursor);
  }
  const atom = ATOM.exec(rest)?.[0] ?? '';
  cursor.at += Math.max(1, atom.length);
  if (/^(?:[\^$]|\\[bB])$/.test(atom)) return '';
  const one = new RegExp(`^(?:${atom})$`, 'u');
  const codePoint = /^\\(?:u\{?|x)([\da-fA-F]+)\}?$/.exec(atom)?.[1];
  if (codePoint !== undefined) return String.fromCodePoint(Number.parseInt(codePoint, 16));
  if (/^[^\\[.]/u.test(atom)) return atom;
  // A blank stands between words.
  if (cursor.takes === 'last' && one.test(' ')) return ' ';
  return CHARACTERS.find((character) => one.test(character)) ?? classMember(atom);
}

/** A character that a class names. */
const classMember = (atom: string): string =>
  [...atom.replace(/^\[\^?/, '')].find((one) => one !== '\\') ?? '';
