import { Command } from 'commander';
import { COMMANDS } from '../../src/cli/commands.ts';
import { addExamples } from '../../src/cli/examples.ts';
import { commandLine } from '../../src/cli/usage.ts';
import { markdownTable } from '../measure/markdown.ts';
import { cell } from './markdown.ts';

/** The program with every command declared; none of them does anything. */
async function declareEveryCommand(): Promise<Command> {
  const program = new Command('instar');
  for (const [name, { description, hidden = false, load }] of Object.entries(COMMANDS)) {
    const command = program.command(name, { hidden }).description(description);
    (await load())(command, () => async () => undefined);
    addExamples(command);
  }
  return program;
}

/** Every command as a page: its use, arguments, options and examples, from the table that the command line itself reads. */
export async function writeCommandReference(): Promise<string> {
  const program = await declareEveryCommand();
  const listed = Object.entries(COMMANDS).filter(([, { hidden }]) => hidden !== true);
  const commands = program.commands.filter((command) => listed.some(([name]) => name === command.name()));
  return `${[
    '# Every command',
    'Written from the command line’s own table by `npm run docs:reference`. Every command also takes `--help`, `--json` (one JSON document on standard output) and `--home DIR` (the folder for all of Instar’s files; default `$INSTAR_HOME`, else `~/.instar`). Exit codes: 0 done, 1 failed or nothing done (the reason is printed), 2 wrong use, 3 another Instar has the home, 130 interrupted.',
    markdownTable(
      ['command', 'purpose'],
      commands.map((command) => [
        `[\`${commandLine(command)}\`](#${anchorOf(commandLine(command))})`,
        cell(command.description()),
      ]),
    ),
    ...commands.flatMap((command) => describeCommand(command, 2)),
  ].join('\n\n')}\n`;
}

/** The anchor that a heading of these words gets. */
const anchorOf = (words: string): string => words.toLowerCase().replaceAll(' ', '-');

function describeCommand(command: Command, depth: number): readonly string[] {
  const line = commandLine(command);
  const own = [
    `${'#'.repeat(Math.min(depth, 4))} ${line}`,
    cell(command.description()),
    `Use: \`${useOf(command)}\``,
    ...optionTable(
      'argument',
      command.registeredArguments.map((argument) => {
        const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
        const shown = argument.required ? `<${name}>` : `[${name}]`;
        return [`\`${shown}\``, cell(`${argument.description}${defaultOf(argument.defaultValue)}`)];
      }),
    ),
    ...optionTable(
      'option',
      command.options
        .filter(({ hidden }) => !hidden)
        .map((option) => [
          `\`${option.flags.replaceAll('|', '\\|')}\``,
          cell(
            `${option.description}${option.argChoices ? ` (one of: ${option.argChoices.join(', ')})` : ''}${defaultOf(option.defaultValue)}`,
          ),
        ]),
    ),
    ...textAfterHelp(command),
  ];
  return [...own, ...command.commands.flatMap((one) => describeCommand(one, depth + 1))];
}

const useOf = (command: Command): string =>
  `${commandLine(command)} ${command.usage()}`.replace(' [options] [command]', ' COMMAND').trim();

const defaultOf = (value: unknown): string =>
  value === undefined || value === false || (Array.isArray(value) && value.length === 0)
    ? ''
    : ` (default: ${JSON.stringify(value)})`;

const optionTable = (title: string, rows: readonly (readonly string[])[]): readonly string[] =>
  rows.length === 0 ? [] : [markdownTable([title, 'meaning'], rows)];

/** What a command's help says after its options: examples, as lines for a shell, and sentences before them. */
function textAfterHelp(command: Command): readonly string[] {
  let whole = '';
  command.configureOutput({
    writeOut: (text) => {
      whole += text;
    },
  });
  command.outputHelp();
  const after = whole.slice(command.helpInformation().length).trim();
  if (after === '') return [];
  const lines = after.split('\n');
  const examples = lines.filter((line) => /^\s*\$ /.test(line)).map((line) => line.replace(/^\s*\$ /, ''));
  const words = lines
    .filter((line) => !/^\s*\$ |^Examples?:$/.test(line))
    .join('\n')
    .trim();
  return [
    ...(words === '' ? [] : [`\`\`\`text\n${words}\n\`\`\``]),
    ...(examples.length === 0 ? [] : [`\`\`\`sh\n${examples.join('\n')}\n\`\`\``]),
  ];
}
