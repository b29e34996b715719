import type { CheckTest, LengthUnit, TestPlace } from '../../src/core/check.ts';
import { compact } from '../../src/core/json.ts';
import { fillGaps, fillPattern, patternOfText, type TaskFacts } from './gaps.ts';

interface FormLimits {
  readonly min?: number | string;
  readonly max?: number | string;
}

/** A test of a check, with gaps in its patterns and numbers. A pattern alone is found somewhere, `^` and `$` are ends of lines. */
export type FormTest =
  | string
  | (FormLimits & {
      readonly is: 'pattern';
      readonly pattern: string;
      readonly flags?: string;
      readonly in?: TestPlace;
    })
  | (FormLimits & { readonly is: 'length'; readonly unit: LengthUnit; readonly in?: TestPlace })
  | { readonly is: 'json'; readonly pointer?: string; readonly pattern?: string };

/** A file after a change that a rule asks for. */
type Edit = (file: string, facts: TaskFacts) => string;

/** What a rule asks of a file. */
interface FormRule {
  readonly tests: readonly FormTest[];
  /** Where the tests cannot tell. */
  readonly isMet?: (file: string, facts: TaskFacts) => boolean;
  /** What the value means for this task: a date in the form that it shows. Gaps of the tests and of `follow`. */
  readonly means?: (value: string, facts: TaskFacts) => TaskFacts;
  /** The family's plain file with the rule applied: what the tests are tested on, and what a scripted policy writes. */
  readonly follow: Edit;
}

/** A kind of rule that a house may have for one family of files: with one of its values it is a rule. */
export interface ReadingForm {
  /** `python/owner`. */
  readonly id: string;
  readonly family: string;
  readonly values: readonly string[];
  /** Whole sentences with the gap `{v}`, as a person says them. The first half is for training. */
  readonly wordings: readonly string[];
  readonly rule: FormRule;
}

export const linesOfText = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** `oak elm fir`, or ` | ` between values that have spaces. */
export const listOf = (text: string): readonly string[] => text.split(text.includes(' | ') ? ' | ' : ' ');

/** A row of a family's table: its name and what it asks for, then its values in one line, and the wordings, a line each. */
export const form =
  (id: string, rule: FormRule) =>
  (text: TemplateStringsArray): Omit<ReadingForm, 'family'> => {
    const [values = '', ...wordings] = linesOfText(text.raw.join(''));
    return { id, rule, values: listOf(values), wordings };
  };

export function fillTest(test: FormTest, facts: TaskFacts): CheckTest {
  if (typeof test === 'string') return { is: 'pattern', pattern: fillPattern(test, facts), flags: 'm' };
  if (test.is === 'json') {
    const { pointer, pattern } = test;
    return compact({
      is: test.is,
      pointer: pointer && fillGaps(pointer, facts),
      pattern: pattern && fillPattern(pattern, facts),
    });
  }
  const { min, max, ...rest } = test;
  const number = (limit: number | string | undefined): number | undefined =>
    typeof limit === 'string' ? Number(fillGaps(limit, facts)) : limit;
  const limits = compact({ min: number(min), max: number(max) });
  if (rest.is === 'length') return { ...rest, ...limits };
  return { ...rest, ...limits, pattern: fillPattern(rest.pattern, facts), flags: rest.flags ?? 'm' };
}

/** Nothing in the file matches. */
export const lacks = (pattern: string, flags = 'm'): FormTest => ({ is: 'pattern', pattern, flags, max: 0 });

/** The pattern occurs this often. */
export const times = (pattern: string, count: number | string): FormTest => ({
  is: 'pattern',
  pattern,
  min: count,
  max: count,
});

/** The pattern occurs at least this often. */
export const many = (pattern: string, min: number): FormTest => ({ is: 'pattern', pattern, min });

/** A regular expression with gaps, and what stands there instead: `$1` and gaps. */
export const swap =
  (pattern: string, by: string, flags = 'm'): Edit =>
  (file, facts) => {
    // A dollar sign of a value is no group.
    const safe = Object.fromEntries(
      Object.entries(facts).map(([name, value]) => [name, value.replaceAll('$', '$$$$')]),
    );
    return file.replace(new RegExp(fillPattern(pattern, facts), flags), fillGaps(by, safe));
  };

/** Every place instead of the first. */
export const swapAll = (pattern: string, by: string): Edit => swap(pattern, by, 'gm');

/** One edit after the other. */
export const edits =
  (...all: readonly Edit[]): Edit =>
  (file, facts) =>
    all.reduce((edited, edit) => edit(edited, facts), file);

export const rule = (
  tests: FormTest | readonly FormTest[],
  follow: Edit,
  means?: FormRule['means'],
): FormRule => {
  const list: readonly FormTest[] = typeof tests === 'string' || 'is' in tests ? [tests] : tests;
  return means === undefined ? { tests: list, follow } : { tests: list, follow, means };
};

/** The first line is this text. */
export const firstLine = (text: string): FormRule =>
  rule(
    { is: 'pattern', pattern: `^${patternOfText(text)}$`, in: 'first-line' },
    (file, facts) => `${fillGaps(text, facts)}\n${file}`,
  );

/** The last line is this text. */
export const lastLine = (text: string): FormRule =>
  rule(
    { is: 'pattern', pattern: `^${patternOfText(text)}$`, in: 'last-line' },
    (file, facts) => `${file}\n${fillGaps(text, facts)}`,
  );

/** The file begins with this text, on the line that it has anyway. */
export const opening = (text: string): FormRule =>
  rule(
    { is: 'pattern', pattern: `^${patternOfText(text)}`, in: 'first-line' },
    (file, facts) => `${fillGaps(text, facts)}${file}`,
  );

/** The file ends with this text, on the line that it has anyway. */
export const ending = (text: string): FormRule =>
  rule(
    { is: 'pattern', pattern: `${patternOfText(text)}$`, in: 'last-line' },
    (file, facts) => `${file}${fillGaps(text, facts)}`,
  );

/** Somewhere stands a line with this text alone. */
export const ownLine = (text: string): FormRule =>
  rule(`^[ \\t]*${patternOfText(text)}[ \\t]*$`, (file, facts) => `${file}\n${fillGaps(text, facts)}`);

/** Where the plain file has one text, a file that follows has another. */
export const becomes = (from: string, to: string, means?: FormRule['means']): FormRule =>
  rule(
    patternOfText(to),
    (file, facts) => file.replaceAll(fillGaps(from, facts), () => fillGaps(to, facts)),
    means,
  );
