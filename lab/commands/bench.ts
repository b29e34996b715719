import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type CommandContext, CommandError, EXIT, type ExitCode } from '../../src/cli/context.ts';
import { openHome } from '../../src/config/home.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { createLog } from '../../src/redact/create-log.ts';
import { alignTables } from '../measure/markdown.ts';
import { definedFields } from '../report/numbers.ts';
import { armOf, CONDITIONS, type Condition } from '../suites/arms.ts';
import { DEFAULT_HABITS } from '../suites/choose-policy.ts';
import { runPipelineBench } from '../suites/pipeline/run-pipeline-bench.ts';
import { listRuns, nextRun, type RenderedReport, renderRun } from '../suites/read-runs.ts';
import { type BenchRun, runBench } from '../suites/run-bench.ts';
import { BenchError, type QuestionFilter, SUITES } from '../suites/suites.ts';
import { UNTUNED_RULES } from '../suites/workdays/rules/draw-rules.ts';
import { showProgress } from './progress.ts';

type Given = Partial<Record<'data' | 'set' | 'oracle' | 'run', string>> &
  Partial<Record<'days' | 'steps' | 'obey' | 'unaided' | 'read', number>>;

interface RunBenchOptions extends Given {
  readonly args: readonly string[];
  readonly condition: string;
  readonly seeds: number;
  readonly policy: string;
  readonly split: BenchRun['split'];
  readonly rules?: string;
  readonly jobs?: number;
  readonly failures: number;
  readonly runs: number;
  readonly nightSteps: number;
  readonly only?: QuestionFilter;
  readonly control?: 'shuffled-rewards' | 'no-lessons';
  readonly hurry?: true;
  readonly details?: true;
}

/** Policies whose success is known in advance: they check the bench, and no rule is new to them. */
const KNOWN_IN_ADVANCE: ReadonlySet<string> = new Set(['scripted', 'oracle', 'null']);

const folderOf = ({ homeDir }: CommandContext): string => path.join(openHome(homeDir).dir, 'bench');

export async function listBench(_options: object, context: CommandContext): Promise<ExitCode> {
  const { printer } = context;
  const runs = listRuns(folderOf(context));
  if (printer.json) {
    printer.document({ suites: SUITES, runs });
    return EXIT.ok;
  }
  printer.fields(SUITES.map(({ name, about }) => [{ text: name, style: 'bold' }, about]));
  if (runs.length > 0) printer.line('');
  printer.table([], runs, ({ run, suite, policy, done, of, unit }) => {
    const all = `${of} ${of === 1 ? unit.slice(0, -1) : unit}`;
    const progress = done < of ? `${done} of ${all}: continue with --run ${run}` : all;
    return [{ text: run, style: 'bold' }, suite, policy, progress];
  });
  return EXIT.ok;
}

export async function runBenchmark(options: RunBenchOptions, context: CommandContext): Promise<ExitCode> {
  const { env, printer } = context;
  const [suite = ''] = options.args;
  const { data, set, oracle, days, steps, obey, unaided, read } = options;
  const folder = folderOf(context);
  const run = options.run ?? nextRun(folder, suite);
  const stop = new AbortController();
  const stopping = (): void => stop.abort();
  process.once('SIGINT', stopping);
  process.once('SIGTERM', stopping);
  const progress = showProgress(context, suite === 'pipeline' ? ['run', 'runs'] : ['day', 'questions']);
  const wanted: BenchRun = {
    ...definedFields({ data, set, oracle, days, steps }),
    run,
    folder,
    suite,
    conditions: readConditions(options.condition),
    seeds: Array.from({ length: options.seeds }, (_, index) => index + 1),
    policy: options.policy,
    habits: { ...DEFAULT_HABITS, ...definedFields({ obey, unaided, read }) },
    split: options.split,
    rules: options.rules ?? (KNOWN_IN_ADVANCE.has(options.policy) ? 'house' : UNTUNED_RULES),
    failures: options.failures,
    settleEach: options.hurry !== true,
    nightSteps: options.nightSteps,
    ...definedFields({ control: options.control, only: options.only, jobs: options.jobs }),
    config: () => loadConfig({ file: openHome(context.homeDir).configFile, env }).config,
    env,
    log: createLog({ format: 'auto', level: 'error', stream: context.stderr, env }),
    onProgress: progress.show,
    onNight: progress.night,
    signal: stop.signal,
  };
  try {
    if (suite === 'pipeline')
      await runPipelineBench({ ...wanted, runs: options.runs, habits: definedFields({ obey, unaided }) });
    else await runBench(wanted);
  } catch (error) {
    if (error instanceof BenchError) throw new CommandError(EXIT.wrongUse, error.message, error.fix);
    throw error;
  } finally {
    progress.end();
    process.off('SIGINT', stopping);
    process.off('SIGTERM', stopping);
  }
  if (stop.signal.aborted) printer.note({ text: `stopped; continue with --run ${run}`, style: 'yellow' });
  const rendered = renderRun(folder, run);
  if (rendered === undefined) return EXIT.failed;
  writeFileSync(path.join(folder, run, 'report.md'), `${rendered.markdown}\n`, { mode: 0o600 });
  show(rendered, options.details, context);
  return stop.signal.aborted ? EXIT.interrupted : EXIT.ok;
}

export async function reportBench(
  { args, details }: Pick<RunBenchOptions, 'args' | 'details'>,
  context: CommandContext,
): Promise<ExitCode> {
  const folder = folderOf(context);
  const run = args[0] ?? listRuns(folder)[0]?.run;
  if (run === undefined)
    throw new CommandError(
      EXIT.failed,
      'there is no run yet',
      'start one with: instar lab bench run workdays',
    );
  const rendered = renderRun(folder, run);
  if (rendered === undefined)
    throw new CommandError(EXIT.failed, `no run is named "${run}"`, 'see: instar lab bench list');
  show(rendered, details, context);
  return EXIT.ok;
}

function show(
  { json, summary, markdown }: RenderedReport,
  details: true | undefined,
  { printer, stdout }: CommandContext,
): void {
  if (printer.json) printer.document(json);
  else stdout.write(`${alignTables(details ? markdown : summary)}\n`);
}

/** Parses `baseline,skills`, or `all`; the result is in the order of runs and reports. */
export function readConditions(text: string): readonly Condition[] {
  const given = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  // Where the model writes lessons, a suite must bring one that can.
  if (given.includes('all')) return CONDITIONS.filter((name) => armOf(name).writer === 'quotes');
  const unknown = given.find((name) => !CONDITIONS.some((one) => one === name));
  if (unknown !== undefined)
    throw new CommandError(
      EXIT.wrongUse,
      `no condition is named "${unknown}"`,
      `choose from: ${CONDITIONS.join(', ')}, or all`,
    );
  const chosen = CONDITIONS.filter((name) => given.includes(name));
  if (chosen.length === 0)
    throw new CommandError(
      EXIT.wrongUse,
      'no condition was given',
      'use for example: --condition baseline,skills',
    );
  return chosen;
}
