import { parseArgs } from 'node:util';
import { markdownTable, quantile, writeSection } from '../markdown.ts';
import { shareWithInterval } from '../trials/summarise.ts';
import { describeGate } from './describe-gate.ts';
import { type GateRun, type GateWorld, runGate } from './simulate-gate.ts';

/*
 * False promotions and power of the whole gate of weights, on checkpoints whose effect is known: the fold that a daemon runs is told what
 * training windows, general questions, replayed requests and rated sessions would tell. Seeds are fixed: the same commit gives the same
 * numbers.
 *
 *   npm run bench:gate [-- --write] [--runs 2000] [--json]
 *
 * `--write` replaces the section of docs/statistics.md.
 */
const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    runs: { type: 'string', default: '2000' },
  },
});
const RUNS = Number(values.runs);
const EFFECTS = [-0.2, -0.1, -0.03, 0, 0.05, 0.1, 0.2, 0.3];
const TASKS = [20, 40, 120, 400];
/** Effects of single tasks to both sides of the mean: none, or so far that the pairs of a task correlate by one half. */
const SPREADS = { 0: 0, 0.5: 0.55 } as const;

interface Cell {
  readonly world: GateWorld;
  readonly runs: readonly GateRun[];
}

function runCell(world: GateWorld, runs = RUNS): Cell {
  const cell = { world, runs: Array.from({ length: runs }, (_, seed) => runGate(world, seed)) };
  process.stderr.write(`${JSON.stringify(world)}: seeds 0 to ${runs - 1}\n`);
  return cell;
}

const share = ({ runs }: Cell, is: (run: GateRun) => boolean): string =>
  shareWithInterval(runs.filter(is).length, runs.length);
const signed = (effect: number): string => `${effect > 0 ? '+' : ''}${Math.round(100 * effect)}`;
const median = ({ runs }: Cell, of: (run: GateRun) => number): string =>
  Math.round(quantile(runs.map(of), 0.5)).toLocaleString('en-US');

const cells = Object.entries(SPREADS).flatMap(([correlation, spread]) =>
  TASKS.flatMap((tasks) =>
    EFFECTS.flatMap((effect) =>
      (['thin', 'thick'] as const).map((traffic) => ({
        correlation,
        ...runCell({ effect, tasks, spread, traffic }),
      })),
    ),
  ),
);
const questions = [-0.2, -0.1, -0.05, 0].map((onQuestions) =>
  runCell({ effect: 0.3, tasks: 120, spread: 0, traffic: 'thin', onQuestions }),
);
const canaries = (['thin', 'thick'] as const).flatMap((traffic) =>
  [-0.2, -0.1, 0, 0.2].map((effect) => runCell({ effect, tasks: 0, spread: 0.55, traffic, isCanary: true })),
);

/** Cells in which nothing was tried are one line. */
const tried = cells.filter(({ runs }) => runs.some(({ end }) => end !== 'not-tried'));
const untried = [...new Set(cells.filter((cell) => !tried.includes(cell)).map(({ world }) => world.tasks))];
const section = `${describeGate(RUNS)}

${untried.map((tasks) => `With ${tasks} tasks no trial is opened (${share({ world: { effect: 0, tasks, spread: 0, traffic: 'thin' }, runs: cells.filter(({ world }) => world.tasks === tasks).flatMap(({ runs }) => runs) }, ({ end }) => end === 'not-tried')} of the runs are not tried; 0 pairs).`).join(' ')}

${markdownTable(
  [
    'effect, points',
    'tasks',
    'correlation',
    'traffic',
    'better on tasks',
    'live',
    'canary undecided',
    'pairs (median)',
    'rated sessions (median)',
  ],
  tried.map((cell) => [
    signed(cell.world.effect),
    String(cell.world.tasks),
    cell.correlation,
    cell.world.traffic,
    share(cell, ({ isBetter }) => isBetter),
    share(cell, ({ end }) => end === 'live'),
    share(cell, ({ end }) => end === 'waiting'),
    median(cell, ({ pairs }) => pairs),
    median(cell, ({ sessions }) => sessions),
  ]),
)}

Weights that are 30 points better on 120 tasks, and worse on general questions:

${markdownTable(
  ['on general questions, points', 'live'],
  questions.map((cell) => [signed(cell.world.onQuestions ?? 0), share(cell, ({ end }) => end === 'live')]),
)}

A canary that held-out tasks did not tell from a good one (the effect of single requests differs as above):

${markdownTable(
  [
    'effect, points',
    'traffic',
    'live',
    'rolled back',
    'undecided after 8 weeks',
    'pairs (median)',
    'rated sessions (median)',
  ],
  canaries.map((cell) => [
    signed(cell.world.effect),
    cell.world.traffic,
    share(cell, ({ end }) => end === 'live'),
    share(cell, ({ end }) => end === 'rolled-back'),
    share(cell, ({ end }) => end === 'waiting'),
    median(cell, ({ pairs }) => pairs),
    median(cell, ({ sessions }) => sessions),
  ]),
)}
`;
if (values.json)
  process.stdout.write(
    `${JSON.stringify([...cells, ...questions, ...canaries].map(({ world, runs }) => ({ world, runs })))}\n`,
  );
else process.stdout.write(section);
if (values.write) writeSection('docs/statistics.md', 'gate', section);
