import { asNumber, asObject, asString, type JsonObject, parseJson } from '../../../src/core/json.ts';
import { roundToHundredths } from './answer-text.ts';
import type { ProgramEnd, ProgramJob, RunProgram } from './run-program.ts';
import type { StageProblem } from './stage.ts';

/** What has to be measured: every arm with every seed. */
interface Measured {
  readonly arms: readonly { readonly id: string }[];
  readonly seeds: readonly number[];
}

/** The values of each arm in the order of the seeds, as the program printed them; or what is wrong with its output. */
type Measurements =
  | { readonly ok: true; readonly values: ReadonlyMap<string, readonly number[]> }
  | { readonly ok: false; readonly problem: StageProblem };

const LINES =
  'Let the program print one line {"arm": id, "seed": number, "value": percent} for each arm and seed.';
const RANGE = 'Let the program measure percentages from 0 to 100.';

/** Lines that are not JSON are a program's remarks and do not count. */
export function readMeasurements(stdout: string, { arms, seeds }: Measured): Measurements {
  const found = new Map<string, number>();
  const lines = stdout.split('\n').flatMap((line) => {
    const { arm, seed, value } = asObject(parseJson(line.trim()));
    return arm === undefined ? [] : [{ arm: asString(arm) ?? '', seed, value: asNumber(value) }];
  });
  for (const { arm, seed, value } of lines) {
    const key = `${arm} ${String(seed)}`;
    if (found.has(key)) return fault(LINES, `${key} twice`);
    if (value === undefined || !(value >= 0 && value <= 100)) return fault(RANGE, `${key}: ${String(value)}`);
    found.set(key, value);
  }
  const values = new Map<string, readonly number[]>();
  for (const { id } of arms) {
    const own = seeds.map((seed) => found.get(`${id} ${seed}`));
    const missing = own.indexOf(undefined);
    if (missing >= 0) return fault(LINES, `none for ${id} and seed ${String(seeds[missing])}`);
    values.set(
      id,
      own.map((value) => roundToHundredths(value ?? 0)),
    );
  }
  const strays = lines.length - arms.length * seeds.length;
  return strays > 0 ? fault(LINES, `${strays} lines of other arms or seeds`) : { ok: true, values };
}

const fault = (reason: string, detail: string): Measurements => ({ ok: false, problem: { reason, detail } });

/** A program cannot be tried on this machine: nothing can be said about it. */
export class ProgramNotRun extends Error {
  override readonly name = 'ProgramNotRun';
}

/** Rejects with a ProgramNotRun. */
export async function measure(
  job: ProgramJob,
  wanted: Measured,
  run: RunProgram,
  signal: AbortSignal,
): Promise<Measurements> {
  const end: ProgramEnd = await run(job, signal);
  if (end.end === 'refused') throw new ProgramNotRun(end.why);
  if (end.end === 'failed') return fault('Write a program that runs to its end.', end.why);
  return readMeasurements(end.stdout, wanted);
}

const OTHER_DATA = 'Let the program compute its values from data.csv: with other data it printed the same.';
const SAME_AGAIN = 'Take all chance from the seeds: run again, the program printed other values.';

/**
 * Whether a program measures anything: it runs, prints what was asked for, the same again, and something else for other data. Rejects
 * with a ProgramNotRun.
 */
export async function tryProgram(
  job: ProgramJob,
  wanted: Measured,
  run: RunProgram,
  signal: AbortSignal,
): Promise<readonly StageProblem[]> {
  const first = await measure(job, wanted, run, signal);
  if (!first.ok) return [first.problem];
  const again = await measure(job, wanted, run, signal);
  if (!again.ok || textOf(again.values) !== textOf(first.values)) return [{ reason: SAME_AGAIN }];
  const other = await measure({ ...job, data: otherData(job.data) }, wanted, run, signal);
  return other.ok && textOf(other.values) === textOf(first.values) ? [{ reason: OTHER_DATA }] : [];
}

const textOf = (values: ReadonlyMap<string, readonly number[]>): string => JSON.stringify([...values]);

/** Every row says what the first one says, but for its first column: whatever is measured becomes another number, or none. */
function otherData(data: string): string {
  const [head = '', ...rows] = data.split('\n');
  const [, ...same] = (rows[0] ?? '').split(',');
  return [head, ...rows.map((row) => [row.split(',')[0], ...same].join(','))].join('\n');
}

/** What the program finds in `experiment.json`. */
export const experimentFile = (spec: {
  readonly dataset: string;
  readonly metric: string;
  readonly seeds: readonly number[];
  readonly arms: readonly { readonly id: string; readonly method: string; readonly role: string }[];
}): JsonObject => ({
  dataset: spec.dataset,
  metric: spec.metric,
  seeds: [...spec.seeds],
  arms: spec.arms.map(({ id, method, role }) => ({ id, method, role })),
});
