import { parseArgs } from 'node:util';
import { tQuantile } from '../../../src/stats/distributions.ts';
import { markdownTable, quantile, writeSection } from '../markdown.ts';
import { predictSaving, type RouterRun, SAVING, simulateRouter } from './simulate-router.ts';
import { FAMILIES } from './task-families.ts';

/*
 * The router on sessions whose outcome with either model is known: what it saves, what it costs in quality, how it follows a model that
 * becomes worse, and whether a bad hint retires itself. Seeds are fixed: the same commit gives the same numbers.
 *
 *   npm run bench:router [-- --write] [--seeds 6] [--sessions 20000] [--json]
 *
 * `--write` replaces the section of docs/adaptation-router.md. Exits with 1 when a goal is missed.
 */
const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    seeds: { type: 'string', default: '6' },
    sessions: { type: 'string', default: '20000' },
  },
});
const SEEDS = Array.from({ length: Number(values.seeds) }, (_, at) => String(at + 1));
const SESSIONS = Number(values.sessions);
const BIAS = 0.2;
/** The goals: quality against always the strong model, and the part of the predicted saving. */
const LEAST_QUALITY = -0.02;
const LEAST_OF_PREDICTED = 0.9;

interface Estimate {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

/** Of the mean over seeds, 95 %, by Student's t. */
function estimate(values_: readonly number[]): Estimate {
  const n = values_.length;
  const mean = values_.reduce((sum, value) => sum + value, 0) / n;
  const variance = values_.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, n - 1);
  const reach = n < 2 ? Number.POSITIVE_INFINITY : tQuantile(0.975, n - 1) * Math.sqrt(variance / n);
  return { mean, low: mean - reach, high: mean + reach };
}

const points = ({ mean, low, high }: Estimate): string =>
  `${signed(100 * mean)} [${signed(100 * low)}, ${signed(100 * high)}]`;
const percent = ({ mean, low, high }: Estimate): string =>
  `${(100 * mean).toFixed(1)} % [${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}]`;
const signed = (value: number): string => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`;

async function runAll(
  name: string,
  options: Omit<Parameters<typeof simulateRouter>[0], 'seed' | 'sessions'>,
) {
  const runs: RouterRun[] = [];
  for (const seed of SEEDS) runs.push(await simulateRouter({ seed, sessions: SESSIONS, ...options }));
  process.stderr.write(`${name}: seeds 1 to ${SEEDS.length}\n`);
  return runs;
}

const savedBy = (runs: readonly RouterRun[]) =>
  estimate(runs.map(({ usd, usdStrong }) => 1 - usd / usdStrong));
const qualityOf = (runs: readonly RouterRun[]) =>
  estimate(runs.map(({ good, goodStrong, sessions }) => (good - goodStrong) / sessions));

function familyRow(name: string, runs: readonly RouterRun[]): readonly string[] {
  const of = runs.flatMap(({ families }) => families.filter((family) => family.name === name));
  const family = FAMILIES.find((one) => one.name === name);
  const shares = [0, 1, 2, 3].map((quarter) => {
    const parts = of.flatMap(({ quarters }) => quarters[quarter] ?? []);
    const cheap = parts.reduce((sum, part) => sum + part.cheap, 0);
    return `${Math.round((100 * cheap) / parts.reduce((sum, part) => sum + part.sessions, 0))} %`;
  });
  const later = family?.cheapLater === undefined ? '' : `, then ${family.cheapLater}`;
  const loss = estimate(of.map(({ good, goodStrong, sessions }) => (good - goodStrong) / sessions));
  return [
    name,
    `${100 * (family?.share ?? 0)} %`,
    String(family?.strong),
    `${family?.cheap}${later}`,
    ...shares,
    points(loss),
  ];
}

const mix = await runAll('mix', {});
const pressed = await runAll('mix, budget used up', { pressure: 1 });
/** The same kind of task with scores that vary more. */
const noisier = FAMILIES.map((one) =>
  one.name === 'migration' ? { ...one, strong: 0.75, cheap: 0.55 } : one,
);
const hinted = [
  { words: '0.93, cheap 0.73', family: 'migration', families: FAMILIES },
  { words: '0.75, cheap 0.55', family: 'migration', families: noisier },
  { words: '0.7, cheap 0.35', family: 'deadlock', families: FAMILIES },
];
const hintRuns: RouterRun[][] = [];
for (const { words, family, families } of hinted)
  hintRuns.push(
    await runAll(`a bad hint for ${family}, strong ${words}`, { hint: { bias: BIAS, family }, families }),
  );
const [saved, quality, predicted] = [savedBy(mix), qualityOf(mix), predictSaving()];
const hintRows = hinted.map(({ words, family }, at) => {
  const runs = hintRuns[at] ?? [];
  const retired = runs.flatMap(({ retiredAfter }) => retiredAfter ?? []);
  const share = FAMILIES.find(({ name }) => name === family)?.share ?? 0;
  const median =
    retired.length === 0 ? '' : Math.round(quantile(retired, 0.5) * share).toLocaleString('en-US');
  const last = runs.flatMap(({ families }) =>
    families.filter(({ name }) => name === family).flatMap(({ quarters }) => quarters[3] ?? []),
  );
  const cheap = last.reduce((sum, part) => sum + part.cheap, 0);
  const left = `${Math.round((100 * cheap) / last.reduce((sum, part) => sum + part.sessions, 0))} %`;
  return [family, `strong ${words}`, `${retired.length} of ${runs.length}`, median, left];
});
const isMet = {
  quality: quality.low > LEAST_QUALITY,
  saving: saved.mean >= LEAST_OF_PREDICTED * predicted,
  hint: (hintRuns[0] ?? []).every(({ retiredAfter }) => retiredAfter !== undefined),
};

const text = `\`npm run bench:router\`: ${SEEDS.length} seeds of ${SESSIONS.toLocaleString('en-US')} sessions, six kinds of tasks, a cheap model at ${(1 - SAVING).toFixed(2)} of the strong one's price. Intervals: 95 %, over seeds, against always the strong model on the same sessions.

| | measured | goal |
| --- | --- | --- |
| cost saved | ${percent(saved)} | ${(100 * predicted).toFixed(1)} % with exact knowledge; at least ${100 * LEAST_OF_PREDICTED} % of that: ${isMet.saving ? 'met' : 'missed'} |
| quality, points of 100 | ${points(quality)} | lower bound above −2: ${isMet.quality ? 'met' : 'missed'} |
| cost saved, budget used up | ${percent(savedBy(pressed))} | |
| quality, budget used up | ${points(qualityOf(pressed))} | |

The share of sessions with the cheap model, in each quarter of a run, and what the kind of task lost:

${markdownTable(
  ['task', 'share', 'strong', 'cheap', '1st', '2nd', '3rd', '4th', 'quality'],
  FAMILIES.map(({ name }) => familyRow(name, mix)),
)}

A hint towards the cheap model (bias ${BIAS}) for a kind of task at which it fails, measured with and without it as every overlay is: the runs in which it retired itself, after how many sessions of its kind (median), and the share of cheap sessions in the last quarter. At 20 points the hint outweighs the measured outcomes, and its own effect retires it: goal for the first row: all runs (${isMet.hint ? 'met' : 'missed'}). Scores that vary more take more sessions. At 35 points the measured outcomes outweigh the hint: it does little harm, and there is little to retire it for.

${markdownTable(['hint for', 'quality', 'retired', 'after', 'cheap at the end'], hintRows)}`;

if (values.json) process.stdout.write(`${JSON.stringify({ saved, quality, predicted, hintRows, isMet })}\n`);
else process.stdout.write(`${text}\n`);
if (values.write) writeSection('docs/adaptation-router.md', 'router', text);
if (Object.values(isMet).includes(false)) process.exitCode = 1;
