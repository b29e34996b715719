import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { ChatModel } from '../../src/core/chat.ts';
import { systemClock } from '../../src/core/clock.ts';
import { defaultRetryRule } from '../../src/core/retry.ts';
import type { Access, Target } from '../../src/core/upstream.ts';
import { WIRE_NAMES, type WireName } from '../../src/core/wire.ts';
import { createCatalogue, type Provider } from '../../src/models/catalogue.ts';
import { createExchange } from '../../src/models/exchange.ts';
import { createScriptedModel, createWelcomeModel } from '../../src/models/scripted-model.ts';
import { runsOf } from '../support/counts.ts';
import { plainWires } from './plain-wire.ts';
import { collect, createSignal, REPLY, REQUEST, sendEvents, sendJson, startProvider } from './provider.ts';

const pool = createExchange({
  timeouts: { connectMs: 5_000, headersMs: 20_000, firstByteMs: 20_000, idleMs: 20_000 },
});
afterAll(() => pool.close());

const OPEN: Access = { kind: 'open' };
const OPENAI: Provider = {
  name: 'openai',
  wires: ['openai-chat', 'openai-responses'],
  baseUrl: 'https://api.openai.com/v1',
  access: OPEN,
};
const CLAUDE: Provider = {
  name: 'claude',
  wires: ['anthropic'],
  baseUrl: 'https://api.anthropic.com',
  access: OPEN,
};
const ROUTER: Provider = {
  name: 'router',
  wires: ['openai-chat'],
  baseUrl: 'https://openrouter.ai/api/v1',
  access: OPEN,
  models: ['meta/llama', 'free'],
};
const LOCAL: Provider = {
  name: 'ollama',
  wires: ['openai-chat', 'anthropic'],
  baseUrl: 'http://127.0.0.1:11434/v1',
  access: OPEN,
  models: ['qwen3', 'gemma3'],
  onlyListed: true,
};

const createOf = (
  providers: readonly Provider[],
  aliases: Record<string, readonly string[]> = {},
  commands: Record<string, ChatModel> = {},
) =>
  createCatalogue({
    providers,
    aliases,
    commands,
    welcome: createWelcomeModel(),
    exchange: pool.exchange,
    wires: plainWires,
    clock: systemClock,
    retry: { rule: defaultRetryRule, random: () => 0, sleep: () => Promise.resolve() },
  });

/** `provider/model` of each target; `*` is the caller's own name. */
const names = (targets: readonly Target[]) =>
  targets.map(({ provider, model }) => `${provider}/${model ?? '*'}`);

describe('a model name', () => {
  const aliases = {
    default: ['openai/gpt', 'claude/opus', 'router/free'],
    fast: ['router/free', 'openai/mini'],
  };
  const { resolve } = createOf([OPENAI, CLAUDE, ROUTER], aliases);

  it.each([
    ['an alias stands for its list', 'fast', 'anthropic', ['router/free', 'openai/mini']],
    ['provider/rest is that provider’s rest', 'claude/haiku', 'openai-chat', ['claude/haiku']],
    ['the rest may hold slashes', 'router/openai/gpt', 'anthropic', ['router/openai/gpt']],
    ['a listed model is its provider’s', 'meta/llama', 'anthropic', ['router/meta/llama']],
    [
      'an unknown name stays with the default’s provider',
      'gpt-x',
      'openai-chat',
      ['openai/*', 'claude/opus', 'router/free'],
    ],
    [
      'another wire of that provider is as good',
      'gpt-x',
      'openai-responses',
      ['openai/*', 'claude/opus', 'router/free'],
    ],
    [
      'or with the first provider of the caller’s wire',
      'claude-x',
      'anthropic',
      ['claude/*', 'openai/gpt', 'claude/opus', 'router/free'],
    ],
    ['no name is the default', undefined, 'anthropic', ['openai/gpt', 'claude/opus', 'router/free']],
    ['nor is an empty one', '', 'openai-chat', ['openai/gpt', 'claude/opus', 'router/free']],
    ['a provider alone is no model', 'openai/', 'openai-chat', ['openai/*', 'claude/opus', 'router/free']],
    ['a leading slash names no provider', '/gpt', 'openai-chat', ['openai/*', 'claude/opus', 'router/free']],
  ] as const)('%s', (_rule, requested, wire, expected) => {
    expect(names(resolve(requested, wire))).toEqual(expected);
  });

  it('that no provider of the wire accepts resolves to the default', () => {
    const chatOnly = createOf([ROUTER], { default: ['router/free'] });
    expect(names(chatOnly.resolve('claude-x', 'anthropic'))).toEqual(['router/free']);
  });

  it('without a default resolves to the first known model', () => {
    expect(names(createOf([ROUTER, CLAUDE]).resolve('gpt-x', 'openai-responses'))).toEqual([
      'router/meta/llama',
    ]);
    expect(names(createOf([OPENAI, ROUTER]).resolve(undefined, 'openai-chat'))).toEqual([
      'router/meta/llama',
    ]);
  });

  it('without any known model is unchanged', () => {
    expect(names(createOf([CLAUDE]).resolve('gpt-x', 'openai-chat'))).toEqual(['claude/*']);
  });

  it('that a local server lacks is not requested there (a client’s fixed name still gets an answer)', () => {
    const { resolve: ask } = createOf([LOCAL], { default: ['ollama/qwen3'] });
    expect(names(ask('claude-opus', 'anthropic'))).toEqual(['ollama/qwen3']);
    expect(names(ask('gemma3', 'anthropic'))).toEqual(['ollama/gemma3']);
    expect(names(ask('ollama/new', 'anthropic'))).toEqual(['ollama/new']);
    expect(names(createOf([LOCAL]).resolve('claude-opus', 'anthropic'))).toEqual(['ollama/qwen3']);
  });

  it('of an unknown provider in an alias is skipped', () => {
    const { resolve: ask } = createOf([ROUTER], { default: ['gone/x', 'router/free'], lost: ['gone/x'] });
    expect(names(ask('default', 'openai-chat'))).toEqual(['router/free']);
    expect(names(ask('lost', 'anthropic'))).toEqual(['router/free']);
  });

  it('without any provider resolves to the welcome model, without a key and without upstreams', async () => {
    const [target, ...rest] = createOf([]).resolve('gpt', 'openai-chat');
    expect(rest).toEqual([]);
    expect(target).toMatchObject({ provider: 'instar', access: { kind: 'open' }, upstreams: [] });
    const events = target && (await collect(target.chat(REQUEST, { signal: createSignal() })));
    expect(events?.[0]).toMatchObject({ model: 'instar/welcome' });
  });

  it('of a command resolves to that program and requires Instar’s key (it spends its user’s money)', async () => {
    const judge = createScriptedModel(() => REPLY);
    const { resolve: ask, list } = createOf([ROUTER], { default: ['router/free'] }, { judge });
    const [target, ...rest] = ask('judge', 'anthropic');
    expect(target).toMatchObject({
      provider: 'command',
      model: 'judge',
      access: { kind: 'own' },
      upstreams: [],
    });
    expect(rest).toEqual([]);
    expect(target && (await collect(target.chat(REQUEST, { signal: createSignal() })))).toEqual(REPLY);
    expect(list()).toContainEqual({ id: 'judge', provider: 'command' });
    expect(list().map(({ id }) => id)).not.toContain('command/judge');
  });

  it('resolves to a command if that is the default, unless a provider speaks the caller’s wire', () => {
    const commands = { default: createScriptedModel(() => REPLY) };
    expect(names(createOf([], {}, commands).resolve('x', 'anthropic'))).toEqual(['command/default']);
    expect(createOf([], {}, commands).list()).toEqual([{ id: 'default', provider: 'command' }]);
    const { resolve: ask } = createOf([{ ...ROUTER, name: 'command' }], {}, commands);
    expect(names(ask('x', 'openai-chat'))).toEqual(['command/*', 'command/default']);
    expect(names(ask('x', 'anthropic'))).toEqual(['command/default']);
  });

  it('like __proto__ or constructor is a name like any other', () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      expect(names(resolve(name, 'openai-chat'))[0]).toBe('openai/*');
    }
  });
});

describe('resolve, with any configuration', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'default', 'x/y', 'a/x', 'b/x/y', '__proto__', '/', 'a/');
  const word = fc.oneof(name, fc.constant(''));
  const house = fc.record({
    providers: fc.uniqueArray(
      fc.record({
        name: fc.constantFrom('a', 'b', 'c'),
        wires: fc.uniqueArray(fc.constantFrom(...WIRE_NAMES), { minLength: 1 }),
        models: fc.option(fc.array(name), { nil: undefined }),
        onlyListed: fc.boolean(),
      }),
      { selector: (provider) => provider.name, maxLength: 3 },
    ),
    aliases: fc.dictionary(name, fc.array(word)),
    requested: fc.option(word, { nil: undefined }),
    wire: fc.constantFrom<WireName>(...WIRE_NAMES),
  });

  it('is never empty, is repeatable, and keeps the caller’s name only at a provider of its wire', () => {
    fc.assert(
      fc.property(house, ({ providers, aliases, requested, wire }) => {
        const catalogue = createOf(
          providers.map(({ models, ...rest }) => ({
            ...rest,
            baseUrl: 'http://127.0.0.1:1',
            access: OPEN,
            ...(models === undefined ? {} : { models }),
          })),
          aliases,
        );
        const targets = catalogue.resolve(requested, wire);
        expect(targets.length).toBeGreaterThan(0);
        expect(names(catalogue.resolve(requested, wire))).toEqual(names(targets));
        expect(targets.some(({ provider }) => provider === 'instar')).toBe(providers.length === 0);
        const someModelIsKnown = providers.some(({ models }) => models?.[0] !== undefined);
        for (const { model, upstreams } of targets.filter(() => someModelIsKnown)) {
          if (model === undefined) expect(upstreams.map((upstream) => upstream.wire)).toContain(wire);
        }
        for (const { id, provider } of catalogue.list()) {
          if (provider !== 'instar') expect(catalogue.resolve(id, wire)[0]?.provider).toBe(provider);
        }
      }),
      runsOf(100, 300),
    );
  });
});

describe('list', () => {
  it('has every alias and every known model once, by the name that resolves to it', () => {
    const aliases = { default: ['openai/gpt', 'router/free'], gone: ['nobody/x'] };
    expect(createOf([OPENAI, ROUTER], aliases).list()).toEqual([
      { id: 'default', provider: 'openai' },
      { id: 'openai/gpt', provider: 'openai' },
      { id: 'router/free', provider: 'router' },
      { id: 'router/meta/llama', provider: 'router' },
    ]);
  });

  it('has the welcome model when there is no provider', () => {
    expect(createOf([]).list()).toEqual([{ id: 'instar/welcome', provider: 'instar' }]);
  });
});

describe('a target', () => {
  it('has an upstream for each of its provider’s wires', () => {
    const both: Provider = { ...CLAUDE, wires: ['openai-chat', 'anthropic'], baseUrl: 'https://host/x' };
    expect(createOf([both]).resolve('claude/m', 'anthropic')[0]?.upstreams).toEqual([
      { wire: 'openai-chat', origin: 'https://host', basePath: '/x' },
      { wire: 'anthropic', origin: 'https://host', basePath: '/x/v1' },
    ]);
  });

  it.each([
    [['openai-responses', 'anthropic', 'openai-chat'], '/x/talk', false],
    [['openai-responses', 'anthropic'], '/x/v1/talk', true],
    [['openai-responses'], '/x/talk', false],
  ] as const)('of %j is translated to the plainest of them', async (wires, path, isAnthropic) => {
    const provider = await startProvider(sendEvents(REPLY));
    const access: Access = { kind: 'own', credentials: () => ({ authorization: 'Bearer k' }) };
    const { resolve } = createOf([{ name: 'p', wires, baseUrl: `${provider.origin}/x`, access }]);
    const [target] = resolve('p/some/model', 'anthropic');
    expect(target && (await collect(target.chat(REQUEST, { signal: createSignal() })))).toEqual(REPLY);
    const [sent] = provider.received;
    expect(sent?.path).toBe(path);
    expect('anthropic-version' in (sent?.headers ?? {})).toBe(isAnthropic);
    expect(sent?.headers.authorization).toBe('Bearer k');
    expect(JSON.parse(sent?.body ?? '')).toMatchObject({ model: 'some/model' });
  });

  it('retries by itself', async () => {
    const provider = await startProvider(sendJson(503, { error: 'busy' }), sendEvents(REPLY));
    const { resolve } = createOf([{ ...ROUTER, baseUrl: provider.origin }]);
    const [target] = resolve('free', 'openai-chat');
    expect(target && (await collect(target.chat(REQUEST, { signal: createSignal() })))).toEqual(REPLY);
    expect(provider.received).toHaveLength(2);
  });
});

describe('a provider entry that cannot be used', () => {
  it('is refused with its name, and without what may be a secret', () => {
    expect(() => createOf([{ ...ROUTER, wires: [] }])).toThrow('Provider "router" has no wire');
    expect(() => createOf([{ ...ROUTER, baseUrl: 'https://u:hunter2@host' }])).toThrow(
      /^Provider "router": .*credentials/,
    );
    expect(() => createOf([{ ...ROUTER, baseUrl: 'https://u:hunter2@host' }])).not.toThrow(/hunter2/);
  });
});
