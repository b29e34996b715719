import { Command, CommanderError } from 'commander';
import { ConfigError } from '../config/config-error.ts';
import { homeDir } from '../config/home.ts';
import {
  type Act,
  type CliContext,
  CommandError,
  type DeclareCommand,
  EXIT,
  type ExitCode,
} from './context.ts';
import { addExamples } from './examples.ts';
import { createPrinter, lineWidth, type Printer } from './print.ts';
import { commandLine, namedCommand, sayUsageError } from './usage.ts';

interface CommandEntry {
  readonly description: string;
  /** Called by programs; not in the help. */
  readonly hidden?: true;
  /** Imports the file of the command; only the command that was asked for is loaded. */
  readonly load: () => Promise<DeclareCommand>;
}

/** All commands, in the order in which help lists them. */
export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  up: {
    description: 'Start the gateway in the foreground.',
    load: async () => (await import('./up.ts')).declareUp,
  },
  worker: {
    description: 'Learn, practise and train for gateways that share a PostgreSQL, on this machine.',
    load: async () => (await import('./worker.ts')).declareWorker,
  },
  stop: {
    description: 'Stop the daemon; requests in progress are finished.',
    load: async () => (await import('./stop.ts')).declareStop,
  },
  logs: {
    description: 'Print the log of the daemon, and follow it.',
    load: async () => (await import('./logs.ts')).declareLogs,
  },
  init: {
    description: 'Set up a provider: interactively on a terminal, with flags in a script.',
    load: async () => (await import('./init.ts')).declareInit,
  },
  connect: {
    description: 'Point a client at Instar: show the settings, write them, or undo them.',
    load: async () => (await import('./connect.ts')).declareConnect,
  },
  keys: {
    description: 'List, create and revoke the keys of clients, and protect the owner key.',
    load: async () => (await import('./keys.ts')).declareKeys,
  },
  members: {
    description: 'List, add and remove the members of a team, their roles and keys, and what they share.',
    load: async () => (await import('./members.ts')).declareMembers,
  },
  config: {
    description: 'Show, change and check settings; a running Instar uses them without a restart.',
    load: async () => (await import('./config.ts')).declareConfig,
  },
  service: {
    description: 'Start Instar at login: install, remove or show a systemd unit or launchd agent.',
    load: async () => (await import('./autostart.ts')).declareAutostart,
  },
  status: {
    description: 'Show whether Instar is running and what it has served.',
    load: async () => (await import('./status.ts')).declareStatus,
  },
  page: {
    description: 'Print an address that opens the page of the running Instar in a browser, once.',
    load: async () => (await import('./page.ts')).declarePage,
  },
  today: {
    description: 'Show what was learned today, what it changed, and what it cost.',
    load: async () => (await import('./today.ts')).declareToday,
  },
  doctor: {
    description: 'Check the installation and print a fix for every problem.',
    load: async () => (await import('./doctor.ts')).declareDoctor,
  },
  mcp: {
    description: 'Serve Instar’s tools to an MCP client on standard input and output.',
    load: async () => (await import('./mcp.ts')).declareMcp,
  },
  sessions: {
    description: 'List, show and erase recorded sessions.',
    load: async () => (await import('./sessions.ts')).declareSessions,
  },
  feedback: {
    description: 'Rate a turn or a session.',
    load: async () => (await import('./feedback.ts')).declareFeedback,
  },
  export: {
    description: 'Write recorded sessions as JSON lines, one per session.',
    load: async () => (await import('./export.ts')).declareExport,
  },
  backup: {
    description: 'Copy everything recorded into one file; works while the daemon runs.',
    load: async () => (await import('./backup.ts')).declareBackup,
  },
  restore: {
    description: 'Replace the record with a backup; the replaced file is kept beside it.',
    load: async () => (await import('./backup.ts')).declareRestore,
  },
  upgrade: {
    description: 'Prepare a home for this version: what is new, a backup, the change of the record’s format.',
    load: async () => (await import('./upgrade.ts')).declareUpgrade,
  },
  store: {
    description: 'Move the record between a file of the home and PostgreSQL.',
    load: async () => (await import('./store.ts')).declareStore,
  },
  lessons: {
    description: 'List, approve and edit what was learned, with evidence and measured effect.',
    load: async () => (await import('./lessons.ts')).declareLessons,
  },
  identity: {
    description: 'Show who an agent is, and decide about changes of it.',
    load: async () => (await import('./identity.ts')).declareIdentity,
  },
  learning: {
    description: 'Show whether Instar learns, and turn learning on or off.',
    load: async () => (await import('./learning.ts')).declareLearning,
  },
  generations: {
    description: 'Show, compare and roll back the sets of lessons that prompts may contain.',
    load: async () => (await import('./generations.ts')).declareGenerations,
  },
  adapt: {
    description: 'Show what reported events propose to change, and which of it other events support.',
    load: async () => (await import('./adapt.ts')).declareAdapt,
  },
  practice: {
    description:
      'Attempt tasks like yours in quiet hours, and learn from what separates good attempts from bad.',
    load: async () => (await import('./practice.ts')).declarePractice,
  },
  train: {
    description: 'Train your own policy and choose which weights are served.',
    load: async () => (await import('./train.ts')).declareTrain,
  },
  schedule: {
    description: 'Show when background jobs may run, and why.',
    load: async () => (await import('./schedule.ts')).declareSchedule,
  },
  bench: {
    description: 'Measure on simulated workdays whether an agent learns.',
    load: async () => (await import('./bench.ts')).declareBench,
  },
  demo: {
    description: 'Watch the whole loop learn: workdays under baseline, skills and full.',
    load: async () => (await import('./demo.ts')).declareDemo,
  },
  engine: {
    description: 'Run the embedded training engine by itself.',
    load: async () => (await import('./engine.ts')).declareEngine,
  },
  completion: {
    description: 'Print a script that completes commands in bash, zsh or fish.',
    load: async () => (await import('./completion.ts')).declareCompletion,
  },
  complete: {
    description: 'Print what may stand at the cursor, for the scripts of "completion".',
    hidden: true,
    load: async () => (await import('./complete.ts')).declareComplete,
  },
};

/** Runs one command line. Resolves with the exit code; errors are printed, not thrown. */
export async function runProgram(argv: readonly string[], context: CliContext): Promise<ExitCode> {
  const json = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : argv.length).includes('--json');
  const printer = createPrinter({ ...context, json });
  let exitCode: ExitCode = EXIT.ok;
  let help = '';

  const program = new Command('instar')
    .description('The learning layer for LLM agents: your agent gets better by being used.')
    .version(context.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help for a command')
    .option('--home <dir>', 'folder for all of Instar’s files (default: $INSTAR_HOME, else ~/.instar)')
    .option('--json', 'print one JSON document on standard output')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        help += text;
      },
      writeErr: (text) => {
        help += text;
      },
      // `report` prints the error once, when it arrives as an exception.
      outputError: () => undefined,
      getOutHelpWidth: () => lineWidth(context.stdout, context.env) ?? HELP_WIDTH,
      getErrHelpWidth: () => lineWidth(context.stderr, context.env) ?? HELP_WIDTH,
    })
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', '\nExample:\n  $ instar up\n');

  const act: Act = (action) =>
    async function (this: Command) {
      const options = { ...this.optsWithGlobals<{ home?: string }>(), args: this.args };
      const dir = homeDir(options.home, context.env);
      exitCode = await action(options as Parameters<typeof action>[0], { ...context, printer, homeDir: dir });
    };
  const declared = new Set<Command>();
  const declare = async (command: Command): Promise<void> => {
    if (declared.has(command)) return;
    declared.add(command);
    (await COMMANDS[command.name()]?.load())?.(command, act);
    addExamples(command);
  };
  for (const [name, { description, hidden = false }] of Object.entries(COMMANDS))
    program.command(name, { hidden }).description(description);
  program.hook('preSubcommand', (_program, command) => declare(command));

  try {
    // `instar help NAME` prints a command's help without the hook above.
    if (argv.includes('help'))
      for (const command of program.commands) if (argv.includes(command.name())) await declare(command);
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    const see = `see: ${commandLine(namedCommand(program, argv))} --help`;
    return await report(error, { help, see }, printer, context);
  }
}

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
  const failure = redactFailure(describe(error, see), redactText);
  if (printer.json) {
    const { message, fix } = failure;
    printer.document({ error: { message, ...(fix !== undefined && { fix }) } });
    return failure.exitCode;
  }
  const isBareCall = error instanceof CommanderError && error.code === 'commander.help';
  if (isBareCall) stderr.write(help);
  else printer.note({ text: 'instar: ', style: 'red' }, failure.message);
  if (failure.fix !== undefined && !isBareCall) printer.note({ text: '→ ', style: 'cyan' }, failure.fix);
  if (failure.stack !== undefined && env.INSTAR_DEBUG) printer.note(failure.stack);
  return failure.exitCode;
}

/** Error codes of the operating system and of the store for a disk that cannot be written. */
const DISK_CODES = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'full', 'io']);

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
  if (error instanceof CommandError) {
    const { exitCode, message, fix = exitCode === EXIT.wrongUse ? see : undefined } = error;
    return { exitCode, message, ...(fix !== undefined && { fix }) };
  }
  if (error instanceof ConfigError) return { exitCode: EXIT.failed, message: error.message };
  const cause = error instanceof Error ? error : new Error(String(error));
  if (DISK_CODES.has(String((cause as NodeJS.ErrnoException).code))) {
    const fix = 'free some disk space, check the disk, and try again';
    return { exitCode: EXIT.failed, message: `writing to the disk failed: ${cause.message}`, fix };
  }
  return {
    exitCode: EXIT.failed,
    message: `unexpected error: ${cause.message}`,
    fix: 'set INSTAR_DEBUG=1 to print the stack trace',
    ...(cause.stack !== undefined && { stack: cause.stack }),
  };
}
