import { type Command, InvalidArgumentError } from 'commander';

/**
 * The command that a line of arguments names, as far as its words are commands: `instar sessions` for
 * `sessions shw --json`. Options and their values are skipped.
 */
export function namedCommand(program: Command, argv: readonly string[]): Command {
  let command = program;
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? '';
    if (word === '--') break;
    if (word.startsWith('-')) {
      if (takesNextWord(command, word)) at++;
      continue;
    }
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (next === undefined) break;
    command = next;
  }
  return command;
}

/** Whether the word after an option is its value, and not a command. */
function takesNextWord(command: Command, word: string): boolean {
  if (word.includes('=')) return false;
  for (let at: Command | null = command; at !== null; at = at.parent) {
    const option = at.options.find(({ short, long }) => word === short || word === long);
    if (option !== undefined) return option.required;
  }
  return false;
}

/** The words that a person types: `instar lessons show`. */
export const commandLine = (command: Command): string =>
  command.parent === null ? command.name() : `${commandLine(command.parent)} ${command.name()}`;

/** Commander's message as one sentence: `unknown command "shw"; did you mean show?`. */
export const sayUsageError = (message: string): string =>
  message
    .replace(/^error: /, '')
    .replace(
      /^command-argument value '(.*)' is invalid for argument '(.*)'\. Allowed choices are (.*)\.$/,
      'no $2 "$1"; there are $3',
    )
    .replace(
      /^option '(.*)' argument '(.*)' is invalid\. Allowed choices are (.*)\.$/,
      '$1 cannot be "$2"; it can be $3',
    )
    .replace(/^option '(.*)' argument '(.*)' is invalid\. /, '$1 cannot be "$2". ')
    .replace(/\n\(Did you mean (.*)\?\)$/, '; did you mean $1?')
    .replaceAll(/(^|\s)'([^'\n]*)'/g, '$1"$2"');

/** Reads a whole number between two others. */
export const wholeNumber =
  (from: number, to: number) =>
  (text: string): number => {
    if (/^\d{1,9}$/.test(text) && Number(text) >= from && Number(text) <= to) return Number(text);
    throw new InvalidArgumentError(`Give a whole number from ${from} to ${to}.`);
  };

/** Reads a number between two others, also one with a fraction. */
export const numberBetween =
  (from: number, to: number) =>
  (text: string): number => {
    const number = Number(text);
    if (text.trim() !== '' && number >= from && number <= to) return number;
    throw new InvalidArgumentError(`Give a number from ${from} to ${to}.`);
  };
