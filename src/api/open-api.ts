import { findDaemon, isAlive } from '../config/daemon-file.ts';
import type { Home } from '../config/home.ts';
import { readOwnerKey, type StoredOwnerKey } from '../config/owner-key.ts';
import type { OpenedApi } from './offline-api.ts';
import { ApiError, createRemoteApi } from './remote-api.ts';

/** Reveals a protected owner key, by asking the person for its passphrase. */
type UnlockOwnerKey = (owner: StoredOwnerKey) => Promise<string>;

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
  const gateway = gatewayOf(env);
  if (gateway !== undefined) return { ...createRemoteApi(gateway, gateway.key), close: () => undefined };
  const daemon = await findDaemon(home);
  const owner = readOwnerKey(home, env);
  const key = owner && (owner.key ?? (await unlock(owner)));
  if (daemon !== undefined && isAlive(daemon))
    return { ...createRemoteApi(daemon, key), close: () => undefined };
  // Loaded on demand: most commands speak to a daemon.
  const { openOfflineApi } = await import('./offline-api.ts');
  return openOfflineApi(home, env, { mayCreate, key });
}

/** The gateway of a team, and the key of the member who asks: from `INSTAR_URL` and `INSTAR_MEMBER_KEY`. */
function gatewayOf(
  env: NodeJS.ProcessEnv,
): { readonly url: string; readonly key: string | undefined } | undefined {
  const url = env.INSTAR_URL?.trim();
  if (url === undefined || url === '') return undefined;
  const key = env.INSTAR_MEMBER_KEY?.trim();
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new ApiError(400, 'INSTAR_URL is not an address such as https://instar.example.org.');
  if (!key) throw new ApiError(401, 'Set INSTAR_MEMBER_KEY to the key that an owner of the team gave you.');
  return { url, key };
}
