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
    has: (found: readonly object[]) => {
      lessons = found;
    },
    tell: (event: string, data: object = {}) =>
      feed?.write(`id: 5\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
    publish: (found: readonly object[]) => {
      lessons = found;
      feed?.write('id: 5\nevent: library\ndata: {"lessons":["l_1"]}\n\n');
    },
    correct: async (give: () => void) => {
      const apis = createRemoteApi(server, 'k');
      await sayLearned(apis, async () => give(), { stderr, env: {}, printer });
      return [stdout, stderr].map(readAll).join('');
    },
  };
}

/** Node 26 gives a piece at a time. */
function readAll(stream: PassThrough): string {
  let text = '';
  for (let piece = stream.read(); piece !== null; piece = stream.read()) text += piece;
  return text;
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

it('names the rule that was told again, and does not wait for another one', async () => {
  const { has, tell, correct } = await startApi(true);
  has([RULE, { ...RULE, id: 'l_2', title: 'Use pnpm' }]);
  const said = await correct(() => {
    tell('settled');
    tell('reward');
    tell('rules', { toldAgain: 1, again: ['l_1'] });
    tell('settled');
  });
  expect(said).toContain('Known already: Use ISO dates. Was this answer shown it? instar lessons why');
  expect(said).not.toMatch(/pnpm|no rule yet/);
});

it('says that no rule is in it as soon as learning has read it (not after the whole wait, and not before)', async () => {
  const { tell, correct } = await startApi(true);
  const said = await correct(() => {
    tell('settled');
    setTimeout(() => tell('reward'), 50);
    setTimeout(() => tell('settled'), 100);
  });
  expect(said).toContain('no rule yet: it does not say what always holds');
});

it('says where to look, without a wait, where it may not hear', async () => {
  const { correct } = await startApi(false);
  expect(await correct(() => undefined)).toContain('no rule yet');
});
