import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import type { Home } from '../config/home.ts';
import { readOwnKeys } from '../config/own-keys.ts';
import { toProject } from '../gateway/session-clues.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import { readSalt } from '../redact/salt.ts';
import { createProjectPlaces } from './project-places.ts';

/** Folders above the given one that are looked at. */
const MOST_LEVELS = 12;

/**
 * The ids under which the gateway records the work of agents in a folder: of the folder itself, then of those above it, up
 * to the user's own folder. The same derivation as for a request, so that a path with a secret in it has the same id.
 */
export async function projectsOfFolder(
  folder: string,
  home: Home,
  env: NodeJS.ProcessEnv,
): Promise<readonly string[]> {
  const salt = readSalt(home);
  const { redactName } = openRedactor({ salt, keys: () => readOwnKeys(undefined, { env, home }) });
  const places = createProjectPlaces({
    file: home.projectsFile,
    salt,
    redact: redactName,
    hasLessons: () => false,
    isReadOnly: true,
  });
  const ids = new Set<string>();
  for (const dir of foldersAbove(path.resolve(folder), env).flatMap((one) => [one, ...realPath(one)])) {
    const stated = toProject(redactName(dir));
    // The repository's first: a folder that stays apart for its own lessons comes behind it.
    ids.add((await places.projectOf(dir, stated)).id).add(stated.id);
  }
  return [...ids];
}

/** Agents that work in the user's own folder or in the root say nothing about the folders below. */
function foldersAbove(folder: string, env: NodeJS.ProcessEnv): readonly string[] {
  const ends = new Set([env.HOME ?? homedir(), homedir(), path.parse(folder).root]);
  const folders = [folder];
  for (let level = 0; level < MOST_LEVELS; level++) {
    const above = path.dirname(folders.at(-1) ?? folder);
    if (ends.has(above) || folders.includes(above)) break;
    folders.push(above);
  }
  return folders;
}

/** A client may state its folder with or without symbolic links. */
function realPath(folder: string): readonly string[] {
  try {
    return [realpathSync(folder)];
  } catch {
    return [];
  }
}
