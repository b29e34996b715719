import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { findRestoreFault, newestCopyOf, restoreHome } from '../api/offline-api.ts';
import { findDaemon } from '../config/daemon-file.ts';
import { type Home, HomeInUseError, homeAt, openHome } from '../config/home.ts';
import { readStoreUrl } from '../config/store-url.ts';
import { errorMessage } from '../core/failure.ts';
import { StoreError } from '../core/store.ts';
import { quotePath } from '../doctor/inspect-path.ts';
import {
  type CommandContext,
  CommandError,
  type DeclareCommand,
  EXIT,
  type ExitCode,
  failure,
  type Positional,
} from './context.ts';
import { refuseWhileRunning } from './up-checks.ts';
import { withApi } from './with-api.ts';

/** In lines of a help text. */
const RECORD_ALONE = `A backup is the record alone: conversations, lessons, decisions. The config,
keys and trained weights are other files of the home; to move a home, copy its
whole folder while Instar is stopped.`;

export const declareBackup: DeclareCommand = (command, act) =>
  void command
    .argument('<file>', 'a file that does not exist yet')
    .addHelpText('after', `\n${RECORD_ALONE}\n\nExample:\n  $ instar data backup ~/instar-monday.sqlite\n`)
    .action(act(backup));

export const declareRestore: DeclareCommand = (command, act) =>
  void command
    .argument('<file>', 'a backup')
    .addHelpText(
      'after',
      `\n${RECORD_ALONE}\n\nExample:\n  $ instar stop\n  $ instar data restore ~/instar-monday.sqlite\n  $ instar up\n`,
    )
    .action(act(restore));

const backup = async ({ args }: Positional, context: CommandContext): Promise<ExitCode> => {
  const file = resolve(args[0] ?? '');
  const home = homeAt(context.homeDir);
  checkNewFile(file);
  const isFile = readStoreUrl(home.configFile) === 'sqlite';
  if (isFile && !existsSync(home.storeFile) && (await findDaemon(home)) === undefined)
    throw failure(
      `nothing is recorded in ${home.dir} yet, so there is nothing to back up`,
      'name another home with --home or INSTAR_HOME',
    );
  return withApi(context, async ({ api }) => {
    await api.backup(file).catch((error: unknown) => {
      const why = errorMessage(error);
      if (!/\b(?:ENOENT|EACCES|EPERM|EROFS|EINVAL|ENOTDIR|unable to open|SQLITE_CANTOPEN)\b/.test(why))
        throw error;
      throw failure(`${file} cannot be written there`, 'choose a folder of your own on a disk');
    });
    context.printer.document({ file });
    context.printer.line(`Backup written to ${file}.`);
    return EXIT.ok;
  });
};

/** Throws when a file cannot be created. No file is overwritten: it may be the last good backup. */
function checkNewFile(file: string): void {
  if (existsSync(file))
    throw failure(
      `${file} exists already, and a backup overwrites no file`,
      'choose another name, or move that file away',
    );
  const folder = dirname(file);
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined)
    throw failure(`the folder ${folder} does not exist`, `create it with: mkdir -p ${quotePath(folder)}`);
  if (!found.isDirectory()) throw failure(`${folder} is a file, not a folder`, 'choose another place');
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch {
    throw failure(`the folder ${folder} cannot be written to`, 'choose a folder of your own');
  }
}

const restore = ({ args }: Positional, context: CommandContext): Promise<ExitCode> =>
  restoreFile(resolve(args[0] ?? ''), context);

/** Replaces the record by a copy; refused while a daemon runs. A file that cannot be restored changes nothing. */
export async function restoreFile(
  file: string,
  context: CommandContext,
  before: () => void = () => undefined,
): Promise<ExitCode> {
  const home = homeAt(context.homeDir);
  if (readStoreUrl(home.configFile) !== 'sqlite')
    throw failure(
      'the record is in PostgreSQL, and a backup file replaces only the file of a home',
      'restore the database with its own tools; or: instar team store migrate sqlite, instar data restore FILE, instar team store migrate URL',
    );
  const fault = findRestoreFault(home, file);
  if (fault !== undefined) throw refuse(`${file} ${fault.why}`, fault.kind, home);
  await refuseWhileRunning(home);
  before();
  const kept = restoreOrRefuse(file, openHome(context.homeDir));
  context.printer.document({ file, kept: kept ?? null });
  context.printer.line(
    `Restored from ${file}.${kept === undefined ? '' : ` The previous record is in ${kept}.`}`,
  );
  return EXIT.ok;
}

function restoreOrRefuse(file: string, home: Home): string | undefined {
  try {
    return restoreHome(home, file).kept;
  } catch (error) {
    if (error instanceof HomeInUseError)
      throw new CommandError(EXIT.homeTaken, error.message, 'wait for that process, or stop it');
    if (!(error instanceof StoreError)) throw error;
    if (error.code === 'corrupt')
      throw refuse(`${file} is damaged (${error.message.replace(`${file}: `, '')})`, 'damaged', home);
    if (error.code === 'newer') throw refuse(error.message, 'newer', home);
    throw error;
  }
}

function refuse(why: string, kind: NonNullable<ReturnType<typeof findRestoreFault>>['kind'], home: Home) {
  const isShort = kind === 'missing' || !existsSync(home.storeFile);
  const message = isShort ? why : `${why}; the record of this home is unchanged`;
  const { copy } = kind === 'newer' ? { copy: undefined } : newestCopyOf(home);
  const fix =
    kind === 'newer'
      ? 'install the Instar that wrote it, or a newer one'
      : copy === undefined
        ? 'name a file that "instar data backup" wrote'
        : `name a file that "instar data backup" wrote, or restore the newest daily copy: instar data restore ${quotePath(copy.file)}`;
  return failure(message, fix);
}
