import { resolve } from 'node:path';
import { findDaemon } from '../api/daemon-status.ts';
import { restoreHome } from '../api/open-api.ts';
import { homeAt, openHome } from '../config/home.ts';
import type { CommandContext } from './context.ts';
import { CommandError, EXIT, type ExitCode } from './context.ts';
import { withApi } from './with-api.ts';

interface Named {
  readonly args: readonly string[];
}

export const backup = ({ args }: Named, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async (desk) => {
    const file = resolve(args[0] ?? '');
    await desk.backup(file);
    if (context.printer.json) context.printer.document({ file });
    else context.printer.line(`everything recorded is copied into ${file}`);
    return EXIT.ok;
  });

export async function restore({ args }: Named, context: CommandContext): Promise<ExitCode> {
  const file = resolve(args[0] ?? '');
  const running = await findDaemon(homeAt(context.homeDir));
  if (running !== undefined) {
    throw new CommandError(
      EXIT.homeTaken,
      `a daemon uses this home: ${running.url} (pid ${running.pid})`,
      'stop it first',
    );
  }
  const { kept } = restoreHome(openHome(context.homeDir), file);
  if (context.printer.json) context.printer.document({ file, kept: kept ?? null });
  else
    context.printer.line(
      `restored from ${file}${kept === undefined ? '' : `; what was there before is in ${kept}`}`,
    );
  return EXIT.ok;
}
