import { ConfigError, type Problem } from '../config/config-error.ts';
import type { Home } from '../config/home.ts';
import {
  type Baseline,
  baselineOf,
  type ClientFile,
  type ClientFileContent,
  checkWritable,
  hashOf,
  isSame,
  missingFolders,
  readClientFile,
  removeEmptyFolders,
  replaceClientFile,
} from './client-file.ts';
import { type ConnectedFile, readRecord, removeRecord, writeRecord } from './connect-record.ts';
import { applyEdit, type ClientFileEdit } from './file-edit.ts';

interface WrittenFile {
  readonly file: string;
  readonly change: 'made' | 'changed' | 'unchanged';
}

interface Step {
  readonly file: ClientFile;
  readonly next: ClientFileContent;
  readonly record: ConnectedFile;
}

/**
 * Applies the edits to the client's files, all of them or none. The originals are kept in the home; connecting again
 * changes only Instar's own settings. A file with the secret gets mode 600. Throws `ConfigError` for a file that cannot be
 * edited safely.
 */
export function connectClient(
  home: Home,
  client: string,
  { edits, secret }: { readonly edits: readonly ClientFileEdit[]; readonly secret: string },
): readonly WrittenFile[] {
  const earlier = readRecord(home, client);
  const { steps, problems } = prepare(edits, earlier?.files ?? [], secret);
  if (problems.length > 0) throw new ConfigError(problems);
  const others = (earlier?.files ?? []).filter(({ path }) =>
    steps.every(({ record }) => record.path !== path),
  );
  // The undo record is on disk before the first file changes.
  writeRecord(home, { client, files: [...others, ...steps.map(({ record }) => record)] });
  const done: Step[] = [];
  try {
    for (const step of steps) {
      if (!isSame(step.file.content, step.next)) replaceClientFile(step.file, step.next);
      done.push(step);
    }
  } catch (error) {
    for (const { file, next } of done.reverse()) {
      replaceClientFile({ path: file.path, content: next }, file.content);
    }
    for (const { record } of steps) if (earlier === undefined) removeEmptyFolders(record.folders);
    if (earlier === undefined) removeRecord(home, client);
    else writeRecord(home, earlier);
    throw error;
  }
  return steps.map(({ file, next }) => ({
    file: file.path,
    change: file.content === undefined ? 'made' : isSame(file.content, next) ? 'unchanged' : 'changed',
  }));
}

function prepare(
  edits: readonly ClientFileEdit[],
  earlier: readonly ConnectedFile[],
  secret: string,
): { readonly steps: readonly Step[]; readonly problems: readonly Problem[] } {
  const steps: Step[] = [];
  const problems: Problem[] = [];
  for (const edit of edits) {
    const file = readClientFile(edit.file);
    const known = earlier.find(({ path }) => path === file.path);
    const { content: base } = known === undefined ? file : baselineOf(file, known);
    const text = base?.bytes.toString('utf8') ?? '';
    const isText = base === undefined || Buffer.from(text).equals(base.bytes);
    const applied = isText ? applyEdit(text, edit) : { ok: false as const, why: 'it is not UTF-8 text' };
    if (!applied.ok) {
      problems.push({
        path: file.path,
        what: `cannot be edited safely: ${applied.why}`,
        fix: BY_HAND,
      });
      continue;
    }
    checkWritable(file);
    const bytes = Buffer.from(applied.text);
    const isSecret = base === undefined || applied.text.includes(secret);
    const next = { bytes, mode: isSecret ? 0o600 : base.mode };
    steps.push({
      file,
      next,
      record: {
        path: file.path,
        ...(base !== undefined && { before: { base64: base.bytes.toString('base64'), mode: base.mode } }),
        after: hashOf(bytes),
        folders: known?.folders ?? missingFolders(file.path),
        undo: applied.undo,
      },
    });
  }
  return { steps, problems };
}

const BY_HAND = 'run it without --write to see the settings, and add them by hand';

export interface UndoneFile {
  readonly file: string;
  /** `kept`: a skill file that was edited since. */
  readonly kind: Baseline['kind'] | 'kept';
}

/**
 * Restores a client's original files; undefined when it is not connected. The record stays while a file cannot be parsed,
 * so that undo can be repeated.
 */
export function disconnectClient(home: Home, client: string): readonly UndoneFile[] | undefined {
  const record = readRecord(home, client);
  if (record === undefined) return undefined;
  const steps = record.files.map((entry) => {
    const file = readClientFile(entry.path);
    const base = baselineOf(file, entry);
    if (!isSame(file.content, base.content)) checkWritable(file);
    return { file, base, folders: entry.folders };
  });
  for (const { file, base, folders } of steps) {
    if (!isSame(file.content, base.content)) replaceClientFile(file, base.content);
    if (base.content === undefined) removeEmptyFolders(folders);
  }
  if (steps.every(({ base }) => base.kind !== 'unreadable')) removeRecord(home, client);
  return steps.map(({ file, base }) => ({ file: file.path, kind: base.kind }));
}
