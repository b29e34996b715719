import { expect, it, vi } from 'vitest';
import { asArray, asObject, parseJson } from '../../src/core/json.ts';
import { ask } from '../support/client.ts';
import { makeHome, startDaemon } from '../support/daemon.ts';
import { lessonText } from '../support/lesson-text.ts';
import { startProvider } from '../support/provider.ts';
import { ROUTES, wholeReply } from '../support/samples.ts';

const LESSON = {
  op: 'add',
  id: 'pods',
  kind: 'skill',
  state: 'live',
  text: lessonText({
    name: 'read-previous-logs',
    description: 'When a Kubernetes pod is in CrashLoopBackOff.',
    content: 'Read the logs of the previous instance first: `kubectl logs --previous`.',
  }),
};
const TASK = {
  role: 'user',
  content: 'Our container restarts over and over in the cluster. Find out what happens.',
};
/** A daemon on a home with a provider, which can be stopped and started again. */
async function openScene() {
  const provider = await startProvider((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(wholeReply('openai-chat'));
  });
  const home = makeHome({
    providers: { fake: { wire: ['openai'], baseUrl: `${provider.url}/v1` } },
  });
  const start = async () => {
    const daemon = await startDaemon(home.dir);
    const stop = async (): Promise<void> => {
      daemon.child.kill('SIGTERM');
      await daemon.exited;
    };
    const send = async (session: string, messages: readonly object[]) => {
      const { status, headers } = await ask(daemon.port, {
        path: ROUTES['openai-chat'],
        body: JSON.stringify({ model: 'm-1', messages }),
        headers: { 'x-instar-key': daemon.key, 'x-instar-session': session, 'x-instar-agent': 'builder' },
      });
      const sent = JSON.parse(provider.seen.at(-1)?.body.toString() ?? '{}') as { messages: object[] };
      const turn = String(headers['x-instar-turn']);
      return { status, turn, lessons: headers['x-instar-lessons'], messages: sent.messages };
    };
    const owner = { authorization: `Bearer ${daemon.ownerKey}` };
    const read = async (path: string): Promise<string> =>
      (await ask(daemon.port, { method: 'GET', path, headers: owner })).body.toString();
    const publish = (): Promise<unknown> =>
      ask(daemon.port, {
        method: 'POST',
        path: '/api/lessons',
        headers: { ...owner, 'content-type': 'application/json' },
        body: JSON.stringify({ changes: [LESSON], reason: 'a test' }),
      });
    return { stop, send, read, publish };
  };
  const close = async (): Promise<void> => {
    await provider.close();
    home.remove();
  };
  return { start, close };
}

type RunningScene = Awaited<ReturnType<Awaited<ReturnType<typeof openScene>>['start']>>;

const WAIT = { timeout: 60_000, interval: 400 };

function untilFound({ send }: RunningScene, name: string): Promise<void> {
  let nth = 0;
  return vi.waitFor(async () => expect((await send(`${name}-${nth++}`, [TASK])).lessons).toBe('pods'), WAIT);
}

it('after a restart the first turn is answered at a first look, which finds what shares no word; the sentence model looks next', async () => {
  const { start, close } = await openScene();
  const before = await start();
  await before.publish();
  await untilFound(before, 'before');
  await before.stop();

  const after = await start();
  const engineOf = async (name: string): Promise<string> => {
    const { turn, lessons } = await after.send(name, [TASK]);
    expect(lessons).toBe('pods');
    // A turn is recorded a moment after its reply.
    const choice = await vi.waitFor(async () => {
      const why = asObject(parseJson(await after.read(`/api/turns/${turn}/why`)));
      const [first] = asArray(why.choices);
      expect(first).toBeDefined();
      return asObject(first);
    }, WAIT);
    const isFirst = choice.engine === 'static-minilm/384';
    if (isFirst) expect(choice.fallback).toContain('found at a first look');
    else expect(choice.fallback).toBeUndefined();
    return String(choice.engine);
  };
  expect(await engineOf('fresh')).toBe('static-minilm/384');
  let nth = 0;
  await vi.waitFor(async () => expect(await engineOf(`next-${nth++}`)).toBe('minilm-l6-v2/384'), WAIT);
  const index = asObject(asObject(asObject(parseJson(await after.read('/api/status'))).library).index);
  expect(index.recalls).toEqual({ bySentences: 1, firstLooks: nth });
  const metrics = await after.read('/metrics');
  expect(metrics).toContain('instar_learning{what="recalls_by_sentences"} 1\n');
  expect(metrics).toContain(`instar_learning{what="recalls_first_looks"} ${nth}\n`);
  await after.stop();
  await close();
}, 180_000);
