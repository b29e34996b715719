import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import type { Change, Lesson, Scope } from '../../core/lesson.ts';
import { truncateEnd } from '../../text/truncate.ts';
import { checkLessonText } from '../check-lesson-text.ts';
import { findProgramsBeside, type LintWords, lintText, proposeBeside, toReason } from './gate-file.ts';
import { NATIVE_FOLDERS } from './native-skills.ts';
import { readUntrustedFile } from './scan-skills.ts';
import {
  type FileFault,
  fileWords,
  isSameScope,
  isSameSkill,
  isSkillFault,
  lessonTextOf,
  SKILL_FILE,
  type SkillFault,
  type SkillFile,
} from './skill-file.ts';
import { decodeSkillFile } from './skill-file-codec.ts';

interface ImportedSkill extends DraftedImport {
  readonly file: string;
  readonly name: string;
  readonly scope: Scope;
}

interface Imported {
  readonly found: readonly ImportedSkill[];
  readonly faults: readonly FileFault[];
}

const MOST_NAMED = 12;

/**
 * Reads skills from a SKILL.md, a skill's folder or a folder of skills, and returns the changes that import them; nothing is
 * published. Skills that were imported before and have not changed give no changes. Never rejects: unreadable files are
 * faults.
 */
export async function importSkills(path: string, options: ImportOptions): Promise<Imported> {
  const { places, faults } = await findSkillFiles(path);
  const found: ImportedSkill[] = [];
  const wrong: FileFault[] = [...faults];
  const files = new Map<string, string>();
  for (const [nth, at] of places.entries()) {
    options.onProgress?.(nth, places.length);
    const skill = await importOne(at, options);
    if (isSkillFault(skill)) {
      wrong.push({ file: at.file, why: skill.why });
      continue;
    }
    const place = JSON.stringify([skill.name, skill.scope]);
    const before = files.get(skill.id) ?? files.get(place);
    if (before !== undefined) {
      wrong.push({ file: at.file, why: `is a second ${skill.name}: ${before} was imported` });
      continue;
    }
    files.set(skill.id, at.file).set(place, at.file);
    found.push(skill);
  }
  return { found, faults: wrong };
}

async function importOne(place: SkillPlace, options: ImportOptions): Promise<ImportedSkill | SkillFault> {
  const file = await readUntrustedFile(place.file);
  if (file === undefined) return { ok: false, why: 'does not exist any more' };
  if (isSkillFault(file)) return file;
  const skill = decodeSkillFile(file.text, place.folder);
  if (isSkillFault(skill)) return skill;
  const drafted = draftImport(skill, options, place.beside);
  if (isSkillFault(drafted)) return drafted;
  const notes = [...drafted.notes, ...namesOf(place.beside)];
  return { ...drafted, notes, file: place.file, name: skill.name, scope: skill.origin?.scope ?? {} };
}

function namesOf(beside: readonly string[]): readonly string[] {
  if (beside.length === 0) return [];
  const more = beside.length > MOST_NAMED ? ` and ${beside.length - MOST_NAMED} more` : '';
  return [`not imported: ${beside.slice(0, MOST_NAMED).join(', ')}${more}`];
}

/** So many of so many. */
export type OnImported = (done: number, of: number) => void;

export interface ImportOptions {
  /** The state of a new or reactivated skill. */
  readonly state: 'proposed' | 'trial' | 'live';
  /** As `Library.find`. */
  readonly find: (idOrName: string) => Lesson | undefined;
  readonly newId: (prefix: string) => string;
  /** Looks through the words of each file: one with findings waits for a person. */
  readonly lint: LintWords;
  /** Files that were read, of how many. */
  readonly onProgress?: OnImported | undefined;
}

interface DraftedImport {
  readonly id: string;
  /** Empty when the library has this skill already. */
  readonly changes: readonly Change[];
  /** Notes for the person who imports. */
  readonly notes: readonly string[];
  /** Why it waits for a person; empty when it does not. */
  readonly findings: readonly string[];
}

const LONGEST_DESCRIPTION = 500;
/** How far back from the limit a blank is looked for, so that no word is cut. */
const WORD_REACH = 61;

/** The changes that bring a file's skill into the library, or why it is refused. What the lint finds waits for approval. */
function draftImport(
  skill: SkillFile,
  options: ImportOptions,
  besideFiles: readonly string[],
): DraftedImport | SkillFault {
  if (skill.origin !== undefined && skill.origin.kind !== 'skill') {
    return { ok: false, why: `is a lesson of the kind ${skill.origin.kind}, not a skill` };
  }
  const named = options.find(skill.name);
  const existing =
    (skill.origin && options.find(skill.origin.id)) ??
    (named !== undefined && isSameScope(skill, named.text) ? named : undefined);
  if (existing !== undefined && existing.kind !== 'skill') {
    return { ok: false, why: `would change ${existing.id}, which is a lesson of the kind ${existing.kind}` };
  }
  const words = fileWords(skill);
  const description = truncateEnd(words.description, LONGEST_DESCRIPTION, WORD_REACH);
  const fitting = { ...skill, description };
  const text = lessonTextOf({ ...words, description }, skill, 'import', existing?.text);
  const fault = checkLessonText(text);
  if (fault !== undefined) return { ok: false, why: fault };
  const id = existing?.id ?? skill.origin?.id ?? options.newId('lesson');
  const notes = notesOn(skill, words.category, words.description.length);
  const isSame = existing !== undefined && isSameSkill(fitting, existing.text);
  const isInUse = existing !== undefined && (existing.state === 'trial' || existing.state === 'live');
  if (isSame && (isInUse || existing.state === 'proposed')) return { id, changes: [], notes, findings: [] };
  const findings = [...lintText(text, options.lint), ...findProgramsBeside(text.content, besideFiles)];
  const why = findings.length === 0 ? {} : { reason: toReason(findings) };
  const state = findings.length === 0 ? options.state : 'proposed';
  if (existing === undefined)
    return { id, changes: [{ op: 'add', id, kind: 'skill', state, text, ...why }], notes, findings };
  if (isInUse && state === 'proposed') {
    const reasons = findings.length > 0 ? findings : ['it was imported as a proposal'];
    const beside = proposeBeside(existing, text, reasons, options.find);
    return { id: beside?.id ?? id, changes: beside === undefined ? [] : [beside], notes, findings };
  }
  const revise: Change = { op: 'revise', id, from: existing.revision, text, ...why };
  return { id, changes: [...reactivate(existing, state), ...(isSame ? [] : [revise])], notes, findings };
}

/** The changes that bring a retired or rejected lesson back into use; none for an active one. */
function reactivate({ id, state }: Lesson, to: ImportOptions['state']): readonly Change[] {
  if (state === 'retired') return [{ op: 'move', id, to }];
  if (state !== 'rejected') return [];
  const back: Change = { op: 'move', id, to: 'proposed' };
  return to === 'proposed' ? [back] : [back, { op: 'move', id, to }];
}

function notesOn(skill: SkillFile, category: string | undefined, length: number): readonly string[] {
  const fields = skill.extra.map(({ key }) => key);
  return [
    ...(length > LONGEST_DESCRIPTION ? [`its description was cut to ${LONGEST_DESCRIPTION} characters`] : []),
    ...(category === undefined && skill.category !== undefined
      ? ['its category is not one word and was left out']
      : []),
    ...(fields.length > 0 ? [`fields left out: ${fields.join(', ')}`] : []),
  ];
}

interface SkillPlace {
  /** The real path, with links resolved. */
  readonly file: string;
  readonly folder: string;
  /** The other entries of its folder. */
  readonly beside: readonly string[];
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
async function findSkillFiles(path: string): Promise<Found> {
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
  // Hidden folders are not searched, but for those in which programs keep skills.
  for (const parts of Object.values(NATIVE_FOLDERS)) {
    const folder = join(root, ...parts);
    if (parts[0].startsWith('.') && (await isRealFolder(folder))) await visit(folder, 1);
  }
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

/** A folder that no link leads to. */
const isRealFolder = async (path: string): Promise<boolean> =>
  (await isFolder(path)) && (await realpath(path).catch(() => '')) === path;

function whyUnreadable(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' ? 'does not exist' : `cannot be read (${code ?? 'unknown error'})`;
}
