import { afterAll, describe, expect, it, vi } from 'vitest';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import { createStage, type InstarHere, replyWith } from '../config/settings/instar-here.ts';
import { startIcsServer } from '../schedule/calendar/busy-servers.ts';

/** Generous: each wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 100 };
const stage = createStage();
afterAll(() => stage.close());

const practice = (here: InstarHere, what: string, body: JsonObject = {}) =>
  here.owner('POST', `/api/practice/${what}`, body);

describe('two lessons that contradict each other', () => {
  it('become a task in the words of the request that taught one of them, and practice attempts it', async () => {
    const attempts: string[] = [];
    const provider = await stage.provider('p', (request, response) => {
      const text = request.body.toString();
      if (text.includes('reindent the yaml file')) attempts.push(text);
      replyWith(response, 'done');
    });
    const here = await stage.open(
      'contradiction',
      {
        providers: { p: { wire: 'openai', baseUrl: `${provider.url}/v1`, keyEnv: 'P_KEY' } },
        models: { default: 'p/m', practice: 'p/m', evolver: 'off', judge: 'off' },
      },
      { env: { P_KEY: 'provider-key-0123456789' } },
    );
    for (const [at, unit] of ['tabs', 'spaces'].entries()) {
      const { headers } = await here.chat(`Please reindent the yaml file of release job number ${at}`, {
        session: `s-${at}`,
      });
      await here.addLesson({
        name: `indent-${unit}`,
        description: 'When working on yaml files.',
        content: `Always indent yaml files with ${unit}.`,
        evidence: { turns: [String(headers['x-instar-turn'])], quotes: [], learner: 'evolver' },
      });
    }
    const asked = attempts.length;
    expect(await practice(here, 'run', { kind: 'maintenance' })).toEqual({ started: true });
    await vi.waitFor(async () => expect((await practice(here, 'status')).running).toBeUndefined(), SOON);
    const { tasks } = await practice(here, 'tasks');
    expect(asArray(tasks).map(asObject)).toContainEqual(
      expect.objectContaining({ origin: 'gap', prompt: expect.stringContaining('reindent the yaml file') }),
    );
    expect((await practice(here, 'status')).problem).toBeUndefined();
    expect(attempts.length).toBeGreaterThan(asked);
  });
});

describe('a Google calendar', () => {
  it('counts a meeting as away, read by its secret address, which no answer shows', async () => {
    const now = Date.now();
    const server = await startIcsServer(() => [{ start: now - 600_000, end: now + 3_600_000 }]);
    const google = `${server.url}/calendar/ical/me%40example.com/private-0a1b2c/basic.ics`;
    const here = await stage.open('google', { schedule: { sleep: 'off', calendar: { google } } });
    const calendar = async (): Promise<JsonObject> =>
      asObject(
        asArray((await here.owner('GET', '/api/schedule')).signals).find(
          (one) => asObject(one).source === 'calendar',
        ),
      );
    await vi.waitFor(async () => expect((await calendar()).state).toBe('away'), SOON);
    expect(JSON.stringify(await here.owner('GET', '/api/schedule'))).not.toContain('private-0a1b2c');
    await server.close();
  });
});
