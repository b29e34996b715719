import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Argument, Command, Option } from 'commander';
import { homeDir } from '../config/home.ts';
import { type CommandContext, type DeclareCommand, EXIT, type Positional } from './context.ts';
import { declareCommand } from './help.ts';

/** A value that may stand at the cursor. */
export interface Candidate {
  readonly value: string;
  readonly about?: string;
}

/** What may stand at the cursor: a list, or the names of files. */
type Completion = readonly Candidate[] | 'files';

/** The line that tells a shell's script to offer files. */
export const FILES_LINE = ':files';

export const declareComplete: DeclareCommand = (command, act) =>
  void command
    .argument('[words...]', 'the words of the line after "instar", up to the cursor')
    .allowUnknownOption()
    .action(act<Positional>(({ args }, context) => complete(command.parent ?? command, args, context)));

/** Prints the candidates for the last word, a line each: the value, a tab, its description. Never fails: a shell asks. */
async function complete(program: Command, words: readonly string[], context: CommandContext) {
  try {
    const found = await findCandidates(program, words, context);
    const lines =
      found === 'files' ? [FILES_LINE] : found.map(({ value, about = '' }) => `${value}\t${about}`);
    if (lines.length > 0) context.printer.text(lines.join('\n'));
  } catch (error) {
    if (context.env.INSTAR_DEBUG) context.printer.note(String(error));
  }
  return EXIT.ok;
}

async function findCandidates(
  program: Command,
  given: readonly string[],
  context: CommandContext,
): Promise<Completion> {
  const words = joinAssignments(given);
  const last = words.at(-1) ?? '';
  const place = await walk(program, words.slice(0, -1));
  const home = homeDir(expandTilde(place.home), context.env);
  const [, flag, rest] = /^(--[\w-]+)=(.*)$/s.exec(last) ?? [];
  const asked = flag === undefined ? place.waiting : optionNamed(place, flag);
  if (asked !== undefined) {
    const values = await valuesOf(asked, rest ?? last);
    if (values === 'files' || flag === undefined) return values;
    return values.map(({ value, about }) => ({ value: `${flag}=${value}`, ...(about && { about }) }));
  }
  if (last.startsWith('-') && !place.isLiteral) return startingWith(last, optionsOf(place));
  if (place.command === program && place.position > 0) return [];
  const commands = place.command.commands.filter((one) => !isHidden(one));
  if (commands.length > 0 && place.position === 0) return startingWith(last, commands.map(describeCommand));
  const argument = argumentAt(place);
  if (argument === undefined) return [];
  if (argument.argChoices !== undefined)
    return startingWith(
      last,
      argument.argChoices.map((value) => ({ value })),
    );
  if (FILE_NAMES.has(argument.name())) return 'files';
  const { findDynamic } = await import('./complete-values.ts');
  const path = [...place.path, argument.name()].join(' ');
  return startingWith(last, await findDynamic(path, { home, env: context.env }));
}

/** Where the cursor is, after the words before it. */
interface Place {
  readonly program: Command;
  readonly command: Command;
  /** The names of the command and those above it. */
  readonly path: readonly string[];
  /** Positional arguments before the cursor. */
  readonly position: number;
  /** The option whose value the cursor is at. */
  readonly waiting: Option | undefined;
  readonly used: ReadonlySet<string>;
  /** After `--` nothing is an option. */
  readonly isLiteral: boolean;
  readonly home: string | undefined;
}

async function walk(program: Command, words: readonly string[]): Promise<Place> {
  let command = program;
  const path: string[] = [];
  const used = new Set<string>();
  let position = 0;
  let waiting: Option | undefined;
  let isLiteral = false;
  let home: string | undefined;
  for (const word of words) {
    if (waiting !== undefined) {
      if (waiting.long === '--home') home = word;
      waiting = undefined;
    } else if (word === '--') isLiteral = true;
    // `instar help lessons`: the words of a command follow.
    else if (word === 'help' && command === program && position === 0) continue;
    else if (word.startsWith('-') && word !== '-' && !isLiteral) {
      const [flag = '', value] = word.split('=', 2);
      const option = optionNamed({ program, command }, flag);
      if (option?.long) used.add(option.long);
      if (option?.long === '--home' && value !== undefined) home = value;
      if (option !== undefined && (option.required || option.optional) && value === undefined)
        waiting = option;
    } else {
      const next = position === 0 ? command.commands.find((one) => one.name() === word) : undefined;
      if (next === undefined) position++;
      else {
        // The command's options and subcommands are declared by its own file.
        if (command === program) await declareCommand(next, () => async () => undefined);
        command = next;
        path.push(word);
      }
    }
  }
  return { program, command, path, position, waiting, used, isLiteral, home };
}

const optionNamed = (
  { program, command }: Pick<Place, 'program' | 'command'>,
  flag: string,
): Option | undefined =>
  [...command.options, ...program.options].find(({ long, short }) => long === flag || short === flag);

function optionsOf({ program, command, used }: Place): readonly Candidate[] {
  const options = [...command.options, ...(command === program ? [] : program.options)];
  const offered = options.filter(
    ({ long, hidden, variadic }) => !hidden && long && (variadic || !used.has(long)),
  );
  return [
    ...offered
      .filter(({ long }) => long !== '--version' || command === program)
      .map(({ long = '', description }) => ({ value: long ?? '', about: description })),
    { value: '--help', about: 'show help' },
  ];
}

const describeCommand = (command: Command): Candidate => ({
  value: command.name(),
  about: command.description(),
});

/** Commander has no public name for it. */
const isHidden = (command: Command): boolean => (command as { readonly _hidden?: boolean })._hidden === true;

function argumentAt({ command, position }: Place): Argument | undefined {
  const declared = command.registeredArguments;
  const last = declared.at(-1);
  return declared[position] ?? (last?.variadic ? last : undefined);
}

const FILE_NAMES = new Set(['file', 'path', 'dir', 'folder', 'files', 'paths']);

async function valuesOf(option: Option, word: string): Promise<Completion> {
  if (option.argChoices !== undefined)
    return startingWith(
      word,
      option.argChoices.map((value) => ({ value })),
    );
  const [, name = ''] = /[<[]([\w-]+)/.exec(option.flags) ?? [];
  return FILE_NAMES.has(name) ? 'files' : [];
}

const startingWith = (word: string, candidates: readonly Candidate[]): readonly Candidate[] =>
  candidates.filter(({ value }) => value.startsWith(word));

/** Bash gives `--log=json` as three words. */
function joinAssignments(words: readonly string[]): readonly string[] {
  const out: string[] = [];
  for (const [at, word] of words.entries()) {
    const before = out.at(-1) ?? '';
    if (word === '=' && before.startsWith('--') && !before.includes('=')) out[out.length - 1] = `${before}=`;
    else if (before.startsWith('--') && before.endsWith('=') && words[at - 1] === '=')
      out[out.length - 1] = `${before}${word}`;
    else out.push(word);
  }
  return out;
}

/** The shell has not expanded a line that is being typed. */
const expandTilde = (path: string | undefined): string | undefined =>
  path === '~' || path?.startsWith('~/') ? join(homedir(), path.slice(1)) : path;
