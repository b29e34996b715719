import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { replaceFileSync } from '../base/atomic-file.ts';
import { createLruMap } from '../base/lru-map.ts';
import { normaliseOrigin, type Repository, readRepository } from '../base/repository.ts';
import { within } from '../base/within.ts';
import type { Project } from '../core/fact.ts';
import { asObject, asString, type JsonObject, parseJson } from '../core/json.ts';
import { toProject } from '../gateway/session-clues.ts';

interface ProjectPlacesOptions {
  /** Which project the clones of a repository are; kept in the home. */
  readonly file: string;
  readonly salt: string;
  readonly redact: (name: string) => string;
  /** Whether a project has lessons of its own: then its folder stays apart, and none of them is lost. */
  readonly hasLessons: (project: string) => boolean;
  /** Commands look and write nothing. */
  readonly isReadOnly?: boolean;
}

interface ProjectPlaces {
  /**
   * The project of a folder: a worktree, a clone and the folder itself are one. `stated`: by the path alone. `remote`: what the client says of
   * a folder that is not on this machine.
   */
  projectOf(folder: string, stated: Project, remote?: Repository): Promise<Project>;
  /** The same of what a plugin tells about the repository that it works in, maybe in a container. */
  reported(stated: string, repository: JsonObject): string;
}

const MOST_FOLDERS = 500;
const MOST_CLONES = 2_000;
/** A request waits for the files of a folder, one request for each folder: a disk of the network may not answer. */
const PATIENCE_MS = 2_000;

export function createProjectPlaces(options: ProjectPlacesOptions): ProjectPlaces {
  /** Undefined: its files did not answer in time. */
  const known = createLruMap<string, Promise<Project | undefined>>(MOST_FOLDERS);
  return {
    projectOf: async (folder, stated, remote) => {
      // What a header names in a folder says nothing of the folder.
      const key = `${stated.id} ${folder} ${remote?.origin ?? ''}`;
      const before = known.get(key);
      if (before !== undefined) return (await before) ?? stated;
      const found = within(placeOf(folder, { stated, remote }, options), PATIENCE_MS);
      known.set(key, found);
      return (await found) ?? stated;
    },
    reported: (stated, { id, label, origin, within: inside }) => {
      const own = asString(id);
      if (own === undefined || !PROJECT_ID.test(own)) return stated;
      const named = { id: own, label: toProject(options.redact(asString(label) ?? '')).label };
      // Plugins say `host/owner/name`.
      const said = asString(origin)?.slice(0, LONGEST_ADDRESS);
      const address = said === undefined ? undefined : normaliseOrigin(`https://${said}`);
      const project =
        address === undefined ? named : firstClone(`${address}\n${asString(inside) ?? ''}`, named, options);
      return keepApart(stated, project.id, options) ? stated : project.id;
    },
  };
}

const PROJECT_ID = /^[0-9a-f]{12}$/;
const LONGEST_ADDRESS = 500;

/** A folder that has lessons of its own stays a project. */
const keepApart = (stated: string, project: string, { hasLessons }: ProjectPlacesOptions): boolean =>
  project !== stated && hasLessons(stated);

interface StatedFolder {
  readonly stated: Project;
  readonly remote: Repository | undefined;
}

async function placeOf(
  folder: string,
  { stated, remote }: StatedFolder,
  options: ProjectPlacesOptions,
): Promise<Project> {
  // A project that was named by a header is the caller's word, and no folder's.
  if (toProject(options.redact(folder)).id !== stated.id) return stated;
  const repository = (await readRepository(folder)) ?? remote;
  if (repository === undefined) return stated;
  const project = await projectIn(repository, stated, options);
  return keepApart(stated.id, project.id, options) ? stated : project;
}

async function projectIn(
  { name, main, origin, within: inside }: Repository,
  stated: Project,
  options: ProjectPlacesOptions,
): Promise<Project> {
  const folderOf = (root: string): Project => toProject(options.redact(path.join(root, inside)));
  if (name !== undefined) {
    const id = createHash('sha256').update(`project\n${name}\n${inside}`).digest('hex').slice(0, 12);
    return { id, label: options.redact(name) };
  }
  const own = main === undefined ? stated : folderOf(main);
  if (origin === undefined) return own;
  if (!path.isAbsolute(origin)) return firstClone(`${origin}\n${inside}`, own, options);
  // A clone of a folder on this machine is that folder's project, unless nothing is there.
  return (await readRepository(origin)) === undefined ? own : folderOf(origin);
}

/** The first clone that was worked in gives its project to all. Addresses are kept as hashes that nobody can compute elsewhere. */
function firstClone(of: string, own: Project, { file, salt, isReadOnly }: ProjectPlacesOptions): Project {
  const key = createHmac('sha256', salt).update(`clone\n${of}`).digest('hex').slice(0, 24);
  const clones = readClones(file);
  const first = asObject(clones[key]);
  const [id, label] = [asString(first.id), asString(first.label)];
  if (id !== undefined && label !== undefined) return { id, label };
  if (isReadOnly !== true && Object.keys(clones).length < MOST_CLONES)
    replaceFileSync(file, `${JSON.stringify({ ...clones, [key]: { ...own } }, null, 2)}\n`);
  return own;
}

function readClones(file: string): JsonObject {
  try {
    return asObject(parseJson(readFileSync(file, 'utf8')));
  } catch {
    return {};
  }
}
