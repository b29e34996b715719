import type { SuiteRule } from '../suite.ts';
import type { CheckStep } from './parse-command.ts';

interface KnownRule extends Omit<SuiteRule, 'since'> {
  /** Its tag in a day's `preference_tags`. */
  readonly tag: string;
  /** The checker that tests it. */
  readonly checkedBy: CheckStep['kind'];
}

const EXAMPLE_TIME = /(?:\d{4}|YYYY)-(?:\d{2}|MM)-(?:\d{2}|DD)T\S{5,20}\+08:00/;
const EXAMPLE_NAME = /(?:YYYYMMDD|\b\d{8})_[a-z<{[*]/;

/** The five house rules, numbered as in the data. */
const KNOWN: readonly KnownRule[] = [
  {
    id: 'P1',
    title: 'times are written YYYY-MM-DDTHH:MM:SS+08:00',
    tag: 'output_format',
    checkedBy: 'iso8601',
    isTaughtBy: (text) => EXAMPLE_TIME.test(text) || (/ISO[ -]?8601/i.test(text) && text.includes('+08:00')),
  },
  {
    id: 'P2',
    title: 'new files are named YYYYMMDD_lower_case.ext',
    tag: 'file_naming',
    checkedBy: 'filename',
    isTaughtBy: (text) => EXAMPLE_NAME.test(text),
  },
  {
    id: 'P3',
    title: 'files say created_at, author and status',
    tag: 'field_completeness',
    checkedBy: 'metadata',
    isTaughtBy: (text) => ['created_at', 'author', 'status'].every((field) => text.includes(field)),
  },
  {
    id: 'P4',
    title: 'a file is kept as FILE.bak before it is changed',
    tag: 'workflow',
    checkedBy: 'backup',
    isTaughtBy: (text) => text.includes('.bak'),
  },
  {
    id: 'P5',
    title: 'every task done is a line in done.log',
    tag: 'completion_log',
    checkedBy: 'done-log',
    isTaughtBy: (text) => text.includes('done.log') && text.includes('[DONE]'),
  },
];

/** The rules that a suite's days are tagged with, in the order in which they begin to count. */
export function rulesOf(tagsByDay: readonly (readonly string[])[]): readonly SuiteRule[] {
  return KNOWN.map(({ id, title, isTaughtBy, tag }) => ({
    id,
    title,
    isTaughtBy,
    since: tagsByDay.findIndex((tags) => tags.includes(tag)),
  }))
    .filter(({ since }) => since >= 0)
    .sort((a, b) => a.since - b.since);
}

/** What Python code mentions when it tests a rule. Its other conditions are content. */
const IN_CODE: Readonly<Record<string, RegExp>> = {
  P1: /\+08:00/,
  P2: /\d{8}_\*|\[0-9\]\*_/,
  P4: /\.bak\b/,
  P5: /\bdone\.log\b/,
};

/** The rules that a step tests. Python code may test anything: its rules are those whose marks it contains. */
export function rulesCheckedBy(step: CheckStep): readonly string[] {
  const inCode = [
    ...(step.kind === 'python' ? [step.code] : []),
    ...('file' in step && 'code' in step.file ? [step.file.code] : []),
  ];
  const own = KNOWN.filter(({ checkedBy }) => checkedBy === step.kind).map(({ id }) => id);
  const marked = Object.entries(IN_CODE).flatMap(([id, mark]) =>
    inCode.some((code) => mark.test(code)) ? [id] : [],
  );
  return [...new Set([...own, ...marked])].sort();
}

/** The rules that a text names by number. */
export const rulesNamedIn = (text: string): readonly string[] => {
  const named = new Set([...text.matchAll(/\bP[1-9]\b/g)].map(([name]) => name));
  // `P1-P5` includes those in between.
  for (const [, from, to] of text.matchAll(/\bP([1-9])\s?[-–]\s?P([1-9])\b/g))
    for (let number = Number(from); number <= Number(to); number++) named.add(`P${number}`);
  return [...named].sort();
};
