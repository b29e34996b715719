import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../src/core/clock.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { PROFILES } from '../../../train/tinker/profiles.ts';
import { FAST, withScripted } from './connect-scripted.ts';

const signal = new AbortController().signal;
const beating = { ...FAST, heartbeatMs: 5, silenceMs: 0 };

describe('a session', () => {
  it('sends heartbeats while it is open and not after', async () => {
    await withScripted(
      {},
      async ({ engine, server }) => {
        await expect
          .poll(() => server.ofRoute('session_heartbeat').length, { timeout: 100_000 })
          .toBeGreaterThan(3);
        await engine.close();
        const beats = server.ofRoute('session_heartbeat').length;
        await new Promise((resolve) => setTimeout(resolve, 60));
        expect(server.ofRoute('session_heartbeat').length).toBeLessThanOrEqual(beats + 1);
        expect(server.ofRoute('session_heartbeat')[0]?.body.session_id).toBe('session-0');
      },
      { pace: beating },
    );
  });

  it('logs once that heartbeats fail, and once that they succeed again', async () => {
    let isDown = true;
    await withScripted(
      {
        fault: (route) =>
          route === 'session_heartbeat' && isDown ? { when: 'before', answer: { status: 503 } } : undefined,
      },
      async ({ server, lines }) => {
        await expect
          .poll(() => server.ofRoute('session_heartbeat').length, { timeout: 100_000 })
          .toBeGreaterThan(4);
        isDown = false;
        await expect.poll(() => lines.length, { timeout: 100_000 }).toBeGreaterThan(1);
        expect(lines).toEqual([expect.stringMatching(/no heartbeat succeeded/), 'heartbeats succeed again']);
      },
      { pace: beating },
    );
  });

  it('stops its heartbeats when the server has ended it', async () => {
    await withScripted(
      {
        fault: (route) =>
          route === 'session_heartbeat' ? { when: 'before', answer: { status: 410 } } : undefined,
      },
      async ({ server, lines }) => {
        await expect.poll(() => lines.length, { timeout: 100_000 }).toBe(1);
        await new Promise((resolve) => setTimeout(resolve, 40));
        expect(server.ofRoute('session_heartbeat')).toHaveLength(1);
        expect(lines[0]).toMatch(/session is over/);
      },
      { pace: beating },
    );
  });

  it('sends its key to the server and never to a log', async () => {
    await withScripted(
      {
        fault: (route) =>
          route === 'asample'
            ? { when: 'before', answer: { status: 400, body: { detail: 'no' } } }
            : undefined,
      },
      async ({ server, engine, lines }) => {
        const sampler = await engine.openSampler(undefined);
        const request = { prompt: [1], count: 1, maxTokens: 1, temperature: 1, stop: [] };
        const error = await sampler.sample(request, signal).catch((reason: Error) => reason);
        expect(server.seen.every(({ headers }) => headers['x-api-key'] === 'tml-secret')).toBe(true);
        expect(`${String(error)} ${lines.join()}`).not.toContain('tml-secret');
      },
      { key: 'tml-secret' },
    );
  });
});

describe('connecting', () => {
  it('refuses a key with characters not allowed in a header, without repeating it', async () => {
    const connecting = withScripted({}, async () => undefined, { key: 'tml-secret\n' });
    await expect(connecting).rejects.toMatchObject({
      category: 'user',
      message: expect.not.stringContaining('secret'),
    });
  });

  it('refuses a loss that the server lacks before it sends anything', async () => {
    const traits = { ...PROFILES.generic, losses: ['cross_entropy'] as const };
    const connecting = withScripted({}, async () => undefined, { profile: traits, losses: ['ppo'] });
    await expect(connecting).rejects.toMatchObject({ category: 'user', message: 'generic has no loss ppo' });
  });

  it('refuses a model that the server lacks, and names those it has', async () => {
    const capabilities = {
      status: 200,
      body: { supported_models: [{ model_name: 'qwen' }, { model_name: 'llama' }] },
    };
    const connecting = withScripted(
      {
        fault: (route) =>
          route === 'get_server_capabilities' ? { when: 'before', answer: capabilities } : undefined,
      },
      async () => undefined,
    );
    await expect(connecting).rejects.toMatchObject({
      category: 'user',
      message: expect.stringMatching(/no model any; it has qwen, llama/),
    });
  });

  it.each([
    ['json', 415, 'protobuf'],
    ['json', 422, 'protobuf'],
    ['json', 404, 'protobuf'],
    ['protobuf', 415, 'json'],
  ] as const)('speaks the other wire to a server that answers %s with %i', async (refused, status, taken) => {
    await withScripted(
      {
        fault: (route, _, body) => {
          const isTrain = route === 'forward' || route === 'forward_backward';
          const wire = Object.keys(body).length === 0 ? 'protobuf' : 'json';
          return isTrain && wire === refused
            ? { when: 'before', answer: { status, body: { detail: 'not this' } } }
            : undefined;
        },
      },
      async ({ engine, server }) => {
        expect(engine.profile.wire).toBe(taken);
        expect(server.effects.filter((effect) => effect.startsWith('forward'))).toHaveLength(1);
        expect(server.effects.at(-1)).toBe('unload_model/-');
      },
      { profile: { ...PROFILES.generic, wire: undefined } },
    );
  });

  it('names both reasons when a server takes neither wire format', async () => {
    const connecting = withScripted(
      {
        fault: (route) =>
          route.startsWith('forward')
            ? { when: 'before', answer: { status: 415, body: { detail: 'no' } } }
            : undefined,
      },
      async () => undefined,
      { profile: 'generic' },
    );
    await expect(connecting).rejects.toThrow(/neither format: json: no \(415\); protobuf: no \(415\)/);
  });
});

/** As a server would: three parts, the middle one says how long it lasts. */
const tokenLasting = (seconds: number, name: string): string =>
  `eyJ.${Buffer.from(JSON.stringify({ iat: 1_000, exp: 1_000 + seconds })).toString('base64url')}.${name}`;

describe('a server that exchanges the key for tokens', () => {
  const settings: JsonObject = { pjwt_auth_enabled: true };
  const answer = (body: JsonObject) => ({ when: 'before', answer: { status: 200, body } }) as const;

  it('gets the key at auth/token alone, and the token with everything else', async () => {
    const token = tokenLasting(3_600, 'first');
    await withScripted(
      {
        fault: (route) =>
          route === 'client/config'
            ? answer(settings)
            : route === 'auth/token'
              ? answer({ jwt: token })
              : undefined,
      },
      async ({ server, engine, lines }) => {
        await engine.createModel({ rank: 4 });
        const keysOf = (routes: readonly string[], isIn: boolean) =>
          new Set(
            server.seen
              .filter(({ route }) => routes.includes(route) === isIn)
              .map(({ headers }) => headers['x-api-key']),
          );
        const before = ['client/config', 'auth/token'];
        expect(keysOf(before, true)).toEqual(new Set(['tml-secret']));
        expect(keysOf(before, false)).toEqual(new Set([token]));
        expect(server.ofRoute('auth/token')).toHaveLength(1);
        expect(server.ofRoute('create_model')).toHaveLength(1);
        expect(lines.join()).not.toContain(token);
      },
      { key: 'tml-secret' },
    );
  });

  it('gets the request again with a new token when it no longer takes the old one', async () => {
    let count = 0;
    let isRevoked = false;
    await withScripted(
      {
        fault: (route) => {
          if (route === 'client/config') return answer(settings);
          if (route === 'auth/token') return answer({ jwt: tokenLasting(3_600, `t${++count}`) });
          if (route !== 'create_sampling_session' || isRevoked) return undefined;
          isRevoked = true;
          return { when: 'before', answer: { status: 401, body: { detail: 'Invalid JWT' } } };
        },
      },
      async ({ server, engine }) => {
        await engine.openSampler(undefined);
        const sent = server.ofRoute('create_sampling_session').map(({ headers }) => headers['x-api-key']);
        expect(sent).toEqual([tokenLasting(3_600, 't1'), tokenLasting(3_600, 't2')]);
      },
      { key: 'tml-secret' },
    );
  });

  it('is asked for a new token before the old one ends', async () => {
    let count = 0;
    const clock = createManualClock();
    await withScripted(
      {
        fault: (route) =>
          route === 'client/config'
            ? answer(settings)
            : route === 'auth/token'
              ? answer({ jwt: tokenLasting(3_600, `t${++count}`) })
              : undefined,
      },
      async ({ server, engine }) => {
        await engine.openSampler(undefined);
        clock.advance(3_200_000);
        await engine.openSampler(undefined);
        clock.advance(200_000);
        await engine.openSampler(undefined);
        const sent = server.ofRoute('create_sampling_session').map(({ headers }) => headers['x-api-key']);
        expect(sent).toEqual(['t1', 't1', 't2'].map((name) => tokenLasting(3_600, name)));
      },
      { key: 'tml-secret', clock },
    );
  });

  it('ends the connection at once when it does not take the key', async () => {
    const connecting = withScripted(
      {
        fault: (route) =>
          route === 'client/config'
            ? answer(settings)
            : route === 'auth/token'
              ? { when: 'before', answer: { status: 401, body: { detail: 'unknown key' } } }
              : undefined,
      },
      async () => undefined,
      { key: 'tml-secret' },
    );
    await expect(connecting).rejects.toThrow('unknown key');
  });
});

it('is sent typed settings of a loss only when its own settings show that it is as new as SDK 0.36', async () => {
  const typedTo = (config: JsonObject) =>
    withScripted(
      {
        fault: (route) =>
          route === 'client/config' ? { when: 'before', answer: { status: 200, body: config } } : undefined,
      },
      async ({ engine }) => engine.profile.readsTypedConfig,
    );
  expect(await typedTo({ parallel_fwdbwd_chunks: true })).toBe(false);
  expect(await typedTo({ custom_loss_server_side: false })).toBe(true);
});
