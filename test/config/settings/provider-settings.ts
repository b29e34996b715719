import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { asArray, asObject } from '../../../src/core/json.ts';
import { ask } from '../../support/client.ts';
import { chatBody, type InstarHere, replyWith, type Stage } from './instar-here.ts';
import type { SettingProof, SettingProofs } from './setting-proof.ts';

const WIRES = ['openai', 'openai-chat', 'openai-responses', 'anthropic'] as const;
/** Where a question to `/v1/chat/completions` and one to `/v1/responses` arrive, by the wire of the entry. */
const ARRIVES: Readonly<Record<(typeof WIRES)[number], readonly string[]>> = {
  openai: ['/chat/completions', '/responses'],
  'openai-chat': ['/chat/completions', '/chat/completions'],
  'openai-responses': ['/responses', '/responses'],
  anthropic: ['/messages', '/messages'],
};

/** Programs of a few lines in place of the agents that cost money. */
const PROGRAMS = {
  claude: `process.stdout.write(JSON.stringify({ type: 'result', subtype: 'success', is_error: false, num_turns: 1, result: 'said claude' }) + '\\n');`,
  codex: [
    { type: 'thread.started', thread_id: 't1' },
    { type: 'turn.started' },
    { type: 'item.completed', item: { id: 'item_0', type: 'agent_message', text: 'said codex' } },
    { type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 1 } },
  ]
    .map((event) => `process.stdout.write(${JSON.stringify(`${JSON.stringify(event)}\n`)});`)
    .join('\n'),
} as const;

export function createProviderProofs(stage: Stage): SettingProofs {
  const provider = () =>
    stage.provider('providers', (request, response) => {
      if (chatBody(request).model === 'good') return replyWith(response, 'good');
      // A wrong request is not sent to another model; an overloaded provider's is.
      const status = chatBody(request).model === 'bad' ? 503 : 400;
      response.writeHead(status, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');
    });
  const open = async (): Promise<InstarHere> => {
    const { url } = await provider();
    const at = (name: string, more: object): object => ({
      baseUrl: `${url}/${name}/v1`,
      keyEnv: 'KEY_A',
      ...more,
    });
    const bin = stage.folder();
    for (const [name, program] of Object.entries(PROGRAMS)) {
      writeFileSync(
        path.join(bin, name),
        `#!${process.execPath}\nrequire('node:fs').readFileSync(0);\n${program}\n`,
      );
      chmodSync(path.join(bin, name), 0o755);
    }
    const config = {
      providers: {
        ...Object.fromEntries(WIRES.map((wire) => [wire, at(wire, { wire })])),
        ...Object.fromEntries(WIRES.map((wire) => [`${wire}-list`, at(`${wire}-list`, { wire: [wire] })])),
        named: at('named', { wire: 'openai-chat', keyEnv: 'KEY_B', models: ['one', 'two'] }),
        writer: at('writer', { wire: 'openai-chat', toolCalls: 'text' }),
        caller: at('caller', { wire: 'openai-chat', toolCalls: 'native' }),
        mixed: at('mixed', { wire: 'openai-chat', toolCalls: { small: 'text', large: 'native' } }),
        filed: { wire: 'openai-chat', baseUrl: `${url}/filed/v1`, keyFile: 'keys/provider.txt' },
      },
      models: {
        fast: 'named/good',
        safe: ['openai-chat/bad', 'named/good'],
        claude: { command: 'claude' },
        codex: { command: 'codex' },
      },
    };
    return stage.open('providers', config, {
      env: { KEY_A: 'k-aaaaaaaaaaaa', KEY_B: 'k-bbbbbbbbbbbb', PATH: bin, HOME: bin },
      prepare: (dir) => {
        mkdirSync(path.join(dir, 'keys'), { mode: 0o700 });
        writeFileSync(path.join(dir, 'keys/provider.txt'), 'k-cccccccccccc\n', { mode: 0o600 });
      },
    });
  };
  /** The last request that the provider saw. */
  const arrival = async (model: string, where = '/v1/chat/completions', more: object = {}) => {
    const here = await open();
    const { seen } = await provider();
    const before = seen.length;
    const input = where.endsWith('responses') ? { input: 'hello' } : {};
    await ask(here.port, {
      path: where,
      headers: { authorization: `Bearer ${here.key}` },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }], ...input, ...more }),
    });
    const last = seen.at(-1);
    expect(seen.length, 'the provider was asked').toBeGreaterThan(before);
    if (last === undefined) throw new Error('the provider was not asked');
    return last;
  };
  const speaks = (name: string, wire: (typeof WIRES)[number]): SettingProof => ({
    acts: async () => {
      const paths = [];
      for (const where of ['/v1/chat/completions', '/v1/responses'])
        paths.push((await arrival(`${name}/m`, where)).url.replace(`/${name}/v1`, ''));
      expect(paths).toEqual(ARRIVES[wire]);
    },
  });
  const says = (alias: 'claude' | 'codex'): SettingProof => ({
    acts: async () => {
      const { status, text } = await (await open()).chat('hello', { model: alias });
      expect([status, text]).toEqual([200, expect.stringContaining(`said ${alias}`)]);
    },
  });
  /** How a tool that the client offers arrives at the provider. */
  const offers = (model: string, how: 'native' | 'text'): SettingProof => ({
    acts: async () => {
      const tools = [{ type: 'function', function: { name: 'bash', parameters: { type: 'object' } } }];
      const sent = JSON.parse((await arrival(model, undefined, { tools })).body.toString());
      expect([Array.isArray(sent.tools), JSON.stringify(sent.messages).includes('<tools>')]).toEqual(
        how === 'native' ? [true, false] : [false, true],
      );
    },
  });
  const key = async (model: string) => String((await arrival(model)).headers.authorization);

  return {
    ...Object.fromEntries(WIRES.map((wire) => [`providers.*.wire=${wire}`, speaks(wire, wire)])),
    ...Object.fromEntries(WIRES.map((wire) => [`providers.*.wire[]=${wire}`, speaks(`${wire}-list`, wire)])),
    'providers.*.baseUrl': {
      acts: async () => expect((await arrival('named/m')).url).toBe('/named/v1/chat/completions'),
    },
    'providers.*.keyEnv': {
      acts: async () =>
        expect([await key('openai-chat/m'), await key('named/m')]).toEqual([
          'Bearer k-aaaaaaaaaaaa',
          'Bearer k-bbbbbbbbbbbb',
        ]),
    },
    'providers.*.concurrency': {
      shownIn: 'test/jobs/provider-slots.test.ts',
      title: 'has at most as many calls of learning at a time as providers.NAME.concurrency says',
    },
    'providers.*.keyFile': { acts: async () => expect(await key('filed/m')).toBe('Bearer k-cccccccccccc') },
    'providers.*.models[]': {
      acts: async () => {
        const { port, key: own } = await open();
        const headers = { authorization: `Bearer ${own}` };
        const { text } = await ask(port, { method: 'GET', path: '/v1/models', headers });
        const ids = asArray(asObject(JSON.parse(text)).data).map((model) => asObject(model).id);
        expect(ids).toEqual(expect.arrayContaining(['named/one', 'named/two']));
      },
    },
    'providers.*.toolCalls=text': offers('writer/m', 'text'),
    'providers.*.toolCalls=native': offers('caller/m', 'native'),
    'providers.*.toolCalls.*=text': offers('mixed/small', 'text'),
    'providers.*.toolCalls.*=native': offers('mixed/large', 'native'),
    'models.*': {
      acts: async () => {
        const last = await arrival('fast');
        expect([last.url, chatBody(last).model]).toEqual(['/named/v1/chat/completions', 'good']);
      },
    },
    'models.*[]': {
      acts: async () => {
        const { status, headers } = await (await open()).chat('hello', { model: 'safe' });
        expect([status, headers['x-instar-policy']]).toEqual([200, 'named/good']);
      },
    },
    'models.*.command=claude': says('claude'),
    'models.*.command=codex': says('codex'),
  };
}
