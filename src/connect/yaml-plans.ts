import { join } from 'node:path';
import type { ClientConnection, ClientEnvironment } from './connection.ts';
import type { ConnectPlan } from './file-edit.ts';
import { listModel } from './listed-model.ts';
import { yamlText } from './yaml-block.ts';

/** Continue takes the first model of its list, unless its user has chosen another. */
export function planContinue(
  connection: ClientConnection,
  { env, homeDir, read }: ClientEnvironment,
): ConnectPlan {
  const { url, key } = connection;
  const { model, wire, target, headers, notes } = listModel(connection);
  const file = join(env.CONTINUE_GLOBAL_DIR || join(homeDir, '.continue'), 'config.yaml');
  const secret = `\${{ secrets.${target.keyEnv ?? 'PROVIDER_API_KEY'} }}`;
  const name = `Instar ${model}`;
  const hasHeaders = Object.keys(headers).length > 0;
  const settings = {
    name: yamlText(name),
    provider: wire === 'anthropic' ? 'anthropic' : 'openai',
    model: yamlText(model),
    apiBase: yamlText(`${url}/v1${wire === 'anthropic' ? '/' : ''}`),
    apiKey: yamlText(target.credentials === 'instar' ? key : secret),
    roles: '[chat, edit, apply]',
    // Else its editor extensions guess from the name whether a model takes tools.
    capabilities: '[tool_use]',
    ...(hasHeaders && { requestOptions: JSON.stringify({ headers }) }),
  };
  const isNew = (read(file) ?? '').trim() === '';
  const top: Readonly<Record<string, string>> = isNew
    ? { name: yamlText('Instar'), version: yamlText('0.0.1'), schema: 'v1' }
    : {};
  return {
    edits: [{ kind: 'yaml', file, block: { top, entry: { list: 'models', settings } } }],
    notes: [`choose ${name} among its models, if another one is selected`, ...notes],
  };
}

/** aider has one base URL, for models whose names begin with `openai/`; Instar translates for other providers. */
export function planAider(connection: ClientConnection, { homeDir }: ClientEnvironment): ConnectPlan {
  const { url, key } = connection;
  const { model, target, headers, notes } = listModel(connection);
  const isCaller = target.credentials === 'caller';
  const top = {
    model: yamlText(`openai/${model}`),
    'openai-api-base': yamlText(`${url}/v1`),
    ...(!isCaller && { 'openai-api-key': yamlText(key) }),
    // It knows no names of models but those of providers, and would ask about this one at every start.
    'show-model-warnings': 'false',
  };
  return {
    edits: [{ kind: 'yaml', file: join(homeDir, '.aider.conf.yml'), block: { top } }],
    notes: [
      'a .aider.conf.yml in a project, and aider’s own options, take precedence',
      ...(isCaller
        ? [`provider ${target.provider} has no key in Instar's config: aider sends your OPENAI_API_KEY`]
        : []),
      ...(Object.keys(headers).length > 0
        ? [`add the header x-instar-key to extra_params of this model in .aider.model.settings.yml`]
        : []),
      ...notes.filter(() => !isCaller),
    ],
  };
}

/** Hermes asks the model of its `model` section; a provider that it has no name for is `custom`. */
export function planHermes(connection: ClientConnection, { env, homeDir }: ClientEnvironment): ConnectPlan {
  const { url, key } = connection;
  const { model, target, headers, notes } = listModel(connection);
  const isCaller = target.credentials === 'caller';
  const settings = {
    default: model,
    provider: 'custom',
    base_url: `${url}/v1`,
    ...(!isCaller && { api_key: key }),
  };
  return {
    edits: [
      {
        kind: 'yaml',
        file: join(env.HERMES_HOME || join(homeDir, '.hermes'), 'config.yaml'),
        block: { top: { model: JSON.stringify(settings) } },
      },
    ],
    notes: [
      ...(isCaller
        ? [`provider ${target.provider} has no key in Instar's config: Hermes sends its own`]
        : []),
      ...(Object.keys(headers).length > 0
        ? ['Hermes sends no header x-instar-key: its words teach nothing']
        : []),
      ...notes.filter(() => !isCaller),
    ],
  };
}
