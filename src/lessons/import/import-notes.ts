import { realpath, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { LessonsApi } from '../../core/daemon-api.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Scope } from '../../core/lesson.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import { decodeLessons, decodeResults, encodeChange } from '../codec.ts';
import type { OnImported } from '../skill-files/draft-import.ts';
import type { LintWords } from '../skill-files/gate-file.ts';
import type { SkillReport } from '../skill-files/import-export.ts';
import { readUntrustedFile } from '../skill-files/scan-skills.ts';
import { isSkillFault, SKILL_FILE } from '../skill-files/skill-file.ts';
import { type DraftedNote, draftNotes } from './draft-notes.ts';
import { type ImportFormat, MOST_NOTES, type NoteFormat, type ReadNotes } from './foreign-note.ts';
import { readEntries } from './json-entries.ts';
import { ACE_BULLET, readAce } from './read-ace.ts';
import { readMarkdown } from './read-markdown.ts';
import { readMem0 } from './read-mem0.ts';
import { readMetaclaw } from './read-metaclaw.ts';
import { readYoutu } from './read-youtu.ts';

const READERS: Readonly<Record<NoteFormat, ReadNotes>> = {
  youtu: readYoutu,
  ace: readAce,
  mem0: readMem0,
  metaclaw: readMetaclaw,
  markdown: readMarkdown,
};

/** Larger files are not read. */
const LARGEST_BYTES = 8 * 1024 * 1024;
/** One change set: the daemon takes a mebibyte. */
const MOST_CHANGES = 200;
const MOST_BYTES = 400 * 1024;

/** A file as an import sees it. */
interface ImportSource {
  readonly path: string;
  /** Absent for a folder, which holds skills. */
  readonly text?: string;
  readonly format: ImportFormat;
}

type OpenedImport =
  | { readonly ok: true; readonly source: ImportSource }
  | { readonly ok: false; readonly why: string };

const opened = (source: ImportSource): OpenedImport => ({ ok: true, source });

/** Finds what a path holds; `format` is what the person named. Its `why` says what to do, too. */
export async function openImport(path: string, format: ImportFormat | 'auto'): Promise<OpenedImport> {
  let real: string;
  try {
    real = await realpath(path);
    if ((await stat(real)).isDirectory()) {
      if (format === 'auto' || format === 'skills') return opened({ path, format: 'skills' });
      return {
        ok: false,
        why: `${path} is a folder: name a file, or import its skills with --format skills`,
      };
    }
  } catch {
    // The import of skills says what is wrong with the path.
    return opened({ path, format: 'skills' });
  }
  const file = await readUntrustedFile(real, LARGEST_BYTES);
  if (file === undefined) return { ok: false, why: `${path} does not exist` };
  if (isSkillFault(file))
    return format === 'skills' ? opened({ path, format }) : { ok: false, why: `${path} ${file.why}` };
  const text = file.text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');
  const found = format === 'auto' ? detectFormat(path, text) : format;
  if (found === undefined)
    return {
      ok: false,
      why: `${path} has no format that an import knows; name it: --format youtu, ace, mem0, metaclaw or markdown`,
    };
  return opened({ path, text, format: found });
}

interface ImportChoice {
  readonly state: 'proposed' | 'trial' | 'live';
  readonly scope: Scope;
  readonly lint: LintWords;
  readonly now: number;
  /** Changes that were published, of how many. */
  readonly onProgress?: OnImported;
}

/** Imports the notes of a file. What cannot be read or used is listed, and the rest is imported. */
export async function importNotes(
  lessonsApi: Pick<LessonsApi, 'all' | 'change'>,
  { path, text = '', format }: ImportSource & { readonly format: NoteFormat },
  { state, scope, lint, now, onProgress }: ImportChoice,
): Promise<SkillReport> {
  const { notes, faults, leftOut } = READERS[format](text);
  const lessons = decodeLessons(await lessonsApi.all());
  const { hasSecret } = openRedactor();
  const file = basename(path);
  const drafted = draftNotes(notes.slice(0, MOST_NOTES), {
    format,
    file,
    state,
    scope,
    lessons,
    lint,
    hasSecret,
    now,
  });
  const { refused, generation } = await publishInParts(lessonsApi, drafted, {
    reason: `import of ${file} (${format})`,
    ...(onProgress === undefined ? {} : { onProgress }),
  });
  const at = (line: number): string => `${path}:${line}`;
  const further = notes[MOST_NOTES];
  return {
    done: [
      ...drafted.filter(({ why }) => why === undefined).map((note) => describe(note, refused.get(note.id))),
      ...leftOut.map(({ line, why }) => ({ name: `line ${line}`, what: `left out: it ${why}`, notes: [] })),
    ],
    faults: [
      ...faults.map(({ line, why }) => ({ file: at(line), why })),
      ...drafted.flatMap(({ line, why }) => (why === undefined ? [] : { file: at(line), why })),
      ...(further === undefined
        ? []
        : [{ file: at(further.line), why: `is behind the first ${MOST_NOTES} notes: split the file` }]),
    ],
    ...(generation === undefined ? {} : { generation }),
  };
}

function describe(
  { name, findings, remark }: DraftedNote,
  refused: string | undefined,
): SkillReport['done'][number] {
  const what =
    refused !== undefined
      ? `refused: ${refused}`
      : (remark ?? (findings.length > 0 ? 'waits for your approval' : 'imported'));
  return { name, what, notes: [], ...(findings.length === 0 ? {} : { findings }) };
}

/** Parts that a request can hold. Publishing the rest again after a failure changes nothing: the ids are the same. */
async function publishInParts(
  lessonsApi: Pick<LessonsApi, 'change'>,
  drafted: readonly DraftedNote[],
  { reason, onProgress }: { readonly reason: string; readonly onProgress?: OnImported },
): Promise<{ readonly refused: ReadonlyMap<string, string>; readonly generation?: number }> {
  const refused = new Map<string, string>();
  let generation: number | undefined;
  let part: JsonObject[] = [];
  let size = 0;
  let published = 0;
  const changes = drafted.flatMap((note) => note.changes);
  const publish = async (): Promise<void> => {
    if (part.length === 0) return;
    onProgress?.(published, changes.length);
    const done = await lessonsApi.change({ changes: part, reason });
    for (const [id, why] of decodeResults(done).refused) refused.set(id, why);
    if (typeof done.generation === 'number') generation = done.generation;
    published += part.length;
    part = [];
    size = 0;
  };
  for (const change of changes) {
    const encoded = encodeChange(change);
    const bytes = Buffer.byteLength(JSON.stringify(encoded));
    if (part.length >= MOST_CHANGES || size + bytes > MOST_BYTES) await publish();
    part.push(encoded);
    size += bytes;
  }
  await publish();
  return { refused, ...(generation === undefined ? {} : { generation }) };
}

/** Characters that are looked at. */
const SEARCHED = 64 * 1024;

/** The format of a file, by what it says rather than by its name; undefined when nothing tells. Folders hold skills. */
export function detectFormat(path: string, text: string): ImportFormat | undefined {
  const name = basename(path).toLowerCase();
  if (name === SKILL_FILE.toLowerCase()) return 'skills';
  const head = text.slice(0, SEARCHED);
  const start = head.trimStart().charAt(0);
  if (start === '{' || start === '[') return detectJson(head);
  if (head.split('\n').some((line) => ACE_BULLET.test(line))) return 'ace';
  if (/\.ya?ml$/.test(name)) return /\binstructions:/.test(head) ? 'youtu' : undefined;
  if (/^---\s*\n/.test(head) && /^(?:name|description):/m.test(head)) return 'skills';
  return /\.(?:md|mdc|markdown|txt)$|^\.(?:cursor|windsurf|cline)rules$/.test(name) ? 'markdown' : undefined;
}

function detectJson(head: string): ImportFormat | undefined {
  for (const { value } of readEntries(head).entries) {
    if (typeof value.memory === 'string') return 'mem0';
    if (typeof value.content === 'string' && ('memory_type' in value || 'memory_id' in value))
      return 'metaclaw';
    if (Object.keys(value).some((key) => /^G\d{1,5}$/.test(key))) return 'youtu';
  }
  return /"G\d{1,5}"\s*:/.test(head) ? 'youtu' : undefined;
}
