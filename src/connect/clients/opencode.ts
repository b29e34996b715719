import { join } from 'node:path';
import type { Connection, Surroundings } from '../connection.ts';
import type { Plan } from '../file-edit.ts';
import { listModel } from './listed-model.ts';

/** A provider of our own, and the default model. */
export function planOpencode(connection: Connection, { env, homeDir, read }: Surroundings): Plan {
  const { url, key } = connection;
  const { model, wire, target, headers, notes } = listModel(connection);
  const folder = join(env.XDG_CONFIG_HOME || join(homeDir, '.config'), 'opencode');
  const known = ['opencode.jsonc', 'opencode.json', 'config.json'].find(
    (name) => read(join(folder, name)) !== undefined,
  );
  const provider = {
    npm: wire === 'anthropic' ? '@ai-sdk/anthropic' : '@ai-sdk/openai-compatible',
    name: 'Instar',
    options: {
      baseURL: `${url}/v1`,
      apiKey: target.credentials === 'instar' ? key : `{env:${target.keyEnv ?? 'PROVIDER_API_KEY'}}`,
      ...(Object.keys(headers).length > 0 && { headers }),
    },
    models: { [model]: { name: `Instar ${model}` } },
  };
  const settings = [
    ...(known === undefined ? [{ path: ['$schema'], value: 'https://opencode.ai/config.json' }] : []),
    { path: ['provider', 'instar'], value: provider, mark: [] },
    { path: ['model'], value: `instar/${model}` },
  ];
  const file = join(folder, known ?? 'opencode.json');
  return { edits: [{ kind: 'json', file, dialect: 'jsonc', settings }], notes };
}
