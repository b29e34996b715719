import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { CommandContext } from '../../src/cli/context.ts';
import { CommandError, EXIT, type ExitCode } from '../../src/cli/context.ts';
import { openHome } from '../../src/config/home.ts';
import { createLog } from '../../src/daemon/log.ts';
import { type DemoPlan, omittedParts, planDemo, runDemo } from '../demo/run-demo.ts';
import { nextRun, writePage } from '../run/read-runs.ts';
import { showDemo } from './progress.ts';

export interface DemoOptions {
  /** Only when it was said: the demo is no part of anybody's own home. */
  readonly home?: string;
  readonly fast?: true;
  readonly seeds?: number;
  readonly seed?: number;
  readonly days?: number;
  readonly only?: 'files' | 'house';
  readonly nightSteps?: number;
  readonly html?: string;
  readonly keep?: true;
}

const MOST_DAYS = 14;
const WHAT_IT_IS = [
  'What answers here is a laboratory policy of 0.4 million parameters, made to be imperfect: training',
  'sharpens what noisy demonstrations planted in it and gives it no new ability. The numbers say',
  'something about the loop, and nothing about large models.',
] as const;

/** Workdays under every condition in a place of their own, which is gone afterwards but for the page. */
export async function demo(options: DemoOptions, context: CommandContext): Promise<ExitCode> {
  const { env, printer, stdout } = context;
  const plan = planOf(options);
  const { seeds = 1, seed: first = 1 } = options;
  const place = openPlace(options);
  const stop = new AbortController();
  const stopping = (): void => stop.abort();
  process.once('SIGINT', stopping);
  process.once('SIGTERM', stopping);
  introduce(plan, seeds, context);
  let page: string | undefined;
  const screen = showDemo(context, { days: plan.days, seeds });
  try {
    const report = await runDemo({
      ...plan,
      ...place,
      seeds: Array.from({ length: seeds }, (_, index) => first + index),
      env,
      log: createLog({ format: 'auto', level: 'error', stream: context.stderr, env }),
      watch: screen.note,
      signal: stop.signal,
    }).finally(screen.end);
    const isWhole = !stop.signal.aborted;
    if (!isWhole) printer.note({ text: 'stopped: the days so far are below', style: 'yellow' });
    if (report === undefined)
      throw new CommandError(EXIT.failed, 'It was stopped before the first day was over.');
    page = options.html ?? (printer.json ? undefined : path.join(place.folder, 'report.html'));
    if (page !== undefined) writePage(page, report.html);
    if (printer.json) printer.document(report.json);
    else {
      stdout.write(`\n${report.summary({ colour: stdout.isTTY === true && !env.NO_COLOR })}\n`);
      if (page !== undefined) printer.line({ text: 'page  ', style: 'dim' }, page);
      if (isKept(options)) printer.line({ text: 'run   ', style: 'dim' }, path.join(place.folder, place.run));
      printer.line('');
      for (const line of WHAT_IT_IS) printer.line(line);
    }
    return isWhole ? EXIT.ok : EXIT.failed;
  } finally {
    process.off('SIGINT', stopping);
    process.off('SIGTERM', stopping);
    if (!isKept(options)) {
      const isPageInside = page !== undefined && options.html === undefined;
      rmSync(isPageInside ? path.join(place.folder, place.run) : place.folder, {
        recursive: true,
        force: true,
      });
    }
  }
}

function planOf({ fast, days, only, nightSteps }: DemoOptions): DemoPlan {
  if (days !== undefined && days > MOST_DAYS)
    throw new CommandError(EXIT.wrongUse, `There are ${MOST_DAYS} days.`, `say --days 1 to ${MOST_DAYS}`);
  return planDemo(fast === true, {
    ...(days === undefined ? {} : { days }),
    ...(only === undefined ? {} : { only }),
    ...(nightSteps === undefined ? {} : { nightSteps }),
  });
}

interface Place {
  readonly folder: string;
  readonly run: string;
}

const isKept = ({ home, keep }: DemoOptions): boolean => home !== undefined || keep === true;

/** Where the run lies: among those of a home that was named, else in a folder of its own. */
function openPlace({ home }: DemoOptions): Place {
  if (home === undefined) return { folder: mkdtempSync(path.join(tmpdir(), 'instar-demo-')), run: 'demo' };
  const folder = path.join(openHome(home).dir, 'bench');
  return { folder, run: nextRun(folder, 'demo') };
}

function introduce(plan: DemoPlan, seeds: number, { printer }: CommandContext): void {
  const { days, nightSteps } = plan;
  const many = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;
  printer.note(
    { text: 'instar demo', style: 'bold' },
    `: ${many(days, 'simulated workday')} three times over${seeds === 1 ? '' : `, with ${seeds} seeds`}: without learning, with lessons, with lessons and nights of ${many(nightSteps, 'training step')}.`,
  );
  const without = omittedParts(plan);
  if (without.length > 0) printer.note(`Left out: ${without.join(', ')}.`);
  printer.note('');
}
