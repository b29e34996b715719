import { access, constants } from 'node:fs/promises';
import path from 'node:path';
import { createBubblewrap } from './bubblewrap.ts';
import { type Confiner, TOOL_PATH } from './confiner.ts';
import { tryConfiner } from './try-confiner.ts';
import { createUnshare } from './unshare.ts';

/** The sandbox that works on this machine, or why there is none and how to get one. */
export type Confinement =
  | { readonly ok: true; readonly confiner: Confiner }
  | { readonly ok: false; readonly why: string };

const INSTALL_HINT =
  'install bubblewrap (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap) and allow user namespaces';

let found: Promise<Confinement> | undefined;

/** The result of `findConfiner`, once per process. */
export function confinementHere(): Promise<Confinement> {
  found ??= findConfiner(process.env.PATH ?? '');
  return found;
}

/** The first of bubblewrap and unshare that is installed and passes the isolation checks. */
export async function findConfiner(search: string): Promise<Confinement> {
  if (process.platform !== 'linux')
    return { ok: false, why: `commands can only be confined on Linux, not on ${process.platform}` };
  const isRoot = process.getuid?.() === 0;
  const tried: string[] = [];
  for (const [program, create] of [
    ['bwrap', createBubblewrap],
    ['unshare', createUnshare],
  ] as const) {
    const file = await findProgram(program, search);
    const fault = file === undefined ? 'it is not installed' : await tryConfiner(create(file, isRoot));
    if (file !== undefined && fault === undefined) return { ok: true, confiner: create(file, isRoot) };
    tried.push(`${program}: ${fault}`);
  }
  return {
    ok: false,
    why: `commands cannot be confined on this machine (${tried.join('; ')}): ${INSTALL_HINT}`,
  };
}

/** An absolute path. Also searches system folders, which are often not in a user's PATH. */
export async function findProgram(name: string, search: string): Promise<string | undefined> {
  for (const folder of new Set(
    `${search}:${TOOL_PATH}`.split(':').filter((entry) => path.isAbsolute(entry)),
  )) {
    const file = path.join(folder, name);
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return file;
  }
  return undefined;
}
