import { access, constants } from 'node:fs/promises';
import path from 'node:path';
import { createBubblewrap } from './bubblewrap.ts';
import { type Confiner, TOOL_PATH } from './confiner.ts';
import { createUnshare } from './unshare.ts';

/** The wall that holds on this machine, or why there is none and what to do about it. */
export type Confinement =
  | { readonly ok: true; readonly confiner: Confiner }
  | { readonly ok: false; readonly why: string };

/** Tries a wall: undefined when it holds, else what is wrong with it. */
export type TryConfiner = (confiner: Confiner) => Promise<string | undefined>;

const MEND =
  'install bubblewrap (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap) and allow user namespaces';

/** The first of bubblewrap and unshare that is there and, tried, holds. */
export async function findConfiner(tryOut: TryConfiner, search = process.env.PATH ?? ''): Promise<Confinement> {
  if (process.platform !== 'linux')
    return { ok: false, why: `commands can be confined on Linux only, not on ${process.platform}` };
  const isRoot = process.getuid?.() === 0;
  const tried: string[] = [];
  for (const [program, create] of [
    ['bwrap', createBubblewrap],
    ['unshare', createUnshare],
  ] as const) {
    const file = await findProgram(program, `${search}:${TOOL_PATH}`);
    if (file === undefined) tried.push(`${program} is not installed`);
    else {
      const confiner = create(file, isRoot);
      const fault = await tryOut(confiner);
      if (fault === undefined) return { ok: true, confiner };
      tried.push(`${program} is there, but ${fault}`);
    }
  }
  return { ok: false, why: `commands cannot be confined on this machine (${tried.join('; ')}): ${MEND}` };
}

async function findProgram(name: string, search: string): Promise<string | undefined> {
  for (const folder of new Set(search.split(':').filter((entry) => path.isAbsolute(entry)))) {
    const file = path.join(folder, name);
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return file;
  }
  return undefined;
}
