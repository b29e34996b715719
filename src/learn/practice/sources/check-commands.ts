import path from 'node:path';
import {
  isChange,
  isCheck,
  isEndless,
  isInline,
  isProgram,
  isReading,
} from '../../../evidence/tools/shell-command.ts';
import type { CallView } from '../../../evidence/tools/tool-call.ts';
import type { OutcomeKind } from '../../../evidence/tools/tool-outcome.ts';
import type { ToolCallReading } from '../../../evidence/turn-reading.ts';
import type { Program } from '../../../text/shell-programs.ts';

/** A command that verified the work when it was done, and how it ended then. */
export interface CheckRun {
  /** A line for the shell, to be run in the workspace's top folder. */
  readonly command: string;
  /** The programs that must be there. */
  readonly programs: readonly string[];
  readonly isPassed: boolean;
}

/** Where the recorded commands ran. */
export interface WorkPlace {
  /** The work tree's top folder. */
  readonly repository: string;
  /** The client's folder within it; empty when it is the top. */
  readonly within: string;
}

const NOWHERE: WorkPlace = { repository: '/', within: '' };

/**
 * The tests, builds or linters of one shell call; undefined when it is none, when its outcome is unclear, when another program
 * decided the status, or when it leads out of the project.
 */
export function readCheckRun(
  { view, outcome }: ToolCallReading,
  place: WorkPlace = NOWHERE,
): CheckRun | undefined {
  const isPassed = outcome === undefined ? undefined : PASSED.get(outcome.kind);
  if (isPassed === undefined || view.kind !== 'shell') return undefined;
  const line = checkLine(view, place);
  return line && { ...line, isPassed };
}

const PASSED: ReadonlyMap<OutcomeKind, boolean> = new Map([
  ['green', true],
  ['ok', true],
  ['red', false],
  ['fault', false],
]);

function checkLine(
  { programs }: CallView,
  { repository, within }: WorkPlace,
): Omit<CheckRun, 'isPassed'> | undefined {
  const top = path.resolve('/', repository);
  let folder = path.join(top, within);
  const checks: { readonly words: readonly string[]; readonly name: string; readonly folder: string }[] = [];
  for (const [index, program] of programs.entries()) {
    if (program.name === 'cd') {
      folder = path.resolve(folder, program.args[0] ?? top);
      if (!isWithin(top, folder)) return undefined;
      continue;
    }
    // `npm test || true` passes whatever happens, and what a pipe ends with decides its status.
    const next = programs[index + 1];
    if (next?.joint === '||' || program.joint === '||') return undefined;
    if (program.joint === '|') {
      if (!isReading(program)) return undefined;
      continue;
    }
    if (isVerification(program)) {
      const words = program.typed.map((word) => withinWords(word, top, folder));
      if (words.some((word) => word === undefined)) return undefined;
      checks.push({ words: words.flatMap((word) => word ?? []), name: toRun(program), folder });
    } else if (!isReading(program)) return undefined;
  }
  if (checks.length === 0 || checks.length > 4) return undefined;
  const commands = checks.map(({ words, folder: at }) => {
    const line = words.map(shellWord).join(' ');
    const relative = path.relative(top, at);
    return relative === '' ? line : `(cd ${shellWord(relative)} && ${line})`;
  });
  return { command: commands.join(' && '), programs: [...new Set(checks.map(({ name }) => name))] };
}

const isWithin = (top: string, folder: string): boolean =>
  folder === top || folder.startsWith(top === '/' ? '/' : `${top}/`);

/** A path of the project as it is found from the folder; undefined for one that is elsewhere on that machine. */
function withinWords(word: string, top: string, folder: string): string | undefined {
  if (!word.startsWith('/') || top === '/') return word;
  if (!isWithin(top, word)) return /^\/(?:usr|bin|opt|dev)\//.test(word) ? word : undefined;
  return path.relative(folder, word) || '.';
}

/** The program that is started: `npx` of `npx vitest`, `python3` of `python3 -m unittest`. */
const toRun = ({ typed, name }: Program): string => typed.find((word) => !/^\w{1,60}=/.test(word)) ?? name;

const SCRIPTS = new Set(['npm', 'pnpm', 'yarn', 'bun', 'deno', 'uv']);
const VERIFYING =
  /(?:^|[:_./-])(?:tests?|t|tst|spec|specs|lint|check|checks|build|typecheck|types|tsc|verify|ci|compile|vet|clippy|unit|e2e|integration)(?:$|[:_./-])/i;
const RUNNING = new Set([
  'run',
  'start',
  'serve',
  'dev',
  'install',
  'deploy',
  'clean',
  'publish',
  'bench',
  'api',
  'apply',
  'init',
]);
const CHANGING = new Set([
  '--fix',
  '--write',
  '-w',
  '--watch',
  '--apply',
  '--unsafe',
  '--in-place',
  '-i',
  '--updateSnapshot',
  '-u',
]);
/** Whose `run` runs tests or linters, not the program. */
const RUNNERS = new Set([
  'vitest',
  'cypress',
  'tox',
  'nox',
  'pre-commit',
  'golangci-lint',
  'turbo',
  'nx',
  'nextest',
]);
const FORMATTERS = new Set(['prettier', 'black', 'isort']);

/** A run of tests, a compiler or a linter that changes nothing and ends by itself. */
function isVerification(program: Program): boolean {
  const { name, args } = program;
  if (isChange(program) || isEndless(program) || isInline(program) || program.heredoc) return false;
  if (args.some((arg) => CHANGING.has(arg))) return false;
  const words = args.filter((arg) => !arg.startsWith('-'));
  if (SCRIPTS.has(name))
    return VERIFYING.test(
      words[0] === 'run' || words[0] === 'run-script' ? (words[1] ?? '') : (words[0] ?? ''),
    );
  if (isProgram(program)) return args.includes('--test') || VERIFYING.test(words[0] ?? '');
  if (FORMATTERS.has(name))
    return args.some((arg) => /^(?:-c|--check|-l|--list-different|--check-only|--diff)$/.test(arg));
  if (/\.(?:sh|py|js|mjs|rb|pl)$/.test(name)) return VERIFYING.test(name);
  const [verb = ''] = words;
  return isCheck(program) && (!RUNNING.has(verb) || (verb === 'run' && RUNNERS.has(name)));
}

/** Words that a shell reads as they are; a variable before the program keeps its name. */
function shellWord(word: string): string {
  const variable = /^(\w{1,60}=)([\s\S]*)$/.exec(word);
  if (variable !== null) return `${variable[1]}${quoted(variable[2] ?? '')}`;
  return quoted(word);
}

const quoted = (word: string): string =>
  /^[\w@%+:,./=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
