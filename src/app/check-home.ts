import { type Stats, statSync } from 'node:fs';
import { ConfigError } from '../config/config-error.ts';
import type { Home } from '../config/home.ts';
import { readKey } from '../config/key.ts';
import { type Check, fail, ok, warn } from './check.ts';

/** The home, the modes of what lies in it, and the key. Makes nothing; a key file that others can read is narrowed. */
export const checkHome = (home: Home, env: NodeJS.ProcessEnv): readonly Check[] => [
  checkFolder(home.dir),
  ...[home.configFile, home.daemonFile, home.storeFile, home.saltFile].flatMap(checkFile),
  checkKey(home, env),
];

function checkFolder(dir: string): Check {
  const stats = look(dir);
  if (stats === 'unreadable')
    return fail('home', `${dir} cannot be looked into`, 'choose another home with --home');
  if (stats === undefined) return ok('home', `${dir} will be made on first start`);
  if (!stats.isDirectory())
    return fail('home', `${dir} is a file, not a folder`, 'choose another home with --home');
  if (isOpen(stats, 0o022)) return fail('home', `${dir} can be written to by others`, `chmod 700 ${dir}`);
  if (isOpen(stats, 0o077)) return warn('home', `${dir} can be read by others`, `chmod 700 ${dir}`);
  return ok('home', dir);
}

function checkFile(file: string): readonly Check[] {
  const stats = look(file);
  if (stats === undefined || stats === 'unreadable' || !isOpen(stats, 0o077)) return [];
  return [warn('file modes', `${file} can be read by others`, `chmod 600 ${file}`)];
}

function checkKey(home: Home, env: NodeJS.ProcessEnv): Check {
  try {
    const key = readKey(home, env);
    if (key === undefined) return ok('key', `${home.keyFile} will be made on first start`);
    if (key.tightened) return ok('key', `${home.keyFile} could be read by others; its mode is 600 now`);
    return ok('key', key.source === 'environment' ? 'from INSTAR_KEY' : home.keyFile);
  } catch (error) {
    const problem = error instanceof ConfigError ? error.problems[0] : undefined;
    if (problem === undefined) throw error;
    return fail(
      'key',
      `${problem.path}: ${problem.what}`,
      problem.mend ?? 'remove it; a new one is made on start',
    );
  }
}

function look(path: string): Stats | 'unreadable' | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return 'unreadable';
  }
}

const isOpen = (stats: Stats, bits: number): boolean =>
  process.platform !== 'win32' && (stats.mode & bits) !== 0;
