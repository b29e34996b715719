import type { Command } from 'commander';
import { COMMANDS, RARE } from './commands.ts';
import type { DeclareCommand, Positional } from './context.ts';
import { addExamples } from './examples.ts';

interface HelpOptions extends Positional {
  readonly all?: true;
}

/** `help [command]`; with `--all` also what is used less often. */
export const declareHelp: DeclareCommand = (command, act) =>
  void command
    .argument('[command...]', 'the command, such as: lessons keep')
    .option('--all', 'every command')
    .action(
      act<HelpOptions>(async ({ args, all }) => {
        let found = command.parent ?? command;
        for (const word of args) {
          const next = found.commands.find((one) => one.name() === word);
          if (next === undefined) return found.error(`error: unknown command '${word}'`);
          if (found.parent === null) await declareCommand(next, act);
          found = next;
        }
        if (all === true) showRare(found);
        return found.help();
      }),
    );

const declared = new WeakSet<Command>();

/** A command's options and subcommands are in its own file. */
export async function declareCommand(command: Command, act: Parameters<DeclareCommand>[1]): Promise<void> {
  if (declared.has(command)) return;
  declared.add(command);
  (await COMMANDS[command.name()]?.load())?.(command, act);
  for (const one of [command, ...command.commands]) one.helpCommand(false);
  addExamples(command);
}

/** Adds every command to the program; what `instar help` leaves out is marked as hidden. */
export function addCommands(program: Command): void {
  for (const [name, { description, group, hidden }] of Object.entries(COMMANDS))
    program
      .command(name, { hidden: hidden || group === RARE })
      .description(description)
      .helpGroup(hidden ? RARE : group);
}

/** Shows the commands of this one that its help leaves out. */
function showRare(command: Command): void {
  for (const one of command.commands)
    if (COMMANDS[one.name()]?.hidden !== true || command.parent !== null)
      (one as { _hidden?: boolean })._hidden = false;
}

/** Of a command of a group: only `help --all` lists it. */
export const rare = { hidden: true } as const;
