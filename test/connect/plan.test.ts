import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { planConnection } from '../../src/connect/clients.ts';
import { chooseModel, findTarget, shellExports } from '../../src/connect/connection.ts';
import type { ClientFileEdit } from '../../src/connect/file-edit.ts';
import { whyNotServed } from '../../src/connect/served-models.ts';
import type { ClientName } from '../../src/core/client-name.ts';
import { connectionOf, KEY, OWN_KEY } from './temporary-person.ts';

const HOME = '/home/dev';
const CLAUDE = { wire: 'anthropic', baseUrl: 'https://api.anthropic.com/v1' };
const PASS_THROUGH = { providers: { anthropic: CLAUDE }, models: { default: 'anthropic/claude-opus-5' } };
const OPENAI_THROUGH = { providers: { openai: { wire: 'openai', baseUrl: 'https://api.openai.com/v1' } } };

function plan(client: ClientName, config: unknown = OWN_KEY, env: NodeJS.ProcessEnv = {}, more = {}) {
  const read = () => undefined;
  return planConnection(client, connectionOf(config, more), { env, homeDir: HOME, read });
}

const settingsOf = ([edit]: readonly ClientFileEdit[]) =>
  edit?.kind === 'json'
    ? Object.fromEntries(edit.settings.map(({ path, value }) => [path.join('.'), value]))
    : {};
const tomlOf = ([edit]: readonly ClientFileEdit[]) => (edit?.kind === 'toml' ? edit.block : undefined);

describe('where each client keeps its settings', () => {
  it.each<[ClientName, NodeJS.ProcessEnv, readonly string[]]>([
    ['claude-code', {}, [join(HOME, '.claude/settings.json')]],
    ['claude-code', { CLAUDE_CONFIG_DIR: '/c' }, ['/c/settings.json']],
    ['codex', {}, [join(HOME, '.codex/config.toml')]],
    ['codex', { CODEX_HOME: '/c' }, ['/c/config.toml']],
    ['openclaw', {}, [join(HOME, '.openclaw/openclaw.json')]],
    ['openclaw', { OPENCLAW_STATE_DIR: '~/claw' }, [join(HOME, 'claw/openclaw.json')]],
    ['openclaw', { OPENCLAW_HOME: '/srv' }, ['/srv/.openclaw/openclaw.json']],
    ['openclaw', { OPENCLAW_PROFILE: 'work' }, [join(HOME, '.openclaw-work/openclaw.json')]],
    ['openclaw', { OPENCLAW_CONFIG_PATH: '/x.json', OPENCLAW_STATE_DIR: '/s' }, ['/x.json']],
    ['openclaw', { OPENCLAW_STATE_DIR: 'undefined' }, [join(HOME, '.openclaw/openclaw.json')]],
    ['opencode', {}, [join(HOME, '.config/opencode/opencode.json')]],
    ['opencode', { XDG_CONFIG_HOME: '/x' }, ['/x/opencode/opencode.json']],
    ['pi', {}, [join(HOME, '.pi/agent/models.json'), join(HOME, '.pi/agent/settings.json')]],
    ['pi', { PI_CODING_AGENT_DIR: '/p' }, ['/p/models.json', '/p/settings.json']],
    ['cline', {}, [join(HOME, '.cline/data/settings/providers.json')]],
    ['cline', { CLINE_DIR: '/c' }, ['/c/data/settings/providers.json']],
    ['cline', { CLINE_DATA_DIR: '/d' }, ['/d/settings/providers.json']],
    ['continue', {}, [join(HOME, '.continue/config.yaml')]],
    ['continue', { CONTINUE_GLOBAL_DIR: '/c' }, ['/c/config.yaml']],
    ['aider', {}, [join(HOME, '.aider.conf.yml')]],
    ['hermes', {}, [join(HOME, '.hermes/config.yaml')]],
    ['hermes', { HERMES_HOME: '/h' }, ['/h/config.yaml']],
  ])('%s with %j', (client, env, files) => {
    expect(plan(client, OWN_KEY, env).edits.map(({ file }) => file)).toEqual(files);
  });

  it('uses the file that OpenCode already has', () => {
    const file = join(HOME, '.config/opencode/opencode.jsonc');
    const read = (asked: string) => (asked === file ? '{}' : undefined);
    const { edits } = planConnection('opencode', connectionOf(), { env: {}, homeDir: HOME, read });
    expect(edits[0]?.file).toBe(file);
  });
});

describe('the settings of each client', () => {
  it('Claude Code gets the key as a token, and its own names for models where a provider knows them', () => {
    const own = { providers: { anthropic: { ...CLAUDE, keyEnv: 'ANTHROPIC_API_KEY' } } };
    expect(settingsOf(plan('claude-code', own).edits)).toEqual({
      'env.ANTHROPIC_BASE_URL': 'http://127.0.0.1:4600',
      'env.ANTHROPIC_AUTH_TOKEN': KEY,
      'env.CLAUDE_CODE_GATEWAY_HINT_HEADERS': '1',
    });
    expect(settingsOf(plan('claude-code').edits)).toMatchObject({ 'env.ANTHROPIC_MODEL': 'default' });
  });

  it('Claude Code keeps its own login when the provider has no key here', () => {
    const { edits, notes } = plan('claude-code', PASS_THROUGH);
    expect(settingsOf(edits)).toEqual({
      'env.ANTHROPIC_BASE_URL': 'http://127.0.0.1:4600',
      'env.CLAUDE_CODE_GATEWAY_HINT_HEADERS': '1',
      // A subscription's token is renewed: the key says who calls.
      'env.ANTHROPIC_CUSTOM_HEADERS': `x-instar-key: ${KEY}`,
    });
    expect(notes).toEqual([expect.stringContaining('your own login is used')]);
  });

  it('Codex gets a provider, and its model is only named where its own names are unknown', () => {
    expect(tomlOf(plan('codex').edits)).toEqual({
      top: { model_provider: '"instar"' },
      table: 'model_providers.instar',
      settings: {
        name: '"Instar"',
        base_url: '"http://127.0.0.1:4600/v1"',
        wire_api: '"responses"',
        experimental_bearer_token: `"${KEY}"`,
      },
    });
    expect(tomlOf(plan('codex', OWN_KEY, {}, { model: 'fast' }).edits)?.top).toMatchObject({
      model: '"fast"',
    });
    const through = tomlOf(plan('codex', OPENAI_THROUGH).edits)?.settings;
    expect(through).toMatchObject({ requires_openai_auth: 'true' });
    expect(through).not.toHaveProperty('experimental_bearer_token');
  });

  it('OpenClaw gets the two settings without which it sends no session id', () => {
    expect(settingsOf(plan('openclaw').edits)).toEqual({
      'models.providers.instar': {
        baseUrl: 'http://127.0.0.1:4600/v1',
        apiKey: KEY,
        api: 'openai-completions',
        models: [
          {
            id: 'default',
            name: 'Instar default',
            compat: { supportsPromptCacheKey: true, sendSessionAffinityHeaders: true },
          },
        ],
      },
      'agents.defaults.model.primary': 'instar/default',
    });
  });

  it('OpenClaw, OpenCode and pi speak Anthropic’s wire to a provider that speaks nothing else', () => {
    expect(settingsOf(plan('openclaw', PASS_THROUGH).edits)['models.providers.instar']).toMatchObject({
      api: 'anthropic-messages',
      baseUrl: 'http://127.0.0.1:4600',
      apiKey: `\${ANTHROPIC_API_KEY}`,
    });
    expect(settingsOf(plan('opencode', PASS_THROUGH).edits)['provider.instar']).toMatchObject({
      npm: '@ai-sdk/anthropic',
      options: { apiKey: '{env:ANTHROPIC_API_KEY}' },
    });
    expect(settingsOf(plan('pi', PASS_THROUGH).edits)['providers.instar']).toMatchObject({
      api: 'anthropic-messages',
      apiKey: 'ANTHROPIC_API_KEY',
    });
  });

  it('requires a model when the config names none', () => {
    const bare = { providers: { openai: OWN_KEY.providers.openai } };
    expect(() => plan('pi', bare)).toThrow(/--model/);
    expect(plan('pi', bare, {}, { model: 'openai/gpt-5.2' }).edits).toHaveLength(2);
  });

  it('shell exports contain the path of the key (not the key)', () => {
    const lines = shellExports(connectionOf(OWN_KEY, { keyFile: "/home/o'neil/key" }), false);
    expect(lines.map(({ name, value }) => `${name}=${value}`)).toEqual([
      "OPENAI_BASE_URL='http://127.0.0.1:4600/v1'",
      `OPENAI_API_KEY="$(cat '/home/o'\\''neil/key')"`,
      "ANTHROPIC_BASE_URL='http://127.0.0.1:4600'",
      `ANTHROPIC_API_KEY="$(cat '/home/o'\\''neil/key')"`,
    ]);
    expect(shellExports(connectionOf(PASS_THROUGH), true).map(({ name }) => name)).toEqual([
      'OPENAI_BASE_URL',
      'ANTHROPIC_BASE_URL',
    ]);
  });
});

describe('chooseModel', () => {
  it.each([
    [OWN_KEY, 'other', 'other'],
    [OWN_KEY, undefined, 'default'],
    [{ ...OWN_KEY, models: { judge: 'openai/a', fast: 'openai/b' } }, undefined, 'fast'],
    [
      { providers: { mine: { wire: 'openai-chat', baseUrl: 'http://127.0.0.1:1/v1', models: ['m1'] } } },
      undefined,
      'mine/m1',
    ],
    [{}, undefined, undefined],
    [{ providers: OWN_KEY.providers }, undefined, undefined],
  ])('of %j with --model %s is %s', (config, asked, expected) => {
    expect(chooseModel({ ...connectionOf(config), ...(asked === undefined ? {} : { model: asked }) })).toBe(
      expected,
    );
  });
});

describe('a model that the running daemon serves', () => {
  const LOCAL = { providers: { vllm: { wire: 'openai', baseUrl: 'http://127.0.0.1:1/v1' } } };
  const ids = (edits: readonly ClientFileEdit[]) => tomlOf(edits)?.top.model;

  it('is written instead of one that only the config names', () => {
    expect(chooseModel(connectionOf({}, { served: ['instar/nano'] }))).toBeUndefined();
    expect(chooseModel(connectionOf(OWN_KEY, { served: ['default', 'x'] }))).toBe('default');
    expect(chooseModel(connectionOf(OWN_KEY, { served: ['evolver', 'ollama/qwen3'] }))).toBe('ollama/qwen3');
    expect(chooseModel(connectionOf(LOCAL, { served: ['qwen3'] }))).toBe('qwen3');
  });

  it('is written for Codex and Claude Code too when no provider has the names that they know', () => {
    expect(ids(plan('codex', LOCAL).edits)).toBeUndefined();
    expect(ids(plan('codex', LOCAL, {}, { served: ['qwen3'] }).edits)).toBe('"qwen3"');
    expect(ids(plan('codex', LOCAL, {}, { served: ['gpt-6-sol', 'qwen3'] }).edits)).toBeUndefined();
    const local = { providers: { mine: { wire: 'anthropic', baseUrl: 'http://127.0.0.1:1/v1' } } };
    const served = { served: ['qwen3'] };
    expect(settingsOf(plan('claude-code', local, {}, served).edits)).toMatchObject({
      'env.ANTHROPIC_MODEL': 'qwen3',
    });
    expect(settingsOf(plan('claude-code', PASS_THROUGH, {}, served).edits)).not.toHaveProperty([
      'env.ANTHROPIC_MODEL',
    ]);
  });

  it('is asked for when the client is set to another one, which is named with the list', () => {
    const listed = {
      providers: { openai: { ...OPENAI_THROUGH.providers.openai, models: ['gpt-6-sol'] } },
    };
    const connection = connectionOf(listed, { served: ['openai/gpt-6-sol', 'gpt-6-sol'] });
    const notesFor = (text: string) =>
      planConnection('codex', connection, { env: {}, homeDir: HOME, read: () => text }).notes.join('\n');
    expect(notesFor('model = "gpt-4o"\n')).toContain(
      'Instar does not serve the model "gpt-4o". It serves: openai/gpt-6-sol, gpt-6-sol. Choose one with: instar connect codex --write --model NAME',
    );
    expect(notesFor('model = "gpt-6-sol"\n')).not.toContain('does not serve');
    expect(notesFor('[profiles.x]\nmodel = "gpt-4o"\n')).not.toContain('does not serve');
  });

  it('is not doubted for a provider that takes any name, or while no daemon runs', () => {
    const why = (config: unknown, model: string, served?: readonly string[]) =>
      whyNotServed(connectionOf(config, served === undefined ? {} : { served }), model, 'openai-chat');
    expect(why(OWN_KEY, 'openai/anything', ['default'])).toBeUndefined();
    expect(why(OWN_KEY, 'anything', ['default'])).toBeUndefined();
    expect(why({}, 'nope')).toBeUndefined();
    expect(why({}, 'nope', ['instar/nano'])).toBe(
      'Instar does not serve the model "nope". It serves: instar/nano',
    );
    const many = Array.from({ length: 11 }, (_, at) => `m${at}`);
    expect(why({}, 'nope', many)).toContain('m7 and 3 more');
  });
});

describe('what Codex needs to know of a model', () => {
  it('is written for a name that it does not know, and left to Codex for OpenAI’s own', () => {
    const { edits } = plan('codex', {}, {}, { served: ['qwen3'] });
    expect(edits.map(({ file }) => file)).toEqual([
      join(HOME, '.codex/config.toml'),
      join(HOME, '.codex/instar-models.json'),
    ]);
    expect(tomlOf(edits)?.top).toMatchObject({
      model: '"qwen3"',
      model_catalog_json: JSON.stringify(join(HOME, '.codex/instar-models.json')),
    });
    const { models } = settingsOf(edits.slice(1)) as { models: readonly Record<string, unknown>[] };
    expect(models.map(({ slug }) => slug)).toEqual(['qwen3']);
    // Codex refuses the whole file when one of these is missing.
    for (const field of [
      'base_instructions',
      'truncation_policy',
      'shell_type',
      'supported_reasoning_levels',
    ])
      expect(models[0]).toHaveProperty(field);
    const known = plan('codex', OWN_KEY, {}, { model: 'openai/gpt-6-sol' });
    expect(known.edits).toHaveLength(1);
    expect(tomlOf(known.edits)?.top).not.toHaveProperty('model_catalog_json');
    const alias = plan(
      'codex',
      { ...OWN_KEY, models: { default: 'openai/gpt-6-sol', fast: 'openai/x', judge: 'openai/y' } },
      {},
      { model: 'fast' },
    );
    const listed = settingsOf(alias.edits.slice(1)) as { models: readonly Record<string, unknown>[] };
    expect(listed.models.map(({ slug }) => slug)).toEqual(['fast', 'default']);
  });
});

describe('findTarget', () => {
  const both = {
    providers: {
      openai: OWN_KEY.providers.openai,
      anthropic: CLAUDE,
      near: { wire: 'openai-chat', baseUrl: 'http://127.0.0.1:1234/v1', models: ['m1'] },
    },
    models: { default: 'openai/gpt-5.2', cli: { command: 'claude' } },
  };
  const { config } = connectionOf(both);

  it.each([
    ['default', 'openai-chat', { provider: 'openai', credentials: 'instar' }],
    ['anthropic/opus', 'openai-chat', { provider: 'anthropic', credentials: 'caller' }],
    ['m1', 'openai-chat', { provider: 'near', credentials: 'instar' }],
    ['near/m1', 'anthropic', { provider: 'near', credentials: 'instar' }],
    ['claude-opus-5-5', 'anthropic', { provider: 'anthropic', credentials: 'caller' }],
    [undefined, 'anthropic', { provider: 'anthropic', credentials: 'caller' }],
    [undefined, 'openai-responses', { provider: 'openai', credentials: 'instar' }],
    ['cli', 'openai-chat', { wires: [], credentials: 'instar' }],
  ] as const)('for %s on %s', (model, wire, expected) => {
    expect(findTarget(config, model, wire)).toMatchObject(expected);
  });
});
