import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { SKILL_FILE } from './skill-file.ts';

export interface SkillPlace {
  /** The real path, with links resolved. */
  readonly file: string;
  readonly folder: string;
  /** The other entries of its folder. */
  readonly beside: readonly string[];
}

export interface FileFault {
  readonly file: string;
  readonly why: string;
}

interface Found {
  readonly places: readonly SkillPlace[];
  readonly faults: readonly FileFault[];
}

const DEEPEST = 4;
const MOST_SKILLS = 10_000;
const MOST_ENTRIES = 200_000;

/**
 * The skills at a path: one file, one skill's folder, or a folder of such folders, up to four levels deep. The path itself
 * may be a link; links inside that lead out of it are not followed. A skill's folder is not searched further. Never rejects.
 */
export async function findSkillFiles(path: string): Promise<Found> {
  let root: string;
  try {
    root = await realpath(path);
    if ((await stat(root)).isFile()) {
      return { places: [{ file: root, folder: basename(dirname(root)), beside: [] }], faults: [] };
    }
  } catch (error) {
    return { places: [], faults: [{ file: path, why: whyUnreadable(error) }] };
  }
  return searchFolder(root);
}

async function searchFolder(root: string): Promise<Found> {
  const places: SkillPlace[] = [];
  const faults: FileFault[] = [];
  const seen = new Set<string>();
  let entries = 0;

  const visit = async (folder: string, depth: number): Promise<void> => {
    if (seen.has(folder) || isFull()) return;
    seen.add(folder);
    const inside = await list(folder);
    entries += inside.length;
    const skill = inside.find(({ name }) => name === SKILL_FILE) ?? inside.find(isNamedLikeIt);
    if (skill !== undefined) return keep(folder, skill, inside);
    for (const entry of inside) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      if (!entry.isDirectory() && !entry.isSymbolicLink()) continue;
      if (isFull()) return;
      const next = await insideRoot(join(folder, entry.name), entry);
      if (next === undefined || !(await isFolder(next))) continue;
      if (depth === DEEPEST) faults.push({ file: next, why: `is more than ${DEEPEST} folders deep` });
      else await visit(next, depth + 1);
    }
  };
  const isFull = (): boolean => places.length >= MOST_SKILLS || entries >= MOST_ENTRIES;
  const list = async (folder: string): Promise<readonly Dirent[]> => {
    try {
      const inside = await readdir(folder, { withFileTypes: true });
      return inside.sort((one, other) => (one.name < other.name ? -1 : 1));
    } catch (error) {
      faults.push({ file: folder, why: whyUnreadable(error) });
      return [];
    }
  };
  const keep = async (folder: string, skill: Dirent, inside: readonly Dirent[]): Promise<void> => {
    const file = await insideRoot(join(folder, skill.name), skill);
    const beside = inside.filter((entry) => entry !== skill).map(({ name }) => name);
    if (file !== undefined) places.push({ file, folder: basename(folder), beside });
  };
  /** The real path of an entry; undefined, with a fault, when it is outside of the root. */
  const insideRoot = async (path: string, entry: Dirent): Promise<string | undefined> => {
    if (!entry.isSymbolicLink()) return path;
    try {
      const target = await realpath(path);
      if (target.startsWith(root.endsWith(sep) ? root : root + sep)) return target;
      faults.push({ file: path, why: 'is a link that leads out of the folder' });
    } catch (error) {
      faults.push({ file: path, why: whyUnreadable(error) });
    }
    return undefined;
  };

  await visit(root, 0);
  if (isFull()) {
    const limit = places.length >= MOST_SKILLS ? `${MOST_SKILLS} skills` : `${MOST_ENTRIES} files`;
    faults.push({ file: root, why: `has ${limit} or more: the rest was not read` });
  }
  return { places, faults };
}

const isNamedLikeIt = ({ name }: Dirent): boolean => name.toLowerCase() === SKILL_FILE.toLowerCase();

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );

function whyUnreadable(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' ? 'does not exist' : `cannot be read (${code ?? 'unknown error'})`;
}
