import { join } from 'node:path';
import type { Connection, Surroundings } from '../connection.ts';
import type { Plan } from '../file-edit.ts';
import { listModel } from './listed-model.ts';

const SLOT = 'openai-compatible';
const NEW_FILE = [
  { path: ['version'], value: 1 },
  { path: ['modes'], value: {} },
];

/** Cline has one place for a server of one's own; what `cline auth -p openai` writes. */
export function planCline(connection: Connection, { env, homeDir, read }: Surroundings): Plan {
  const { url, key } = connection;
  const { model, target, notes } = listModel(connection);
  const root = env.CLINE_DIR?.trim() || join(homeDir, '.cline');
  const data = env.CLINE_DATA_DIR?.trim() || join(root, 'data');
  const file = env.CLINE_PROVIDER_SETTINGS_PATH?.trim() || join(data, 'settings', 'providers.json');
  const apiKey = target.credentials === 'instar' ? key : 'YOUR-OWN-KEY';
  const entry = {
    settings: { provider: SLOT, apiKey, model, baseUrl: `${url}/v1` },
    // Cline drops the whole file when an entry has no time. A fixed one, so that writing twice changes nothing.
    updatedAt: '2026-01-01T00:00:00.000Z',
    tokenSource: 'manual',
  };
  const settings = [
    ...(read(file) === undefined ? NEW_FILE : []),
    { path: ['lastUsedProvider'], value: SLOT },
    { path: ['providers', SLOT], value: entry, mark: ['settings', 'baseUrl'] },
  ];
  const command = `cline auth -p openai -k "${apiKey}" -m "${model}" -b "${url}/v1"`;
  return {
    edits: [{ kind: 'json', file, dialect: 'json', settings }],
    notes: [`the same by hand: ${command}`, ...notes],
  };
}
