import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { browserFile, openBrowser, openPage, settled, show, type WatchedPage } from './browser.ts';
import { SEEDED, seedHome } from './seeded-home.ts';

const LESSON = SEEDED.lesson('ask-before-migrations');
/** A name that leads to this machine: the last step of DNS rebinding. */
const EVIL = 'evil.test';

interface SessionRow {
  readonly id: string;
  readonly turns: number;
}

/** What a hostile page knows at most: the port, every id and every hash, and no key, cookie or word. */
interface Target {
  readonly origin: string;
  readonly lesson: string;
  readonly hash: string;
}

describe.skipIf(browserFile === undefined)('pages of other origins in the browser that is signed in', () => {
  const home = makeHome({ library: { autonomy: 'manual' } });
  let daemon: RunningDaemon;
  let browser: Browser;
  let own: WatchedPage;
  let hostile: http.Server;
  let port: number;
  /** What the daemon's cookie looks like to another server of this machine. */
  const cookies = new Set<string>();
  beforeAll(async () => {
    seedHome(home.dir, Date.now(), { withPayloads: false });
    daemon = await startDaemon(home.dir);
    hostile = http.createServer((request, response) => {
      if (request.headers.cookie !== undefined) cookies.add(request.headers.cookie);
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<!doctype html><title>hostile</title><p>hostile</p>');
    });
    await new Promise<void>((resolve) => hostile.listen(0, '127.0.0.1', resolve));
    port = (hostile.address() as AddressInfo).port;
    browser = await openBrowser([`--host-resolver-rules=MAP ${EVIL} 127.0.0.1`]);
    own = await openPage(browser, daemon);
    await vi.waitFor(async () => expect(await isLearning()).toBe(true), { timeout: 180_000 });
  });
  afterAll(async () => {
    await browser?.close();
    hostile?.closeAllConnections();
    await new Promise<void>((resolve) => hostile?.close(() => resolve()));
    daemon?.child.kill('SIGTERM');
    await daemon?.exited;
    home.remove();
  });

  const owner = async (path: string): Promise<unknown> => {
    const headers = { authorization: `Bearer ${daemon.ownerKey}` };
    return JSON.parse((await ask(daemon.port, { method: 'GET', path, headers })).text);
  };
  const isLearning = async (): Promise<unknown> =>
    ((await owner('/api/status')) as { readonly learning: { readonly on?: boolean } }).learning.on;
  /** Everything that a request from elsewhere could have changed. */
  const state = async (): Promise<readonly unknown[]> => [
    await owner('/api/library'),
    await owner('/api/keys'),
    await owner('/api/config'),
    await owner('/api/audit'),
    // The daemon itself ends those that are idle.
    ((await owner('/api/sessions?limit=1000')) as readonly SessionRow[]).map(({ id, turns }) => [id, turns]),
    await isLearning(),
  ];
  const target = async (): Promise<Target> => ({
    origin: `http://127.0.0.1:${daemon.port}`,
    lesson: LESSON,
    hash: ((await owner(`/api/lessons/${LESSON}`)) as { readonly hash: string }).hash,
  });
  /** The page that is open before and after: signed in, and the lesson waits. */
  const stillSignedIn = async (): Promise<void> => {
    await own.page.reload();
    await show(own.page, `#/lessons/${LESSON}`);
    await own.page.getByRole('button', { name: 'Keep', exact: true }).waitFor();
  };
  const openHostile = async (origin: string): Promise<Page> => {
    const page = await own.page.context().newPage();
    await page.goto(`${origin}/`);
    return page;
  };

  const ORIGINS: readonly (readonly [what: string, origin: () => string])[] = [
    ['another port of the same host, to which the cookie is sent', () => `http://127.0.0.1:${port}`],
    ['localhost', () => `http://localhost:${port}`],
    ['another name that leads to this machine', () => `http://${EVIL}:${port}`],
  ];

  describe.each(ORIGINS)('%s', (_what, origin) => {
    it('reads and changes nothing by fetch, beacon, scripts, images and the feed', async () => {
      const before = await state();
      const page = await openHostile(origin());
      const read = await page.evaluate(fetchEverything, await target());
      expect(read.sent).toBeGreaterThan(40);
      expect(read.answers).toEqual([]);
      expect(read.events).toEqual([]);
      expect(read.loaded).toEqual([]);
      await page.close();
      expect(await state()).toEqual(before);
      await stillSignedIn();
    });

    it('changes nothing by forms, whatever their encoding', async () => {
      const before = await state();
      const { origin: to, hash } = await target();
      const page = await openHostile(origin());
      for (const enctype of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])
        for (const [path, body] of [
          [`/api/page/lessons/${LESSON}`, { do: 'approve', shown: hash }],
          ['/api/keys', { name: 'evil', may: ['feedback'] }],
          ['/api/config', { path: 'library.autonomy', value: 'autonomous' }],
          ['/api/learning', { on: false }],
          ['/api/logout', {}],
        ] as const) {
          await page.goto(`${origin()}/`);
          const answered = page.waitForResponse((response) => response.url() === `${to}${path}`);
          await page.evaluate(sendForm, { url: `${to}${path}`, enctype, body: JSON.stringify(body) });
          const status = (await answered).status();
          await page.waitForURL(`${to}${path}`);
          expect([path, enctype, status >= 400]).toEqual([path, enctype, true]);
        }
      await page.close();
      expect(await state()).toEqual(before);
      await stillSignedIn();
    });

    it('neither frames the page nor reaches into a window that it opens', async () => {
      const before = await state();
      const page = await openHostile(origin());
      const seen = await page.evaluate(frameAndOpen, (await target()).origin);
      expect(seen).toEqual({ framed: 'nothing', opened: 'nothing', replies: [] });
      for (const other of own.page.context().pages()) if (other !== own.page) await other.close();
      expect(await state()).toEqual(before);
      await stillSignedIn();
    });
  });

  it('is not served under another name: the request has the right address and the wrong host', async () => {
    const page = await own.page.context().newPage();
    for (const path of ['/', '/api/status', '/api/page/sessions', '/api/login', '/v1/models']) {
      const response = await page.goto(`http://${EVIL}:${daemon.port}${path}`);
      expect([path, response?.status()]).toEqual([path, 403]);
      expect(await page.content()).not.toMatch(/sess-|turn-|lesson-|instar-page/);
    }
    await page.close();
    await stillSignedIn();
  });

  it('does not take what another server of this machine saw for a sign-in', async () => {
    const [cookie = ''] = [...cookies].filter((seen) => seen.includes('instar'));
    // The same host on another port does see it: that is why it is not enough.
    expect(cookie).not.toBe('');
    for (const path of ['/api/status', '/api/page/sessions', `/api/lessons/${LESSON}`]) {
      const { status, text } = await ask(daemon.port, { method: 'GET', path, headers: { cookie } });
      expect([path, status >= 400]).toEqual([path, true]);
      expect(text).not.toContain('lesson-');
    }
  });

  it('takes the very same decision from its own page', async () => {
    const { hash } = await target();
    const { page } = own;
    await settled(page);
    const status = await page.evaluate(
      async ({ lesson, shown }) => {
        const response = await fetch(`/api/page/lessons/${lesson}`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'x-instar-page': localStorage.getItem('instar-page') ?? '',
          },
          body: JSON.stringify({ do: 'approve', shown }),
        });
        return response.status;
      },
      { lesson: LESSON, shown: hash },
    );
    expect(status).toBe(200);
    expect(await owner(`/api/lessons/${LESSON}`)).toMatchObject({ state: 'live' });
  });
});

/** Runs in the hostile page. Everything that it gets to know is returned. */
async function fetchEverything({ origin, lesson, hash }: Target): Promise<{
  readonly sent: number;
  readonly answers: readonly string[];
  readonly events: readonly string[];
  readonly loaded: readonly string[];
}> {
  const answers: string[] = [];
  let sent = 0;
  const attempts: readonly (readonly [method: string, path: string, body?: object])[] = [
    ['GET', '/'],
    ['GET', '/api/status'],
    ['GET', '/api/page/sessions'],
    ['GET', `/api/page/lessons/${lesson}`],
    ['GET', '/api/login'],
    ['GET', '/api/feed'],
    ['GET', '/v1/models'],
    ['POST', '/api/code', {}],
    ['POST', '/api/logout', {}],
    ['POST', `/api/page/lessons/${lesson}`, { do: 'approve', shown: hash }],
    ['POST', '/api/keys', { name: 'evil', may: ['feedback'] }],
    ['POST', '/api/config', { path: 'library.autonomy', value: 'autonomous' }],
    ['POST', '/api/learning', { on: false }],
    ['POST', '/v1/chat/completions', { model: 'default', messages: [{ role: 'user', content: 'hello' }] }],
    ['DELETE', '/api/sessions/sess-0001'],
  ];
  for (const [method, path, body] of attempts)
    for (const mode of ['cors', 'no-cors'] as const)
      for (const type of body === undefined ? [''] : ['text/plain', 'application/json']) {
        sent++;
        try {
          const response = await fetch(`${origin}${path}`, {
            method,
            mode,
            credentials: 'include',
            signal: AbortSignal.timeout(3000),
            headers: {
              ...(type === '' ? {} : { 'content-type': type }),
              // Only a cors request may have headers of its own, and is asked about first.
              ...(mode === 'cors' ? { 'x-instar-page': '' } : {}),
            },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          });
          const text = await response.text();
          if (response.type !== 'opaque' || text !== '') answers.push(`${method} ${path} ${mode}: ${text}`);
        } catch {
          // The browser gives nothing of the answer: that is what is hoped for.
        }
      }
  navigator.sendBeacon(`${origin}/api/logout`, '{}');
  navigator.sendBeacon(`${origin}/api/learning`, new Blob(['{"on":false}'], { type: 'text/plain' }));
  const loaded: string[] = [];
  for (const [tag, path] of [
    ['script', '/api/status'],
    ['script', '/api/page/sessions'],
    ['img', '/favicon.svg'],
  ] as const)
    await new Promise<void>((resolve) => {
      const element = document.createElement(tag);
      element.onload = () => resolve(void loaded.push(`${tag} ${path}`));
      element.onerror = () => resolve();
      element.src = `${origin}${path}`;
      document.body.append(element);
    });
  const events: string[] = [];
  const source = new EventSource(`${origin}/api/feed`, { withCredentials: true });
  await new Promise<void>((resolve) => {
    source.onopen = () => resolve(void events.push('open'));
    source.onmessage = ({ data }) => void events.push(String(data));
    source.onerror = () => resolve();
  });
  source.close();
  return { sent, answers, events, loaded };
}

function sendForm({
  url,
  enctype,
  body,
}: {
  readonly url: string;
  readonly enctype: string;
  readonly body: string;
}): void {
  const form = document.createElement('form');
  form.method = 'post';
  form.action = url;
  form.enctype = enctype;
  // As text/plain, name and value make one JSON text around the sign between them.
  const input = document.createElement('input');
  input.name = `${body.slice(0, -1)}${body === '{}' ? '' : ','}"x":"`;
  input.value = '"}';
  form.append(input);
  document.body.append(form);
  form.submit();
}

/** What a page that frames and opens another one can see of it. */
async function frameAndOpen(
  origin: string,
): Promise<{ readonly framed: string; readonly opened: string; readonly replies: readonly string[] }> {
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  const replies: string[] = [];
  addEventListener('message', ({ data }) => replies.push(JSON.stringify(data)));
  const insides = (other: Window | null): string => {
    try {
      return other?.document.body.innerText.trim() || 'nothing';
    } catch {
      return 'nothing';
    }
  };
  const frame = document.createElement('iframe');
  frame.src = `${origin}/#/lessons`;
  document.body.append(frame);
  const opened = open(`${origin}/#/lessons`);
  await pause(1500);
  for (const other of [frame.contentWindow, opened])
    for (const message of ['approve', { type: 'library' }, { do: 'approve', shown: '*' }])
      other?.postMessage(message, '*');
  await pause(300);
  return { framed: insides(frame.contentWindow), opened: insides(opened), replies };
}
