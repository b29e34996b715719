import { whyNoPgDriver } from '../base/pg-driver.ts';
import { HomeInUseError, homeAt } from '../config/home.ts';
import { StoreError } from '../core/store.ts';
import {
  type CommandContext,
  CommandError,
  type DeclareCommand,
  EXIT,
  type ExitCode,
  failure,
  type Positional,
  wrongUse,
} from './context.ts';
import { createProgress } from './progress.ts';

export const declareStore: DeclareCommand = (store, act) => {
  store
    .command('migrate')
    .description('Move the record to a PostgreSQL server, or back into a file of the home.')
    .argument('<to>', 'postgres://USER:PASSWORD@HOST/DATABASE, or sqlite')
    .addHelpText(
      'after',
      '\nEverything is copied, compared by hashes, and only then used.\nInterrupted, the same command goes on.\n\nExample:\n  $ instar stop\n  $ instar team store migrate postgres://instar@localhost/instar\n  $ instar up\n',
    )
    .action(act(migrateStore));
};

const migrateStore = async ({ args }: Positional, context: CommandContext): Promise<ExitCode> => {
  const to = args[0] ?? '';
  const { printer, env } = context;
  if (!/^(?:sqlite$|postgres(?:ql)?:\/\/)/.test(to))
    throw wrongUse(
      'the record can be moved to postgres://… or to sqlite',
      'instar team store migrate postgres://USER:PASSWORD@HOST/DATABASE',
    );
  const missing = whyNoPgDriver();
  if (missing !== undefined) throw failure(missing);
  const { moveStore } = await import('../../team/move-store.ts');
  const progress = createProgress(context);
  const onProgress = (done: number, of: number): void => progress.show({ phase: 'copying facts', done, of });
  try {
    const moved = await moveStore(homeAt(context.homeDir), { env, to, onProgress }).finally(progress.clear);
    printer.document(moved);
    printer.line(
      `The record is in ${String(moved.where)} now: ${String(moved.facts)} facts, compared by their hashes.`,
    );
    if (moved.kept !== undefined) printer.line(`The file is kept as ${String(moved.kept)}.`);
    return EXIT.ok;
  } catch (error) {
    if (error instanceof HomeInUseError)
      throw new CommandError(EXIT.homeTaken, error.message, 'stop it first: instar stop');
    if (!(error instanceof StoreError)) throw error;
    throw failure(error.message, 'the record is where it was; correct that, and run the same command again');
  }
};
