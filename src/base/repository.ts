import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';

/** The repository that a folder is in, as its files say. No program is run: the folder may be anybody's. */
export interface Repository {
  /** From the root of the working tree to the folder; empty for the root. */
  readonly within: string;
  /** The main working tree, when the folder is in another one of the same repository. */
  readonly main?: string;
  /** Where it was cloned from: `github.com/owner/shop`, or a folder of this machine. */
  readonly origin?: string;
  /** `git config instar.project NAME`: what the owner calls it. */
  readonly name?: string;
}

/** Folders above the given one that are looked at. */
const MOST_LEVELS = 12;
const LARGEST_FILE = 64 * 1024;
const LONGEST_NAME = 128;

/** Undefined for a folder in no repository, and for one that cannot be read. */
export async function readRepository(folder: string): Promise<Repository | undefined> {
  if (!path.isAbsolute(folder)) return undefined;
  let root = path.resolve(folder);
  for (let level = 0; level < MOST_LEVELS; level++) {
    const place = await gitFolders(root);
    if (place !== undefined) return describe(path.relative(root, path.resolve(folder)), place);
    const above = path.dirname(root);
    if (above === root) return undefined;
    root = above;
  }
  return undefined;
}

interface GitFolders {
  /** What all working trees of the repository share. */
  readonly common: string;
  readonly isMain: boolean;
}

async function gitFolders(root: string): Promise<GitFolders | undefined> {
  const git = path.join(root, '.git');
  const found = await stat(git).catch(() => undefined);
  if (found?.isDirectory()) return { common: git, isMain: true };
  if (found?.isFile() !== true) return undefined;
  const stated = /^gitdir: (.+)$/m.exec((await readSmall(git)) ?? '')?.[1]?.trim();
  if (stated === undefined) return undefined;
  const own = path.resolve(root, stated);
  const common = (await readSmall(path.join(own, 'commondir')))?.trim();
  // A submodule has a folder of its own and shares none.
  return common === undefined
    ? { common: own, isMain: true }
    : { common: path.resolve(own, common), isMain: false };
}

async function describe(within: string, { common, isMain }: GitFolders): Promise<Repository> {
  const config = (await readSmall(path.join(common, 'config'))) ?? '';
  const origin = normaliseOrigin(valueIn(config, 'remote "origin"', 'url'));
  const name = valueIn(config, 'instar', 'project')?.slice(0, LONGEST_NAME);
  const main = isMain ? undefined : path.basename(common) === '.git' ? path.dirname(common) : common;
  return {
    within: within.split(path.sep).join('/'),
    ...(main === undefined ? {} : { main }),
    ...(origin === undefined ? {} : { origin }),
    ...(name === undefined ? {} : { name }),
  };
}

/** A value of git's own form of a config; includes are not followed. */
function valueIn(config: string, section: string, key: string): string | undefined {
  let isWithin = false;
  for (const line of config.split('\n')) {
    const head = /^\s*\[([^\]]+)\]/.exec(line)?.[1];
    if (head !== undefined) isWithin = head === section;
    const [, name, value] = /^\s*([A-Za-z][\w-]*)\s*=\s*(.*)$/.exec(line) ?? [];
    if (isWithin && name?.toLowerCase() === key) return value?.trim().replace(/^"(.*)"$/, '$1') || undefined;
  }
  return undefined;
}

/** The same for every way to write it: without user, password, port, protocol and ending. */
export function normaliseOrigin(url: string | undefined): string | undefined {
  if (url === undefined) return undefined;
  const plain = url.replace(/\/+$/, '').replace(/\.git$/, '');
  if (path.isAbsolute(plain)) return plain;
  const [, host, rest] =
    /^[a-z+]+:\/\/(?:[^@/]*@)?([^:/]+)(?::\d+)?\/(.+)$/i.exec(plain) ??
    /^(?:[^@/]*@)?([^:/]+):(.+)$/.exec(plain) ??
    [];
  return host === undefined || rest === undefined
    ? undefined
    : `${host}/${rest.replace(/^\/+/, '')}`.toLowerCase();
}

async function readSmall(file: string): Promise<string | undefined> {
  try {
    const found = await stat(file);
    return found.isFile() && found.size <= LARGEST_FILE ? await readFile(file, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}
