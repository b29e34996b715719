import { ApiError, createRemoteApi } from '../api/remote-api.ts';
import { findDaemon, isAlive } from '../config/daemon-file.ts';
import { openHome } from '../config/home.ts';
import { readOrCreateKey } from '../config/key.ts';
import { loadConfig } from '../config/load-config.ts';
import { readOwnKeys } from '../config/own-keys.ts';
import { readOrCreateOwnerKey } from '../config/owner-key.ts';
import type { DaemonApi, TrainAsked } from '../core/daemon-api.ts';
import { TrainingError } from '../core/training.ts';
import { createLog } from '../redact/create-log.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import { readOrCreateSalt } from '../redact/salt.ts';
import { askForOwnerKey } from './confirm-owner.ts';
import { type CommandContext, CommandError, EXIT, type ExitCode } from './context.ts';

export interface WithTraining {
  readonly api: DaemonApi;
  /** Whether the daemon belongs to this command and stops with it. */
  readonly isOwn: boolean;
  /**
   * Starts a training window; `api.training` reports its progress. The signal pauses the window of an own daemon. Resolves
   * with the reason when there is nothing to train on.
   */
  begin(request: TrainAsked, signal: AbortSignal): Promise<string | undefined>;
}

/** Runs a command that trains or moves weights: in the daemon that serves the home, or in a temporary one. */
export async function withTraining(
  context: CommandContext,
  run: (training: WithTraining) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { env } = context;
  const home = openHome(context.homeDir);
  const { config } = loadConfig({ file: home.configFile, env });
  const daemon = await findDaemon(home);
  const isRunning = daemon !== undefined && isAlive(daemon);
  if (!isRunning && config.train.engine === 'off')
    throw new CommandError(
      EXIT.failed,
      'training is off: train.engine is "off"',
      `set train.engine to "nano", or to a server, in ${home.configFile}`,
    );
  const owner = readOrCreateOwnerKey(home, env);
  const key = owner.key ?? (await askForOwnerKey(context, owner));
  try {
    if (isRunning) {
      const { api } = createRemoteApi(daemon, key);
      return await run({
        api,
        isOwn: false,
        begin: async (request) => {
          const { started, why } = await api.startTraining(request);
          return started === false ? String(why) : undefined;
        },
      });
    }
    readOrCreateKey(home, env);
    const redactor = openRedactor({
      salt: readOrCreateSalt(home),
      keys: () => readOwnKeys(config, { env, home }),
    });
    const log = createLog({
      format: 'auto',
      level: 'warn',
      stream: context.stderr,
      env,
      redactor,
    });
    const own = await context.startDaemon({ home, config, env, log, port: 0 });
    try {
      const { url, port } = own;
      const record = { url, port, pid: process.pid, startedAt: '', version: context.version };
      const { api } = createRemoteApi(record, key);
      return await run({ api, isOwn: true, begin: (request, signal) => begin(own, request, signal) });
    } finally {
      await own.close();
    }
  } catch (error) {
    if (error instanceof ApiError)
      throw new CommandError(EXIT.failed, error.message, 'see: instar train status');
    throw error;
  }
}

/** Resolves at the first progress event; later events and errors are in the training status. */
async function begin(
  { training }: Awaited<ReturnType<CommandContext['startDaemon']>>,
  request: TrainAsked,
  signal: AbortSignal,
): Promise<string | undefined> {
  const events = training?.run(request, signal)[Symbol.asyncIterator]();
  const drain = async (): Promise<void> => {
    while (events !== undefined && (await events.next()).done !== true);
  };
  try {
    await events?.next();
  } catch (error) {
    if (!(error instanceof TrainingError)) throw error;
    if (error.code === 'no-tasks') return error.message;
    throw new CommandError(EXIT.failed, error.message, 'see: instar doctor');
  }
  drain().catch(() => undefined);
  return undefined;
}
