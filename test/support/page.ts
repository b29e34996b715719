import type { JsonObject } from '../../src/core/json.ts';
import { type Answer, ask } from './client.ts';
import type { RunningDaemon } from './daemon.ts';

type Headers = Readonly<Record<string, string>>;

/** A browser with the page of a daemon open: what it sends, and nothing else. */
export interface Browser {
  readonly cookie: string;
  /** What the page keeps beside its cookie. */
  readonly word: string;
  get(path: string, headers?: Headers): Promise<Answer>;
  post(path: string, body?: object, headers?: Headers): Promise<Answer>;
  json(path: string): Promise<JsonObject>;
}

/** What browsers add to a request of a page to its own origin. */
export const SAME_ORIGIN: Headers = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' };

/** The code of an address that `instar page` would print. */
export async function newPageCode({ port, ownerKey }: RunningDaemon): Promise<string> {
  const headers = { authorization: `Bearer ${ownerKey}` };
  const { text } = await ask(port, { path: '/api/code', headers, body: '{}' });
  return String(JSON.parse(text).code);
}

export async function signIn(daemon: RunningDaemon): Promise<Browser> {
  const { port } = daemon;
  const origin = { origin: `http://127.0.0.1:${port}` };
  const { headers: set, text } = await ask(port, {
    path: '/api/login',
    headers: { ...SAME_ORIGIN, ...origin },
    body: JSON.stringify({ code: await newPageCode(daemon) }),
  });
  const cookie = String(set['set-cookie']?.[0] ?? '').split(';')[0] ?? '';
  const word = String(JSON.parse(text).word);
  const page = { 'x-instar-page': word };
  const browser: Browser = {
    cookie,
    word,
    get: (path, headers = {}) =>
      ask(port, { method: 'GET', path, headers: { ...SAME_ORIGIN, cookie, ...page, ...headers } }),
    post: (path, body = {}, headers = {}) =>
      ask(port, {
        path,
        body: JSON.stringify(body),
        headers: { ...SAME_ORIGIN, ...origin, cookie, ...page, ...headers },
      }),
    json: async (path) => JSON.parse((await browser.get(path)).text),
  };
  return browser;
}
