import { openApi } from '../api/open-api.ts';
import { ApiError } from '../api/remote-api.ts';
import { HomeInUseError, homeAt } from '../config/home.ts';
import type { StoredOwnerKey } from '../config/owner-key.ts';
import type { OwnerApis } from '../core/daemon-api.ts';
import { askForOwnerKey } from './confirm-owner.ts';
import { type CommandContext, CommandError, EXIT, type ExitCode } from './context.ts';

/**
 * Runs a command on the API of the running daemon, or on the store itself when no daemon runs. With `mayCreate` a
 * missing home is created.
 */
export async function withApi(
  context: CommandContext,
  run: (apis: OwnerApis) => Promise<ExitCode>,
  mayCreate = false,
): Promise<ExitCode> {
  try {
    const unlock = (owner: StoredOwnerKey) => askForOwnerKey(context, owner);
    const { close, ...apis } = await openApi(homeAt(context.homeDir), context.env, mayCreate, unlock);
    try {
      return await run(apis);
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
