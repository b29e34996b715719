import path from 'node:path';
import type { EntryKind, WorkspaceFiles } from '../workspace-files.ts';
import { SandboxError } from '../workspace-limits.ts';
import type { CommandOutput, PlainProgram } from './plain-program.ts';
import { readFlags } from './plain-program.ts';

const DONE: CommandOutput = { code: 0 };

const list: PlainProgram = async ({ args, files }) => {
  const { given, rest } = readFlags(args, 'a1');
  const names: string[] = [];
  for (const wanted of rest.length === 0 ? ['.'] : rest) {
    if ((await mustFind(files, wanted)) !== 'folder') names.push(wanted);
    else
      for (const { name } of await files.list(wanted))
        if (given.has('a') || !name.startsWith('.')) names.push(name);
  }
  return { code: 0, stdout: names.map((name) => `${name}\n`).join('') };
};

const put =
  (how: 'write' | 'append'): PlainProgram =>
  async ({ args, stdin, files }) => {
    const [file, ...words] = args;
    if (file === undefined) throw new SandboxError('a file is missing');
    await files[how](file, words.length === 0 ? stdin : `${words.join(' ')}\n`);
    return DONE;
  };

const copy: PlainProgram = async ({ args, files }) => {
  const { given, rest } = readFlags(args, 'rR');
  const { sources, target } = await readTargets(files, rest);
  for (const source of sources) {
    const isFolder = (await mustFind(files, source)) === 'folder';
    if (isFolder && given.size === 0) throw new SandboxError(`${source} is a folder: use cp -r`);
    await files.copy(source, target(source));
  }
  return DONE;
};

const move: PlainProgram = async ({ args, files }) => {
  const { rest } = readFlags(args, 'f');
  const { sources, target } = await readTargets(files, rest);
  for (const source of sources) await files.move(source, target(source));
  return DONE;
};

const makeFolder: PlainProgram = async ({ args, files }) => {
  const { given, rest } = readFlags(args, 'p');
  if (rest.length === 0) throw new SandboxError('a folder is missing');
  for (const folder of rest) await files.makeFolder(folder, given.has('p'));
  return DONE;
};

const remove: PlainProgram = async ({ args, files }) => {
  const { given, rest } = readFlags(args, 'rRf');
  const isDeep = given.has('r') || given.has('R');
  for (const wanted of rest) {
    const name = path.posix.basename(wanted);
    const inFolder = await files.list(path.posix.dirname(wanted)).catch(() => []);
    const kind = inFolder.find((entry) => entry.name === name)?.kind ?? (await files.find(wanted))?.kind;
    if (kind === undefined && given.has('f')) continue;
    if (kind === undefined) throw new SandboxError(`${wanted}: no such file or folder`);
    if (kind === 'folder' && !isDeep) throw new SandboxError(`${wanted} is a folder: use rm -r`);
    await files.remove(wanted);
  }
  return DONE;
};

const test: PlainProgram = async ({ args, files }) => {
  const isNot = args[0] === '!';
  const holds = await isTrue(isNot ? args.slice(1) : args, files);
  return { code: holds === isNot ? 1 : 0 };
};

async function isTrue(args: readonly string[], files: WorkspaceFiles): Promise<boolean> {
  const [first = '', second = '', third = ''] = args;
  if (args.length === 3 && second === '=') return first === third;
  if (args.length === 3 && second === '!=') return first !== third;
  if (args.length === 2 && first === '-z') return second === '';
  if (args.length === 2 && first === '-n') return second !== '';
  if (args.length !== 2 || !/^-[efds]$/.test(first))
    throw new SandboxError('only -e -f -d -s -z -n = and != are supported');
  const found = await files.find(second);
  if (first === '-f') return found?.kind === 'file';
  if (first === '-d') return found?.kind === 'folder';
  return first === '-s' ? (found?.bytes ?? 0) > 0 : found !== undefined;
}

async function mustFind(files: WorkspaceFiles, wanted: string): Promise<EntryKind> {
  const found = await files.find(wanted);
  if (found === undefined) throw new SandboxError(`${wanted}: no such file or folder`);
  return found.kind;
}

/** Into an existing folder, or to a new name; several sources only into a folder. */
async function readTargets(
  files: WorkspaceFiles,
  rest: readonly string[],
): Promise<{ readonly sources: readonly string[]; readonly target: (source: string) => string }> {
  const to = rest.at(-1);
  const sources = rest.slice(0, -1);
  if (to === undefined || sources.length === 0) throw new SandboxError('a source or a target is missing');
  const isInto = (await files.find(to))?.kind === 'folder';
  if (!isInto && sources.length > 1) throw new SandboxError(`${to} is not a folder`);
  return { sources, target: (source) => (isInto ? path.posix.join(to, path.posix.basename(source)) : to) };
}

export const FILE_COMMANDS: readonly (readonly [string, PlainProgram])[] = [
  ['ls', list],
  ['write', put('write')],
  ['append', put('append')],
  ['cp', copy],
  ['mv', move],
  ['mkdir', makeFolder],
  ['rm', remove],
  ['test', test],
];
