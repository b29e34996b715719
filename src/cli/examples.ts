import { EventEmitter } from 'node:events';
import type { Command } from 'commander';
import { commandLine } from './usage.ts';

/** Examples that show more than the command and its arguments. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  'team keys': ['instar team keys list', 'instar team keys create ci-agent'],
  'team keys protect': ['instar team keys protect --passphrase'],
  'team members': ['instar team members list', 'instar team members add "Ada L." --role reviewer'],
  'team members role': ['instar team members role "Ada L." reviewer'],
  'team members key': ['instar team members key "Ada L." laptop'],
  'team members revoke': ['instar team members revoke "Ada L." laptop'],
  'team share': ['instar team share iso-dates'],
  'sessions list': ['instar sessions list', 'instar sessions list --json', 'instar sessions list --practice'],
  'sessions show': ['instar sessions show last --full'],
  'sessions erase': ['instar sessions erase last --yes'],
  'data export trajectories': ['instar data export trajectories --out sessions.jsonl'],
  'data export skills': [
    'instar data export skills ./skills',
    'instar data export skills . --for claude-code',
  ],
  'identity approve': ['instar identity approve AGENT soul-free --unmeasured'],
  'identity practise': ['instar identity practise AGENT soul-guarded-revised'],
  'identity reject': ['instar identity reject AGENT soul-free'],
  'identity rollback': ['instar identity rollback AGENT soul-free --to 1'],
  lessons: ['instar lessons list', 'instar lessons why last'],
  'lessons keep': ['instar lessons keep last', 'instar lessons keep iso-dates --live'],
  'lessons drop': ['instar lessons drop last --reason "only for invoices"'],
  'lessons edit': ['instar lessons edit last', 'instar lessons edit iso-dates --always'],
  'lessons consolidate': ['instar lessons consolidate --plan', 'instar lessons consolidate'],
  'generations diff': ['instar generations diff 3 5'],
  'generations rollback': ['instar generations rollback 3'],
  'adapt changes': ['instar adapt changes --agent builder'],
  practice: ['instar practice', 'instar practice run --tasks 10'],
  'practice run': ['instar practice run --tasks 10', 'instar practice run --plan'],
  'practice report': ['instar practice report --out practice.md'],
  'practice tasks': ['instar practice tasks', 'instar practice tasks --add tasks.jsonl'],
  train: ['instar train status', 'instar train run --steps 20'],
  schedule: ['instar schedule', 'instar schedule --next'],
  'lab bench': ['instar lab bench list', 'instar lab bench run workdays --seeds 3'],
  help: ['instar help lessons keep', 'instar help --all'],
};

/** Adds an example to the help of a command and of its subcommands, where they have none. */
export function addExamples(command: Command): void {
  if (!hasOwnText(command)) {
    const lines = EXAMPLES[commandLine(command).replace(/^instar /, '')] ?? [plainExample(command)];
    const title = lines.length === 1 ? 'Example' : 'Examples';
    command.addHelpText('after', `\n${title}:\n${lines.map((line) => `  $ ${line}\n`).join('')}`);
  }
  for (const one of command.commands) addExamples(one);
}

/** The command with its required arguments; of a group, its first command. */
function plainExample(command: Command): string {
  const [first] = command.commands;
  if (first !== undefined) return plainExample(first);
  const needed = command.registeredArguments.filter(({ required }) => required);
  return [commandLine(command), ...needed.map((one) => one.name().toUpperCase())].join(' ');
}

const hasOwnText = (command: Command): boolean =>
  command instanceof EventEmitter && command.listenerCount('afterHelp') > 0;
