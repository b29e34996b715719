import { existsSync } from 'node:fs';
import { lstat, mkdir, readdir, readFile, rm, rmdir } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { replaceFile } from '../../base/atomic-file.ts';
import { asArray, asNumber, asObject, asString, type JsonObject, parseJson } from '../../core/json.ts';
import type { Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { isVisibleTo } from '../../core/principal.ts';
import { type FolderFollower, followFolder } from './follow-folder.ts';
import { fileHash, readUntrustedFile } from './scan-skills.ts';
import {
  assignFolders,
  type FileFault,
  isSkillFault,
  isSkillName,
  SKILL_FILE,
  toSkillFile,
} from './skill-file.ts';
import { encodeSkillFile } from './skill-file-codec.ts';

/** Where programs look for skills, below a project, a workspace or a home folder. */
export const NATIVE_FOLDERS = {
  'claude-code': ['.claude', 'skills'],
  openclaw: ['skills'],
  agents: ['.agents', 'skills'],
  hermes: ['.hermes', 'skills'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type SkillProgram = keyof typeof NATIVE_FOLDERS;

/** The folder of a program's skills below `dir`; `dir` itself where it is that folder already, or without a program. */
export function nativeFolder(dir: string, program: SkillProgram | undefined): string {
  if (program === undefined) return dir;
  const parts: readonly string[] = NATIVE_FOLDERS[program];
  for (let inside = parts.length; inside > 0; inside--)
    if (dir.endsWith(sep + parts.slice(0, inside).join(sep))) return join(dir, ...parts.slice(inside));
  return join(dir, ...parts);
}

/** A folder in which a client looks for skills. */
export interface NativePlace {
  readonly folder: string;
  /** The id of the project whose skills it has; absent: skills that hold in every project. */
  readonly project?: string;
}

interface InstalledFile {
  readonly id: string;
  readonly revision: number;
  /** Of the text that was written: a file with another one was edited. */
  readonly hash: string;
}

/** The skills that are installed as files of one client. */
export interface NativeSkills {
  readonly client: string;
  readonly places: readonly NativePlace[];
  /** By path. */
  readonly files: Readonly<Record<string, InstalledFile>>;
  /** Folders that were made for them, outermost first. */
  readonly folders: readonly string[];
}

export interface SyncedSkills {
  readonly skills: NativeSkills;
  readonly written: readonly string[];
  readonly removed: readonly string[];
  /** Files that are left alone, and why. */
  readonly faults: readonly FileFault[];
}

/** Programs for the same work of the same person: in one project they share what each of them learned. */
const CODING_CLIENTS: ReadonlySet<string> = new Set([
  'claude-code',
  'codex',
  'opencode',
  'pi',
  'cline',
  'continue',
  'aider',
]);

/**
 * Whether a lesson is installed in a place: only live ones, since lessons on trial are measured with sessions that do not have them;
 * none that is private to another agent. A place of a project has the lessons of that project, whichever coding client learned them.
 */
export function isInstalled(lesson: Lesson, client: string, { project }: NativePlace): boolean {
  const { kind, state, text } = lesson;
  const { scope, note } = text;
  if (kind !== 'skill' || state !== 'live' || !isSkillName(text.name) || scope.runKind !== undefined)
    return false;
  // A client of the home's own person gets nothing of other keys, end users and members.
  if (note.visibility === 'private' || !isVisibleTo(scope.member, undefined)) return false;
  if (note.visibility === 'shared') return project === undefined;
  const isTheirs =
    scope.agent === undefined ||
    scope.agent === client ||
    (project !== undefined && CODING_CLIENTS.has(scope.agent) && CODING_CLIENTS.has(client));
  return isTheirs && scope.project === project;
}

/**
 * Writes, updates and removes the files of one client's skills so that they are the library's. A file that a person edited or deleted,
 * and one that another program wrote, is left alone and reported. Never rejects.
 */
export async function syncNativeSkills(
  { client, places, files, folders }: NativeSkills,
  lessons: readonly Lesson[],
): Promise<SyncedSkills> {
  const kept: Record<string, InstalledFile> = {};
  const made = [...folders];
  const written: string[] = [];
  const removed: string[] = [];
  const faults: FileFault[] = [];
  const wanted = new Map<string, Lesson>();
  for (const place of places) {
    const chosen = lessons.filter((lesson) => isInstalled(lesson, client, place));
    for (const [name, lesson] of assignFolders(chosen))
      wanted.set(join(place.folder, name, SKILL_FILE), lesson);
  }
  const attempt = async (file: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      const known = files[file];
      if (known !== undefined) kept[file] = known;
      const { code, message } = error as NodeJS.ErrnoException;
      faults.push({ file, why: `cannot be written (${code ?? message}); it will be tried again` });
    }
  };
  for (const [file, lesson] of wanted)
    await attempt(file, async () => {
      const text = encodeSkillFile(toSkillFile(lesson, []));
      const known = files[file];
      const found = await readInstalled(file);
      const record = { id: lesson.id, revision: lesson.revision, hash: fileHash(text) };
      const isOurs = known !== undefined && found === known.hash;
      if (found === record.hash) kept[file] = record;
      else if ((found === undefined && known === undefined) || isOurs) {
        made.push(...(await makeFolders(dirname(file))));
        await replaceFile(file, text, {});
        kept[file] = record;
        written.push(file);
      } else {
        if (known !== undefined) kept[file] = known;
        faults.push({ file, why: whyLeftAlone(found, known) });
      }
    });
  for (const [file, known] of Object.entries(files)) {
    if (wanted.has(file)) continue;
    await attempt(file, async () => {
      const found = await readInstalled(file);
      if (found === known.hash) {
        await rm(file, { force: true });
        await removeIfEmpty(dirname(file));
        removed.push(file);
      } else if (found !== undefined)
        faults.push({ file, why: 'was edited: it stays, though its lesson is no longer in use' });
    });
  }
  return { skills: { client, places, files: kept, folders: [...new Set(made)] }, written, removed, faults };
}

const whyLeftAlone = (found: string | undefined, known: InstalledFile | undefined): string =>
  found === undefined
    ? 'was deleted: it is not written again'
    : known === undefined
      ? 'was written by somebody else: the lesson of this name is not installed'
      : 'was edited: it is left as it is, and no longer follows its lesson';

/** Removes what was installed; files that a person edited stay. */
export async function removeNativeSkills(
  skills: NativeSkills,
  isShared: (folder: string) => boolean,
): Promise<SyncedSkills> {
  const places = skills.places.filter(({ folder }) => !isShared(folder));
  const mine = Object.entries(skills.files).filter(([file]) =>
    places.some(({ folder }) => file.startsWith(join(folder, '/'))),
  );
  const done = await syncNativeSkills({ ...skills, places: [], files: Object.fromEntries(mine) }, []);
  for (const folder of [...skills.folders].reverse()) await removeIfEmpty(folder);
  return done;
}

/** The hash of a file; `other` for a link or a file that is none of ours; undefined when there is nothing. */
async function readInstalled(file: string): Promise<string | undefined> {
  for (const path of [dirname(dirname(file)), dirname(file)]) {
    const stats = await lstat(path).catch(() => undefined);
    if (stats === undefined) return undefined;
    if (!stats.isDirectory() && path === dirname(file)) return 'other';
  }
  const read = await readUntrustedFile(file);
  if (read === undefined) return (await readdir(dirname(file))).length === 0 ? undefined : 'other';
  return isSkillFault(read) ? 'other' : fileHash(read.text);
}

async function makeFolders(folder: string): Promise<readonly string[]> {
  const missing: string[] = [];
  for (let at = folder; (await lstat(at).catch(() => undefined)) === undefined; at = dirname(at)) {
    missing.unshift(at);
    if (dirname(at) === at) break;
  }
  await mkdir(folder, { recursive: true, mode: 0o755 });
  return missing;
}

async function removeIfEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch {
    // Something else is in it, or it is gone: both are fine.
  }
}

const SUFFIX = '-skills.json';
const fileOf = (nativeDir: string, client: string): string => join(nativeDir, `${client}${SUFFIX}`);

/** What is installed for each client; a record that cannot be read is left out. */
export async function readNativeSkills(nativeDir: string): Promise<readonly NativeSkills[]> {
  const names = await readdir(nativeDir).catch(() => []);
  const all: NativeSkills[] = [];
  for (const name of names.filter((one) => one.endsWith(SUFFIX)).sort()) {
    const text = await readFile(join(nativeDir, name), 'utf8').catch(() => '');
    const value = asObject(parseJson(text));
    const client = asString(value.client);
    if (client === undefined || name !== `${client}${SUFFIX}`) continue;
    const files = Object.entries(asObject(value.files)).map(([file, entry]) => {
      const { id, revision, hash } = asObject(entry);
      const record = {
        id: asString(id) ?? '',
        revision: asNumber(revision) ?? 0,
        hash: asString(hash) ?? '',
      };
      return [file, record] as const;
    });
    all.push({
      client,
      places: asArray(value.places).flatMap(readPlace),
      files: Object.fromEntries(files),
      folders: asArray(value.folders).flatMap((folder) => asString(folder) ?? []),
    });
  }
  return all;
}

function readPlace(value: unknown): readonly NativePlace[] {
  const { folder, project } = asObject(value);
  const path = asString(folder);
  const id = asString(project);
  return path === undefined ? [] : [{ folder: path, ...(id === undefined ? {} : { project: id }) }];
}

export async function writeNativeSkills(nativeDir: string, skills: NativeSkills): Promise<void> {
  await mkdir(nativeDir, { recursive: true, mode: 0o700 });
  const { client, places, files, folders } = skills;
  const value: JsonObject = {
    client,
    places: places.map((place) => ({ ...place })),
    files: Object.fromEntries(Object.entries(files).map(([file, entry]) => [file, { ...entry }])),
    folders: [...folders],
  };
  await replaceFile(fileOf(nativeDir, client), `${JSON.stringify(value, null, 2)}\n`, {});
}

export const forgetNativeSkills = (nativeDir: string, client: string): Promise<void> =>
  rm(fileOf(nativeDir, client), { force: true });

interface NativeFollowerOptions {
  /** `HOME/native`, and `HOME/connect` with a record for each client whose requests go through the gateway. */
  readonly nativeDir: string;
  readonly connectDir: string;
  readonly library: Pick<Library, 'lessons' | 'onChange'>;
  /** Called once for each new fault. */
  readonly onFault: (fault: FileFault) => void;
}

export const nativeDirs = (home: { readonly dir: string }) => ({
  nativeDir: join(home.dir, 'native'),
  connectDir: join(home.dir, 'connect'),
});

/**
 * Brings the skills of one client up to date. A client whose requests go through the gateway has no files: the gateway shows it the
 * lessons, and nobody is told twice.
 */
export async function bringUpToDate(
  skills: NativeSkills,
  lessons: readonly Lesson[],
  { nativeDir, connectDir }: Pick<NativeFollowerOptions, 'nativeDir' | 'connectDir'>,
): Promise<SyncedSkills> {
  const isRouted = existsSync(join(connectDir, `${skills.client}.json`));
  const synced = await syncNativeSkills(skills, isRouted ? [] : lessons);
  if (JSON.stringify(synced.skills) !== JSON.stringify(skills))
    await writeNativeSkills(nativeDir, synced.skills);
  return synced;
}

/** Keeps the skills that clients have as their own files up to date while the library changes. Never throws or rejects. */
export function createNativeFollower(options: NativeFollowerOptions): FolderFollower {
  const { nativeDir, library, onFault } = options;
  const pass = async () => {
    const faults: FileFault[] = [];
    for (const skills of await readNativeSkills(nativeDir))
      faults.push(...(await bringUpToDate(skills, library.lessons(), options)).faults);
    return { hasMore: false, faults };
  };
  return followFolder(pass, { dir: nativeDir, library, onFault });
}
