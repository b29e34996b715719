import { execFile } from 'node:child_process';
import { access, constants, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Confiner, createBubblewrap, createUnshare, TOOL_PATH } from './confiner.ts';
import { runConfined } from './run-confined.ts';
import { createSeccompFilter, perlLoader } from './seccomp-filter.ts';
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
  ['! unshare --user true 2> /dev/null', 'a command can create user namespaces'],
];

const FILTER_CHECK = [
  'grep -q "^Seccomp:[[:space:]]*2$" /proc/self/status',
  'the seccomp filter has no effect',
] as const;

const scriptOf = (checks: typeof ISOLATION_CHECKS): string =>
  checks.map(([test], index) => `{ ${test}; } || exit ${index + 1}`).join('\n');

/** Runs the checks in a sandbox: undefined when all pass, else what is wrong. */
export async function verifyConfiner(confiner: Confiner): Promise<string | undefined> {
  const checks = confiner.filter === undefined ? ISOLATION_CHECKS : [...ISOLATION_CHECKS, FILTER_CHECK];
  const holder = await createWorkspaceFolder();
  try {
    await changeOwner(holder, confiner.owner);
    const result = await runConfined({
      confiner,
      place: { ...holder, readable: [] },
      limits: DEFAULT_WORKSPACE_LIMITS,
      command: ['sh', '-c', scriptOf(checks)],
      options: { env: { OUTSIDE: holder.files }, timeoutMs: 20_000 },
      isOverSize: async () => false,
      signal: new AbortController().signal,
    });
    if (result.end === 'refused') return result.why;
    if (result.end === 'stopped') return `the check was stopped (${result.why})`;
    const fault = checks[result.code - 1]?.[1];
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
  | { readonly ok: false; readonly why: string; readonly fix: string };

const INSTALL_HINT =
  'install bubblewrap (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap) and allow user namespaces';

let found: Promise<Confinement> | undefined;

/** The result of `findConfiner`, once per process. */
export function confinementHere(): Promise<Confinement> {
  found ??= findConfiner(process.env.PATH ?? '');
  return found;
}

/** How to get a sandbox on this machine; undefined where it has one. */
export async function sandboxFix(): Promise<string | undefined> {
  const confinement = await confinementHere();
  return confinement.ok ? undefined : confinement.fix;
}

/**
 * The first of bubblewrap and unshare that is installed and passes the isolation checks; with a seccomp filter where the
 * machine can install one, else without.
 */
export async function findConfiner(search: string): Promise<Confinement> {
  if (process.platform !== 'linux')
    return {
      ok: false,
      why: `commands can only be confined on Linux, not on ${process.platform}`,
      fix: 'run Instar on Linux: in a container, a virtual machine or WSL',
    };
  const tried: string[] = [];
  for (const { program, confiner } of await confinersHere(search)) {
    const fault =
      confiner === undefined
        ? 'it is not installed'
        : // In a container that maps few users, root may not give a folder away.
          await verifyConfiner(confiner).catch((error: Error) => error.message);
    if (confiner !== undefined && fault === undefined) return { ok: true, confiner };
    const filtered = confiner?.filter === undefined ? '' : ' with a seccomp filter';
    tried.push(`${program}${filtered}: ${fault}`);
  }
  return {
    ok: false,
    why: `commands cannot be confined on this machine (${tried.join('; ')})`,
    fix: INSTALL_HINT,
  };
}

/** In the order of preference. */
async function confinersHere(
  search: string,
): Promise<readonly { readonly program: string; readonly confiner: Confiner | undefined }[]> {
  const isRoot = process.getuid?.() === 0;
  const filter = createSeccompFilter(process.arch);
  const [bwrap, unshare, perl] = await Promise.all(
    ['bwrap', 'unshare', 'perl'].map((name) => findProgram(name, search)),
  );
  // Only system folders are visible inside of the sandbox.
  const loader = perl?.match(/^\/(usr|bin)\//) ? perlLoader(perl, process.arch) : undefined;
  const canDisableUserns = bwrap !== undefined && (await helpOf(bwrap)).includes('--disable-userns');
  const withFilter = filter !== undefined;
  return [
    ...(withFilter
      ? [
          {
            program: 'bwrap',
            confiner: bwrap && createBubblewrap(bwrap, isRoot, { filter, canDisableUserns }),
          },
        ]
      : []),
    ...(withFilter && loader !== undefined
      ? [{ program: 'unshare', confiner: unshare && createUnshare(unshare, isRoot, { filter, loader }) }]
      : []),
    { program: 'bwrap', confiner: bwrap && createBubblewrap(bwrap, isRoot, { canDisableUserns }) },
    { program: 'unshare', confiner: unshare && createUnshare(unshare, isRoot) },
  ].map(({ program, confiner }) => ({ program, confiner: confiner || undefined }));
}

const helpOf = (file: string): Promise<string> =>
  promisify(execFile)(file, ['--help']).then(
    ({ stdout, stderr }) => stdout + stderr,
    () => '',
  );

/** What confines commands, in words: for `doctor` and reports. */
export const describeConfiner = ({ name, filter }: Confiner): string =>
  `${name} confines commands, ${filter === undefined ? 'without' : 'with'} a seccomp filter`;

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
