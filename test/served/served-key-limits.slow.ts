import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { runInProcess } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { type Provider, startProvider } from '../support/provider.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 50 };
const USED = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 };

let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;

beforeAll(async () => {
  provider = await startProvider(({ body }, response) => {
    const { model } = JSON.parse(body.toString());
    const message = { role: 'assistant', content: 'Done.' };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        id: 'r',
        model,
        choices: [{ index: 0, finish_reason: 'stop', message }],
        usage: USED,
      }),
    );
  });
  const entry = { wire: 'openai-chat', baseUrl: `${provider.url}/v1` };
  home = makeHome({
    // A token costs ten cents.
    providers: { dear: { ...entry, price: { input: 1e5, output: 1e5 } }, cheap: entry },
    models: { default: 'dear/large', evolver: 'off', judge: 'off' },
  });
  daemon = await startDaemon(home.dir);
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

const keys = (...args: string[]) =>
  runInProcess(['team', 'keys', ...args, '--home', home.dir], { COLUMNS: '200' });
const createKey = async (name: string, ...limits: string[]): Promise<string> =>
  (await keys('create', name, ...limits)).stdout.split('\n')[0]?.trim() ?? '';
const chat = (key: string) =>
  ask(daemon.port, {
    path: '/v1/chat/completions',
    body: JSON.stringify({ model: 'default', messages: [{ role: 'user', content: 'Sort the rows' }] }),
    headers: { 'x-instar-key': key, 'x-instar-agent': 'app' },
  });
const modelAsked = (): unknown => JSON.parse(provider.seen.at(-1)?.body.toString() ?? '{}').model;
const usedOf = async (name: string): Promise<unknown> => {
  const listed: readonly JsonObject[] = JSON.parse((await keys('list', '--json')).stdout);
  const limits = listed.findLast((key) => key.name === name)?.limits;
  return Array.isArray(limits) ? limits.map(({ used }) => used) : limits;
};
const metrics = async (): Promise<string> => {
  const headers = { authorization: `Bearer ${daemon.ownerKey}` };
  return (await ask(daemon.port, { method: 'GET', path: '/metrics', headers })).text;
};

describe('a key with limits', () => {
  it('answers 429 with Retry-After and says whose budget it is, at any number of requests at once; other keys go on', async () => {
    const app = await createKey('app', '--limit', '3 requests/minute');
    const answers = await Promise.all(Array.from({ length: 20 }, () => chat(app)));
    const refused = answers.filter(({ status }) => status === 429);
    // The minute may end meanwhile.
    expect(answers.length - refused.length).toBeGreaterThanOrEqual(3);
    expect(answers.length - refused.length).toBeLessThanOrEqual(6);
    const [first] = refused;
    expect(Number(first?.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(Number(first?.headers['retry-after'])).toBeLessThanOrEqual(60);
    expect(JSON.parse(first?.text ?? '{}').error).toMatchObject({
      message: expect.stringMatching(/^The key "app" has used its 3 requests a minute\. Try again in \d+ s/),
      code: 'key_limit',
    });
    expect((await chat(daemon.key)).status).toBe(200);
  });

  it('lets the last request pass its tokens of the day, and then the cheaper model answers; a restart gives no second day', async () => {
    const job = await createKey('job', '--limit', '100 tokens/day', '--fallback', 'cheap/small');
    for (const used of [60, 120]) {
      expect((await chat(job)).status).toBe(200);
      expect(modelAsked()).toBe('large');
      await vi.waitFor(async () => expect(await usedOf('job')).toEqual([used]), SOON);
    }
    const cheaper = await chat(job);
    expect(cheaper.headers['x-instar-fallback']).toBe('cheap/small');
    expect(modelAsked()).toBe('small');
    expect((await keys('list')).stdout).toContain('job: 120 of 100 tokens a day, then cheap/small');
    expect(await metrics()).toContain('instar_key_used{key="job",of="tokens",per="day"} 120');

    daemon.child.kill('SIGKILL');
    await daemon.exited;
    daemon = await startDaemon(home.dir);
    expect((await chat(job)).headers['x-instar-fallback']).toBe('cheap/small');
  });

  it('counts dollars, ends with 429 without a fallback, and goes on when the owner raises or removes the limit', async () => {
    const spender = await createKey('spender', '--limit', '$5/day');
    expect((await chat(spender)).status).toBe(200);
    await vi.waitFor(async () => expect(await usedOf('spender')).toEqual([6]), SOON);
    const refused = await chat(spender);
    expect(refused.status).toBe(429);
    expect(refused.text).toContain('has used its $5.00 a day. Try again after midnight');
    expect((await keys('set', 'spender', '--limit', '$10/day')).stdout).toContain('$6.00 of $10.00 a day');
    expect((await chat(spender)).status).toBe(200);
    await keys('set', 'spender', '--no-limit');
    for (let nth = 0; nth < 3; nth++) expect((await chat(spender)).status).toBe(200);
  });

  it('may be the first key, in whose place a new one is under the same limits', async () => {
    const first = daemon.key;
    expect((await keys('set', 'key', '--limit', '100 tokens/day')).stdout).toContain(
      'It may use 100 tokens a day.',
    );
    // What it used before it had a limit counts.
    expect((await chat(first)).status).toBe(200);
    await vi.waitFor(async () => expect(await usedOf('key')).toEqual([120]), SOON);
    const refused = await chat(first);
    expect(refused.status).toBe(429);
    expect(refused.text).toContain('The key \\"key\\" has used its 100 tokens a day');
    expect((await keys('list')).stdout).toContain('key: 120 of 100 tokens a day');
    expect(await metrics()).toContain('instar_key_used{key="key",of="tokens",per="day"} 120');
    expect((await keys('set', 'key', '--apart')).stderr).toContain('The first key is your own.');

    await keys('revoke', 'key');
    const next = readFileSync(path.join(home.dir, 'key'), 'utf8').trim();
    expect(next).not.toBe(first);
    expect((await keys('list')).stdout).toContain('key: 100 tokens a day');
    expect((await keys('set', 'key', '--no-limit')).stdout).not.toContain('tokens a day');
    await vi.waitFor(async () => expect((await chat(next)).status).toBe(200), SOON);
  });

  it('may be a member, all of whose keys count together, also after a restart; the owner sees it on the page, the others do not', async () => {
    const members = (...args: string[]) =>
      runInProcess(['team', 'members', ...args, '--home', home.dir], { COLUMNS: '200' });
    const keyOf = async (...args: string[]) => (await members(...args)).stdout.split('\n')[0]?.trim() ?? '';
    const ada = await keyOf('add', 'ada');
    const bob = await keyOf('add', 'bob');
    const laptop = await keyOf('key', 'ada', 'laptop');
    const phone = await keyOf('key', 'ada', 'phone');
    const wrong = await members('limit', 'ada', '--limit', 'lots');
    expect(wrong.stderr).toContain('60 requests/minute');
    const set = await members('limit', 'ada', '--limit', '100 tokens/day', '--fallback', 'cheap/small');
    expect(set.stdout).toBe('ada: 100 tokens a day; then cheap/small.\n');
    for (const [key, used] of [
      [laptop, 60],
      [phone, 120],
    ] as const) {
      expect((await chat(key)).headers['x-instar-fallback']).toBeUndefined();
      await vi.waitFor(async () => expect(await usedOf('ada')).toEqual([used]), SOON);
    }
    for (const key of [laptop, phone])
      expect((await chat(key)).headers['x-instar-fallback']).toBe('cheap/small');
    expect((await chat(bob)).headers['x-instar-fallback']).toBeUndefined();
    expect((await members('list')).stdout).toMatch(/ada .*\d+ of 100 tokens a day; then cheap\/small/);
    expect(await metrics()).toMatch(/instar_key_used\{key="ada",of="tokens",per="day"\} \d+/);
    const asked = async (key: string, who: object) => {
      const path = '/api/members/list';
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      return (await ask(daemon.port, { path, headers, body: JSON.stringify(who) })).text;
    };
    expect(await asked(ada, {})).toContain('100 tokens a day');
    expect(await asked(bob, {})).not.toContain('100 tokens a day');
    const own = await ask(daemon.port, {
      path: '/api/members/limit',
      headers: { authorization: `Bearer ${ada}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'ada', limits: [] }),
    });
    expect(own.text).toContain('Only an owner');

    daemon.child.kill('SIGKILL');
    await daemon.exited;
    daemon = await startDaemon(home.dir);
    expect((await chat(phone)).headers['x-instar-fallback']).toBe('cheap/small');
    await members('limit', 'ada', '--no-limit');
    expect((await chat(phone)).headers['x-instar-fallback']).toBeUndefined();
  });

  it('is refused with what to write where a limit or a fallback cannot be read', async () => {
    for (const wrong of ['lots', '5 apples/day', '-1 requests/minute', '1.5 requests/day', '$5/year']) {
      const done = await keys('create', 'wrong', '--limit', wrong);
      expect([wrong, done.code, done.stderr.includes('60 requests/minute')]).toEqual([wrong, 1, true]);
    }
    const fallback = await keys('create', 'wrong', '--limit', '$5/day', '--fallback', 'nobody/m');
    expect(fallback).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('"nobody/m" is no provider/model'),
    });
  });
});
