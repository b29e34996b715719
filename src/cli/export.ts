import { createWriteStream } from 'node:fs';
import { exportTrajectories, SecretFoundError } from '../app/export-trajectories.ts';
import { createSecretScan } from '../app/secret-scan.ts';
import { openHome } from '../config/home.ts';
import { CommandError, EXIT, type ExitCode } from './command-error.ts';
import type { CommandContext } from './context.ts';
import { withDesk } from './with-desk.ts';

interface Export {
  readonly out?: string;
  readonly agent?: string;
  readonly project?: string;
}

/** Trajectories as JSON lines, to a file or to standard output. */
export const exportCommand = ({ out, agent, project }: Export, context: CommandContext): Promise<ExitCode> =>
  withDesk(context, async (desk) => {
    const { printer, stdout, homeDir, env } = context;
    const file = out === undefined ? undefined : createWriteStream(out, { flags: 'wx', mode: 0o600 });
    const failure = file && new Promise<never>((_, reject) => file.on('error', reject));
    const write = (line: string): void => void (file ?? stdout).write(line);
    const hasSecret = createSecretScan(openHome(homeDir), env);
    const filter = { ...(agent ? { agent } : {}), ...(project ? { project } : {}) };
    try {
      const work = exportTrajectories({ desk, hasSecret, write, ...filter });
      const count = await (failure ? Promise.race([work, failure]) : work);
      if (file) await new Promise<void>((resolve) => file.end(resolve));
      printer.note(`${count} sessions`);
      return EXIT.ok;
    } catch (error) {
      if (error instanceof SecretFoundError)
        throw new CommandError(EXIT.failed, error.message, 'erase it: instar sessions erase ID');
      if ((error as NodeJS.ErrnoException).code === 'EEXIST')
        throw new CommandError(EXIT.failed, `${out} exists`, 'choose another name');
      throw error;
    }
  });
