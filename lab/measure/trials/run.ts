import { parseArgs } from 'node:util';
import { TEST_DAYS } from '../../../src/learn/trial/decide-trials.ts';
import { markdownTable, quantile, shareWithInterval, writeSection } from '../markdown.ts';
import { requireSome } from '../measured.ts';
import { drawLibrary, MIXED } from './known-effects.ts';
import { runLibrary, type TrialResult } from './run-library.ts';
import { HALF_SILENT, simulateUser, type UserResult, type UserWorld } from './simulate-users.ts';

/*
 * How long it takes until a lesson with a known effect is decided, and how often wrongly: simulated people who mostly stay silent, and attempts in
 * practice. Both go through the code that a daemon runs. Seeds are fixed: the same commit gives the same numbers.
 *
 *   npm run bench:trials [-- --write] [--users 200] [--libraries 10] [--json]
 *
 * `--write` replaces a section of lab/results/statistics.md.
 */
const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    users: { type: 'string', default: '200' },
    libraries: { type: 'string', default: '10' },
  },
});
const users = Number(values.users);
const libraries = Number(values.libraries);
requireSome('simulated user', users);

interface UserRow {
  readonly name: string;
  readonly world: UserWorld;
  /** The most days that the median user may wait for this outcome. */
  readonly goal?: { readonly outcome: UserResult['outcome']; readonly days: number };
}

const usual = { daysBefore: 30, reactions: HALF_SILENT } as const;
/** People who react to failure only: praise says nothing. */
const COMPLAINERS: UserWorld['reactions'] = {
  success: { praise: 0.02, complaint: 0.03 },
  failure: { praise: 0.01, complaint: 0.9 },
};
const ROWS: readonly UserRow[] = [
  { name: '+50 points', world: { ...usual, effect: 0.5 }, goal: { outcome: 'helpful', days: 10 } },
  { name: '+30 points', world: { ...usual, effect: 0.3 }, goal: { outcome: 'helpful', days: 20 } },
  { name: '+20 points', world: { ...usual, effect: 0.2 }, goal: { outcome: 'helpful', days: 45 } },
  { name: 'no effect', world: { ...usual, effect: 0 }, goal: { outcome: 'no-difference', days: 60 } },
  { name: '−20 points', world: { ...usual, effect: -0.2 }, goal: { outcome: 'harmful', days: 45 } },
  { name: '−30 points', world: { ...usual, effect: -0.3 } },
  { name: '+30 points, no history', world: { ...usual, effect: 0.3, daysBefore: 0 } },
  { name: 'no effect, no history', world: { ...usual, effect: 0, daysBefore: 0 } },
  { name: '+30 points, only complaints', world: { ...usual, effect: 0.3, reactions: COMPLAINERS } },
  { name: 'no effect, work 15 points better since', world: { ...usual, effect: 0, drift: 0.15 } },
];

interface UserSummary {
  readonly name: string;
  readonly users: number;
  readonly goal: string;
  /** To the outcome of the goal; infinite for most who never got it. */
  readonly medianDays: number;
  readonly daysInterval: readonly [low: number, high: number];
  readonly isMet?: boolean;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly heldOutShare: number;
  readonly toldWithheld: number;
}

/** The 95 % interval of a median: order statistics around it. */
function medianWithInterval(days: readonly number[]): readonly [median: number, low: number, high: number] {
  const half = 0.98 / Math.sqrt(days.length);
  return [quantile(days, 0.5), quantile(days, 0.5 - half), quantile(days, Math.min(1, 0.5 + half))];
}

function summarise({ name, world, goal }: UserRow): UserSummary {
  const results = Array.from({ length: users }, (_, at) => simulateUser(world, `${name}/${at}`));
  process.stderr.write(`${name}: ${users} users\n`);
  const isRight = ({ outcome }: UserResult): boolean => goal === undefined || outcome === goal.outcome;
  const days = results.map((one) => (isRight(one) ? one.days : Number.POSITIVE_INFINITY));
  const [medianDays, low, high] = medianWithInterval(days);
  const outcomes: Record<string, number> = {};
  for (const { outcome } of results) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  const sum = (of: (result: UserResult) => number): number => results.reduce((all, one) => all + of(one), 0);
  return {
    name,
    users,
    goal: goal === undefined ? '' : `${goal.outcome} within ${goal.days}`,
    medianDays,
    daysInterval: [low, high],
    ...(goal === undefined ? {} : { isMet: medianDays <= goal.days }),
    outcomes,
    heldOutShare: sum(({ heldOut }) => heldOut) / sum(({ sessions }) => sessions),
    toldWithheld: sum(({ toldWithheld }) => toldWithheld),
  };
}

const percent = (share: number): string => (100 * share).toFixed(1);
const whole = (value: number): string => (Number.isFinite(value) ? String(Math.round(value)) : 'never');

async function practiceRows(): Promise<readonly (readonly string[])[]> {
  const results: TrialResult[] = [];
  for (let at = 0; at < libraries; at++) {
    const seed = `practice/${at}`;
    results.push(
      ...(await runLibrary({
        seed,
        candidates: drawLibrary(MIXED),
        noise: 'independent',
        roots: 8,
        faults: 0.02,
      })),
    );
    process.stderr.write(`practice: ${at + 1} of ${libraries} libraries\n`);
  }
  const kinds = [...new Set(results.map(({ candidate }) => candidate.kind))];
  return kinds.map((kind) => {
    const of = results.filter(({ candidate }) => candidate.kind === kind);
    const count = (state: string): string =>
      shareWithInterval(of.filter((one) => one.state === state).length, of.length);
    const pairs = of.map((one) => one.pairs);
    return [kind, String(of.length), count('live'), count('retired'), whole(quantile(pairs, 0.5))];
  });
}

const summaries = ROWS.map(summarise);
const practice = await practiceRows();
const toldWithheld = summaries.reduce((sum, one) => sum + one.toldWithheld, 0);
const section = `${users} simulated people a row, ${TEST_DAYS} days at most, 10 sessions a day, a fifth of which the lesson fits, about half of them silent;
without the lesson 10 to 70 of 100 fitting sessions succeed. 30 days of record before the lesson unless the row says otherwise. Days are medians with
their 95 % interval, shares are Wilson's. A rule that the person told was withheld in ${toldWithheld} sessions.

${markdownTable(
  [
    'true effect',
    'median days to',
    'days',
    'goal',
    'promoted',
    'retired',
    'no difference',
    'sessions held out',
  ],
  summaries.map(({ name, goal, medianDays, daysInterval: [low, high], isMet, outcomes, heldOutShare }) => [
    name,
    goal.split(' ')[0] || 'any verdict',
    `${whole(medianDays)} [${whole(low)}, ${whole(high)}]`,
    isMet === undefined ? '' : `${goal.split(' ').at(-1)} days: ${isMet ? 'met' : 'missed'}`,
    shareWithInterval(outcomes.helpful ?? 0, users),
    shareWithInterval(outcomes.harmful ?? 0, users),
    shareWithInterval((outcomes['no-difference'] ?? 0) + (outcomes.untested ?? 0), users),
    `${percent(heldOutShare)} %`,
  ]),
)}

Attempts in practice, 8 tasks with one variation each, 2 of 100 attempts fail for reasons of infrastructure:

${markdownTable(['lessons that', 'candidates', 'promoted', 'retired', 'pairs (median)'], practice)}`;
if (values.json) process.stdout.write(`${JSON.stringify({ users: summaries, practice }, null, 2)}\n`);
else process.stdout.write(`${section}\n`);
if (values.write) writeSection('lab/results/statistics.md', 'lessons', section);
if (toldWithheld > 0) {
  process.stderr.write(`a rule that the person told was withheld in ${toldWithheld} sessions\n`);
  process.exitCode = 1;
}
