import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type CommandContext, CommandError, EXIT, type ExitCode } from '../../src/cli/context.ts';
import { lineWidth } from '../../src/cli/print.ts';
import { openHome } from '../../src/config/home.ts';
import { createLog } from '../../src/redact/create-log.ts';
import { plural } from '../../src/text/phrases.ts';
import { wrapText } from '../../src/text/text-width.ts';
import { nextRun } from '../suites/read-runs.ts';
import { showProgress } from './progress.ts';
import { type DemoPlan, omittedParts, planDemo, runDemo } from './run-demo.ts';

interface DemoOptions {
  /** Only when given: the demo does not use the default home. */
  readonly home?: string;
  readonly fast?: true;
  readonly seeds?: number;
  readonly seed?: number;
  readonly days?: number;
  readonly only?: DemoPlan['only'];
  readonly nightSteps?: number;
  readonly keep?: true;
}

const MAX_DAYS = 14;
const DISCLAIMER =
  'The demo uses a laboratory policy of 2.9 million parameters, pre-trained on noisy demonstrations on purpose: training sharpens abilities it has and adds no new ones. The numbers describe the learning loop; they say nothing about large models.';
/** Of texts that a program reads. */
const USUAL_WIDTH = 100;

/** Runs workdays under every condition in a temporary folder. */
export async function demo(options: DemoOptions, context: CommandContext): Promise<ExitCode> {
  const { env, printer, stdout } = context;
  const width = lineWidth(stdout, env) ?? USUAL_WIDTH;
  const plan = planOf(options);
  const { seeds = 1, seed: first = 1 } = options;
  const place = openRunFolder(options);
  const stop = new AbortController();
  const stopping = (): void => stop.abort();
  process.once('SIGINT', stopping);
  process.once('SIGTERM', stopping);
  printIntroduction(plan, seeds, width, context);
  const progress = showProgress(context, ['day', 'questions']);
  try {
    const report = await runDemo({
      ...plan,
      ...place,
      seeds: Array.from({ length: seeds }, (_, index) => first + index),
      env,
      log: createLog({ format: 'auto', level: 'error', stream: context.stderr, env }),
      onProgress: progress.show,
      onNight: progress.night,
      signal: stop.signal,
    }).finally(progress.end);
    const isWhole = !stop.signal.aborted;
    if (!isWhole) printer.note({ text: 'stopped: results of the finished days are below', style: 'yellow' });
    if (report === undefined)
      throw new CommandError(EXIT.interrupted, 'stopped before the end of the first day');
    if (printer.json) printer.document(report.json);
    else {
      stdout.write(`\n${report.summary(width)}\n`);
      if (isKept(options))
        printer.line({ text: 'run     ', style: 'dim' }, path.join(place.folder, place.run));
      printer.line('');
      for (const line of wrapText(DISCLAIMER, width)) printer.line(line);
    }
    return isWhole ? EXIT.ok : EXIT.interrupted;
  } finally {
    process.off('SIGINT', stopping);
    process.off('SIGTERM', stopping);
    if (!isKept(options)) rmSync(place.folder, { recursive: true, force: true });
  }
}

function planOf({ fast, days, only, nightSteps }: DemoOptions): DemoPlan {
  if (days !== undefined && days > MAX_DAYS)
    throw new CommandError(EXIT.wrongUse, `there are only ${MAX_DAYS} days`, `use --days 1 to ${MAX_DAYS}`);
  return planDemo(fast === true, {
    ...(days === undefined ? {} : { days }),
    ...(only === undefined ? {} : { only }),
    ...(nightSteps === undefined ? {} : { nightSteps }),
  });
}

interface RunFolder {
  readonly folder: string;
  readonly run: string;
}

const isKept = ({ home, keep }: DemoOptions): boolean => home !== undefined || keep === true;

/** The folder of the run: in the home that was given, else a temporary one. */
function openRunFolder({ home }: DemoOptions): RunFolder {
  if (home === undefined) return { folder: mkdtempSync(path.join(tmpdir(), 'instar-demo-')), run: 'demo' };
  const folder = path.join(openHome(home).dir, 'bench');
  return { folder, run: nextRun(folder, 'demo') };
}

function printIntroduction(plan: DemoPlan, seeds: number, width: number, { printer }: CommandContext): void {
  const { days, nightSteps } = plan;
  const title = 'instar lab demo';
  const what = `${title}: ${plural(days, 'simulated workday')} under three conditions${seeds === 1 ? '' : `, with ${seeds} seeds`}: with feedback in the conversation only, with lessons, and with lessons plus nights of ${plural(nightSteps, 'training step')} on oracle rewards (the hidden checks of generated tasks, which no deployment has). The house rules are drawn at random, with values that the policy has never seen.`;
  const [first = '', ...more] = wrapText(what, width);
  printer.note({ text: title, style: 'bold' }, first.slice(title.length));
  const without = omittedParts(plan);
  const left = without.length === 0 ? [] : wrapText(`Left out: ${without.join(', ')}.`, width);
  for (const line of [...more, ...left]) printer.note(line);
  printer.note('');
}
