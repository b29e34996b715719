import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { discoverLocal, parseOllamaHost } from '../../src/models/discover-local.ts';
import { runsOf } from '../support/counts.ts';
import { openExchange, type Reply, sendJson, startProvider } from './provider.ts';

const list = (...ids: readonly unknown[]): Reply =>
  sendJson(200, { object: 'list', data: ids.map((id) => ({ id })) });
/** A port where nothing listens. */
const NOBODY = 1;

const discover = (ports: { ollama?: number; lmstudio?: number }, env = {}, timeoutMs = 25_000) =>
  discoverLocal({
    exchange: openExchange(),
    env,
    timeoutMs,
    ports: { ollama: NOBODY, lmstudio: NOBODY, ...ports },
  });

describe('discoverLocal', () => {
  it('finds both servers with their chat models', async () => {
    const ollama = await startProvider(list('qwen3:8b', 'nomic-embed-text', 'qwen3:8b'));
    const studio = await startProvider(list('text-embedding-nomic', 'google/gemma-3-12b'));
    expect(await discover({ ollama: ollama.port, lmstudio: studio.port })).toEqual([
      { name: 'ollama', baseUrl: `${ollama.origin}/v1`, models: ['qwen3:8b'] },
      { name: 'lmstudio', baseUrl: `${studio.origin}/v1`, models: ['google/gemma-3-12b'] },
    ]);
    expect(ollama.received[0]).toMatchObject({ method: 'GET', path: '/v1/models' });
  });

  it('finds nothing where nothing listens', async () => {
    expect(await discover({})).toEqual([]);
  });

  it('uses the address in OLLAMA_HOST', async () => {
    const ollama = await startProvider(list('m'));
    expect(await discover({}, { OLLAMA_HOST: `0.0.0.0:${ollama.port}` })).toEqual([
      { name: 'ollama', baseUrl: `${ollama.origin}/v1`, models: ['m'] },
    ]);
  });

  it('finds an Ollama that has no models yet', async () => {
    const ollama = await startProvider(sendJson(200, { object: 'list', data: null }));
    expect(await discover({ ollama: ollama.port })).toMatchObject([{ name: 'ollama', models: [] }]);
  });

  it.each([
    ['a page', (response) => response.end('<html>router</html>')],
    ['an error', sendJson(500, { data: [{ id: 'm' }] })],
    ['a redirect', (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
    ['other JSON', sendJson(200, { hello: 'world' })],
    ['a list at the top', sendJson(200, [{ id: 'm' }])],
    ['a megabyte and more', (response) => response.end(`{"data":[${' '.repeat(2_000_000)}]}`)],
    ['half a reply', (response) => response.write('{"data":[', () => response.socket?.destroy())],
  ] satisfies [string, Reply][])('ignores a server that answers with %s', async (_what, reply) => {
    const other = await startProvider(reply);
    const studio = await startProvider(list('m'));
    const found = await discover({ ollama: other.port, lmstudio: studio.port });
    expect(found.map(({ name }) => name)).toEqual(['lmstudio']);
  });

  it('drops invalid model names', async () => {
    const ollama = await startProvider(
      list('good', 7, null, '', 'with space', 'esc\u001b[31m', 'x'.repeat(300)),
    );
    expect(await discover({ ollama: ollama.port })).toMatchObject([{ models: ['good'] }]);
  });

  it('ignores a server that is silent before its head or in its body', async () => {
    const silent = await startProvider(() => undefined);
    const halting = await startProvider((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"data":');
    });
    expect(await discover({ ollama: silent.port, lmstudio: halting.port }, {}, 50)).toEqual([]);
  });
});

describe('OLLAMA_HOST', () => {
  it.each([
    [undefined, 'http://127.0.0.1:11434'],
    ['', 'http://127.0.0.1:11434'],
    ['  ', 'http://127.0.0.1:11434'],
    ['0.0.0.0', 'http://127.0.0.1:11434'],
    ['0.0.0.0:8080', 'http://127.0.0.1:8080'],
    [':8080', 'http://127.0.0.1:8080'],
    ['box', 'http://box:11434'],
    ['box:8080', 'http://box:8080'],
    ['box:80', 'http://box'],
    ['box/', 'http://box:11434'],
    ['"box:8080"', 'http://box:8080'],
    [" 'box' ", 'http://box:11434'],
    ['192.168.1.7', 'http://192.168.1.7:11434'],
    ['http://box', 'http://box'],
    ['http://box:8080/', 'http://box:8080'],
    ['https://box.example/ollama/', 'https://box.example/ollama'],
    ['http://0.0.0.0:11434', 'http://127.0.0.1:11434'],
    ['[::]:9', 'http://[::1]:9'],
    ['[::1]', 'http://[::1]:11434'],
    ['::1', 'http://[::1]:11434'],
    ['::', 'http://[::1]:11434'],
    ['http://user:pass@box:1', 'http://box:1'],
    ['box:notaport', 'http://127.0.0.1:11434'],
    ['box:99999', 'http://127.0.0.1:11434'],
    ['two words', 'http://127.0.0.1:11434'],
    ['ftp://box', 'http://127.0.0.1:11434'],
  ])('%j means %s', (value, expected) => {
    expect(parseOllamaHost(value)).toBe(expected);
  });

  it('always results in a valid URL, whatever it contains', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.webUrl(), fc.ipV6(), fc.domain()), (value) => {
        const url = new URL(`${parseOllamaHost(value)}/v1/models`);
        expect(url.protocol).toMatch(/^https?:$/);
        expect(url.hostname).not.toBe('0.0.0.0');
        expect(url.username + url.password + url.search + url.hash).toBe('');
      }),
      runsOf(170, 500),
    );
  });
});
