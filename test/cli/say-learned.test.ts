import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { afterEach, expect, it } from 'vitest';
import { createRemoteApi } from '../../src/api/remote-api.ts';
import { createPrinter } from '../../src/cli/print.ts';
import { sayLearned } from '../../src/cli/say-learned.ts';
import { type StubServer, sendJson, startStubServer } from './stub-server.ts';

const RULE = { id: 'l_1', name: 'iso', title: 'Use ISO dates', revision: 1, state: 'live' };
let server: StubServer;
afterEach(() => server.close());

/** A daemon's API as far as a correction needs it. `hasFeed` false: it refuses, as for a member of a team. */
async function startApi(hasFeed: boolean) {
  let feed: ServerResponse | undefined;
  let lessons: readonly object[] = [];
  server = await startStubServer(({ url }, response) => {
    if (url !== '/api/feed') return sendJson(response, url === '/api/lessons' ? lessons : { on: true });
    if (!hasFeed) return sendJson(response, { error: { message: 'not for members' } }, 403);
    feed = response;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    // An event may come in pieces.
    response.write('retry: 2000\nid: 4\nev');
    setImmediate(() => response.write('ent: hello\ndata: {}\n\n'));
  });
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const printer = createPrinter({ stdout, stderr, env: {}, json: false });
  return {
    publish: (found: readonly object[]) => {
      lessons = found;
      feed?.write('id: 5\nevent: library\ndata: {"lessons":["l_1"]}\n\n');
    },
    correct: async (give: () => void) => {
      const apis = createRemoteApi(server, 'k');
      await sayLearned(apis, async () => give(), { stderr, env: {}, printer });
      return `${stdout.read() ?? ''}${stderr.read() ?? ''}`;
    },
  };
}

it('names the lesson when the daemon tells of it, and asks for the lessons once before and once after (not again and again)', async () => {
  const { publish, correct } = await startApi(true);
  const said = await correct(() => void setTimeout(() => publish([RULE]), 900));
  expect(said).toContain('Learned: Use ISO dates. Undo: instar undo');
  expect(server.requests.filter(({ url }) => url === '/api/lessons')).toHaveLength(2);
});

it('goes on listening when the library changed in another way', async () => {
  const { publish, correct } = await startApi(true);
  const said = await correct(() => {
    publish([]);
    setTimeout(() => publish([{ ...RULE, state: 'proposed' }]), 100);
  });
  expect(said).toContain('Proposed: Use ISO dates. Use it: instar lessons keep last');
});

it('says where to look, without a wait, where it may not hear', async () => {
  const { correct } = await startApi(false);
  expect(await correct(() => undefined)).toContain('no rule yet');
});
