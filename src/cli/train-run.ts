import { CommandError, EXIT, type ExitCode } from './command-error.ts';
import type { CommandContext } from './context.ts';
import { membersOf, movesOf, progressOf, type Told, trialWords } from './train-words.ts';
import { type WithTraining, withTraining } from './with-training.ts';

export interface TrainRunOptions {
  readonly steps?: number;
}

const LOOK_MS = 300;

/** One window of training, followed to its end. */
export const trainRun = ({ steps }: TrainRunOptions, context: CommandContext): Promise<ExitCode> =>
  withTraining(context, async (training) => {
    const { desk, isOwn } = training;
    if (membersOf((await desk.training()).window).isRunning === true)
      throw new CommandError(
        EXIT.failed,
        'weights are being trained already',
        'instar train status shows how far it has come',
      );
    const stop = new AbortController();
    const stopping = (): void => stop.abort();
    process.once('SIGINT', stopping);
    process.once('SIGTERM', stopping);
    try {
      const told = await follow(context, training, steps === undefined ? {} : { steps }, stop.signal);
      return report(context, told, stop.signal.aborted, isOwn);
    } finally {
      process.off('SIGINT', stopping);
      process.off('SIGTERM', stopping);
    }
  });

async function follow(
  { stderr, printer }: CommandContext,
  { desk, isOwn, begin }: WithTraining,
  request: TrainRunOptions,
  signal: AbortSignal,
): Promise<Told> {
  const stopped = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  const isLive = stderr.isTTY === true && !printer.json;
  let shown = '';
  const show = (line: string): void => {
    if (printer.json || line === shown) return;
    shown = line;
    stderr.write(isLive ? `\r\u001b[K${line}` : `${line}\n`);
  };
  show('the engine starts');
  try {
    await Promise.race([begin(request, signal), isOwn ? new Promise(() => undefined) : stopped]);
    let window = membersOf((await desk.training()).window);
    // Our own comes to its next safe place first; another's goes on without us.
    while (window.isRunning === true && (isOwn || !signal.aborted)) {
      show(signal.aborted ? 'pausing' : progressOf(window));
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      window = membersOf((await desk.training()).window);
    }
    return await desk.training();
  } finally {
    if (isLive) stderr.write('\r\u001b[K');
  }
}

function report({ printer }: CommandContext, told: Told, isStopped: boolean, isOwn: boolean): ExitCode {
  const window = membersOf(told.window);
  const isGoingOn = isStopped && !isOwn;
  if (printer.json) {
    printer.document({ ...told, ...(isStopped && { stopped: isGoingOn ? 'watching' : 'training' }) });
    return isStopped || window.problem !== undefined ? EXIT.failed : EXIT.ok;
  }
  printer.line(progressOf(window));
  for (const move of movesOf(window)) printer.line(move);
  if (isGoingOn)
    printer.note({ text: 'the daemon goes on with it; instar train status shows how far', style: 'yellow' });
  else if (isStopped) printer.note({ text: 'paused; instar train run goes on from here', style: 'yellow' });
  else if (window.problem !== undefined)
    throw new CommandError(
      EXIT.failed,
      `${window.problem}`,
      'what was trained is kept; instar train run tries again from there',
    );
  else explain(printer, told, window);
  return isStopped ? EXIT.failed : EXIT.ok;
}

/** Why nothing moved, where nothing did. */
function explain(printer: CommandContext['printer'], told: Told, window: Told): void {
  const trial = membersOf(membersOf(told.versions).onTrial);
  if (trial.version !== undefined) {
    const next = trial.stage === 'canary' ? 'sessions decide about it' : 'the next run weighs it further';
    printer.note(`on trial: ${trialWords(trial)}; ${next}, or you do: instar train promote, rollback`);
  } else if (movesOf(window).length === 0)
    printer.note('nothing moved: no attempt went better than the others, so there was nothing to learn');
}
