import { join } from 'node:path';
import { wiresOf } from '../../config/wires-of.ts';
import { type Connection, type Surroundings, separateKey } from '../connection.ts';
import type { Plan } from '../file-edit.ts';
import { chooseModel, findTarget } from '../target.ts';

/** Claude Code reads variables from its settings, and then needs no change to the shell. */
export function planClaudeCode(connection: Connection, { env, homeDir }: Surroundings): Plan {
  const { url, key, config } = connection;
  // With a provider of its wire its own names for models are good as they are.
  const speaksWire = Object.values(config.providers).some((entry) => wiresOf(entry).includes('anthropic'));
  const model = connection.model ?? (speaksWire ? undefined : chooseModel(config, undefined));
  const { credentials, provider } = findTarget(config, model, 'anthropic');
  const headers = Object.entries(credentials === 'caller' ? separateKey(connection) : {});
  const variables: Record<string, string> = {
    ANTHROPIC_BASE_URL: url,
    ...(credentials === 'instar' && { ANTHROPIC_AUTH_TOKEN: key }),
    ...(model !== undefined && { ANTHROPIC_MODEL: model }),
    // Makes it say which requests are a sub-agent's, a title, a compaction.
    CLAUDE_CODE_GATEWAY_HINT_HEADERS: '1',
    ...(headers.length > 0 && {
      ANTHROPIC_CUSTOM_HEADERS: headers.map(([name, value]) => `${name}: ${value}`).join('\n'),
    }),
  };
  const file = join(env.CLAUDE_CONFIG_DIR || join(homeDir, '.claude'), 'settings.json');
  const settings = Object.entries(variables).map(([name, value]) => ({ path: ['env', name], value }));
  const note = `your own login stays in use: provider ${provider} has no key in Instar's config`;
  return {
    edits: [{ kind: 'json', file, dialect: 'json', settings }],
    notes: credentials === 'caller' ? [note] : [],
  };
}
