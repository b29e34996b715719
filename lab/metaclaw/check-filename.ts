import type { Workspace } from '../../src/agent/sandbox/workspace.ts';
import { quoteShort } from './quote-short.ts';
import { listWork, nameOf } from './read-work.ts';

const NAME = /^\d{8}_[a-z][a-z0-9_]*\.[a-z0-9]+$/;
const WANTED = 'YYYYMMDD_lower_case.ext';

/** A file, or how many of a kind a folder must hold. */
export type FilenameTarget =
  | { readonly file: string }
  | { readonly folder: string; readonly extension: string; readonly minCount: number };

/**
 * The date comes first in the name, then lower-case words. Only plain files count, and a name that nothing bears does
 * not. Answers what is wrong, or undefined.
 */
export async function checkFilename(
  workspace: Workspace,
  target: FilenameTarget,
): Promise<string | undefined> {
  if ('file' in target) return checkOne(workspace, target.file);
  const { folder, extension, minCount } = target;
  const found = await listWork(workspace, folder);
  if ('fault' in found) return found.fault;
  const ending = `.${extension.replace(/^\./, '').toLowerCase()}`;
  const files = found.value.filter(({ kind, name }) => kind === 'file' && name.endsWith(ending));
  const good = files.filter(({ name }) => NAME.test(name)).length;
  if (good >= minCount) return undefined;
  return `${folder} holds ${good} of at least ${minCount} ${ending} files that are named ${WANTED}`;
}

async function checkOne(workspace: Workspace, file: string): Promise<string | undefined> {
  const name = nameOf(file);
  if (!NAME.test(name)) return `${quoteShort(name)} is not named ${WANTED}`;
  const above = file.length === name.length ? '.' : file.slice(0, -name.length);
  const found = await listWork(workspace, above);
  if ('fault' in found) return found.fault;
  const isThere = found.value.some((entry) => entry.name === name && entry.kind === 'file');
  return isThere ? undefined : `${file} is not there`;
}
