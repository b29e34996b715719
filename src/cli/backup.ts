import { resolve } from 'node:path';
import { restoreHome } from '../api/open-api.ts';
import { findDaemon } from '../config/daemon-file.ts';
import { homeAt, openHome } from '../config/home.ts';
import {
  type CommandContext,
  CommandError,
  type DeclareCommand,
  EXIT,
  type ExitCode,
  type Positional,
} from './context.ts';
import { withApi } from './with-api.ts';

export const declareBackup: DeclareCommand = (command, act) =>
  void command.argument('<file>', 'a file that does not exist yet').action(act(backup));

export const declareRestore: DeclareCommand = (command, act) =>
  void command.argument('<file>', 'a backup').action(act(restore));

const backup = ({ args }: Positional, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async ({ api }) => {
    const file = resolve(args[0] ?? '');
    await api.backup(file);
    if (context.printer.json) context.printer.document({ file });
    else context.printer.line(`backup written to ${file}`);
    return EXIT.ok;
  });

const restore = ({ args }: Positional, context: CommandContext): Promise<ExitCode> =>
  restoreFile(resolve(args[0] ?? ''), context);

/** Replaces the record by a copy; refused while a daemon runs. */
export async function restoreFile(
  file: string,
  context: CommandContext,
  before: () => void = () => undefined,
): Promise<ExitCode> {
  const running = await findDaemon(homeAt(context.homeDir));
  if (running !== undefined) {
    throw new CommandError(
      EXIT.homeTaken,
      `a daemon is using this home: ${running.url} (pid ${running.pid})`,
      `stop it first: kill ${running.pid}`,
    );
  }
  before();
  const { kept } = restoreHome(openHome(context.homeDir), file);
  if (context.printer.json) context.printer.document({ file, kept: kept ?? null });
  else
    context.printer.line(
      `restored from ${file}${kept === undefined ? '' : `; the previous record is in ${kept}`}`,
    );
  return EXIT.ok;
}
