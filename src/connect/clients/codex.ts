import { join } from 'node:path';
import { wiresOf } from '../../config/wires-of.ts';
import { type Connection, type Surroundings, separateKey } from '../connection.ts';
import type { Plan } from '../file-edit.ts';
import { chooseModel, findTarget } from '../target.ts';
import { tomlText } from '../toml-block.ts';

/** Codex speaks only OpenAI's responses; a provider entry of our own, and the choice of it. */
export function planCodex(connection: Connection, { env, homeDir, read }: Surroundings): Plan {
  const { url, key, config } = connection;
  const speaksWire = Object.values(config.providers).some((entry) =>
    wiresOf(entry).includes('openai-responses'),
  );
  const model = connection.model ?? (speaksWire ? undefined : chooseModel(config, undefined));
  const { credentials, provider } = findTarget(config, model, 'openai-responses');
  const headers = Object.entries(credentials === 'caller' ? separateKey(connection) : {});
  const inline = headers.map(([name, value]) => `${tomlText(name)} = ${tomlText(value)}`).join(', ');
  const file = join(env.CODEX_HOME || join(homeDir, '.codex'), 'config.toml');
  const block = {
    top: {
      ...(model !== undefined && { model: tomlText(model) }),
      model_provider: tomlText('instar'),
    },
    table: 'model_providers.instar',
    settings: {
      name: tomlText('Instar'),
      base_url: tomlText(`${url}/v1`),
      wire_api: tomlText('responses'),
      ...(credentials === 'instar'
        ? { experimental_bearer_token: tomlText(key) }
        : { requires_openai_auth: 'true' }),
      ...(inline !== '' && { http_headers: `{ ${inline} }` }),
    },
  };
  const notes = [
    ...(credentials === 'caller'
      ? [`your own login stays in use: provider ${provider} has no key in Instar's config`]
      : []),
    ...(/^\s*profile\s*=/m.test(read(file) ?? '')
      ? ['a profile is set in that file; if it chooses a model_provider of its own, that one wins']
      : []),
  ];
  return { edits: [{ kind: 'toml', file, block }], notes };
}
