import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/*
 * A small benchmark in the layout of MetaClaw-Bench, written for these tests: two sets, `part1` with three days and `part2` with one day
 * whose workspaces lie in `workspaces/shared`, as in the repository of the original.
 */

const AT = 'Times are written like 2026-05-04T09:30:00+08:00, with the time zone.';
const NAMED =
  'New files are named like 20260505_stock_list.json: the date, then lower-case words with underscores.';

const times = (id: string, file: string, field: string) => ({
  id,
  type: 'file_check',
  question: `Please record the delivery in ${file}, with its time in the field ${field}.`,
  feedback: { correct: 'Good.', incorrect: `${field} cannot be read. ${AT}` },
  eval: { command: `python scripts/check_iso8601.py ${file} ${field}`, expect_exit: 0 },
  update: [],
});
const named = (id: string, day: string, count: number, what: string) => ({
  id,
  type: 'file_check',
  question: `Please save the ${what} as JSON in ${day}/.`,
  feedback: { correct: 'Good.', incorrect: `I cannot find the ${what}. ${NAMED}` },
  eval: {
    command: `python scripts/check_filename.py --dir ${day}/ --ext json --min-count ${count}`,
    expect_exit: 0,
  },
  update: [],
});
const choice = (id: string, question: string) => ({
  id,
  type: 'multi_choice',
  question: `${question}\n\nA. the warehouse\nB. the shop\nC. the harbour\n\nAnswer with \\bbox{X} or \\bbox{X,Y}.`,
  feedback: { correct: 'Right.', options: { A: 'The list names it.', B: 'Nobody said so.', C: 'Yes.' } },
  eval: { options: { A: 'the warehouse', B: 'the shop', C: 'the harbour' }, answer: ['A', 'C'] },
});

const DAYS = [
  [
    'day01',
    ['output_format'],
    'Monday, May 4, 2026',
    [
      times('r1', 'day01/delivery.json', 'arrived_at'),
      choice('r2', 'Where are the crates?'),
      times('r3', 'day01/return.json', 'left_at'),
    ],
  ],
  [
    'day02',
    ['output_format', 'file_naming'],
    'Tuesday, May 5, 2026',
    [
      times('r1', 'day02/delivery.json', 'arrived_at'),
      named('r2', 'day02', 1, 'stock list'),
      choice('r3', 'Where are the barrels?'),
    ],
  ],
  [
    'day03',
    ['output_format', 'file_naming'],
    'Wednesday, May 6, 2026',
    [
      named('r1', 'day03', 1, 'price list'),
      named('r2', 'day03', 2, 'order list'),
      times('r3', 'day03/delivery.json', 'arrived_at'),
    ],
  ],
] as const;

export const FIXTURE_QUESTIONS = DAYS.reduce((sum, [, , , rounds]) => sum + rounds.length, 0);

/** Writes both sets into a folder. */
export function writeMetaclawFixture(folder: string): void {
  writeSet(path.join(folder, 'part1'), 'workspaces', DAYS);
  writeSet(path.join(folder, 'part2'), 'workspaces/shared', DAYS.slice(2));
}

function writeSet(folder: string, workspaces: string, days: readonly (typeof DAYS)[number][]): void {
  const write = (file: string, text: string): void => {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
  };
  const test = days.map(([id, tags], nth) => ({
    id,
    desc: `Day ${nth + 1}`,
    eval: id,
    arc: nth === 0 ? 'A' : 'B',
    preference_tags: tags,
  }));
  write('all_tests.json', JSON.stringify({ name: 'fixture', test }));
  write(`${workspaces}/AGENTS.md`, '# The store\nWork with care.\n');
  for (const [id, , date, rounds] of days) {
    write(`eval/${id}/questions.json`, JSON.stringify({ id, rounds }));
    write(`${workspaces}/${id}/README.md`, `# ${id}\n**Date:** ${date}\n`);
  }
}
