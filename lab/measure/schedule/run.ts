import { writeSection } from '../markdown.ts';
import { measurePauses } from './measure-pauses.ts';
import { type SimulatedMonth, simulateMonth } from './simulate-month.ts';

/** How soon background work stops when the user returns, and how much of the user's absence it uses. */
const ROUNDS = 300;
const SEEDS = ['one', 'two', 'three'];

const quantile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.ceil(share * values.length) - 1)] ??
  Number.NaN;
const shown = (ms: number): string => `${ms.toFixed(1)} ms`;
const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

const { stillMs, endedMs } = await measurePauses(ROUNDS);
const pauses = [
  row(['from a request to …', 'p50', 'p99', 'longest', 'rounds']),
  row(['---', '---', '---', '---', '---']),
  ...(
    [
      ['the busy child being stopped', stillMs],
      ["the job's checkpoint (in memory here)", endedMs],
    ] as const
  ).map(([what, list]) =>
    row([
      what,
      shown(quantile(list, 0.5)),
      shown(quantile(list, 0.99)),
      shown(Math.max(...list)),
      list.length,
    ]),
  ),
];

const hours = (ms: number): string => (ms / 3_600_000).toFixed(0);
const describe = (seed: string, month: SimulatedMonth): string => {
  const over = month.overlaps.map(({ ms }) => ms);
  return row([
    seed,
    hours(month.awayMs),
    hours(month.workedMs),
    `${((100 * month.workedMs) / month.awayMs).toFixed(1)} %`,
    month.windows,
    `${month.parts} (${month.done} done)`,
    month.begunWhilePresent,
    `${over.filter((ms) => ms > 0).length} of ${over.length}`,
    `${(Math.max(...over) / 1000).toFixed(0)} s`,
    `${month.overlaps.filter(({ kind }) => kind === 'surprise at night').length}`,
  ]);
};
const months: string[] = [
  row([
    'person',
    'away h',
    'worked h',
    'share',
    'windows',
    'parts',
    'begun while present',
    'returns into work',
    'longest overlap',
    'nights at 2',
  ]),
  row(Array.from({ length: 10 }, () => '---')),
];
for (const seed of SEEDS) months.push(describe(seed, await simulateMonth(seed)));

const text = [...pauses, '', ...months].join('\n');
process.stdout.write(`${text}\n`);
if (process.argv.includes('--write'))
  writeSection('docs/performance.md', 'schedule', `## Background work\n\n${text}`);
