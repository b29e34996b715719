import { join } from 'node:path';
import type { Connection, Surroundings } from '../connection.ts';
import type { Plan } from '../file-edit.ts';
import { listModel } from './listed-model.ts';

/** A provider of our own in its list of models, and the choice of it in its settings. */
export function planPi(connection: Connection, { env, homeDir }: Surroundings): Plan {
  const { url, key } = connection;
  const { model, wire, target, headers, notes } = listModel(connection);
  const given = env.PI_CODING_AGENT_DIR?.replace(/^~(?=$|\/)/, homeDir);
  const folder = given || join(homeDir, '.pi', 'agent');
  const provider = {
    baseUrl: wire === 'anthropic' ? url : `${url}/v1`,
    // A name that a variable has is replaced by that variable's value.
    apiKey: target.credentials === 'instar' ? key : (target.keyEnv ?? 'PROVIDER_API_KEY'),
    api: wire === 'anthropic' ? 'anthropic-messages' : 'openai-completions',
    ...(Object.keys(headers).length > 0 && { headers }),
    // Without this no session id leaves pi on OpenAI's chat wire.
    ...(wire === 'openai-chat' && { compat: { sendSessionAffinityHeaders: true } }),
    models: [{ id: model, name: `Instar ${model}` }],
  };
  const choice = [
    { path: ['defaultProvider'], value: 'instar' },
    { path: ['defaultModel'], value: model },
  ];
  return {
    edits: [
      {
        kind: 'json',
        file: join(folder, 'models.json'),
        dialect: 'jsonc',
        settings: [{ path: ['providers', 'instar'], value: provider, mark: [] }],
      },
      { kind: 'json', file: join(folder, 'settings.json'), dialect: 'json', settings: choice },
    ],
    notes,
  };
}
