import { rmSync } from 'node:fs';
import { ApiError, askPageCode, askSignOut } from '../api/remote-api.ts';
import { findDaemon, isAlive } from '../config/daemon-file.ts';
import { homeAt } from '../config/home.ts';
import { readOwnerKey } from '../config/owner-key.ts';
import { askForOwnerKey } from './confirm-owner.ts';
import { type CommandContext, type DeclareCommand, EXIT, type ExitCode, failure } from './context.ts';
import { openUrl } from './foreground.ts';

export const declarePage: DeclareCommand = (command, act) =>
  void command
    .option('--open', 'open it in your browser')
    .option('--sign-out', 'sign every browser out instead')
    .addHelpText('after', '\nExample:\n  $ instar page --open\n')
    .action(act(showPage));

interface PageOptions {
  readonly open?: true;
  readonly signOut?: true;
}

/** Prints an address that signs one browser in, once, within ten minutes. */
async function showPage({ open, signOut }: PageOptions, context: CommandContext): Promise<ExitCode> {
  const { env, printer } = context;
  const home = homeAt(context.homeDir);
  const daemon = await findDaemon(home);
  const owner = readOwnerKey(home, env);
  if (signOut === true && (daemon === undefined || !isAlive(daemon))) {
    rmSync(home.signInsFile, { force: true });
    return saySignedOut(context);
  }
  if (daemon === undefined || !isAlive(daemon) || owner === undefined)
    throw failure('Instar is not running, so there is no page', 'start it: instar up');
  const key = owner.key ?? (await askForOwnerKey(context, owner));
  try {
    if (signOut === true) {
      await askSignOut(daemon, key);
      return saySignedOut(context);
    }
    const { url, expiresAt, hasPage } = await askPageCode(daemon, key);
    if (!hasPage) throw failure('this build of Instar has no page', 'build it: npm run build');
    printer.document({ url, expiresAt });
    printer.line(url);
    if (open)
      openUrl(url, (message) =>
        printer.note(`cannot open a browser (${message}): open the address yourself`),
      );
    return EXIT.ok;
  } catch (error) {
    if (error instanceof ApiError) throw failure(error.message, 'see: instar status');
    throw error;
  }
}

function saySignedOut({ printer }: CommandContext): ExitCode {
  printer.document({ signedOut: true });
  printer.line('Every browser is signed out. To sign in again: instar page --open');
  return EXIT.ok;
}
