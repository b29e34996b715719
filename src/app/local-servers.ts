import type { Exchange } from '../core/upstream.ts';
import { discoverLocal, type LocalProvider, localPlaces } from '../models/discover-local.ts';

/** Where model servers on this machine listen, whether or not they run. */
export const localServers = (env: NodeJS.ProcessEnv): ReturnType<typeof localPlaces> => localPlaces(env);

/** Those that answer now. Never rejects. */
export const findLocalServers = (
  exchange: Exchange,
  env: NodeJS.ProcessEnv,
): Promise<readonly LocalProvider[]> => discoverLocal({ exchange, env, timeoutMs: 1_000 });
