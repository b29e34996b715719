import { Command, CommanderError } from 'commander';
import { ConfigError } from '../config/config-error.ts';
import { homeDir } from '../config/home.ts';
import {
  type Act,
  type CliContext,
  CommandError,
  EXIT,
  type ExitCode,
  expectedError,
  failure,
} from './context.ts';
import { addCommands, declareCommand } from './help.ts';
import { currentWords } from './old-names.ts';
import { createPrinter, lineWidth, type Printer } from './print.ts';
import { commandLine, namedCommand, sayUsageError } from './usage.ts';

/** Runs one command line. Resolves with the exit code; errors are printed, not thrown. */
export async function runProgram(typed: readonly string[], context: CliContext): Promise<ExitCode> {
  const { argv, moved, removed } = currentWords(typed);
  const json = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : argv.length).includes('--json');
  const printer = createPrinter({ ...context, json });
  if (moved !== undefined)
    context.stderr.write(`instar: "${moved.old}" is called "instar ${moved.now}" now\n`);
  let exitCode: ExitCode = EXIT.ok;
  let help = '';
  const program = createProgram(context, (text) => {
    help += text;
  });
  const act: Act = (action) =>
    async function (this: Command) {
      const options = { ...this.optsWithGlobals<{ home?: string }>(), args: this.args };
      const dir = homeDir(options.home, context.env);
      const code = await action(options as Parameters<typeof action>[0], {
        ...context,
        printer,
        homeDir: dir,
      });
      exitCode = code ?? EXIT.ok;
    };
  addCommands(program);
  program.hook('preSubcommand', (_program, command) => declareCommand(command, act));
  try {
    if (removed !== undefined) throw failure(`"${removed.name}" no longer exists`, removed.instead);
    if (isGreeted(argv, context)) {
      const homeOf = argv.find((_, at) => argv[at - 1] === '--home');
      const { greet } = await import('./greet.ts');
      const chosen = await greet({ ...context, printer, homeDir: homeDir(homeOf, context.env) });
      return await runProgram([...argv, ...chosen], context);
    }
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    const see = `see: ${commandLine(namedCommand(program, argv))} --help`;
    return await report(error, { help, see }, printer, context);
  }
}

/** A person who typed `instar` alone, or with a home. */
const isGreeted = (argv: readonly string[], { stdin, stdout, stderr }: CliContext): boolean =>
  [stdin, stdout, stderr].every(({ isTTY }) => isTTY === true) &&
  (argv.length === 0 || (argv.length === 2 && argv[0] === '--home'));

/** A command in a list: its name and its arguments. */
const termOf = (command: Command): string =>
  [
    command.name(),
    ...command.registeredArguments.map((one) => {
      const name = `${one.name()}${one.variadic ? '...' : ''}`;
      return one.required ? `<${name}>` : `[${name}]`;
    }),
  ].join(' ');

const createProgram = (context: CliContext, write: (text: string) => void): Command =>
  new Command('instar')
    .description('Your agent gets better by being used.')
    .version(context.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .option('--home <dir>', 'folder for all of Instar’s files (default: $INSTAR_HOME, else ~/.instar)')
    .option('--json', 'print one JSON document on standard output')
    .exitOverride()
    .configureOutput({
      writeOut: write,
      writeErr: write,
      // `report` prints the error once, when it arrives as an exception.
      outputError: () => undefined,
      getOutHelpWidth: () => lineWidth(context.stdout, context.env) ?? HELP_WIDTH,
      getErrHelpWidth: () => lineWidth(context.stderr, context.env) ?? HELP_WIDTH,
    })
    .configureHelp({ showGlobalOptions: true, subcommandTerm: termOf })
    .addHelpText('after', '\nEvery command: instar help --all\n\nExample:\n  $ instar up\n');

/** For help that a program reads. */
const HELP_WIDTH = 80;

async function report(
  error: unknown,
  { help, see }: { readonly help: string; readonly see: string },
  printer: Printer,
  { stderr, env }: CliContext,
): Promise<ExitCode> {
  if (error instanceof CommanderError && error.exitCode === 0) {
    if (!printer.json) printer.text(help);
    else printer.document(error.code === 'commander.version' ? { version: help.trim() } : { help });
    return EXIT.ok;
  }
  // Loaded on demand: most commands end without an error. A message may quote a provider, a file or an argument.
  const { openRedactor } = await import('../redact/open-redactor.ts');
  const { redactText } = openRedactor();
  const failure = redactFailure(describe(error, see), (text) => shortenWords(redactText(text)));
  if (printer.json) {
    const { message, fix } = failure;
    printer.document({ error: { message, ...(fix !== undefined && { fix }) } });
    return failure.exitCode;
  }
  const isBareCall = error instanceof CommanderError && error.code === 'commander.help';
  if (isBareCall) stderr.write(help);
  else printer.note({ text: 'instar: ', style: 'red' }, failure.message);
  if (failure.fix !== undefined && !isBareCall) printer.next(failure.fix);
  if (failure.stack !== undefined && env.INSTAR_DEBUG) printer.note(failure.stack);
  return failure.exitCode;
}

/** Error codes of the operating system and of the store for a disk that cannot be written. */
const DISK_CODES = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'full']);

/** The store's other faults of input and output have causes of their own. */
const isDiskFault = ({ code, message, cause }: NodeJS.ErrnoException): boolean =>
  [code, (cause as NodeJS.ErrnoException | undefined)?.code].some((one) => DISK_CODES.has(String(one))) ||
  (code === 'io' && message.includes('disk I/O error'));

/** Of a word that nobody typed by hand, its beginning is enough. */
const shortenWords = (text: string): string => text.replace(/\S{240,}/g, (word) => `${word.slice(0, 60)}…`);

const redactFailure = (
  { exitCode, message, fix, stack }: DescribedError,
  redact: (text: string) => string,
): DescribedError => ({
  exitCode,
  message: redact(message),
  ...(fix !== undefined && { fix: redact(fix) }),
  ...(stack !== undefined && { stack: redact(stack) }),
});

interface DescribedError {
  readonly exitCode: ExitCode;
  readonly message: string;
  readonly fix?: string;
  readonly stack?: string;
}

/** `see`: where the use of the command that was called is explained. */
function describe(error: unknown, see: string): DescribedError {
  if (error instanceof CommanderError) {
    const message = error.code === 'commander.help' ? 'no command was given' : sayUsageError(error.message);
    return { exitCode: EXIT.wrongUse, message, fix: see };
  }
  const cause = error instanceof Error ? error : new Error(String(error));
  if (!(error instanceof CommandError) && isDiskFault(cause)) {
    const fix = 'free some disk space, check the disk, and try again';
    return { exitCode: EXIT.failed, message: `writing to the disk failed: ${cause.message}`, fix };
  }
  const expected = expectedError(error);
  if (expected !== undefined) {
    const { exitCode, message, fix = exitCode === EXIT.wrongUse ? see : undefined } = expected;
    return { exitCode, message, ...(fix !== undefined && { fix }) };
  }
  if (error instanceof ConfigError) return { exitCode: EXIT.failed, message: error.message };
  return {
    exitCode: EXIT.failed,
    message: `unexpected error: ${cause.message}`,
    fix: 'set INSTAR_DEBUG=1 to print the stack trace',
    ...(cause.stack !== undefined && { stack: cause.stack }),
  };
}
