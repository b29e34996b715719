import { findDaemon, isAlive } from '../config/daemon-file.ts';
import type { Home } from '../config/home.ts';
import { readOwnerKey, type StoredOwnerKey } from '../config/owner-key.ts';
import type { OpenedApi } from './offline-api.ts';
import { ApiError, createRemoteApi } from './remote-api.ts';

/** Reveals a protected owner key, by asking the person for its passphrase. */
export type UnlockOwnerKey = (owner: StoredOwnerKey) => Promise<string>;

const refuseLocked: UnlockOwnerKey = async ({ protection }) => {
  throw new ApiError(
    403,
    `The owner key is protected by a ${protection}, and nobody can be asked for it here.`,
  );
};

/**
 * The API of the running daemon; without a daemon, the store itself, locked while it is open. A missing store is created
 * only with `mayCreate`.
 */
export async function openApi(
  home: Home,
  env: NodeJS.ProcessEnv,
  mayCreate = false,
  unlock: UnlockOwnerKey = refuseLocked,
): Promise<OpenedApi> {
  const daemon = await findDaemon(home);
  const owner = readOwnerKey(home, env);
  const key = owner && (owner.key ?? (await unlock(owner)));
  if (daemon !== undefined && isAlive(daemon))
    return { ...createRemoteApi(daemon, key), close: () => undefined };
  // Loaded on demand: most commands speak to a daemon.
  const { openOfflineApi } = await import('./offline-api.ts');
  return openOfflineApi(home, env, { mayCreate, key });
}
