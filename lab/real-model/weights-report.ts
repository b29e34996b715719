/**
 * npm run bench:real-weights-report [-- FILE.jsonl --write]
 *
 * The tables of lab/results/real-model.md about training, from the lines that `weights.ts` wrote: rules followed before and after, what the
 * promotion gate says of each run, and the curves. `--write` puts them into the page.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { PACKAGE_ROOT } from '../../src/base/package.ts';
import { asArray, asNumber, asObject, asString, type JsonObject } from '../../src/core/json.ts';
import { wilsonInterval } from '../../src/stats/interval.ts';
import {
  addPair,
  DEFAULT_EVIDENCE,
  NO_EVIDENCE,
  type TrialEvidence,
  weighHeldOut,
  weighRegression,
} from '../../train/trial-evidence.ts';
import { markdownTable, writeSection } from '../measure/markdown.ts';

const { values, positionals } = parseArgs({
  options: { write: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const root = fileURLToPath(PACKAGE_ROOT);
const file = positionals[0] ?? path.join(root, 'lab/real-model/results/weights.jsonl');
const lines: readonly JsonObject[] = readFileSync(file, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => asObject(JSON.parse(line)));

interface Run {
  readonly arm: string;
  readonly place: string;
  readonly seed: number;
  readonly lines: readonly JsonObject[];
}
const runOf = ({ arm, place, seed }: JsonObject): string => `${place}/${arm}/${seed}`;
const all: readonly Run[] = [...new Set(lines.map(runOf))].map((name) => {
  const own = lines.filter((line) => runOf(line) === name);
  const { arm, place, seed } = own[0] ?? {};
  return { arm: asString(arm) ?? '', place: asString(place) ?? '', seed: asNumber(seed) ?? 0, lines: own };
});
/** Arms without rewards that have been removed; the page has their table. */
const REMOVED_ARMS: ReadonlySet<string> = new Set(['into-weights', 'hindsight', 'shuffled-hints']);
const runs = all.filter(({ arm }) => !REMOVED_ARMS.has(arm));

const SETS = ['unseen-values', 'unseen-forms', 'unseen-families'] as const;
const numberOf = (line: JsonObject | undefined, key: string): number => asNumber(line?.[key]) ?? 0;
const measured = (run: Run | undefined, isAfter: boolean, set: string, lessons: boolean) =>
  run?.lines.findLast(
    (line) =>
      line.type === 'measured' &&
      line.set === set &&
      line.lessons === lessons &&
      numberOf(line, 'step') > 0 === isAfter,
  );
const questions = (run: Run | undefined, isAfter: boolean) =>
  run?.lines.findLast((line) => line.type === 'regression' && numberOf(line, 'step') > 0 === isAfter);
/** Measured once for each place: the weights before training and the tasks are the same for all seeds. */
const beforeOf = ({ place }: Run): Run | undefined =>
  runs.find((run) => run.place === place && questions(run, false) !== undefined);
const label = ({ arm, place, seed }: Run): string =>
  `${place === 'message' ? "user's message" : 'system prompt'}, ${arm}, seed ${seed}`;
const isEnded = (run: Run): boolean => questions(run, true) !== undefined;
const ended = runs.filter(isEnded);

const share = (line: JsonObject | undefined, part: string, of: string): string => {
  if (line === undefined) return '–';
  const [some, all] = [numberOf(line, part), numberOf(line, of)];
  const { low, high } = wilsonInterval(some, all);
  return `${Math.round((100 * some) / all)} % (${Math.round(100 * low)} to ${Math.round(100 * high)})`;
};
const rulesRow = (name: string, run: Run | undefined, isAfter: boolean): readonly string[] => [
  name,
  ...SETS.map((set) => share(measured(run, isAfter, set, true), 'followed', 'rules')),
  SETS.map((set) => numberOf(measured(run, isAfter, set, false), 'followed')).join(', '),
  (() => {
    const asked = questions(run, isAfter);
    return asked === undefined ? '–' : `${numberOf(asked, 'right')} of ${numberOf(asked, 'of')}`;
  })(),
];
const places = [...new Set(ended.map(({ place }) => place))];
const table = markdownTable(
  [
    'rules followed, with their lesson',
    'unseen values of trained forms',
    'unseen forms of trained families',
    'unseen families',
    'without a lesson (of 128, 64, 128)',
    'general questions',
  ],
  places.flatMap((place) => {
    const own = ended.filter((run) => run.place === place);
    const first = own[0];
    return [
      ...(first === undefined
        ? []
        : [rulesRow(`${label(first).split(',')[0]}, before`, beforeOf(first), false)]),
      ...own.map((run) => rulesRow(label(run), run, true)),
    ];
  }),
);

/** As the product would decide between the weights before and after, on tasks of the user that were never trained. */
function gate(run: Run): readonly string[] {
  const before = beforeOf(run);
  const pairsOf = (one: JsonObject | undefined, other: JsonObject | undefined) => {
    const live = asArray(other?.each).map(Number);
    return asArray(one?.each).map((score, at) => ({ candidate: Number(score), live: live[at] ?? 0 }));
  };
  const tasks = pairsOf(measured(run, true, SETS[0], true), measured(before, false, SETS[0], true));
  const asked = pairsOf(questions(run, true), questions(before, false));
  if (tasks.length === 0 || asked.length === 0)
    return [label(run), 'not known: the outcome of each task was not kept', ''];
  let evidence: TrialEvidence = NO_EVIDENCE;
  for (const [at, pair] of tasks.entries())
    evidence = addPair(evidence, { pair: `task-${at}`, ...pair }, 1) ?? evidence;
  for (const [at, pair] of asked.entries())
    evidence = addPair(evidence, { pair: `asked-${at}`, ...pair, suite: 'regression' }, 1) ?? evidence;
  const held = weighHeldOut(evidence, DEFAULT_EVIDENCE.alpha, DEFAULT_EVIDENCE);
  const general = weighRegression(evidence, DEFAULT_EVIDENCE, true);
  const passes = held.verdict === 'well' && general.verdict === 'well';
  return [label(run), passes ? 'passes' : 'does not pass', `${held.why()}; ${general.why()}`];
}

const stepsOf = ({ lines: own }: Run) =>
  own
    .filter(({ type }) => type === 'step-trained' || type === 'step-idle')
    .map((line) => {
      const { seen, end } = asObject(line.report);
      return {
        step: numberOf(line, 'step'),
        reward: asNumber(asObject(seen).reward) ?? 0,
        kl: asNumber(asObject(end).k1),
        seconds: numberOf(line, 'seconds'),
      };
    });
const rollbacks = ({ lines: own }: Run): number =>
  own.filter(({ event }) => asObject(event).type === 'rolled-back').length;
const curves = markdownTable(
  [
    'run',
    'steps',
    'checks met in the sampled attempts: first 3 steps, last 3',
    'rolled back',
    'seconds a step',
  ],
  runs.map((run) => {
    const steps = stepsOf(run);
    const mean = (some: readonly number[]): number => some.reduce((sum, one) => sum + one, 0) / some.length;
    const rewards = steps.map(({ reward }) => reward);
    return [
      label(run),
      `${steps.length}${isEnded(run) ? '' : ', stopped'}`,
      `${mean(rewards.slice(0, 3)).toFixed(2)} → ${mean(rewards.slice(-3)).toFixed(2)}`,
      String(rollbacks(run)),
      mean(steps.slice(1).map(({ seconds }) => seconds)).toFixed(0),
    ];
  }),
);
const decisions = markdownTable(
  ['run', 'the gate', 'because, against the weights before'],
  ended.map((run) => gate(run)),
);
const text = [table, curves, decisions].join('\n\n');
if (values.write)
  writeSection(path.join(root, 'lab/results/real-model.md'), 'bench:real-weights-report', text);
else process.stdout.write(`${text}\n`);
