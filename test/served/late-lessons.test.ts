import { expect, it, vi } from 'vitest';
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
const STEP = [
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'shell', arguments: '{"command":"ls"}' } }],
  },
  { role: 'tool', tool_call_id: 'c1', content: 'deploy.yaml' },
];

it('a first turn right after a start is served; a lesson that was found too late for it stands behind its next message', async () => {
  const provider = await startProvider((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(wholeReply('openai-chat'));
  });
  const home = makeHome({
    providers: { fake: { wire: ['openai'], baseUrl: `${provider.url}/v1` } },
    library: { holdout: 0 },
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
      return { status, lessons: headers['x-instar-lessons'], messages: sent.messages };
    };
    return { daemon, stop, send };
  };
  const untilFound = (send: Awaited<ReturnType<typeof start>>['send'], name: string): Promise<void> => {
    let nth = 0;
    return vi.waitFor(async () => expect((await send(`${name}-${nth++}`, [TASK])).lessons).toBe('pods'), {
      timeout: 100_000,
      interval: 400,
    });
  };
  const before = await start();
  const { ownerKey, port } = before.daemon;
  await ask(port, {
    method: 'POST',
    path: '/api/lessons',
    headers: { authorization: `Bearer ${ownerKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ changes: [LESSON], reason: 'a test' }),
  });
  // Its vectors are on disk then.
  await untilFound(before.send, 'before');
  await before.stop();

  const { send, stop } = await start();
  const first = await send('early', [TASK]);
  expect(first.status).toBe(200);
  await untilFound(send, 'after');
  const next = await send('early', [TASK, ...STEP]);
  expect(next.lessons).toBe('pods');
  expect(JSON.stringify(next.messages)).toContain('CrashLoopBackOff');
  expect(next.messages.slice(0, first.messages.length)).toEqual(first.messages);
  await stop();
  await provider.close();
  home.remove();
});
