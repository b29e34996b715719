import type { Exchange } from '../core/upstream.ts';
import { discoverLocal, type LocalProvider } from '../models/discover-local.ts';
import { parseOllamaHost } from '../models/ollama-host.ts';

/** Where model servers on this machine listen, whether or not they run. */
export const localServers = (env: NodeJS.ProcessEnv): readonly Omit<LocalProvider, 'models'>[] => [
  { name: 'ollama', baseUrl: `${parseOllamaHost(env.OLLAMA_HOST)}/v1` },
  { name: 'lmstudio', baseUrl: 'http://127.0.0.1:1234/v1' },
];

/** Those that answer now. Never rejects. */
export const findLocalServers = (
  exchange: Exchange,
  env: NodeJS.ProcessEnv,
): Promise<readonly LocalProvider[]> => discoverLocal({ exchange, env, timeoutMs: 1_000 });
