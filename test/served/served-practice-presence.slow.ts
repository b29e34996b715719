import type { ServerResponse } from 'node:http';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { PresenceSource } from '../../src/core/schedule.ts';
import { chatBody, createStage, replyWith } from '../config/settings/instar-here.ts';
import { ask } from '../support/client.ts';

const TOPICS = [
  'bread',
  'diesel',
  'rent',
  'salaries',
  'power',
  'seeds',
  'apples',
  'tickets',
  'olives',
  'tents',
];
const HELLO = 'hello, is somebody there?';
const stage = createStage();
afterAll(() => stage.close());

describe('practice in quiet hours', () => {
  it('stops its attempts under way when a person sends a request, and when a person is at the keyboard', async () => {
    /** Requests of attempts, which nobody answers: they end when they are given up. */
    const held = new Set<ServerResponse>();
    let begun = 0;
    const provider = await stage.provider('p', (request, response) => {
      if (JSON.stringify(chatBody(request)).includes(HELLO)) return replyWith(response, 'yes');
      begun++;
      held.add(response);
      response.on('close', () => held.delete(response));
    });
    let isAtKeyboard = false;
    const keyboard: PresenceSource = {
      name: 'keyboard',
      sees: 'keys',
      read: async () => ({
        source: 'keyboard',
        state: isAtKeyboard ? 'present' : 'away',
        why: 'the test says so',
      }),
    };
    const instar = await stage.open(
      'presence',
      {
        providers: { p: { wire: 'openai', baseUrl: `${provider.url}/v1`, keyEnv: 'P_KEY' } },
        models: { default: 'p/m', practice: 'p/m', evolver: 'off' },
        practice: { scheduled: 'on' },
      },
      {
        env: { P_KEY: 'provider-key-0123456789' },
        slowWork: {
          sources: [keyboard],
          rules: { quietMs: 300, busyPaceMs: 100, idlePaceMs: 100, minimumMs: 0, restMs: 100 },
        },
      },
    );
    const text = TOPICS.map((topic) =>
      JSON.stringify({ prompt: `${topic} ${topic}: write of ${topic}`, domain: 'reports', answer: topic }),
    ).join('\n');
    expect(await instar.owner('POST', '/api/practice/add', { text })).toMatchObject({ added: TOPICS.length });
    const underWay = () =>
      vi.waitFor(() => expect(held.size).toBeGreaterThan(0), { timeout: 100_000, interval: 20 });
    const stopped = () => vi.waitFor(() => expect(held.size).toBe(0), { timeout: 100_000, interval: 5 });

    await underWay();
    await ask(instar.port, {
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${instar.key}` },
      body: JSON.stringify({ model: 'p/m', messages: [{ role: 'user', content: HELLO }] }),
    });
    await stopped();

    // When nobody is there again, the same session goes on.
    await underWay();
    isAtKeyboard = true;
    await stopped();
    const before = begun;
    const status = await instar.owner('POST', '/api/practice/status', {});
    expect(status).toMatchObject({ sessions: [{ kind: 'initial', end: 'open' }] });
    expect(status.running).toBeUndefined();
    expect(begun).toBe(before);
  });
});
