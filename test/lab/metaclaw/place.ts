import path from 'node:path';
import { findMetaclawData } from '../../../lab/suites/metaclaw/find-data.ts';
import type { SuiteDay } from '../../../lab/suites/suite.ts';
import { confinementHere } from '../../../src/agent/sandbox/find-confiner.ts';
import { createWorkspace, type Workspace } from '../../../src/agent/sandbox/workspace.ts';

export const root = path.resolve(import.meta.dirname, '../../..');
export const never = new AbortController().signal;

/** Where the published data may lie; it is not part of the project. */
export const sets = await findMetaclawData([
  process.env.INSTAR_BENCH_DATA,
  path.join(root, '../shared/data/metaclaw-bench'),
]);

export const wall = await confinementHere();

/** A workspace with these files, gone after use. */
export async function withFiles<T>(
  files: Readonly<Record<string, string>>,
  use: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  const workspace = await createWorkspace();
  try {
    for (const [file, text] of Object.entries(files)) await workspace.write(file, text);
    return await use(workspace);
  } finally {
    await workspace.dispose();
  }
}

export const textsOf = ({ files }: SuiteDay): Readonly<Record<string, string>> => {
  if ('folder' in files) throw new Error('the day gives a folder');
  return files.texts;
};
