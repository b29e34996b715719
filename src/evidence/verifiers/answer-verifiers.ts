import { compilePattern, LONGEST_TEXT } from '../../base/linear-regex.ts';
import { asArray, isObject, type Json } from '../../core/json.ts';
import { graded, notRun, type Submission, type Verifier } from '../../core/verifier.ts';
import type { VerifierRow } from '../../core/verifier-row.ts';
import { clip } from '../../text/truncate.ts';
import { jsonIn } from './schema-verifier.ts';

type OptionsOf<Kind extends VerifierRow['kind']> = Omit<
  Extract<VerifierRow, { readonly kind: Kind }>,
  'kind' | 'domain'
>;

/**
 * The answer equals the expected one, or one of several, apart from white space and case. Where a bare number is expected, the number
 * in the answer counts, with its unit and its thousands separators (`statedNumber`); `match: exact` compares the whole text then, too.
 */
export function createExactVerifier(options: OptionsOf<'exact'>): Verifier {
  const { isCaseSensitive = false, match = 'answer' } = options;
  const fold = (text: string): string => {
    const plain = text.normalize('NFC').split(/\s+/).filter(Boolean).join(' ');
    return isCaseSensitive ? plain : plain.toLowerCase();
  };
  const read = createAnswerReader(options);
  return async (submission) => {
    const wanted = expectedFor(submission, options);
    if (wanted.length === 0) return notRun(NOTHING_EXPECTED);
    const found = read(submission.output);
    if (!found.ok) return graded(0, found.why);
    const answer = fold(found.text);
    if (wanted.some((one) => fold(one) === answer)) return graded(1, 'it equals the expected answer');
    const isNumber = match === 'answer' && options.from !== 'whole';
    const number = isNumber ? statedNumber(found, submission.task) : undefined;
    if (
      number !== undefined &&
      wanted.some((one) => BARE_NUMBER.test(one.trim()) && findNumbers(one)[0] === number)
    )
      return graded(1, `the number in it is ${number}`);
    const isNear = !found.isMarked && wanted.some((one) => answer.includes(fold(one)));
    const hint = isNear ? '; it contains it: ask for a line "Answer: …", or for \\boxed{…}' : '';
    return graded(0, `it is ${quote(answer)}, not ${quote(wanted[0] ?? '')}${hint}`);
  };
}

/** With a sign, separators and a currency or per cent sign, and nothing else. */
const BARE_NUMBER = /^[-+−]?\p{Sc}?\s?\d[\d.,'_\u00a0\u202f]{0,60}\s?[\p{Sc}%]?$/u;

/**
 * The number that an answer states: after a mark the first one; in free text the last one that the task does not mention itself, so that
 * "There are 91 days in 2028" says 91.
 */
function statedNumber({ text, isMarked }: FoundAnswer, task: string): number | undefined {
  const numbers = findNumbers(text.slice(-LONGEST_TEXT));
  if (isMarked) return numbers[0];
  const given = new Set(findNumbers(task));
  return numbers.findLast((number) => !given.has(number)) ?? numbers.at(-1);
}

/** The number in the answer equals the expected number. Units are ignored. */
export function createNumberVerifier(options: OptionsOf<'number'>): Verifier {
  const { tolerance = 1e-6, absoluteTolerance = 1e-9 } = options;
  const read = createAnswerReader(options);
  return async (submission) => {
    const wanted = expectedFor(submission, options).flatMap((text) => findNumbers(text).slice(0, 1));
    if (wanted.length === 0) return notRun(NOTHING_EXPECTED);
    const answer = read(submission.output);
    if (!answer.ok) return graded(0, answer.why);
    const found = statedNumber(answer, submission.task);
    if (found === undefined) return graded(0, 'there is no number in the answer');
    const isNear = wanted.some(
      (one) => Math.abs(found - one) <= Math.max(absoluteTolerance, tolerance * Math.abs(one)),
    );
    return isNear ? graded(1, `it is ${found}`) : graded(0, `it is ${found}, not ${wanted[0]}`);
  };
}

const NOTHING_EXPECTED =
  'the right answer to this task is not known: add it to the verifier (expected, or answers), or report it as an event of the kind expected';

type Asked = Pick<Submission, 'task'> & { readonly reference?: Submission['reference'] | undefined };

/** Whether the right answer to a task is known to the row, or told with the task. */
export const isAnswerKnown = (asked: Asked, row: OptionsOf<'exact'> | OptionsOf<'number'>): boolean =>
  expectedFor(asked, row).length > 0;

/** The reported answer if there is one, else that of the first listed task which the request contains, else the row's own. */
function expectedFor(
  { task, reference }: Asked,
  { expected, answers = [] }: OptionsOf<'exact'>,
): readonly string[] {
  const told = textsOf(reference);
  if (told.length > 0) return told;
  const asked = foldTask(task);
  const listed = answers.find((one) => asked.includes(foldTask(one.task)));
  return textsOf(listed === undefined ? expected : listed.expected);
}

const foldTask = (text: string): string => text.normalize('NFC').toLowerCase().split(/\s+/).join(' ').trim();

type AnswerRead = ({ readonly ok: true } & FoundAnswer) | { readonly ok: false; readonly why: string };
type ReadAnswer = (output: string) => AnswerRead;

/** Throws a PatternError for a pattern that cannot be matched in linear time. */
function createAnswerReader({ from = 'answer', field, pattern }: OptionsOf<'exact'>): ReadAnswer {
  const compiled = pattern === undefined ? undefined : compilePattern(pattern);
  const within = (text: string): AnswerRead => {
    if (compiled === undefined)
      return from === 'whole' || field !== undefined
        ? { ok: true, text, isMarked: field !== undefined }
        : { ok: true, ...findAnswer(text) };
    const found = compiled.last(text.slice(-LONGEST_TEXT));
    return found === undefined
      ? { ok: false, why: `the pattern ${quote(pattern ?? '')} matches nothing in it` }
      : { ok: true, text: found.trim(), isMarked: true };
  };
  if (field === undefined) return within;
  return (output) => {
    const value = valueAt(jsonIn(output), field);
    if (value === undefined) return { ok: false, why: `it has no JSON field ${field}` };
    return within(typeof value === 'string' ? value : JSON.stringify(value));
  };
}

/** The value that a JSON pointer names. */
function valueAt(value: Json | undefined, pointer: string): Json | undefined {
  let found = value;
  for (const part of pointer.slice(1).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(found)) found = asArray(found)[Number(key)];
    else found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return found;
}

/** The output matches a pattern. Throws a PatternError for one that cannot be matched in linear time. */
export function createRegexVerifier({
  pattern,
  flags = '',
  match = 'contains',
}: OptionsOf<'regex'>): Verifier {
  const contains = compilePattern(pattern, flags);
  const compiled = match === 'whole' ? compilePattern(`^(?:${pattern})$`, flags) : contains;
  return async ({ output }) => {
    const text = output.trim();
    if (text.length > LONGEST_TEXT)
      return notRun(
        `the output has ${text.length} characters; patterns are matched on at most ${LONGEST_TEXT}`,
      );
    return compiled.test(text)
      ? graded(1, 'the pattern matches')
      : graded(0, `the pattern ${quote(pattern)} does not match`);
  };
}

function textsOf(reference: Json | readonly Json[] | undefined): readonly string[] {
  const list = Array.isArray(reference) ? asArray(reference) : [reference];
  return list.flatMap((one) => (typeof one === 'string' || typeof one === 'number' ? [String(one)] : []));
}

const quote = (text: string): string => JSON.stringify(clip(text, 80));

/** The answer in an output, and whether it was marked as such. */
interface FoundAnswer {
  readonly text: string;
  readonly isMarked: boolean;
}

const MARK = /\banswer\s{0,3}(?:is\b|:|=)[\s*_:]{0,6}/gi;

/** The last box (`\boxed{…}`), else the line after the last "answer:" or "answer is", else the whole output. */
function findAnswer(output: string): FoundAnswer {
  const boxed = lastBox(output);
  if (boxed !== undefined) return { text: boxed.trim(), isMarked: true };
  const mark = [...output.matchAll(MARK)].at(-1);
  if (mark === undefined) return { text: output.trim(), isMarked: false };
  const line = output.slice(mark.index + mark[0].length).split('\n', 1)[0] ?? '';
  return { text: line.replace(/[\s*_]{1,20}$/, '').trim(), isMarked: true };
}

function lastBox(output: string): string | undefined {
  const start = Math.max(lastEnd(output, '\\boxed{'), lastEnd(output, '\\bbox{'));
  if (start < 0) return undefined;
  let depth = 1;
  for (let at = start; at < output.length; at++) {
    if (output[at] === '{') depth++;
    else if (output[at] === '}' && --depth === 0) return output.slice(start, at);
  }
  return undefined;
}

const lastEnd = (output: string, opening: string): number => {
  const at = output.lastIndexOf(opening);
  return at < 0 ? -1 : at + opening.length;
};

const NUMBER =
  /(?<![\p{L}\p{N}_.,])([-+−]?)([.,]?\d[\d.,'_\u00a0\u202f]{0,60})(?:[eE]([-+]?\d{1,3})(?![\d\p{L}]))?/gu;
const THIN = /['_\u00a0\u202f]/g;
const FRACTION = /\\[dt]?frac\{(-?\d{1,15})\}\{(\d{1,15})\}/g;

/**
 * The numbers in a text, in order: `1,234.5`, `3,14`, `−2e-3`, `1/2`, `\frac{1}{2}`. Units, currency signs and words
 * around them are skipped; digits inside a word (`m2`) are not numbers.
 */
export function findNumbers(text: string): readonly number[] {
  const plain = text.replace(FRACTION, ' $1/$2 ').replaceAll('$', ' ');
  const numbers: number[] = [];
  let lastEnd = -1;
  for (const match of plain.matchAll(NUMBER)) {
    const [whole, sign = '', digits = '', power] = match;
    const values = valuesOf(digits).map((value) =>
      power === undefined ? value : value * 10 ** Number(power),
    );
    const isBelow = /^\s?\/\s?$/.test(plain.slice(lastEnd, match.index)) && lastEnd >= 0;
    const [first] = values;
    if (isBelow && first !== undefined && first !== 0) numbers.push((numbers.pop() ?? 0) / first);
    else
      for (const [index, value] of values.entries())
        numbers.push(isMinus(sign) && index === 0 ? -value : value);
    lastEnd = match.index + whole.length;
  }
  return numbers.filter((value) => Number.isFinite(value));
}

const isMinus = (sign: string): boolean => sign === '-' || sign === '−';

/** One number, or several separated by commas. */
function valuesOf(written: string): readonly number[] {
  const digits = written.replace(THIN, '').replace(/[.,]+$/, '');
  const comma = digits.lastIndexOf(',');
  const dot = digits.lastIndexOf('.');
  if (comma < 0 && dot < 0) return [Number(digits)];
  if (comma >= 0 && dot >= 0) {
    const [decimal, group] = comma > dot ? [',', '.'] : ['.', ','];
    return [Number(digits.replaceAll(group, '').replace(decimal, '.'))];
  }
  const sign = comma >= 0 ? ',' : '.';
  const parts = digits.split(sign);
  const isGrouped =
    /^[1-9]\d{0,2}$/.test(parts[0] ?? '') && parts.slice(1).every((part) => part.length === 3);
  // A single dot is always a decimal point; a single comma before three digits is a thousands separator.
  if (isGrouped && (sign === ',' || parts.length > 2)) return [Number(parts.join(''))];
  if (parts.length === 2) return [Number(parts.join('.'))];
  return sign === ',' ? parts.filter((part) => part !== '').map(Number) : [];
}
