import { afterAll, describe, expect, it, vi } from 'vitest';
import { createCallerKey } from '../../src/config/caller-keys.ts';
import { openHome } from '../../src/config/home.ts';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import type { TurnLimits } from '../../src/core/overlay.ts';
import { chatBody, createStage, type InstarHere, replyWith } from '../config/settings/instar-here.ts';
import { ask } from '../support/client.ts';
import { lessonText } from '../support/lesson-text.ts';
import type { Provider } from '../support/provider.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 25_000, interval: 100 };
/** For a busy machine: each test makes a dozen requests, one after the other. */
const PATIENT = { timeout: 180_000 };
const SLOW_MS = 300;
const VICTIM = 'victim';
const stage = createStage();
afterAll(stage.close);

let isDown = false;
const provider = (): Promise<Provider> =>
  stage.provider('p', (request, response) => {
    if (isDown) {
      response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '0' });
      response.end('{"error":{"message":"busy"}}');
    } else setTimeout(() => replyWith(response, `I am ${chatBody(request).model}.`), SLOW_MS);
  });

interface TwoKeys {
  readonly here: InstarHere;
  readonly attacker: string;
  readonly victim: string;
}
const keys = new Map<string, { readonly attacker: string; readonly victim: string }>();

/** A home with two keys: both of the home's own person, or each an application's. */
async function open(name: string, isOwn: boolean): Promise<TwoKeys> {
  const p = { wire: 'openai-chat', baseUrl: `${(await provider()).url}/v1`, keyEnv: 'P_KEY' };
  const here = await stage.open(
    name,
    {
      providers: { p },
      models: { evolver: 'off', judge: 'off' },
      router: { cheap: 'p/small', strong: 'p/large' },
    },
    {
      env: { P_KEY: 'k-000000000000' },
      prepare: (dir) => {
        const make = (of: string): string =>
          createCallerKey(openHome(dir), { name: of, mayRate: false, at: 0, isOwn }).key;
        keys.set(name, { attacker: make('first-agent'), victim: make('second-agent') });
      },
    },
  );
  return { here, attacker: '', victim: '', ...keys.get(name) };
}

let sessions = 0;
const chat = (here: InstarHere, key: string, agent: string, model = 'p/large') =>
  here.chat('Write the harbour report.', {
    model,
    session: `s-${++sessions}`,
    headers: { authorization: `Bearer ${key}`, 'x-instar-agent': agent },
  });

/** Four cheap sessions of one key, each with an event about an agent. */
async function provoke({ here, attacker }: TwoKeys, event: JsonObject, agent = VICTIM): Promise<void> {
  for (let nth = 0; nth < 4; nth++) {
    const { headers } = await chat(here, attacker, agent);
    const session = String(headers['x-instar-session']);
    const body = JSON.stringify({ agent, session, score: 90, ...event });
    const headersSent = { authorization: `Bearer ${attacker}`, 'content-type': 'application/json' };
    await vi.waitFor(async () => {
      const { status } = await ask(here.port, { path: '/v1/events', headers: headersSent, body });
      expect(status).toBe(200);
    }, SOON);
  }
  await here.daemon.settle();
}
const overlaysOf = async (here: InstarHere): Promise<readonly JsonObject[]> =>
  asArray((await here.owner('GET', '/api/overlays')) as unknown).map(asObject);
const limitOf = (one: JsonObject | undefined): JsonObject => asObject(one?.payload);

/** A limit that events taught an earlier version, which had no floors. */
async function learnedBefore(here: InstarHere, id: string, limits: TurnLimits): Promise<void> {
  const text = {
    ...lessonText({ name: id, description: 'Tightens limits.', content: 'See the overlay.' }),
    scope: { agent: VICTIM },
    overlay: {
      payload: { type: 'validator_policy_tweak', ...limits },
      from: { key: id, score: 70, draftScore: 70, matches: 3, mean: 70, records: ['1'] },
    },
  };
  const changes = [{ op: 'add', id, kind: 'limit', state: 'live', text }];
  await here.owner('POST', '/api/lessons', { changes, reason: 'as an earlier version had it' });
}

describe('a key that reports events about an agent of another key', PATIENT, () => {
  it('S3 does not cut it off: a limit of 100 ms acts on the reporting key alone, and not below 30 s', async () => {
    const two = await open('own', true);
    const { here, attacker, victim } = two;
    expect((await chat(here, victim, VICTIM)).status).toBe(200);
    await provoke(two, { kind: 'repeated_retry', headersMs: 100, idleMs: 100, retries: 0 });
    for (let nth = 0; nth < 8; nth++) {
      const { status, headers } = await chat(here, victim, VICTIM);
      expect([status, headers['x-instar-lessons']]).toEqual([200, undefined]);
    }
    const [limit, ...others] = await overlaysOf(here);
    expect(others).toEqual([]);
    expect(limitOf(limit)).toMatchObject({ headersMs: 30_000, idleMs: 30_000, retries: 1 });
    const own = await chat(here, attacker, VICTIM);
    expect([own.status, own.headers['x-instar-lessons']]).toEqual([200, limit?.lesson]);
  });

  it('S4 mutes none of its lessons, raises none of its costs and biases none of its routes', async () => {
    const two = await open('own', true);
    const { here, victim } = two;
    const RULE = 'Name the pier before the ship.';
    const description = 'When you write a harbour report.';
    await here.addLesson({ name: 'pier', description, content: RULE });
    await provoke(two, { kind: 'guidance_noisy', lessons: 0, checks: ['json'], reasks: 2 });
    await provoke(two, { kind: 'budget_incident', tier: 'cheap', bias: 0.2 });
    const models: string[] = [];
    for (let nth = 0; nth < 20; nth++) {
      const { status, headers, text } = await chat(here, victim, VICTIM, 'instar/auto');
      expect(status).toBe(200);
      expect(String(headers['x-instar-lessons'] ?? '')).not.toContain('adapt_');
      expect((await provider()).seen.at(-1)?.body.toString()).toContain(RULE);
      models.push(text.includes('I am large') ? 'large' : 'small');
    }
    // A share of sessions tries the other model.
    expect(models.filter((model) => model === 'large').length).toBeGreaterThan(12);
    const noisy = (await overlaysOf(here)).map(limitOf).find(({ lessons }) => lessons !== undefined);
    expect(noisy).toMatchObject({ lessons: 1, reasks: 1 });
  });

  it('S3 waits for a person where the agent never worked with the key that reports about it', async () => {
    const { here, attacker } = await open('own', true);
    for (let nth = 0; nth < 4; nth++) {
      const { headers } = await chat(here, attacker, 'another');
      const session = String(headers['x-instar-session']);
      const body = JSON.stringify({ kind: 'task_conflict', agent: 'pipeline', session, score: 90 });
      const sent = { authorization: `Bearer ${attacker}`, 'content-type': 'application/json' };
      expect((await ask(here.port, { path: '/v1/events', headers: sent, body })).status).toBe(200);
    }
    await here.daemon.settle();
    const { candidates } = await here.owner('GET', '/api/adapt');
    const found = asArray(candidates)
      .map(asObject)
      .find(({ scopeId, sourceLabel }) => scopeId === 'pipeline' && sourceLabel === 'task_conflict');
    expect(found).toMatchObject({
      ...{ status: 'proposed', why: expect.stringContaining('the agent pipeline does not work with it') },
    });
  });

  it('S3 changes an application’s own requests alone: its limit is the application’s', async () => {
    const two = await open('apps', false);
    const { here, attacker, victim } = two;
    await provoke(two, { kind: 'repeated_retry', headersMs: 100, retries: 0 });
    const [limit, ...others] = await overlaysOf(here);
    expect(others).toEqual([]);
    expect(limit).toMatchObject({ scope: { agent: VICTIM, member: expect.stringMatching(/^k_/) } });
    expect((await chat(here, victim, VICTIM)).headers['x-instar-lessons']).toBeUndefined();
    expect((await chat(here, here.key, VICTIM)).headers['x-instar-lessons']).toBeUndefined();
    const own = await chat(here, attacker, VICTIM);
    expect([own.status, own.headers['x-instar-lessons']]).toEqual([200, limit?.lesson]);
  });
});

describe('a limit that an earlier version learned', PATIENT, () => {
  it('S3 cuts nobody off, though its record says 100 ms', async () => {
    const { here, victim } = await open('earlier', true);
    await learnedBefore(here, 'limit-of-before', { headersMs: 100, idleMs: 100, lessons: 0 });
    for (let nth = 0; nth < 4; nth++) {
      const { status, headers } = await chat(here, victim, VICTIM);
      expect([status, headers['x-instar-lessons']]).toEqual([200, 'limit-of-before']);
    }
  });

  it('S3 is taken back at once when requests under it fail for want of a further try, with its reason', async () => {
    const { here, victim } = await open('earlier', true);
    await learnedBefore(here, 'few-tries', { retries: 1 });
    const { seen } = await provider();
    const tries = async (): Promise<number> => {
      const before = seen.length;
      expect((await chat(here, victim, VICTIM)).status).toBe(503);
      return seen.length - before;
    };
    isDown = true;
    try {
      expect([await tries(), await tries(), await tries()]).toEqual([2, 2, 2]);
      await vi.waitFor(
        async () => expect((await here.owner('GET', '/api/lessons/few-tries')).state).toBe('retired'),
        SOON,
      );
      expect(await tries()).toBe(3);
    } finally {
      isDown = false;
    }
    const { reason } = await here.owner('GET', '/api/lessons/few-tries');
    expect(reason).toContain('3 of the last 5 requests of the agent victim');
  });
});
