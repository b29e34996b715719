import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { untilAborted } from '../../base/until-aborted.ts';
import type { WorkspaceSnapshot } from '../../core/practice.ts';
import type { Confinement } from '../sandbox/find-confiner.ts';
import { createWorkspace, type Workspace } from '../sandbox/workspace.ts';
import { resolveInside } from '../sandbox/workspace-files.ts';
import { SandboxError, type WorkspaceLimits } from '../sandbox/workspace-limits.ts';
import { checkOutSnapshot } from './git-snapshot.ts';

/** Folders for attempts, made from snapshots. */
export interface AttemptFolders {
  /**
   * A folder with the snapshot's files; without a snapshot an empty one. Rejects with a SandboxError for a snapshot that can
   * never be made, and with another error when the signal aborts.
   */
  open(snapshot: WorkspaceSnapshot | undefined, signal: AbortSignal): Promise<Workspace>;
  /** Removes the prepared snapshots. Open workspaces stay until they are disposed of. */
  close(): Promise<void>;
}

interface AttemptFoldersOptions {
  readonly limits?: Partial<WorkspaceLimits>;
  readonly confinement?: Confinement;
  /** Prepared snapshots that are kept for further attempts at the same task; 4 by default. */
  readonly most?: number;
}

/** Larger than those of a workspace for a single small task: these are people's projects. */
const PROJECT_LIMITS: WorkspaceLimits = {
  bytes: 512 * 1024 * 1024,
  entries: 50_000,
  processes: 1024,
  memoryBytes: 8 * 1024 * 1024 * 1024,
};

interface Prepared {
  readonly folder: Promise<string>;
  /** Stops the preparation. */
  readonly stopping: AbortController;
  isReady: boolean;
  users: number;
  /** Removed as soon as nobody copies it. */
  isOld: boolean;
}

/** Each snapshot is prepared once, and copied for each attempt. */
export function createAttemptFolders(options: AttemptFoldersOptions = {}): AttemptFolders {
  const limits: WorkspaceLimits = { ...PROJECT_LIMITS, ...options.limits };
  const { most = 4 } = options;
  const prepared = new Map<string, Prepared>();
  const removals = new Set<Promise<void>>();

  const drop = (one: Prepared): void => {
    one.isOld = true;
    if (one.users > 0) return;
    const removal = one.folder
      .then((folder) => rm(folder, { recursive: true, force: true }))
      .catch(() => undefined)
      .finally(() => removals.delete(removal));
    removals.add(removal);
  };
  const prepare = (snapshot: WorkspaceSnapshot): Prepared => {
    const key = createHash('sha256').update(JSON.stringify(snapshot)).digest('hex');
    const before = prepared.get(key);
    const one = before ?? beginToPrepare(snapshot, limits);
    // The most recently used last.
    prepared.delete(key);
    prepared.set(key, one);
    one.folder.catch(() => {
      if (prepared.get(key) === one) prepared.delete(key);
    });
    for (const [old, left] of [...prepared].slice(0, -most)) {
      prepared.delete(old);
      drop(left);
    }
    return one;
  };
  const base = {
    limits,
    ...(options.confinement === undefined ? {} : { confinement: options.confinement }),
  };
  return {
    open: async (snapshot, signal) => {
      signal.throwIfAborted();
      if (snapshot === undefined) return createWorkspace(base);
      const one = prepare(snapshot);
      one.users++;
      try {
        const from = await untilAborted(one.folder, signal);
        return await createWorkspace({ ...base, from, signal });
      } finally {
        one.users--;
        // Nobody waits for it any more.
        if (one.users === 0 && !one.isReady) one.stopping.abort();
        if (one.isOld) drop(one);
      }
    },
    close: async () => {
      for (const one of prepared.values()) {
        one.stopping.abort();
        drop(one);
      }
      prepared.clear();
      await Promise.all(removals);
    },
  };
}

function beginToPrepare(snapshot: WorkspaceSnapshot, limits: WorkspaceLimits): Prepared {
  const stopping = new AbortController();
  const folder = fillFolder(snapshot, limits, stopping.signal);
  const one: Prepared = { folder, stopping, isReady: false, users: 0, isOld: false };
  folder.then(
    () => {
      one.isReady = true;
    },
    () => undefined,
  );
  return one;
}

/** A private folder with the files of a snapshot. */
async function fillFolder(
  snapshot: WorkspaceSnapshot,
  limits: WorkspaceLimits,
  signal: AbortSignal,
): Promise<string> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'instar-snapshot-')));
  try {
    if (snapshot.kind === 'git') await checkOutSnapshot(snapshot, folder, limits, signal);
    await writeFiles(folder, snapshot.kind === 'git' ? (snapshot.untracked ?? {}) : snapshot.files, limits);
    return folder;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function writeFiles(
  folder: string,
  files: Readonly<Record<string, string>>,
  limits: WorkspaceLimits,
): Promise<void> {
  const all = Object.entries(files);
  const bytes = all.reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0);
  if (all.length > limits.entries || bytes > limits.bytes)
    throw new SandboxError(`the task's files are more than ${limits.entries} or ${limits.bytes} bytes`);
  for (const [name, text] of all) {
    const at = await resolveInside(folder, name);
    if (at === folder || at.startsWith(path.join(folder, '.git') + path.sep))
      throw new SandboxError(`${JSON.stringify(name)} is no name for a task's file`);
    await mkdir(path.dirname(at), { recursive: true, mode: 0o700 });
    await writeFile(at, text, { mode: 0o600 });
    // Snapshots of files have no modes: a script says what it is.
    if (text.startsWith('#!')) await chmod(at, 0o700);
  }
}
