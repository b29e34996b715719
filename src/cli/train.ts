import { InvalidArgumentError } from 'commander';
import { homeAt } from '../config/home.ts';
import type { TrainAsked } from '../core/daemon-api.ts';
import { asArray, asObject, compact, type JsonObject } from '../core/json.ts';
import { plural } from '../text/phrases.ts';
import { confirmOwner } from './confirm-owner.ts';
import { type CommandContext, type DeclareCommand, EXIT, type ExitCode, failure } from './context.ts';
import { dim, type Printer } from './print.ts';
import { createProgress, type ProgressState } from './progress.ts';
import {
  describeSupply,
  findPolicyUse,
  type PolicyUse,
  sayLiveWeights,
  sayPlan,
  sayPolicyUse,
} from './training-status.ts';
import { onApi } from './with-api.ts';
import { type WithTraining, withTraining } from './with-training.ts';

export const declareTrain: DeclareCommand = (train, act) => {
  train
    .command('status')
    .description(
      'Show the engine, the weights, what there is to train on, what is missing, and when training runs.',
    )
    .addHelpText('after', '\nExample:\n  $ instar train status --json\n')
    .action(act(trainStatus));
  train
    .command('run')
    .option('--steps <n>', 'training steps (default: by train.amount)', parseSteps)
    .option('--reading', 'first learn to follow lessons, once for a base model; about no user')
    .option('--remember', 'move rules that have a check into the weights, so that prompts get shorter')
    .description('Train now, then compare with the weights that serve; Ctrl-C pauses.')
    .addHelpText('after', '\nExample:\n  $ instar train run --steps 20\n')
    .action(act(trainRun));
  train
    .command('promote')
    .description('Move the weights on trial one stage on: candidate to canary, canary to live.')
    .action(act(promoteWeights));
  train
    .command('rollback')
    .description('End the trial; without a trial, serve the previous weights again.')
    .action(act(rollBackWeights));
};

function parseSteps(text: string): number {
  if (!/^[1-9]\d{0,3}$|^10000$/.test(text)) throw new InvalidArgumentError('Give a number from 1 to 10000.');
  return Number(text);
}

const trainStatus = onApi(async (_options: object, context) => {
  const { api, printer } = context;
  const recorded = await api.training();
  const status = 'engineState' in recorded ? recorded : { ...recorded, ...(await describe(context)) };
  const use = await findPolicyUse(status, context);
  printer.document({ ...status, serves: use });
  showTraining(printer, status, use);
});

const promoteWeights = async (_options: object, context: CommandContext): Promise<ExitCode> => {
  await confirmOwner(context, 'Serve the weights on trial to more sessions?');
  return move(context, 'promote', 'no weights are on trial', 'train some with: instar train run');
};

const rollBackWeights = (_options: object, context: CommandContext): Promise<ExitCode> =>
  move(
    context,
    'rollback',
    'no weights are on trial, and there are no previous weights',
    'see: instar train status',
  );

/** The status without a daemon, from the settings and the record. */
const describe = async ({ homeDir, env }: CommandContext) =>
  (await import('../../train/offline-training.ts')).describeOfflineTraining(homeAt(homeDir), env);

const move = (
  context: CommandContext,
  to: 'promote' | 'rollback',
  nothing: string,
  fix: string,
): Promise<ExitCode> =>
  withTraining(context, async ({ api }) => {
    const moves = await api.moveWeights(to);
    if (moves.length === 0) throw failure(nothing, fix);
    const { printer } = context;
    printer.document(moves);
    for (const { version, from, to: stage } of moves)
      printer.line(`version ${version} is ${stage}`, ...(from === undefined ? [] : [dim(` (was ${from})`)]));
    return EXIT.ok;
  });

const POLL_MS = 300;

/** Runs one training window and follows it to its end. */
const trainRun = ({ steps, reading, remember }: TrainAsked, context: CommandContext): Promise<ExitCode> =>
  withTraining(context, async (training) => {
    const { api, isOwn } = training;
    if (asObject((await api.training()).window).isRunning === true)
      throw failure('a training window is running already', 'see its progress with: instar train status');
    const request = compact({ steps, reading, remember });
    const { plan, ready } = asObject((await api.training()).supply);
    const stage = remember === true ? 'remember' : reading === true ? 'reading' : 'tasks';
    if (asArray(ready).length > 0)
      context.printer.note(dim(`plan: ${sayPlan(asObject(asObject(plan)[stage]))}`));
    const stop = new AbortController();
    const stopping = (): void => stop.abort();
    process.once('SIGINT', stopping);
    process.once('SIGTERM', stopping);
    try {
      const followed = await follow(context, training, request, stop.signal);
      if (!followed.ok) return reportIdle(context, followed.why);
      return report(context, followed.status, stop.signal.aborted, isOwn);
    } finally {
      process.off('SIGINT', stopping);
      process.off('SIGTERM', stopping);
    }
  });

/** Nothing was done: the reason is said, with what would change it. */
function reportIdle({ printer }: CommandContext, why: string): ExitCode {
  printer.document({ started: false, why });
  printer.line(`Nothing was trained. ${why}`);
  return EXIT.failed;
}

type FollowedWindow =
  | { readonly ok: true; readonly status: JsonObject }
  | { readonly ok: false; readonly why: string };

/** Resolves with the status after the window, or with the reason when there is nothing to train on. */
async function follow(
  context: CommandContext,
  { api, isOwn, begin }: WithTraining,
  request: TrainAsked,
  signal: AbortSignal,
): Promise<FollowedWindow> {
  const stopped = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  const progress = createProgress(context);
  progress.show({ phase: 'looking for tasks' });
  try {
    const why = await Promise.race([
      begin(request, signal),
      isOwn ? new Promise<never>(() => undefined) : stopped,
    ]);
    if (why !== undefined) return { ok: false, why };
    let window = asObject((await api.training()).window);
    // An own window stops at its next safe point; the daemon's continues without this command.
    while (window.isRunning === true && (isOwn || !signal.aborted)) {
      progress.show(signal.aborted ? { phase: 'pausing' } : stateOf(window));
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      window = asObject((await api.training()).window);
    }
    return { ok: true, status: await api.training() };
  } finally {
    progress.clear();
  }
}

function report(
  { printer }: CommandContext,
  status: JsonObject,
  isStopped: boolean,
  isOwn: boolean,
): ExitCode {
  const window = asObject(status.window);
  const isGoingOn = isStopped && !isOwn;
  if (printer.json) {
    printer.document({ ...status, ...(isStopped && { stopped: isGoingOn ? 'watching' : 'training' }) });
    return isStopped ? EXIT.interrupted : window.problem !== undefined ? EXIT.failed : EXIT.ok;
  }
  printer.line(progressOf(window));
  for (const move of movesOf(window)) printer.line(move);
  if (isGoingOn)
    printer.note({
      text: 'the daemon continues; see its progress with: instar train status',
      style: 'yellow',
    });
  else if (isStopped) printer.note({ text: 'paused; continue with: instar train run', style: 'yellow' });
  else if (window.problem !== undefined)
    throw failure(`${window.problem}`, 'completed steps are kept; try again with: instar train run');
  else explain(printer, status, window);
  return isStopped ? EXIT.interrupted : EXIT.ok;
}

/** What happens next, or why no weights moved. */
function explain(printer: Printer, status: JsonObject, window: JsonObject): void {
  const trial = asObject(asObject(status.versions).onTrial);
  if (trial.version !== undefined) {
    const next = trial.stage === 'canary' ? 'live sessions decide' : 'the next run compares it further';
    printer.note(
      `on trial: ${describeTrial(trial)}; ${next}. To decide yourself: instar train promote, or rollback`,
    );
  } else if (movesOf(window).length === 0)
    printer.note('no weights moved: all attempts scored alike, so there was nothing to learn');
}

function stateOf(window: JsonObject): ProgressState {
  const [, ...detail] = progressOf(window).split(' · ');
  const [done, of] = [Number(window.done), Number(window.steps)];
  const phase =
    asObject(window.pairs).count === undefined ? 'training' : 'comparing with the weights that serve';
  return { phase, done, of, detail: detail.join(' · ') };
}

/** The progress of a window in one line. */
function progressOf(window: JsonObject): string {
  const parts = [`step ${window.done} of ${window.steps}`];
  if (typeof window.reward === 'number') parts.push(`reward ${window.reward.toFixed(2)}`);
  if (typeof window.completion === 'number') parts.push(`${percent(window.completion)} complete`);
  const pairs = asObject(window.pairs);
  if (typeof pairs.count === 'number')
    parts.push(
      `${plural(pairs.count, 'pair')}: new ${percent(pairs.candidate)}, live ${percent(pairs.live)}`,
    );
  return parts.join(' · ');
}

function showTraining(printer: Printer, status: JsonObject, use: PolicyUse): void {
  const { support } = asObject(status.buffer);
  const versions = asObject(status.versions);
  const trial = asObject(versions.onTrial);
  const waiting = asObject(versions.waiting);
  const window = asObject(status.window);
  const weights = sayLiveWeights(status);
  const rows: (readonly [string, string] | undefined)[] = [
    row(
      'engine',
      status.engineState === undefined ? `${status.engine}` : `${status.engine} (${status.engineState})`,
    ),
    row('serves', sayPolicyUse(use, status)),
    weights === undefined ? undefined : row('weights', weights),
    status.remembers === undefined ? undefined : row('remembers', `${status.remembers}`),
    status.adapter === undefined ? undefined : row('adapter', `${status.adapter}`),
    versions.previous === undefined ? undefined : row('previous', `version ${versions.previous}`),
    trial.version === undefined ? undefined : row('on trial', describeTrial(trial)),
    waiting.version === undefined ? undefined : row('on trial', describeTrial(waiting)),
    window.steps === undefined ? undefined : row('training', describeWindow(window)),
    ...movesOf(window).map((move) => row('training', move)),
    window.problem === undefined ? undefined : row('problem', `${window.problem}`),
    row('lessons', `generation ${status.generation}; ${plural(Number(support), 'failure')} to learn from`),
    ...describeSupply(status),
  ];
  printer.fields(rows.filter((one) => one !== undefined));
}

const movesOf = (window: JsonObject): readonly string[] => asArray(window.moves).map(String);

/** The evidence so far for a version on trial. */
function describeTrial({ version, stage, tasks, questions, replayed, sessions }: JsonObject): string {
  const [asked, again] = [Number(questions), Number(replayed)];
  if (stage === 'canary')
    return `version ${version}, canary: answers a share of the sessions; rewards from ${plural(Number(sessions), 'session')}${again > 0 ? `, compared on ${plural(again, 'recorded request')}` : ''}`;
  return `version ${version}, candidate: answers no request yet; compared on ${plural(Number(tasks), 'held-out task')}${asked > 0 ? ` and ${plural(asked, 'general question')}` : ''}`;
}

const describeWindow = (window: JsonObject): string =>
  `${window.isRunning === true ? 'running' : 'ended'}: ${progressOf(window)}`;
const row = (name: string, text: string): readonly [string, string] => [name, text];
const percent = (share: unknown): string => `${Math.round(100 * Number(share))} %`;
