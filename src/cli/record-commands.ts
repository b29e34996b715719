import { type Command, InvalidArgumentError } from 'commander';
import type { CommandContext, ExitCode } from './context.ts';

type Action<Options> = (options: Options, context: CommandContext) => Promise<ExitCode>;
export type Act = <Options>(load: () => Promise<Action<Options>>) => (this: Command) => Promise<void>;

/** The commands about what was recorded. */
export function addRecordCommands(program: Command, act: Act): void {
  const sessions = program.command('sessions').description('What was recorded, by session.');
  sessions
    .command('list')
    .description('List sessions, newest first.')
    .option('--limit <n>', 'how many at most (default: 20)', parseCount)
    .option('--agent <name>', 'only of this agent')
    .option('--project <id>', 'only of this project')
    .action(act(async () => (await import('./sessions.ts')).listSessions));
  sessions
    .command('show')
    .argument('<id>', 'a session')
    .description('Show a session’s turns and their rewards.')
    .action(act(async () => (await import('./sessions.ts')).showSession));
  sessions
    .command('erase')
    .argument('<id>', 'a session')
    .option('--yes', 'really')
    .description('Take away everything a session said, for good.')
    .action(act(async () => (await import('./sessions.ts')).eraseSession));

  program
    .command('feedback')
    .argument('<id>', 'a turn or a session')
    .requiredOption('--score <x>', 'from -1 (bad) to 1 (good)', parseScore)
    .option('--note <text>', 'why')
    .description('Say how good a turn was.')
    .addHelpText('after', '\nExample:\n  $ instar feedback t_abc --score -1 --note "wrong folder"\n')
    .action(act(async () => (await import('./sessions.ts')).feedback));

  program
    .command('export')
    .argument('<what>', 'trajectories')
    .option('--out <file>', 'write to this new file (default: standard output)')
    .option('--agent <name>', 'only of this agent')
    .option('--project <id>', 'only of this project')
    .description('Write what was recorded as JSON lines, one per session.')
    .action(act(async () => (await import('./export.ts')).exportCommand));

  program
    .command('backup')
    .argument('<file>', 'a new file')
    .description('Copy everything recorded into one file, while the daemon runs or not.')
    .action(act(async () => (await import('./backup.ts')).backup));
  program
    .command('restore')
    .argument('<file>', 'a backup')
    .description('Put a backup in place; what was there is kept beside it.')
    .action(act(async () => (await import('./backup.ts')).restore));
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError('Give a number from 1 to 9999.');
  return Number(text);
}

function parseScore(text: string): number {
  const score = Number(text);
  if (text.trim() === '' || !(score >= -1 && score <= 1))
    throw new InvalidArgumentError('Give a number from -1 to 1.');
  return score;
}
