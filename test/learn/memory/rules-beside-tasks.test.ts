import { describe, expect, it } from 'vitest';
import { appraise } from '../../../src/evidence/appraise.ts';
import { readStatements } from '../../../src/learn/memory/write/read-statements.ts';
import { standsInEveryTask } from '../../../src/learn/rule-reach.ts';
import { turnOf } from '../../evidence/turn-fixtures.ts';

const TASKS = [
  'Write the SQL file that sorts the invoices.',
  'Draft the invitation to the summer party.',
  'Fix the failing login test.',
  'Translate the letter to the landlord into German.',
  'Refactor the payment module.',
  'Can you summarise the meeting notes?',
  'Add a dark mode toggle to the settings page.',
  'Plan a week of dinners for four.',
  'Why is the build so slow?',
  'Rename the column in the users table.',
];
const RULES = [
  'From now on always answer in British English.',
  'Never push to main without asking.',
  'Always put the ticket number in the commit message.',
  'In future, use ISO dates everywhere.',
  'Please keep all replies under five lines from now on.',
];
const PAIRS = TASKS.flatMap((task) => RULES.map((rule) => [task, rule] as const));

/** What is learned at once from a message that follows an answer. */
const learnedFrom = (user: string, task: string): readonly string[] => {
  const reply = [{ type: 'text', text: 'Done: see `out/result.sql`.' }] as const;
  const { correction } = appraise(turnOf({ task, reply, next: { tools: [], user } }));
  return correction?.isStanding === true ? correction.quotes : [];
};
const rulesIn = (message: string): readonly string[] =>
  readStatements(message)
    .filter(({ kind }) => kind === 'rule')
    .map(({ quote }) => quote);

describe('a standing rule, whatever work it stands beside', () => {
  it.each(PAIRS)('after the answer to "%s": %s', (task, rule) => {
    expect(learnedFrom(rule, task)).toEqual([rule]);
    expect(standsInEveryTask(rule)).toBe(true);
  });

  it.each(PAIRS)('behind it in the message that opens a session: "%s" %s', (task, rule) => {
    expect(rulesIn(`${task} ${rule}`)).toEqual([rule]);
  });

  it.each(PAIRS)(
    'behind it in a later message, where the task is no part of the rule: "%s" %s',
    (task, rule) => {
      expect(learnedFrom(`${task} ${rule}`, 'Hello')).toEqual([rule]);
    },
  );

  it('in the same sentence, where it says that it is for later', () => {
    for (const task of TASKS)
      for (const rule of [
        'from now on always answer in British English.',
        'in future, use ISO dates everywhere.',
      ]) {
        const message = `${task.replace(/[.?]$/, '')}, and ${rule}`;
        expect(rulesIn(message)).toEqual([`and ${rule}`]);
        expect(learnedFrom(message, 'Hello')).toEqual([`and ${rule}`]);
      }
  });

  it('is none in the task alone, nor in the words of a text that is to be written', () => {
    for (const task of [
      ...TASKS,
      'Write a notice saying that we open late on Friday, and from now on we close at six.',
      'Sort the rows, and then sum them by month.',
    ]) {
      expect(rulesIn(task)).toEqual([]);
      expect(learnedFrom(task, 'Hello')).toEqual([]);
    }
  });
});
