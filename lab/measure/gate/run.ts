import { parseArgs } from 'node:util';
import { markdownTable, quantile, shareWithInterval, writeSection } from '../markdown.ts';
import { requireSome } from '../measured.ts';
import { describeGate } from './describe-gate.ts';
import { type GateRun, type GateWorld, runGates, type Traffic } from './simulate-gate.ts';

/*
 * False promotions and power of the whole gate of weights, on checkpoints whose effect is known: the fold that a daemon runs is told what
 * training windows, general questions, replayed requests and rated sessions would tell. Seeds are fixed: the same commit gives the same
 * numbers.
 *
 *   npm run bench:gate [-- --write] [--runs 2000] [--json]
 *
 * `--write` replaces the section of lab/results/statistics.md.
 */
const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    runs: { type: 'string', default: '2000' },
  },
});
const RUNS = Number(values.runs);
requireSome('run of the gate', RUNS);
const EFFECTS = [-0.2, -0.1, -0.03, 0, 0.05, 0.1, 0.2, 0.3];
const TASKS = [20, 40, 120, 400];
/** Effects of single tasks to both sides of the mean: none, or so far that the pairs of a task correlate by one half. */
const SPREADS = { 0: 0, 0.5: 0.55 } as const;

interface Cell {
  readonly world: GateWorld;
  readonly traffic: Traffic;
  readonly runs: readonly GateRun[];
}

const TRAFFIC = ['thin', 'thick'] as const;

/** One cell for each traffic. */
function runCells(world: GateWorld): readonly Cell[] {
  const runs = Array.from({ length: RUNS }, (_, seed) => runGates(world, seed));
  process.stderr.write(`${JSON.stringify(world)}: seeds 0 to ${RUNS - 1}\n`);
  return TRAFFIC.map((traffic) => ({ world, traffic, runs: runs.map((one) => one[traffic]) }));
}

const share = ({ runs }: Pick<Cell, 'runs'>, is: (run: GateRun) => boolean): string =>
  shareWithInterval(runs.filter(is).length, runs.length);
const signed = (effect: number): string => `${effect > 0 ? '+' : ''}${Math.round(100 * effect)}`;
const median = ({ runs }: Cell, of: (run: GateRun) => number): string =>
  Math.round(quantile(runs.map(of), 0.5)).toLocaleString('en-US');

const cells = Object.entries(SPREADS).flatMap(([correlation, spread]) =>
  TASKS.flatMap((tasks) =>
    EFFECTS.flatMap((effect) =>
      runCells({ effect, tasks, spread }).map((cell) => ({ ...cell, correlation })),
    ),
  ),
);
const questions = [-0.2, -0.1, -0.05, 0].flatMap((onQuestions) =>
  runCells({ effect: 0.3, tasks: 120, spread: 0, onQuestions }).slice(0, 1),
);
/** With what practice knows: a policy that succeeds at a few of the tasks, and one that hardly ever does. */
const known = [1, 0.1].flatMap((mostLive) =>
  [60, 80, 100].flatMap((tasks) =>
    [0, 0.2].flatMap((effect) => runCells({ effect, tasks, spread: 0, practised: 60, mostLive }).slice(0, 1)),
  ),
);
const canaries = [-0.2, -0.1, 0, 0.2].flatMap((effect) =>
  runCells({ effect, tasks: 0, spread: 0.55, isCanary: true }),
);

/** Cells in which nothing was tried are one line. */
const tried = cells.filter(({ runs }) => runs.some(({ end }) => end !== 'not-tried'));
requireSome('world in which a trial was opened', tried.length);
const untried = [...new Set(cells.filter((cell) => !tried.includes(cell)).map(({ world }) => world.tasks))];
const notTried = (tasks: number): string =>
  share(
    { runs: cells.filter(({ world }) => world.tasks === tasks).flatMap(({ runs }) => runs) },
    ({ end }) => end === 'not-tried',
  );
const section = `${describeGate(RUNS)}

${untried.map((tasks) => `With ${tasks} tasks no trial is opened: ${notTried(tasks)} of the runs, without a single pair.`).join(' ')}

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
    cell.traffic,
    share(cell, ({ isBetter }) => isBetter),
    share(cell, ({ end }) => end === 'live'),
    share(cell, ({ end }) => end === 'waiting'),
    median(cell, ({ pairs }) => pairs),
    median(cell, ({ sessions }) => sessions),
  ]),
)}

With what practice knows of 60 other tasks (eight attempts each by the live version; thin traffic; without it none of these trials would be opened):

${markdownTable(
  ['success rate of the live version', 'tasks', 'effect, points', 'trial opened', 'better on tasks', 'live'],
  known.map((cell) => [
    `0 to ${Math.round(100 * (cell.world.mostLive ?? 1))} %`,
    String(cell.world.tasks),
    signed(cell.world.effect),
    share(cell, ({ end }) => end !== 'not-tried'),
    share(cell, ({ isBetter }) => isBetter),
    share(cell, ({ end }) => end === 'live'),
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
    cell.traffic,
    share(cell, ({ end }) => end === 'live'),
    share(cell, ({ end }) => end === 'rolled-back'),
    share(cell, ({ end }) => end === 'waiting'),
    median(cell, ({ pairs }) => pairs),
    median(cell, ({ sessions }) => sessions),
  ]),
)}
`;
if (values.json) process.stdout.write(`${JSON.stringify([...cells, ...questions, ...known, ...canaries])}\n`);
else process.stdout.write(section);
if (values.write) writeSection('lab/results/statistics.md', 'gate', section);
