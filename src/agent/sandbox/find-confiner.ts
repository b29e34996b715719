import { access, constants, readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Confiner, createBubblewrap, createUnshare, TOOL_PATH } from './confiner.ts';
import { runConfined } from './run-confined.ts';
import { changeOwner, createWorkspaceFolder } from './workspace-folder.ts';
import { DEFAULT_WORKSPACE_LIMITS } from './workspace-limits.ts';

/** What a sandbox must guarantee before a command is run in it. The number of the first failed check is the exit code. */
const ISOLATION_CHECKS: readonly (readonly [test: string, fault: string])[] = [
  ['echo kept > kept', 'the workspace is not writable'],
  ['test ! -e "$OUTSIDE"', 'folders outside of the workspace are visible'],
  ['test ! -w /usr', 'system folders are writable'],
  ['test ! -w /', 'the root folder is writable'],
  ['test ! -w /proc/sys/kernel/core_pattern', "the kernel's settings are writable"],
  ['test "$(grep -c . /proc/net/route)" -le 1', 'the network can be reached'],
  ['grep -q "^CapEff:[[:space:]]*0*$" /proc/self/status', 'the command keeps capabilities'],
  ['test "$(ulimit -c)" = 0', 'resource limits have no effect'],
  ['test "$(ls /proc | grep -c "^[0-9]")" -lt 10', 'processes of the host are visible'],
];

const SCRIPT = ISOLATION_CHECKS.map(([test], index) => `{ ${test}; } || exit ${index + 1}`).join('\n');

/** Runs the checks in a sandbox: undefined when all pass, else what is wrong. */
export async function verifyConfiner(confiner: Confiner): Promise<string | undefined> {
  const holder = await createWorkspaceFolder();
  try {
    await changeOwner(holder, confiner.owner);
    const result = await runConfined({
      confiner,
      place: { ...holder, readable: [] },
      limits: DEFAULT_WORKSPACE_LIMITS,
      command: ['sh', '-c', SCRIPT],
      options: { env: { OUTSIDE: holder.files }, timeoutMs: 20_000 },
      isOverSize: async () => false,
      signal: new AbortController().signal,
    });
    if (result.end === 'refused') return result.why;
    if (result.end === 'stopped') return `the check was stopped (${result.why})`;
    const fault = ISOLATION_CHECKS[result.code - 1]?.[1];
    if (result.code !== 0)
      return fault ?? `the check ended with exit code ${result.code}: ${result.stderr.slice(0, 200)}`;
    const kept = await readFile(path.join(holder.files, 'kept'), 'utf8').catch(() => '');
    return kept === 'kept\n' ? undefined : 'files written in the workspace are lost';
  } finally {
    await holder.remove();
  }
}

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
    const fault = file === undefined ? 'it is not installed' : await verifyConfiner(create(file, isRoot));
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
