import { parseArgs } from 'node:util';
import { levelInSequence, WEIGHTS_ERROR_BUDGET } from '../../../src/stats/error-budget.ts';
import { DEFAULT_PROMOTION } from '../../../train/promotion.ts';
import { planTrial } from '../../../train/trial-plan.ts';
import { markdownTable, quantile, shareWithInterval, writeSection } from '../markdown.ts';
import { requireSome } from '../measured.ts';
import {
  type GateRun,
  type GateWorld,
  RATED_A_WEEK,
  REPLAYED_A_WEEK,
  runGates,
  type Traffic,
  WEEKS,
} from './simulate-gate.ts';

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

const percent = (value: number, digits = 1): string => `${(100 * value).toFixed(digits)} %`;
const points = (value: number): string => String(Math.round(100 * value));

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
/** Weights that are not shown the lesson of a rule which the live version is shown. */
const remembering = [-0.2, -0.1, -0.05, 0].flatMap((effect) =>
  [120, 200, 400].flatMap((tasks) => runCells({ effect, tasks, spread: 0, remembers: true }).slice(0, 1)),
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

Weights that keep a rule without its lesson, against the live version with it (these pass when they are less than ${points(DEFAULT_PROMOTION.canaryMargin)} points worse):

${markdownTable(
  ['effect, points', 'tasks', 'passed'],
  remembering.map((cell) => [
    signed(cell.world.effect),
    String(cell.world.tasks),
    share(cell, ({ isBetter }) => isBetter),
  ]),
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
if (values.json)
  process.stdout.write(
    `${JSON.stringify([...cells, ...questions, ...known, ...remembering, ...canaries])}\n`,
  );
else process.stdout.write(section);
if (values.write) writeSection('lab/results/statistics.md', 'gate', section);

/** What the gate of weights promises, and how it is measured. */
function describeGate(runs: number): string {
  const { alpha, effect, power, regressionMargin, canaryMargin, mostPairs, mostRepeats } = DEFAULT_PROMOTION;
  const level = levelInSequence(1, 0, WEIGHTS_ERROR_BUDGET);
  const needed = (more: number): number =>
    planTrial(120, level, { ...DEFAULT_PROMOTION, effect: more }).needed;
  return `## Weights: the gate

New weights serve when three things were shown, in this order; the numbers of this section are written by \`npm run bench:gate -- --write\`.

1. **Better on the user's held-out tasks**: betting against "the mean difference is at most 0", at the level of the checkpoint's place in the error
   budget (${percent(level)} for the first one). Not "no worse": equal weights do not pass, unless they keep rules without the lessons that the live version is shown.
2. **Less than ${points(regressionMargin)} points worse on general questions**, at ${percent(alpha, 0)}. Both versions answer every question greedily, so that this is an
   ordinary one-sided test at the end of the suite; its variance is at least that of a version which loses the margin and gains nothing. A suite that
   the live version answers not at all cannot show a loss: the verdict says so.
3. **Less than ${points(canaryMargin)} points worse as a canary**: in rated sessions, one in ten of which it serves, or on recorded requests that both versions answer again
   (a request that part 1 has used does not count again). Each of the two tests has ${percent(alpha / 2)}. Requests are replayed while fewer than 60 sessions a week are rated.

**Observations are tasks, not attempts.** A task and its variations (the same \`root\`) are one cluster; the mean difference of its pairs is one observation,
made once, after up to ${mostRepeats} pairs (${mostPairs} in a trial). A task that comes again with new seeds makes its own mean surer and adds nothing to n.

**Power before a trial, and before training.** A trial is opened only if its clusters can show an improvement of ${points(effect)} points (\`train.effect\`) with a probability of ${percent(power, 0)}: about
${needed(effect)} clusters for the first checkpoint of a home, ${needed(0.3)} for 30 points, ${needed(0.5)} for 50, in the worst case. The same is asked before the first step of training: weights that could not be tried are not made, and nothing
is sampled or paid for: "About ${needed(effect)} tasks needed to show an improvement of ${points(effect)} points, 40 there: not trained". The variance of a pair of attempts is, by the first of these that is known:

1. that of the last trial with 20 clusters or more;
2. what practice lets expect: at a task at which the policy succeeds with the rate p, a pair has a variance of at most p (1 − p) + q (1 − q), q = p + \`train.effect\`, because a reward of 0 to 1 with the mean p has one of at most p (1 − p).
   The mean over the tasks that the policy practised, in their newest groups of two attempts or more; each task has half a success and half a failure added, and ten tasks of the worst case are added to all of them;
3. the worst case, two independent attempts that succeed as often as they fail: 0.5.

It is never taken to be less than a quarter of the worst case, and three tenths of it are shared by the pairs of a cluster. What is expected decides only whether a trial is opened: the test itself holds at its level whatever was expected.
Practice prefers tasks that succeed sometimes, and its attempts are made by the newest weights of a run: the first makes the variance larger than that of all tasks, the second may differ from the live version's. A trial that is not opened uses up nothing of the error budget.

**One after the other.** While a canary waits, the next checkpoint is measured; if it passes, it replaces the canary, and nothing that was measured of
one counts for the other. If the canary goes live first, the candidate's trial ends: it was compared with weights that serve no more.

### Measured: false promotion and power of the whole gate

${runs.toLocaleString('en-US')} checkpoints a cell, through the fold that a daemon runs (\`train/promotion\`), seeds 0 to ${(runs - 1).toLocaleString('en-US')}. Grades are 0 or 1, and the two attempts of a pair share no randomness; success rates of the live
version are uniform over what the effect allows. Correlation 0: the effect is the same for every task. 0.5: it is 55 points higher on half of the tasks and 55 lower on the others.
Of general questions 8 % are answered differently by chance. Thin traffic: ${RATED_A_WEEK.thin} rated sessions a week, and ${REPLAYED_A_WEEK} recorded requests that can be graded, after the tasks that part 1 did not need; thick: ${RATED_A_WEEK.thick} rated
sessions and no replay. A canary is given ${WEEKS} weeks. Intervals are 95 % (Wilson).`;
}
