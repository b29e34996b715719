import { closeSync, openSync, writeSync } from 'node:fs';
import { createSecretScan, exportTrajectories, SecretFoundError } from '../api/export-trajectories.ts';
import { openHome } from '../config/home.ts';
import type { CommandContext } from './context.ts';
import { CommandError, EXIT, type ExitCode } from './context.ts';
import { withApi } from './with-api.ts';

interface Export {
  readonly args: readonly string[];
  readonly out?: string;
  readonly agent?: string;
  readonly project?: string;
}

/** Trajectories as JSON lines, to a new file or to standard output. */
export async function exportCommand(options: Export, context: CommandContext): Promise<ExitCode> {
  const { args, out, agent, project } = options;
  if (args[0] !== 'trajectories') {
    throw new CommandError(
      EXIT.wrongUse,
      `there is no export of ${args[0]}`,
      'say: instar export trajectories',
    );
  }
  const hasSecret = createSecretScan(openHome(context.homeDir), context.env);
  const file = out === undefined ? undefined : openNew(out);
  try {
    return await withApi(context, async (desk) => {
      const write = (line: string): void =>
        void (file === undefined ? context.stdout.write(line) : writeSync(file, line));
      const filter = { ...(agent ? { agent } : {}), ...(project ? { project } : {}) };
      const count = await exportTrajectories({ desk, hasSecret, write, ...filter });
      context.printer.note(count === 1 ? '1 session' : `${count} sessions`);
      return EXIT.ok;
    });
  } catch (error) {
    if (!(error instanceof SecretFoundError)) throw error;
    throw new CommandError(EXIT.failed, error.message, 'erase it: instar sessions erase ID --yes');
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function openNew(file: string): number {
  try {
    return openSync(file, 'wx', 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const what = code === 'EEXIST' ? `${file} is there already` : `${file} cannot be made (${code})`;
    throw new CommandError(EXIT.failed, what, 'choose another name with --out');
  }
}
