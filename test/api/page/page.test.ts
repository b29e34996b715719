import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openPageFiles } from '../../../src/api/page/page-files.ts';
import { PAGE_ROUTES } from '../../../src/api/router/page-routes.ts';
import { type RouteShape, routeName } from '../../../src/api/router/route-shape.ts';
import { ROUTES } from '../../../src/api/router/routes.ts';
import { homeAt } from '../../../src/config/home.ts';
import { replaceOwnerKey } from '../../../src/config/owner-key.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { startCli } from '../../cli/run-cli.ts';
import { ask } from '../../support/client.ts';
import { type Browser, newPageCode, SAME_ORIGIN, signIn } from '../../support/page.ts';
import { type SeededPage, SOON, startSeededPage } from './seeded-page.ts';

let page: SeededPage;
let browser: Browser;
beforeAll(async () => {
  page = await startSeededPage();
  browser = await signIn(page.daemon);
});
afterAll(() => page.close());

const ALL: readonly RouteShape[] = [...Object.values(ROUTES), ...Object.values(PAGE_ROUTES)];

describe('the table of routes', () => {
  it('is what is served: the description lists exactly its routes, and each is found', async () => {
    const { paths } = await browser.json('/api/openapi.json');
    const listed = Object.entries(paths as JsonObject).flatMap(([place, methods]) =>
      Object.keys(methods as JsonObject).map(
        (method) => `${method.toUpperCase()} ${place.replace(/\{(\w+)\}/g, ':$1')}`,
      ),
    );
    expect(listed.toSorted()).toEqual(ALL.map(routeName).toSorted());
    for (const { method, path: place } of ALL.filter((route) => route.access === 'owner')) {
      const asked = place.replace(':id', 'nothing-of-this-name');
      const { status } = await ask(page.daemon.port, { method, path: asked });
      expect([routeName({ method, path: place }), status]).toEqual([routeName({ method, path: place }), 401]);
    }
  });

  it('describes every reply: each route that reads answers by its schema', async () => {
    const ids: Readonly<Record<string, string>> = {
      session: 'alice-9',
      turn: String(page.turns[0]),
      lesson: page.lesson,
      generation: '0',
    };
    const wrong: string[] = [];
    let read = 0;
    for (const route of ALL) {
      if (route.method !== 'GET' || typeof route.reply !== 'function' || route.noun === 'episode') continue;
      const asked = route.path.replace(':id', encodeURIComponent(ids[route.noun ?? ''] ?? ''));
      const { status, text } = await browser.get(`${asked}${asked.endsWith('/diff') ? '?to=1' : ''}`);
      const parsed = status === 200 ? route.reply().safeParse(JSON.parse(text)) : undefined;
      if (parsed?.success !== true)
        wrong.push(`${routeName(route)}: ${status} ${parsed?.error?.message ?? text}`);
      read++;
    }
    expect(wrong).toEqual([]);
    expect(read).toBeGreaterThan(30);
  });

  it('refuses a body that is not what a route takes, and says what it takes', async () => {
    const { status, text } = await browser.post('/api/learning', { on: 'yes' });
    expect([status, JSON.parse(text).error.message]).toEqual([400, 'on must be true or false.']);
  });
});

describe('what the page reads', () => {
  it('finds sessions by the words of their conversations, in pages that do not overlap', async () => {
    const found = await browser.json('/api/page/sessions?q=ZEBRA');
    expect((found.sessions as readonly JsonObject[]).map(({ id }) => id)).toEqual(['alice-9']);
    expect(found.searched).toMatchObject({ sessions: 4 });
    const seen: unknown[] = [];
    for (let cursor = ''; ; ) {
      const part = await browser.json(`/api/page/sessions?limit=1&cursor=${cursor}`);
      seen.push(...(part.sessions as readonly JsonObject[]).map(({ id }) => id));
      if (part.next === undefined) break;
      cursor = String(part.next);
    }
    expect(seen).toEqual(['alice-9', 'alice-2', 'alice-1', 'alice-0']);
    const bad = await browser.json('/api/page/sessions?outcome=bad');
    expect(bad.sessions).toHaveLength(3);
  });

  it('finds the sessions of a time, with the other filters', async () => {
    const { sessions } = await browser.json('/api/page/sessions');
    const [, second, third] = (sessions as readonly JsonObject[]).map(({ id, startedAt, lastAt }) => ({
      id: String(id),
      from: Date.parse(String(startedAt)),
      to: Date.parse(String(lastAt)),
    }));
    const ids = async (query: string) =>
      ((await browser.json(`/api/page/sessions?${query}`)).sessions as readonly JsonObject[]).map(
        ({ id }) => id,
      );
    const time = `from=${third?.from}&to=${Number(second?.from) + 1}`;
    expect(await ids(time)).toEqual(expect.arrayContaining([second?.id, third?.id]));
    expect(await ids(time)).not.toContain('alice-9');
    expect(await ids(`${time}&agent=nobody`)).toEqual([]);
    expect(await ids(`${time}&q=zebra`)).toEqual([]);
    expect(await ids(`from=${Date.now() + 1000}`)).toEqual([]);
    const listed = (await browser.json(`/api/sessions?${time}`)) as JsonObject & readonly JsonObject[];
    expect(listed.map(({ id }) => id)).toEqual(await ids(time));
  });

  it('opens a conversation at a turn, without the pages before it', async () => {
    const turns: string[] = [];
    for (let n = 1; n <= 7; n++) turns.push(await page.turn('alice-long', `Step ${n} of the move`));
    const opened = async (query: string) => {
      const thread = await browser.json(`/api/page/sessions/alice-long?limit=3&${query}`);
      return [(thread.turns as readonly JsonObject[]).map(({ n }) => n), thread.at];
    };
    await vi.waitFor(async () => expect(await opened('')).toEqual([[5, 6, 7], undefined]), SOON);
    expect(await opened(`turn=${turns[2]}`)).toEqual([[2, 3, 4], 3]);
    expect(await opened(`turn=${turns[0]}`)).toEqual([[1, 2, 3], 1]);
    expect(await opened(`turn=${turns[6]}`)).toEqual([[5, 6, 7], 7]);
    // A turn of another session: the end, as without it.
    expect(await opened(`turn=${page.turns[0]}`)).toEqual([[5, 6, 7], undefined]);
  });

  it('shows a conversation with its texts, tokens, times, lessons and ratings', async () => {
    const thread = await browser.json('/api/page/sessions/alice-9');
    expect(thread).toMatchObject({
      totals: { inputTokens: 100, outputTokens: 50, cacheReadTokens: 40, isPriced: true },
      turns: [
        {
          lessons: [{ id: page.lesson }],
          messages: [{ role: 'user', text: 'Write the zebra amounts of May into report.md' }],
          totalMs: expect.any(Number),
        },
      ],
    });
    const rated = await browser.json('/api/page/sessions/alice-0');
    expect(rated.turns).toMatchObject([
      { rewards: [{ source: 'person', score: -1, at: expect.any(String) }] },
    ]);
  });

  it('says of each setting what it is for and what it is unless somebody chooses', async () => {
    const { settings } = await browser.json('/api/page/setup');
    const failures = (settings as readonly JsonObject[]).find(({ path: name }) => name === 'learn.failures');
    expect(failures).toMatchObject({
      value: 3,
      default: 3,
      from: 'file',
      description: expect.stringContaining('Failures'),
    });
  });

  it('tells Home the corrections of the day, the rule that came of them, and no ask where a note was given', async () => {
    await vi.waitFor(async () => {
      const home = await browser.json('/api/page/home');
      expect(home).toMatchObject({
        trend: { is: 'early' },
        flags: [{ id: page.lesson }],
        rules: [{ id: page.lesson, said: 3, adherence: { shown: 0 } }],
        ruleCount: 1,
        asks: [],
      });
      expect((home.days as readonly JsonObject[]).at(-1)).toMatchObject({ corrections: 3, broken: 0 });
    }, SOON);
  });
});

describe('a person on the page', () => {
  it('decides about what was shown, and about nothing else', async () => {
    const shown = await browser.json(`/api/page/lessons/${page.lesson}`);
    const decide = (body: object) => browser.post(`/api/page/lessons/${page.lesson}`, body);
    expect((await decide({ do: 'pin', shown: 'another text' })).status).toBe(409);
    const edited = await decide({
      do: 'edit',
      shown: shown.hash,
      text: { description: 'When you write amounts.' },
    });
    expect(JSON.parse(edited.text)).toMatchObject({
      ok: true,
      lesson: { revision: 2, description: 'When you write amounts.', revisions: [{}, {}] },
    });
    const stale = await decide({ do: 'retire', shown: shown.hash });
    expect(stale.status).toBe(409);
    const { error, current } = JSON.parse(stale.text);
    expect([error.code, current.revision]).toEqual(['changed', 2]);
    expect((await decide({ do: 'retire', shown: current.hash })).status).toBe(200);
    expect(await browser.json(`/api/page/lessons/${page.lesson}`)).toMatchObject({ state: 'retired' });
  });

  it('rolls back the generation that was shown, and no other', async () => {
    const { generation } = await browser.json('/api/page/generations');
    const stale = await browser.post('/api/page/generations/1/rollback', { shown: Number(generation) - 1 });
    expect(stale.status).toBe(409);
    const done = await browser.post('/api/page/generations/1/rollback', { shown: generation });
    expect([done.status, JSON.parse(done.text).generation]).toEqual([200, Number(generation) + 1]);
    expect(await browser.json(`/api/page/lessons/${page.lesson}`)).toMatchObject({ state: 'live' });
  });

  it('rates a turn as a person, marks a session, and erases the session that was shown', async () => {
    const turn = await page.turn('alice-rated', 'Write the amounts of June');
    expect((await browser.post(`/api/page/turns/${turn}/rate`, { score: 1 })).status).toBe(200);
    const { hash, turns } = await browser.json('/api/page/sessions/alice-rated');
    expect(turns).toMatchObject([{ rewards: [{ source: 'person', score: 1 }] }]);
    expect((await browser.post('/api/page/sessions/alice-rated/mark', { shown: hash })).status).toBe(200);
    expect(await browser.json('/api/page/sessions/alice-rated')).toMatchObject({
      marked: 'a person marked it',
    });
    await page.turn('alice-rated', 'Write the amounts of July');
    await vi.waitFor(
      async () =>
        expect(await browser.json('/api/page/sessions/alice-rated')).toMatchObject({ turnCount: 2 }),
      SOON,
    );
    const erase = (shown: unknown) => browser.post('/api/page/sessions/alice-rated/erase', { shown });
    expect((await erase(hash)).status).toBe(409);
    const now = await browser.json('/api/page/sessions/alice-rated');
    expect(JSON.parse((await erase(now.hash)).text)).toMatchObject({ erased: 2 });
    const audit = await browser.json('/api/audit');
    expect(audit.entries).toMatchObject([{ action: 'sessions.erase', subject: 'alice-rated' }, {}, {}, {}]);
  });

  it('cannot do what only a terminal may', async () => {
    const identity = await browser.post('/api/lessons', { identity: true, changes: [] });
    const settings = await browser.post('/api/settings', { 'library.autonomy': 'autonomous' });
    const code = await browser.post('/api/code');
    for (const { status, text } of [identity, settings, code])
      expect([status, JSON.parse(text).error.code]).toEqual([403, 'terminal']);
    const rating = await browser.post('/v1/feedback', { turn: page.turns[0], score: 1 });
    expect(rating.status).toBe(401);
  });
});

describe('an open page', () => {
  it('is told of a turn and of its rating, by ids and without words of people', async () => {
    const told = ask(page.daemon.port, {
      method: 'GET',
      // As a browser opens it: without headers of the page's own.
      path: `/api/feed?page=${browser.word}`,
      headers: { ...SAME_ORIGIN, cookie: browser.cookie },
      leaveWhen: (soFar) => soFar.includes('event: reward'),
    });
    const turn = await page.turn('alice-fed', 'Write the giraffe amounts');
    await browser.post(`/api/page/turns/${turn}/rate`, { score: 0.5, note: 'a long giraffe' });
    const { headers, text } = await told;
    expect(headers['content-type']).toBe('text/event-stream');
    expect(text).toMatch(/event: hello\ndata: \{"generation":\d+,"waiting":\{"count"/);
    expect(text).toContain(`"turn":"${turn}","session":"alice-fed","agent":"alice","status":"complete"`);
    expect(text).toContain(`"turn":"${turn}","source":"person","score":0.5`);
    expect(text).not.toContain('giraffe');
  });

  it('needs somebody who is signed in', async () => {
    expect((await ask(page.daemon.port, { method: 'GET', path: '/api/feed' })).status).toBe(401);
  });
});

describe('instar page', () => {
  it('prints an address that signs in once, where this build has a page', async () => {
    const { code, stdout, stderr } = await startCli(['page', '--home', page.home]).ended();
    if (!openPageFiles().isBuilt()) {
      expect([code, stderr]).toEqual([1, expect.stringContaining('this build of Instar has no page')]);
      return;
    }
    expect(stdout).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${page.daemon.port}/#code=[\\w-]{22}\n$`));
  });
});

describe('signing in', () => {
  const enter = (code: string, headers: Record<string, string> = SAME_ORIGIN) =>
    ask(page.daemon.port, { path: '/api/login', headers, body: JSON.stringify({ code }) });

  it('takes a code once, and a wrong one never', async () => {
    const code = await newPageCode(page.daemon);
    expect(Buffer.from(code, 'base64url')).toHaveLength(16);
    const first = await enter(code);
    expect(first.status).toBe(200);
    expect(String(first.headers['set-cookie'])).toMatch(/=\S{43}; HttpOnly; SameSite=Strict; Path=\/$/);
    expect((await enter(code)).status).toBe(401);
    expect((await enter('wrong')).status).toBe(401);
    expect(await browser.json('/api/login')).toEqual({ in: true });
    const { text } = await ask(page.daemon.port, { method: 'GET', path: '/api/login' });
    expect(JSON.parse(text)).toEqual({ in: false });
  });

  it('is for the page alone: other sites, rebound names and forms are refused', async () => {
    const status = async (method: string, headers: Record<string, string>, place = '/api/learning') => {
      const body = method === 'POST' ? { body: '{"on":true}' } : {};
      const sent = { cookie: browser.cookie, ...headers };
      return (await ask(page.daemon.port, { method, path: place, headers: sent, ...body })).status;
    };
    const header = { 'x-instar-page': browser.word };
    expect(await status('GET', { ...SAME_ORIGIN, ...header })).toBe(200);
    // Another server of this machine is sent the cookie by the browser, and can imitate every header but the word.
    expect(await status('GET', SAME_ORIGIN)).toBe(401);
    expect(await status('GET', { ...SAME_ORIGIN, 'x-instar-page': '1' })).toBe(401);
    expect(await status('GET', SAME_ORIGIN, '/api/feed?page=1')).toBe(401);
    expect(await status('GET', { 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await status('GET', { 'sec-fetch-site': 'none' })).toBe(403);
    expect(await status('GET', {})).toBe(403);
    expect(await status('POST', { ...SAME_ORIGIN, ...header })).toBe(200);
    expect(await status('POST', SAME_ORIGIN)).toBe(401);
    expect(await status('POST', { ...SAME_ORIGIN, ...header, origin: 'http://evil.example' })).toBe(403);
    expect(await status('POST', { ...header, 'sec-fetch-site': 'same-site' })).toBe(403);
    expect(await status('GET', { ...SAME_ORIGIN, host: `evil.example:${page.daemon.port}` })).toBe(403);
    expect(await status('GET', { ...SAME_ORIGIN, host: `evil.example:${page.daemon.port}` }, '/')).toBe(403);
    expect(await status('POST', { ...SAME_ORIGIN, ...header, 'content-type': 'text/plain' })).toBe(415);
  });

  it('ends with a logout, and with the owner key that it is bound to', async () => {
    const other = await signIn(page.daemon);
    expect((await other.post('/api/logout')).status).toBe(200);
    expect((await other.get('/api/today')).status).toBe(401);
    expect((await browser.get('/api/today')).status).toBe(200);
    replaceOwnerKey(homeAt(page.home), 'none');
    await vi.waitFor(async () => expect((await browser.get('/api/today')).status).toBe(401), SOON);
    expect(readFileSync(path.join(page.home, 'owner-key'), 'utf8')).not.toContain(page.daemon.ownerKey);
  });
});
