import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import { ask, askOwner } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { lessonText } from '../support/lesson-text.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { wholeReply } from '../support/samples.ts';

let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;

beforeAll(async () => {
  provider = await startProvider((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(wholeReply('openai-chat'));
  });
  home = makeHome({
    providers: { fake: { wire: ['openai'], baseUrl: `${provider.url}/v1` } },
  });
  daemon = await startDaemon(home.dir);
  await publish(fragment('f1', 'Prefer concrete patterns.'));
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

const owner = (method: string, path: string, body?: object): Promise<JsonObject> =>
  askOwner(daemon, method, path, body);
const publish = async (...changes: readonly object[]): Promise<void> => {
  const { results } = await owner('POST', '/api/lessons', { changes, reason: 'a test' });
  expect(asArray(results).map((one) => asObject(one).status)).toEqual(changes.map(() => 'applied'));
};
const fragment = (id: string, guidance: string): object => ({
  op: 'add',
  id,
  kind: 'fragment',
  state: 'live',
  text: lessonText({
    name: `guidance-${id}`,
    description: `Guidance ${id} for evaluations.`,
    content: `Learned from run ${id}.`,
    scope: { runKind: 'evaluation' },
    overlay: { payload: { type: 'prompt_fragment', guidance: [guidance] } },
  }),
});
const send = async (session: string, content: string, runKind: string) => {
  const { headers } = await ask(daemon.port, {
    path: '/v1/chat/completions',
    body: JSON.stringify({ model: 'm-1', messages: [{ role: 'user', content }] }),
    headers: { 'x-instar-key': daemon.key, 'x-instar-session': session, 'x-instar-run-kind': runKind },
  });
  return { turn: String(headers['x-instar-turn']), sent: provider.seen.at(-1)?.body.toString() ?? '' };
};

it.each(['Sort the invoices of the harbour by day.', 'hello'])(
  'is in the block of its kind of run, whatever the task (%s), and of no other kind',
  async (task) => {
    // The first turn of a busy machine does not wait for its lessons.
    let tries = 0;
    const { turn } = await vi.waitFor(
      async () => {
        const one = await send(`evaluation ${task} ${++tries}`, task, 'evaluation');
        expect(one.sent).toContain('## Active Skills');
        expect(one.sent).toContain('Prefer concrete patterns.');
        return one;
      },
      { timeout: 100_000, interval: 50 },
    );
    const because = 'it is guidance for every run in its scope, whatever the task';
    await vi.waitFor(
      async () =>
        expect((await owner('GET', `/api/turns/${turn}/why`)).lessons).toMatchObject([
          { id: 'f1', verdict: 'shown', because },
        ]),
      { timeout: 100_000, interval: 50 },
    );
    expect((await send(`chat ${task}`, task, 'chat')).sent).not.toContain('Prefer concrete patterns.');
  },
);

it('comes with at most two others, the newest ones, and is gone when it is retired', async () => {
  const more = ['Name the file.', 'Count twice.', 'Write the number of the ticket.'];
  for (const [n, guidance] of more.entries()) await publish(fragment(`f${n + 2}`, guidance));
  const { sent } = await send('four', 'Paint the fence.', 'evaluation');
  for (const guidance of more) expect(sent).toContain(guidance);
  expect(sent).not.toContain('Prefer concrete patterns.');
  await publish(...['f2', 'f3', 'f4'].map((id) => ({ op: 'retire', id, reason: 'over' })));
  const after = await send('one', 'Paint the fence.', 'evaluation');
  expect(after.sent).toContain('Prefer concrete patterns.');
  for (const guidance of more) expect(after.sent).not.toContain(guidance);
});
