import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { wholeReply } from '../support/samples.ts';

/** Clears a terminal, colours it, begins a line of its own, and turns the direction of the text. */
const HOSTILE = 'gpt\n✔ approved\u001b[2J\u001b[31m\u009b1m\u202e';
let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;

beforeAll(async () => {
  provider = await startProvider(({ body }, response) => {
    const isRefused = body.includes('refuse me');
    response.writeHead(isRefused ? 404 : 200, { 'content-type': 'application/json' });
    const error = { message: `There is no ${HOSTILE}`, type: 'invalid_request_error' };
    response.end(isRefused ? JSON.stringify({ error }) : wholeReply('openai-chat'));
  });
  home = makeHome({
    providers: { p: { wire: 'openai-chat', baseUrl: `${provider.url}/v1`, keyEnv: 'P_KEY' } },
  });
  daemon = await startDaemon(home.dir, [], { P_KEY: 'sk-1' });
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

/** Every text in a value, names of members included. */
function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [name, ...textsOf(member)]);
}
const owner = (path: string) =>
  ask(daemon.port, { method: 'GET', path, headers: { authorization: `Bearer ${daemon.ownerKey}` } });
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

describe('names of models that callers choose', () => {
  it('S15 are printable wherever the API, the metrics and the command line show them (newline and ESC were raw in /api/learning)', async () => {
    const headers = { authorization: `Bearer ${daemon.key}`, 'x-instar-session': 'hostile' };
    for (const content of ['hello', 'refuse me']) {
      const body = JSON.stringify({ model: HOSTILE, messages: [{ role: 'user', content }] });
      await ask(daemon.port, { path: '/v1/chat/completions', headers, body });
    }
    const shown = 'gpt\\u{a}✔ approved\\u{1b}[2J';
    // Where the name is shown at all, it is shown so.
    for (const path of ['/api/learning', '/api/sessions/hostile'])
      await expect.poll(async () => textsOf(JSON.parse((await owner(path)).text)).join(' ')).toContain(shown);
    for (const path of ['/api/learning', '/api/status', '/api/sessions', '/api/sessions/hostile']) {
      const texts = textsOf(JSON.parse((await owner(path)).text));
      // What a provider answered may have several lines.
      const lines = texts.flatMap((text) => (text.startsWith('not-found: ') ? text.split('\n') : [text]));
      expect(lines.filter((line) => UNPRINTABLE.test(line))).toEqual([]);
    }
    expect((await owner('/metrics')).text.split('\n').filter((line) => UNPRINTABLE.test(line))).toEqual([]);
    for (const args of [['status'], ['sessions'], ['sessions', 'show', 'hostile'], ['cost']]) {
      const { stdout, stderr } = await runCli([...args, '--home', home.dir]);
      expect(`${stdout}${stderr}`.split('\n').filter((line) => UNPRINTABLE.test(line))).toEqual([]);
    }
  });
});
