import type { RuleCheck } from '../../src/core/check.ts';
import { runCheck } from '../../src/lessons/checks/run-check.ts';
import type { ReadingFamily } from './family.ts';
import { type FormTest, fillTest, type ReadingForm } from './form.ts';
import { fillGaps, type TaskFacts } from './gaps.ts';

/** A form with a value: what a house asks of its files. */
export interface ReadingRule {
  readonly form: ReadingForm;
  readonly value: string;
}

/** One file that was asked for. */
export interface AskedFile {
  readonly family: ReadingFamily;
  readonly facts: TaskFacts;
  /** What counts. */
  readonly rules: readonly ReadingRule[];
  /** Rules for other kinds of files whose lessons are shown: their values do not belong here. */
  readonly stray: readonly ReadingRule[];
}

export interface FileGrade {
  /** 0 to 1. */
  readonly reward: number;
  /** The file is what was asked for. */
  readonly isDone: boolean;
  /** And all rules are met. */
  readonly isComplete: boolean;
  /** How many rules are met. */
  readonly met: number;
  /** The value of a stray lesson stands in it. */
  readonly isLeaking: boolean;
}

/** What a file is worth that follows no rule. */
const DONE = 0.25;
const LONGEST_FILE = 6000;
const FENCED = /^ {0,3}(`{3,}|~{3,})[^\n]*\n([\s\S]*?)(?:^ {0,3}\1[`~]*[ \t]*$|$(?![\s\S]))/gm;
/** A sentence that announces the file instead of being it. */
const LEAD = /^(?:sure|certainly|of course|here)\b.*:$/i;

/**
 * The file of a reply: bare, or in its only block of code. Undefined for several blocks. A Markdown file may have blocks of its own: then
 * it is the whole reply, or what stands in a block that is.
 */
function fileOf(reply: string, path: string): string | undefined {
  const whole = reply.trim();
  const blocks = [...whole.matchAll(FENCED)];
  if (path.endsWith('.md') && !(blocks.length === 1 && isMarkdownBlock(blocks[0]?.[0]))) {
    const outer = /^(`{3,}|~{3,})(?:md|markdown)\n([\s\S]*)\n\1$/.exec(whole)?.[2];
    return outer ?? (blocks[0]?.index === 0 ? undefined : whole);
  }
  if (blocks.length > 1) return undefined;
  const inline = /^`([^`\n]+)`$/.exec(whole)?.[1];
  return (blocks[0]?.[2] ?? inline ?? reply).replace(/^(?:[ \t]*\n)+/, '').trimEnd();
}

const isMarkdownBlock = (block = ''): boolean => /^ {0,3}[`~]{3,}(?:md|markdown|text)?[ \t]*\n/i.test(block);

export function gradeFile(reply: string, asked: AskedFile): FileGrade {
  const { rules, stray } = asked;
  const file = fileOf(reply, asked.family.path);
  if (file === undefined || !isAsAsked(file, asked))
    return { reward: 0, isDone: false, isComplete: false, met: 0, isLeaking: false };
  const isLeaking = stray.some(({ value }) => holdsValue(file, value));
  const met = rules.filter((one) => isRuleMet(one, file, asked)).length;
  const share = rules.length === 0 ? 1 : met / rules.length;
  return {
    reward: isLeaking ? 0 : DONE + (1 - DONE) * share,
    isDone: true,
    isComplete: met === rules.length && !isLeaking,
    met,
    isLeaking,
  };
}

function isAsAsked(file: string, { family, facts }: AskedFile): boolean {
  if (file.trim() === '' || file.length > LONGEST_FILE || LEAD.test(file.split('\n')[0] ?? '')) return false;
  const tests = family.asked.map(
    (test): FormTest => (typeof test === 'string' ? { is: 'pattern', pattern: test, flags: 'im' } : test),
  );
  return passes(tests, file, { family, facts }) && family.isLike?.(file, facts) !== false;
}

/** Whether a file follows a rule. */
export function isRuleMet(
  { form, value }: ReadingRule,
  file: string,
  { family, facts }: Pick<AskedFile, 'family' | 'facts'>,
): boolean {
  const all = gapsOf({ form, value }, facts);
  return passes(form.rule.tests, file, { family, facts: all }) && form.rule.isMet?.(file, all) !== false;
}

const gapsOf = ({ form, value }: ReadingRule, facts: TaskFacts): TaskFacts => ({
  ...facts,
  v: value,
  ...form.rule.means?.(value, facts),
});

/** As a check of the product asks it of a file. */
function passes(
  tests: readonly FormTest[],
  text: string,
  { family, facts }: Pick<AskedFile, 'family' | 'facts'>,
): boolean {
  const check: RuleCheck = {
    looksAt: 'files',
    appliesWhen: [],
    holdsWhen: tests.map((test) => fillTest(test, facts)),
    standing: 'accepted',
    by: 'person',
    proof: '',
  };
  const work = { request: '', reply: '', files: [{ path: family.path, text }], commands: [] };
  return runCheck(check, work).outcome === 'kept';
}

/** A value that stands in a text as words of their own. */
export const holdsValue = (text: string, value: string): boolean => {
  const at = text.toLowerCase().indexOf(value.toLowerCase());
  if (at < 0) return false;
  const [before = ' ', after = ' '] = [text[at - 1], text[at + value.length]];
  const isWord = (letter: string): boolean => /[\p{L}\p{N}]/u.test(letter);
  const isApart =
    !(isWord(before) && isWord(value[0] ?? '')) && !(isWord(after) && isWord(value.at(-1) ?? ''));
  return isApart || holdsValue(text.slice(at + 1), value);
};

/** A file that is as asked and follows all of the rules, by hand; undefined where no order of the edits gives one. */
export function writeFile(asked: Omit<AskedFile, 'stray'>): string | undefined {
  const plain = fillGaps(asked.family.plain, asked.facts).trim();
  return ordersOf(asked.rules)
    .map((rules) => rules.reduce((file, one) => one.form.rule.follow(file, gapsOf(one, asked.facts)), plain))
    .find((file) => gradeFile(file, { ...asked, stray: [] }).isComplete);
}

const ordersOf = <T>(list: readonly T[]): readonly (readonly T[])[] =>
  list.length <= 1
    ? [list]
    : list.flatMap((one, at) => ordersOf(list.toSpliced(at, 1)).map((rest) => [one, ...rest]));
