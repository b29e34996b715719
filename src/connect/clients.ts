import { join } from 'node:path';
import type { ClientName } from '../core/client-name.ts';
import { asObject, asString, type JsonObject, parseJson } from '../core/json.ts';
import type { WireName } from '../core/wire.ts';
import { findMember } from '../text/json-edit.ts';
import { JsonTextError, parseJsonText } from '../text/json-text.ts';
import {
  type ClientConnection,
  type ClientEnvironment,
  chooseModel,
  clientAliases,
  findTarget,
  separateKey,
} from './connection.ts';
import type { ConnectPlan } from './file-edit.ts';
import { listModel } from './listed-model.ts';
import { isVendorModel, servesOwnNames, whyNotServed } from './served-models.ts';
import { tomlText } from './toml-block.ts';
import { planAider, planContinue, planHermes } from './yaml-plans.ts';

/** Claude Code reads environment variables from its settings, so the shell needs no change. */
function planClaudeCode(
  connection: ClientConnection,
  { env, homeDir, read }: ClientEnvironment,
): ConnectPlan {
  const { url, key, config } = connection;
  // With an Anthropic provider, Claude Code's own model names work.
  const model =
    connection.model ?? (servesOwnNames(connection, 'anthropic') ? undefined : chooseModel(connection));
  const { credentials, provider } = findTarget(config, model, 'anthropic');
  const headers = Object.entries(credentials === 'caller' ? separateKey(connection) : {});
  const variables: Record<string, string> = {
    ANTHROPIC_BASE_URL: url,
    ...(credentials === 'instar' && { ANTHROPIC_AUTH_TOKEN: key }),
    ...(model !== undefined && { ANTHROPIC_MODEL: model }),
    // Makes it mark requests of sub-agents, for titles and for compaction.
    CLAUDE_CODE_GATEWAY_HINT_HEADERS: '1',
    ...(headers.length > 0 && {
      ANTHROPIC_CUSTOM_HEADERS: headers.map(([name, value]) => `${name}: ${value}`).join('\n'),
    }),
  };
  const file = join(env.CLAUDE_CONFIG_DIR || join(homeDir, '.claude'), 'settings.json');
  const settings = Object.entries(variables).map(([name, value]) => ({ path: ['env', name], value }));
  const note = `your own login is used: provider ${provider} has no key in Instar's config`;
  const { env: variablesNow, model: modelNow } = asObject(parseJson(read(file) ?? ''));
  const ownModel = asString(asObject(variablesNow).ANTHROPIC_MODEL) ?? asString(modelNow);
  return {
    edits: [{ kind: 'json', file, dialect: 'json', settings }],
    notes: [
      ...(credentials === 'caller' ? [note] : []),
      ...(model === undefined ? noteUnserved(connection, 'claude-code', ownModel, 'anthropic') : []),
    ],
  };
}

const SLOT = 'openai-compatible';
const NEW_FILE = [
  { path: ['version'], value: 1 },
  { path: ['modes'], value: {} },
];

/** Cline has one slot for a custom server: the settings that `cline auth -p openai` writes. */
function planCline(connection: ClientConnection, { env, homeDir, read }: ClientEnvironment): ConnectPlan {
  const { url, key } = connection;
  const { model, target, notes } = listModel(connection);
  const root = env.CLINE_DIR?.trim() || join(homeDir, '.cline');
  const data = env.CLINE_DATA_DIR?.trim() || join(root, 'data');
  const file = env.CLINE_PROVIDER_SETTINGS_PATH?.trim() || join(data, 'settings', 'providers.json');
  const apiKey = target.credentials === 'instar' ? key : 'YOUR-OWN-KEY';
  const entry = {
    settings: { provider: SLOT, apiKey, model, baseUrl: `${url}/v1` },
    // Cline discards the whole file when an entry has no time. Fixed, so that writing twice changes nothing.
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
    notes: [`the same with Cline's own command: ${command}`, ...notes],
  };
}

/** Codex supports OpenAI's responses wire only. Adds a provider and selects it. */
function planCodex(connection: ClientConnection, { env, homeDir, read }: ClientEnvironment): ConnectPlan {
  const { url, key, config } = connection;
  const keepsNames = servesOwnNames(connection, 'openai-responses');
  const model = connection.model ?? (keepsNames ? undefined : chooseModel(connection));
  const { credentials, provider } = findTarget(config, model, 'openai-responses');
  const headers = Object.entries(credentials === 'caller' ? separateKey(connection) : {});
  const inline = headers.map(([name, value]) => `${tomlText(name)} = ${tomlText(value)}`).join(', ');
  const folder = env.CODEX_HOME || join(homeDir, '.codex');
  const file = join(folder, 'config.toml');
  const catalogFile = join(folder, 'instar-models.json');
  const needsCatalog = model !== undefined && !isVendorModel(config, model, 'openai-responses');
  const block = {
    top: {
      ...(model !== undefined && { model: tomlText(model) }),
      ...(needsCatalog && { model_catalog_json: tomlText(catalogFile) }),
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
      ? [`your own login is used: provider ${provider} has no key in Instar's config`]
      : []),
    ...(/^\s*profile\s*=/m.test(read(file) ?? '')
      ? ['that file sets a profile; a model_provider of that profile takes precedence']
      : []),
  ];
  const [top = ''] = (read(file) ?? '').split(/^\s*\[/m, 1);
  const ownModel = /^\s*model\s*=\s*["']([^"'\n]+)["']/m.exec(top)?.[1];
  if (model === undefined) notes.push(...noteUnserved(connection, 'codex', ownModel, 'openai-responses'));
  if (!needsCatalog) return { edits: [{ kind: 'toml', file, block }], notes };
  const names = [...new Set([model, ...clientAliases(connection)])];
  const models = [{ path: ['models'], value: [...codexCatalog(names)], mark: [] }];
  const setting = `model_context_window in ${file}`;
  return {
    edits: [
      { kind: 'toml', file, block },
      { kind: 'json', file: catalogFile, dialect: 'json', settings: models },
    ],
    notes: [
      ...notes,
      `Codex plans with ${CONTEXT_WINDOW} tokens of context; if the model has fewer, set ${setting}`,
    ],
  };
}

/** A client that keeps its own choice of a model, which the daemon does not serve. */
function noteUnserved(
  connection: ClientConnection,
  client: string,
  model: string | undefined,
  wire: WireName,
): readonly string[] {
  const why = model === undefined ? undefined : whyNotServed(connection, model, wire);
  if (why === undefined) return [];
  return [
    `it is set to a model that fails here. ${why}. Choose one with: instar connect ${client} --write --model NAME`,
  ];
}

/** Adds a provider and sets the default model. */
function planOpenclaw(connection: ClientConnection, around: ClientEnvironment): ConnectPlan {
  const { url, key } = connection;
  const { model, wire, target, headers, notes } = listModel(connection);
  const file = openclawConfigFile(around);
  const provider = {
    // OpenClaw adds /v1 itself on the Anthropic wire.
    baseUrl: wire === 'anthropic' ? url : `${url}/v1`,
    apiKey: target.credentials === 'instar' ? key : `\${${target.keyEnv ?? 'PROVIDER_API_KEY'}}`,
    api: wire === 'anthropic' ? 'anthropic-messages' : 'openai-completions',
    ...(Object.keys(headers).length > 0 && { headers }),
    models: [
      {
        id: model,
        name: `Instar ${model}`,
        // Without these two, OpenClaw sends no session id.
        compat: { supportsPromptCacheKey: true, sendSessionAffinityHeaders: true },
      },
    ],
  };
  const settings = [
    { path: ['models', 'providers', 'instar'], value: provider, mark: [] },
    { path: defaultModelPath(around.read(file)), value: `instar/${model}` },
  ];
  return { edits: [{ kind: 'json', file, dialect: 'json5', settings }], notes };
}

/** The default model may be a name, or an object with the name and fallbacks. */
function defaultModelPath(text: string | undefined): readonly string[] {
  const whole = ['agents', 'defaults', 'model'];
  try {
    const root = parseJsonText(text?.trim() ? text : '{}', 'json5');
    return findMember(root, whole).node?.kind === 'scalar' ? whole : [...whole, 'primary'];
  } catch (error) {
    if (error instanceof JsonTextError) return [...whole, 'primary'];
    throw error;
  }
}

/** The config file as OpenClaw finds it; unset, blank, "undefined" and "null" are the same to it. */
export function openclawConfigFile({ env, homeDir }: ClientEnvironment): string {
  const given = (name: string): string | undefined => {
    const value = env[name]?.trim();
    return !value || value === 'undefined' || value === 'null'
      ? undefined
      : value.replace(/^~(?=$|[\\/])/, homeDir);
  };
  const exact = given('OPENCLAW_CONFIG_PATH');
  if (exact !== undefined) return exact;
  const profile = given('OPENCLAW_PROFILE');
  const suffix = profile === undefined || profile === 'default' ? '' : `-${profile}`;
  const state = given('OPENCLAW_STATE_DIR') ?? join(given('OPENCLAW_HOME') ?? homeDir, `.openclaw${suffix}`);
  return join(state, 'openclaw.json');
}

/** Adds a provider and sets the default model. */
function planOpencode(connection: ClientConnection, { env, homeDir, read }: ClientEnvironment): ConnectPlan {
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

/** Adds a provider to its list of models and selects it in its settings. */
function planPi(connection: ClientConnection, around: ClientEnvironment): ConnectPlan {
  const { url, key } = connection;
  const { model, wire, target, headers, notes } = listModel(connection);
  const folder = piFolder(around);
  const provider = {
    baseUrl: wire === 'anthropic' ? url : `${url}/v1`,
    // Pi replaces the name of an environment variable by its value.
    apiKey: target.credentials === 'instar' ? key : (target.keyEnv ?? 'PROVIDER_API_KEY'),
    api: wire === 'anthropic' ? 'anthropic-messages' : 'openai-completions',
    ...(Object.keys(headers).length > 0 && { headers }),
    // Without this, Pi sends no session id on the OpenAI chat wire.
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

export const piFolder = ({ env, homeDir }: ClientEnvironment): string =>
  env.PI_CODING_AGENT_DIR?.replace(/^~(?=$|\/)/, homeDir) || join(homeDir, '.pi', 'agent');

const PLANS: Readonly<
  Record<ClientName, (connection: ClientConnection, around: ClientEnvironment) => ConnectPlan>
> = {
  openclaw: planOpenclaw,
  'claude-code': planClaudeCode,
  codex: planCodex,
  opencode: planOpencode,
  pi: planPi,
  cline: planCline,
  continue: planContinue,
  aider: planAider,
  hermes: planHermes,
};

/** The edits that point a client at the gateway; writes nothing. Throws `ConfigError`. */
export const planConnection = (
  client: ClientName,
  connection: ClientConnection,
  around: ClientEnvironment,
): ConnectPlan => PLANS[client](connection, around);

/**
 * Codex has a built-in list of OpenAI's models. For any other name it prints "Model metadata for … not found" and assumes
 * values; a file named by `model_catalog_json` replaces the list. An entry states what Codex assumes for unknown models, since
 * nothing more is known of a model behind the gateway: no reasoning levels, no verbosity, plain tools.
 */
const codexCatalog = (models: readonly string[]): readonly JsonObject[] =>
  models.map((model, index) => ({
    slug: model,
    display_name: `Instar ${model}`,
    description: 'Served by Instar.',
    supported_reasoning_levels: [],
    shell_type: 'unified_exec',
    visibility: 'list',
    supported_in_api: true,
    priority: index,
    availability_nux: null,
    upgrade: null,
    base_instructions: INSTRUCTIONS,
    supports_reasoning_summaries: false,
    supports_reasoning_summary_parameter: false,
    default_reasoning_summary: 'none',
    support_verbosity: false,
    default_verbosity: null,
    apply_patch_tool_type: null,
    truncation_policy: { mode: 'bytes', limit: 10_000 },
    supports_parallel_tool_calls: false,
    // A guess that fits most models. `model_context_window` in Codex' own settings overrides it, up or down.
    context_window: CONTEXT_WINDOW,
    experimental_supported_tools: [],
    input_modalities: ['text'],
  }));

const CONTEXT_WINDOW = 128_000;

/** Codex requires a system prompt for every model in the list. */
const INSTRUCTIONS = `You are a coding agent running in the Codex CLI, a program for the terminal. You work in the user's folder and have tools to run commands there.

# How you work
- Keep going until the request is done, then stop. Ask only when you cannot find out yourself and a wrong guess would be costly.
- Look before you change anything: read the files that matter, and search with \`rg\` or \`rg --files\` where it exists.
- Follow the instructions of AGENTS.md files: one holds for its folder and everything below it; a deeper one wins; what the user says wins over all of them.
- Fix the cause, not the symptom. Keep changes small and in the style of the code around them. Change nothing that was not asked for.
- Edit files with \`apply_patch\` where you have it, else with the shell. Read a file again only when it may have changed.
- Never undo changes that you did not make. Do not commit, push or create branches unless you are asked to.
- Do not run anything destructive, such as \`git reset --hard\` or \`rm -rf\`, unless the user asked for exactly that.
- When there are tests, a build or a linter, run what fits your change, the narrowest first. Say so when you could not run them.
- Some commands need the user's approval, or are limited by a sandbox. When one fails for that reason, ask for it or take another way.

# How you write
- Before a group of commands, say in one sentence what you are about to do.
- At the end, say what you changed and where (\`path/file.ext:12\`), what you checked, and what is left. Be brief. No praise, no filler.
- Use plain text with short lists. Put commands, paths and names into backticks. Do not print whole files that you wrote.`;
