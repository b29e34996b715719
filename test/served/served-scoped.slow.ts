import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { ask, askOwner } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { lessonText } from '../support/lesson-text.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 50 };

let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;

beforeAll(async () => {
  home = makeHome({ learn: { flush: 'scoped' } });
  daemon = await startDaemon(home.dir);
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  home.remove();
});

const owner = (method: string, path: string, body?: object): Promise<JsonObject> =>
  askOwner(daemon, method, path, body);
const buffer = async () => ((await owner('GET', '/api/status')).learning as JsonObject).buffer;
const turn = async (agent: string, content: string): Promise<string> => {
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] });
  const headers = { 'x-instar-key': daemon.key, 'x-instar-session': agent, 'x-instar-agent': agent };
  return String(
    (await ask(daemon.port, { path: '/v1/chat/completions', body, headers })).headers['x-instar-turn'],
  );
};

it('with learn.flush scoped, a new lesson keeps the samples that it does not affect, certified for the new generation', async () => {
  const cake = await turn('cook', 'Bake a chocolate cake with cherries and tell me how long it takes');
  const table = await turn('clerk', 'Sort the rows of the invoices spreadsheet by date');
  for (const id of [cake, table]) await owner('POST', '/v1/feedback', { turn: id, score: 1 });
  await vi.waitFor(async () => expect(await buffer()).toMatchObject({ query: 2, generation: 0 }), SOON);
  const sorting = lessonText({
    name: 'sort-invoices',
    description: 'When you sort the rows of a spreadsheet of invoices.',
    content: 'Sort by booking day.',
  });
  const text = { ...sorting, scope: { agent: 'clerk' } };
  await owner('POST', '/api/lessons', {
    changes: [{ op: 'add', id: 'l', kind: 'skill', state: 'live', text }],
  });
  await vi.waitFor(async () => expect(await buffer()).toMatchObject({ query: 1, generation: 1 }), SOON);
});
