import { homeAt } from '../config/home.ts';
import { type CommandContext, CommandError, EXIT, type ExitCode } from './context.ts';
import type { Part, Printer } from './print.ts';
import { withApi } from './with-api.ts';
import { type WithTraining, withTraining } from './with-training.ts';

export const trainStatus = (_options: object, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async (desk) => {
    const recorded = await desk.training();
    const told = 'engineState' in recorded ? recorded : { ...recorded, ...(await describe(context)) };
    const { printer } = context;
    if (printer.json) printer.document(told);
    else showTraining(printer, told);
    return EXIT.ok;
  });

export const promoteWeights = (_options: object, context: CommandContext): Promise<ExitCode> =>
  move(context, 'promote', 'no weights are on trial', 'instar train run trains some');

export const rollBackWeights = (_options: object, context: CommandContext): Promise<ExitCode> =>
  move(
    context,
    'rollback',
    'no weights are on trial, and none served before these',
    'instar train status shows which serve',
  );

/** Nobody trains now: what the settings and the record say. */
const describe = async ({ homeDir, env }: CommandContext) =>
  (await import('../daemon/offline-training.ts')).describeOfflineTraining(homeAt(homeDir), env);

const move = (
  context: CommandContext,
  to: 'promote' | 'rollback',
  nothing: string,
  mend: string,
): Promise<ExitCode> =>
  withTraining(context, async ({ desk }) => {
    const moves = await desk.moveWeights(to);
    if (moves.length === 0) throw new CommandError(EXIT.failed, nothing, mend);
    const { printer } = context;
    if (printer.json) printer.document(moves);
    else
      for (const { version, from, to: stage } of moves)
        printer.line(
          `version ${version} is ${stage}`,
          ...(from === undefined ? [] : [{ text: ` (it was ${from})`, style: 'dim' } as const]),
        );
    return EXIT.ok;
  });

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
): Promise<TrainingStatus> {
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

function report(
  { printer }: CommandContext,
  told: TrainingStatus,
  isStopped: boolean,
  isOwn: boolean,
): ExitCode {
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
function explain(printer: CommandContext['printer'], told: TrainingStatus, window: TrainingStatus): void {
  const trial = membersOf(membersOf(told.versions).onTrial);
  if (trial.version !== undefined) {
    const next = trial.stage === 'canary' ? 'sessions decide about it' : 'the next run weighs it further';
    printer.note(`on trial: ${describeTrial(trial)}; ${next}, or you do: instar train promote, rollback`);
  } else if (movesOf(window).length === 0)
    printer.note('nothing moved: no attempt went better than the others, so there was nothing to learn');
}

/** What the desk tells of training, as it comes. */
export type TrainingStatus = Readonly<Record<string, unknown>>;

export const membersOf = (value: unknown): TrainingStatus =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as TrainingStatus) : {};

/** How far a window has come, in one line. */
export function progressOf(window: TrainingStatus): string {
  const parts = [`step ${window.done} of ${window.steps}`];
  if (typeof window.reward === 'number') parts.push(`reward ${window.reward.toFixed(2)}`);
  if (typeof window.completion === 'number') parts.push(`${percent(window.completion)} complete`);
  const pairs = membersOf(window.pairs);
  if (typeof pairs.count === 'number')
    parts.push(`${pairs.count} pairs: new ${percent(pairs.candidate)}, live ${percent(pairs.live)}`);
  return parts.join(' · ');
}

export function showTraining(printer: Printer, told: TrainingStatus): void {
  const { query, support } = membersOf(told.buffer);
  const versions = membersOf(told.versions);
  const trial = membersOf(versions.onTrial);
  const window = membersOf(told.window);
  const rows: (readonly Part[] | undefined)[] = [
    row('engine', told.engineState === undefined ? `${told.engine}` : `${told.engine} (${told.engineState})`),
    told.policy === '' ? undefined : row('serves', `${told.policy}`),
    told.adapter === undefined ? undefined : row('adapter', `${told.adapter}`),
    versions.previous === undefined ? undefined : row('before', `version ${versions.previous}`),
    trial.version === undefined ? undefined : row('on trial', describeTrial(trial)),
    window.steps === undefined ? undefined : row('window', windowWords(window)),
    ...movesOf(window).map((move) => row('', move)),
    window.problem === undefined ? undefined : row('problem', `${window.problem}`),
    row('generation', `${told.generation}`),
    row('samples', `${query} may train; ${support} failures are for the library alone`),
  ];
  printer.table(rows.filter((one) => one !== undefined));
}

export const movesOf = (window: TrainingStatus): readonly string[] =>
  Array.isArray(window.moves) ? window.moves.map(String) : [];

/** What a version on trial waits for. */
export const describeTrial = ({ version, stage, pairs, sessions }: TrainingStatus): string =>
  stage === 'canary'
    ? `version ${version}, canary: ${sessions} sessions have said how it was`
    : `version ${version}, candidate: ${pairs} held-out tasks weighed`;

const windowWords = (window: TrainingStatus): string =>
  `${window.isRunning === true ? 'runs' : 'ended'}: ${progressOf(window)}`;
const row = (name: string, text: string): readonly Part[] => [{ text: name, style: 'dim' }, text];
const percent = (share: unknown): string => `${Math.round(100 * Number(share))} %`;
