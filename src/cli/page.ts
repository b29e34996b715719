import { ApiError, askPageCode } from '../api/remote-api.ts';
import { findDaemon, isAlive } from '../config/daemon-file.ts';
import { homeAt } from '../config/home.ts';
import { readOwnerKey } from '../config/owner-key.ts';
import { askForOwnerKey } from './confirm-owner.ts';
import { type CommandContext, CommandError, type DeclareCommand, EXIT, type ExitCode } from './context.ts';
import { openUrl } from './foreground.ts';

export const declarePage: DeclareCommand = (command, act) =>
  void command
    .option('--open', 'open it in your browser')
    .addHelpText('after', '\nExample:\n  $ instar page --open\n')
    .action(act(showPage));

/** Prints an address that signs one browser in, once, within ten minutes. */
async function showPage({ open }: { readonly open?: true }, context: CommandContext): Promise<ExitCode> {
  const { env, printer } = context;
  const home = homeAt(context.homeDir);
  const daemon = await findDaemon(home);
  const owner = readOwnerKey(home, env);
  if (daemon === undefined || !isAlive(daemon) || owner === undefined)
    throw new CommandError(
      EXIT.failed,
      'Instar is not running, so that there is no page',
      'start it: instar up',
    );
  const key = owner.key ?? (await askForOwnerKey(context, owner));
  try {
    const { url, expiresAt, hasPage } = await askPageCode(daemon, key);
    if (!hasPage)
      throw new CommandError(EXIT.failed, 'this build of Instar has no page', 'build it: npm run build');
    if (printer.json) printer.document({ url, expiresAt });
    else printer.line(url);
    if (open)
      openUrl(url, (message) =>
        printer.note(`cannot open a browser (${message}): open the address yourself`),
      );
    return EXIT.ok;
  } catch (error) {
    if (error instanceof ApiError) throw new CommandError(EXIT.failed, error.message, 'see: instar status');
    throw error;
  }
}
