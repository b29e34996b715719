import { DeskError } from '../app/desk-error.ts';
import { HomeTakenError } from '../app/home-taken-error.ts';
import { openDesk } from '../app/open-desk.ts';
import { homeAt } from '../config/home.ts';
import { CommandError, EXIT, type ExitCode } from './command-error.ts';
import type { CommandContext } from './context.ts';

type Opened = Awaited<ReturnType<typeof openDesk>>;

/** Runs a command that asks about the record, through the daemon or without one. */
export async function withDesk(
  { homeDir, env }: CommandContext,
  run: (desk: Opened['desk'], shelf: Opened['shelf']) => Promise<ExitCode>,
  mayCreate = false,
): Promise<ExitCode> {
  try {
    const { desk, shelf, close } = await openDesk(homeAt(homeDir), env, mayCreate);
    try {
      return await run(desk, shelf);
    } finally {
      close();
    }
  } catch (error) {
    if (error instanceof HomeTakenError)
      throw new CommandError(EXIT.homeTaken, error.message, 'see: instar status');
    if (error instanceof DeskError) throw new CommandError(EXIT.failed, error.message);
    if (error instanceof Error && error.name === 'StoreError') {
      throw new CommandError(EXIT.failed, error.message, 'see: instar doctor');
    }
    throw error;
  }
}
