import { Argument, Command, CommanderError, Option } from 'commander';
import { ConfigError } from '../config/config-error.ts';
import { homeDir } from '../config/home.ts';
import { addBenchCommands } from './bench-commands.ts';
import type { CliContext, CommandContext } from './context.ts';
import { CommandError, EXIT, type ExitCode } from './context.ts';
import { addDemoCommand } from './demo-command.ts';
import { addEngineCommands } from './engine-commands.ts';
import { addLessonCommands } from './lesson-commands.ts';
import { parsePort } from './parse-port.ts';
import { createPrinter, type Printer } from './print.ts';
import { addRecordCommands } from './record-commands.ts';
import { addScheduleCommands } from './schedule-commands.ts';
import { addTrainCommands } from './train-commands.ts';

type Action<Options> = (options: Options, context: CommandContext) => Promise<ExitCode>;

/** Runs one command line. Resolves with the exit code; what goes wrong is printed, not thrown. */
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
    .option('--home <dir>', 'where Instar keeps everything (default: $INSTAR_HOME, else ~/.instar)')
    .option('--json', 'print one JSON document on standard output')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        help += text;
      },
      writeErr: (text) => {
        help += text;
      },
      // The error comes back as an exception and is printed once, by us.
      outputError: () => undefined,
    })
    .addHelpText('after', '\nExample:\n  $ instar up\n');

  const act = <Options>(load: () => Promise<Action<Options>>) =>
    async function (this: Command) {
      const options = { ...this.optsWithGlobals<Options & { home?: string }>(), args: this.args };
      const action = await load();
      const dir = homeDir(options.home, context.env);
      exitCode = await action(options, { ...context, printer, homeDir: dir });
    };

  program
    .command('up')
    .description('Start the gateway in the foreground.')
    .option('--port <n>', 'port to listen on; 0 picks a free one (default: gateway.port, 4600)', parsePort)
    .option('--config <file>', 'read this file instead of the one in the home')
    .option('--open', 'open the address in your browser')
    .addOption(new Option('--log <format>', 'how log lines look').choices(['json', 'pretty']))
    .addHelpText('after', '\nExample:\n  $ OPENAI_API_KEY=… instar up --port 4700\n')
    .action(act(async () => (await import('./up.ts')).up));

  program
    .command('init')
    .description('Set up a provider: guided on a terminal, by flags in a script.')
    .option('--provider <name>', 'openai, anthropic, openrouter, ollama … or a name of your own')
    .option(
      '--wire <wire>',
      'what it speaks: openai, openai-chat, openai-responses, anthropic (or several, with commas)',
    )
    .option('--base-url <url>', 'where its API starts')
    .option('--key-env <variable>', 'name of the variable that holds its key')
    .option('--pass-through', "store no key: callers' own credentials pass through")
    .option('--model <name>', 'model that answers when a caller names none')
    .option('--starter', 'begin the library with a few general skills')
    .option('--force', 'change a config that exists; a copy of it (.old) is kept')
    .addHelpText(
      'after',
      '\nExample:\n  $ instar init --provider openai --key-env OPENAI_API_KEY --model gpt-5.2\n',
    )
    .action(act(async () => (await import('./init.ts')).init));

  program
    .command('connect')
    .description('Point a client at Instar: show the settings, write them, or put back what was there.')
    .addArgument(
      new Argument('[client]', 'the program to connect').choices([
        'openclaw',
        'claude-code',
        'codex',
        'opencode',
        'pi',
        'cline',
        'env',
      ]),
    )
    .option('--write', "write them into the client's own files; what was there is kept in the home")
    .option('--undo', 'put back what was there: for one client, or for all when none is named')
    .option('--model <name>', 'model the client should ask for (default: the alias "default")')
    .addHelpText('after', '\nExample:\n  $ instar connect claude-code --write\n')
    .action(act(async () => (await import('./connect.ts')).connect));

  program
    .command('status')
    .description('Say what is running and what it has served.')
    .addHelpText('after', '\nExample:\n  $ instar status --json\n')
    .action(act(async () => (await import('./status.ts')).status));

  program
    .command('doctor')
    .description('Make every check that can be made, each with its mend.')
    .option('--schema', 'print the JSON Schema of config.json and check nothing')
    .addHelpText('after', '\nExample:\n  $ instar doctor\n')
    .action(act(async () => (await import('./doctor.ts')).doctor));

  program
    .command('mcp')
    .description('Serve Instar’s tools to an MCP client on standard input and output.')
    .addHelpText('after', '\nExample:\n  $ claude mcp add instar -- instar mcp\n')
    .action(act(async () => (await import('./mcp.ts')).mcp));

  addRecordCommands(program, act);
  addLessonCommands(program, act);
  addTrainCommands(program, act);
  addScheduleCommands(program, act);
  addBenchCommands(program, act);
  addDemoCommand(program, act);
  addEngineCommands(program, act);

  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    return report(error, help, printer, context);
  }
}

function report(error: unknown, help: string, printer: Printer, { stderr, env }: CliContext): ExitCode {
  if (error instanceof CommanderError && error.exitCode === 0) {
    if (!printer.json) printer.text(help);
    else printer.document(error.code === 'commander.version' ? { version: help.trim() } : { help });
    return EXIT.ok;
  }
  const failure = describe(error);
  if (printer.json) {
    const { message, mend } = failure;
    printer.document({ error: { message, ...(mend !== undefined && { mend }) } });
    return failure.exitCode;
  }
  const isBareCall = error instanceof CommanderError && error.code === 'commander.help';
  if (isBareCall) stderr.write(help);
  else printer.note({ text: 'instar: ', style: 'red' }, failure.message);
  if (failure.mend !== undefined && !isBareCall) printer.note({ text: '→ ', style: 'cyan' }, failure.mend);
  if (failure.stack !== undefined && env.INSTAR_DEBUG) printer.note(failure.stack);
  return failure.exitCode;
}

/** Of the system and of the store. */
const DISK_CODES = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'full', 'io']);

interface Described {
  readonly exitCode: ExitCode;
  readonly message: string;
  readonly mend?: string;
  readonly stack?: string;
}

function describe(error: unknown): Described {
  if (error instanceof CommanderError) {
    const message =
      error.code === 'commander.help' ? 'no command was given' : error.message.replace(/^error: /, '');
    return { exitCode: EXIT.wrongUse, message, mend: 'see: instar --help' };
  }
  if (error instanceof CommandError) {
    const { exitCode, message, mend } = error;
    return { exitCode, message, ...(mend !== undefined && { mend }) };
  }
  if (error instanceof ConfigError) return { exitCode: EXIT.failed, message: error.message };
  const cause = error instanceof Error ? error : new Error(String(error));
  if (DISK_CODES.has(String((cause as NodeJS.ErrnoException).code))) {
    const mend = 'free some space, or look after the disk, and try again';
    return { exitCode: EXIT.failed, message: `the disk refuses: ${cause.message}`, mend };
  }
  return {
    exitCode: EXIT.failed,
    message: `unexpected: ${cause.message}`,
    mend: 'set INSTAR_DEBUG=1 to see where it comes from',
    ...(cause.stack !== undefined && { stack: cause.stack }),
  };
}
