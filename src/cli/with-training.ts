import { findDaemon, isAlive } from '../api/daemon-status.ts';
import { ApiError, createRemoteApi, type RemoteApi } from '../api/remote-api.ts';
import { HomeInUseError, openHome } from '../config/home.ts';
import { readKey, readOrCreateKey } from '../config/key.ts';
import { loadConfig } from '../config/load-config.ts';
import { createLog } from '../daemon/log.ts';
import type { CommandContext } from './context.ts';
import { CommandError, EXIT, type ExitCode } from './context.ts';

export interface WithTraining {
  readonly desk: RemoteApi['desk'];
  /** Whether what is begun ends with this command. */
  readonly isOwn: boolean;
  /** Begins a window; the desk tells how it goes. The signal pauses one that is our own. */
  begin(request: TrainRequest, signal: AbortSignal): Promise<void>;
}

interface TrainRequest {
  readonly steps?: number;
}

/** Runs a command that trains or moves weights: in the daemon that serves the home, or in one for the time being. */
export async function withTraining(
  context: CommandContext,
  run: (training: WithTraining) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { env } = context;
  const home = openHome(context.homeDir);
  const { config } = loadConfig({ file: home.configFile, env });
  const daemon = await findDaemon(home);
  const isThere = daemon !== undefined && isAlive(daemon);
  if (!isThere && config.train.engine === 'off')
    throw new CommandError(
      EXIT.failed,
      'nothing is trained here: train.engine is off',
      `set train.engine to "nano", or to a server, in ${home.configFile}`,
    );
  try {
    if (isThere) {
      const { desk } = createRemoteApi(daemon, readKey(home, env)?.key);
      return await run({
        desk,
        isOwn: false,
        begin: async (request) => void (await desk.startTraining(request)),
      });
    }
    const { key } = readOrCreateKey(home, env);
    const log = createLog({ format: config.log.format, level: 'warn', stream: context.stderr, env });
    const own = await context.startDaemon({ home, config, env, log, port: 0 });
    try {
      const { url, port } = own;
      const record = { url, port, pid: process.pid, startedAt: '', version: context.version };
      const { desk } = createRemoteApi(record, key);
      return await run({ desk, isOwn: true, begin: (request, signal) => begin(own, request, signal) });
    } finally {
      await own.close();
    }
  } catch (error) {
    if (error instanceof HomeInUseError)
      throw new CommandError(EXIT.homeTaken, error.message, 'see: instar status');
    if (error instanceof ApiError)
      throw new CommandError(EXIT.failed, error.message, 'see: instar train status');
    throw error;
  }
}

/** Resolves with the first news: from then on the desk tells the rest, also what goes wrong. */
async function begin(
  { training }: Awaited<ReturnType<CommandContext['startDaemon']>>,
  request: TrainRequest,
  signal: AbortSignal,
): Promise<void> {
  const news = training?.run(request, signal)[Symbol.asyncIterator]();
  const drain = async (): Promise<void> => {
    while (news !== undefined && (await news.next()).done !== true);
  };
  try {
    await news?.next();
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'TrainingError') throw error;
    throw new CommandError(EXIT.failed, error.message, 'see: instar doctor');
  }
  drain().catch(() => undefined);
}
