import { openApi } from '../api/open-api.ts';
import { ApiError } from '../api/remote-api.ts';
import { HomeInUseError, homeAt } from '../config/home.ts';
import type { CommandContext } from './context.ts';
import { CommandError, EXIT, type ExitCode } from './context.ts';

type Opened = Awaited<ReturnType<typeof openApi>>;

/** Runs a command that asks about the record, through the daemon or without one. */
export async function withApi(
  { homeDir, env }: CommandContext,
  run: (desk: Opened['desk'], shelf: Opened['shelf']) => Promise<ExitCode>,
  mayCreate = false,
): Promise<ExitCode> {
  try {
    const { desk, shelf, close } = await openApi(homeAt(homeDir), env, mayCreate);
    try {
      return await run(desk, shelf);
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
