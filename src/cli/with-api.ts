import { openApi } from '../api/open-api.ts';
import { ApiError, type RemoteApi } from '../api/remote-api.ts';
import { HomeInUseError, homeAt } from '../config/home.ts';
import { type CommandContext, CommandError, EXIT, type ExitCode } from './context.ts';

/**
 * Runs a command on the API of the running daemon, or on the store itself when no daemon runs. With `mayCreate` a
 * missing home is created.
 */
export async function withApi(
  { homeDir, env }: CommandContext,
  run: (apis: RemoteApi) => Promise<ExitCode>,
  mayCreate = false,
): Promise<ExitCode> {
  try {
    const { api, lessonsApi, close } = await openApi(homeAt(homeDir), env, mayCreate);
    try {
      return await run({ api, lessonsApi });
    } finally {
      close();
    }
  } catch (error) {
    if (error instanceof HomeInUseError)
      throw new CommandError(EXIT.homeTaken, error.message, 'see: instar status');
    if (error instanceof ApiError) throw new CommandError(EXIT.failed, error.message);
    if (error instanceof Error && error.name === 'StoreError') {
      throw new CommandError(EXIT.failed, error.message, 'see: instar doctor');
    }
    throw error;
  }
}
