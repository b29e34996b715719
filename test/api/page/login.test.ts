import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createPageLogin } from '../../../src/api/page/login.ts';
import type { SignIn } from '../../../src/api/page/sign-ins.ts';
import type { Caller } from '../../../src/core/caller.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** A login with a clock of its own, and a file that outlives it. */
function openLogin() {
  let at = 1000;
  let wall = 1_700_000_000_000;
  let owner: Caller | undefined = { kind: 'owner', id: 'owner_1', mayRate: true };
  let file: readonly SignIn[] = [];
  const open = () =>
    createPageLogin({
      clock: { now: () => wall + at, monotonic: () => at },
      owner: () => owner,
      kept: {
        read: () => file,
        write: (all) => {
          file = all;
        },
      },
    });
  let login = open();
  const request = (headers: Readonly<Record<string, string>>, method = 'GET'): IncomingMessage =>
    ({ method, headers: { host: '127.0.0.1:4600', ...headers }, socket: { localPort: 4600 } }) as Pick<
      IncomingMessage,
      'method' | 'headers'
    > as IncomingMessage;
  const enter = (code: string) => login.enter(code, request({}));
  return {
    get login() {
      return login;
    },
    /** The daemon starts again: its monotonic clock begins anew. */
    restart: () => {
      wall += at;
      at = 0;
      login = open();
    },
    setClockBack: (ms: number) => {
      wall -= ms;
    },
    request,
    enter,
    /** What the page sends after it has signed in. */
    sentBy: (
      entered: ReturnType<typeof enter>,
    ): { readonly cookie: string; readonly 'x-instar-page': string } =>
      entered.ok
        ? {
            cookie: String(entered.headers['set-cookie']).split(';')[0] ?? '',
            'x-instar-page': entered.word,
          }
        : { cookie: '', 'x-instar-page': '' },
    pass: (ms: number) => {
      at += ms;
    },
    setOwner: (next: Caller | undefined) => {
      owner = next;
    },
  };
}

const SAME = { 'sec-fetch-site': 'same-origin' };

describe('a one-time code', () => {
  it('is valid for ten minutes', () => {
    const { login, enter, pass } = openLogin();
    const [late, soon] = [login.newCode().code, login.newCode().code];
    pass(10 * MINUTE - 1);
    expect(enter(soon)).toHaveProperty('word');
    pass(1);
    expect(enter(late)).toMatchObject({ why: { status: 401 } });
  });

  it('is of the owner key that made it', () => {
    const { login, enter, setOwner } = openLogin();
    const { code } = login.newCode();
    setOwner({ kind: 'owner', id: 'owner_2', mayRate: true });
    expect(enter(code)).toMatchObject({ why: { status: 401 } });
  });

  it('cannot be guessed for long: after ten wrong ones in a minute the answer is 429, and a right one still enters', () => {
    const { login, enter, pass } = openLogin();
    const { code } = login.newCode();
    const statuses = Array.from({ length: 11 }, () => enter('guess')).map((one) => !one.ok && one.why.status);
    expect(statuses).toEqual([...Array(10).fill(401), 429]);
    expect(enter(code)).toHaveProperty('word');
    pass(MINUTE);
    expect(enter('guess')).toMatchObject({ why: { status: 401 } });
  });
});

describe('the cookie', () => {
  it('ends after three days without a request, lives while it is used, and ends after thirty days', () => {
    const { login, enter, request, sentBy, pass } = openLogin();
    const sent = sentBy(enter(login.newCode().code));
    const person = () => login.personOf(request({ ...sent, ...SAME }));
    const idle = sentBy(enter(login.newCode().code));
    for (let n = 0; n < 10; n++) {
      pass(3 * DAY - 1);
      expect(person()).toMatchObject({ caller: { kind: 'owner' } });
      if (n > 0) expect(login.personOf(request({ ...idle, ...SAME }))).toBeUndefined();
    }
    pass(10);
    expect(person()).toBeUndefined();
  });

  it('counts where an older browser names its own origin, and nowhere else', () => {
    const { login, enter, request, sentBy } = openLogin();
    const sent = sentBy(enter(login.newCode().code));
    const asked = (headers: Readonly<Record<string, string>>) =>
      login.personOf(request({ ...sent, ...headers }));
    expect(asked({ origin: 'http://127.0.0.1:4600' })).toMatchObject({ caller: { kind: 'owner' } });
    expect(asked({ origin: 'http://127.0.0.1:9999' })).toMatchObject({ why: { status: 403 } });
    expect(asked({})).toMatchObject({ why: { status: 403 } });
    expect(login.personOf(request({ ...sent, cookie: `${sent.cookie}x`, ...SAME }))).toBeUndefined();
  });

  it('is not removed by a foreign page that asks for a logout', () => {
    const { login, enter, request, sentBy } = openLogin();
    const sent = sentBy(enter(login.newCode().code));
    login.leave(request({ ...sent, 'sec-fetch-site': 'cross-site' }, 'POST'));
    expect(login.personOf(request({ ...sent, ...SAME }))).toMatchObject({ caller: { kind: 'owner' } });
    login.leave(request({ ...sent, ...SAME }, 'POST'));
    expect(login.personOf(request({ ...sent, ...SAME }))).toBeUndefined();
  });
});

describe('a restart of the daemon', () => {
  const signedIn = () => {
    const page = openLogin();
    const sent = page.sentBy(page.enter(page.login.newCode().code));
    return { page, sent, person: () => page.login.personOf(page.request({ ...sent, ...SAME })) };
  };

  it('signs nobody out, and makes nobody’s time longer', () => {
    const { page, person } = signedIn();
    for (let n = 0; n < 10; n++) {
      page.pass(3 * DAY - 10);
      expect(person()).toMatchObject({ caller: { kind: 'owner' } });
      page.restart();
    }
    page.pass(200);
    expect(person()).toBeUndefined();
  });

  it('does not count as a use of the cookie', () => {
    const { page, person } = signedIn();
    for (let n = 0; n < 3; n++) {
      page.pass(DAY);
      page.restart();
    }
    expect(person()).toBeUndefined();
  });

  it('signs out whoever was signed out before it', () => {
    const { page, sent, person } = signedIn();
    page.login.leave(page.request({ ...sent, ...SAME }, 'POST'));
    page.restart();
    expect(person()).toBeUndefined();
  });

  it('signs everybody out when the clock was set back: nobody knows how old a sign-in is then', () => {
    const { page, person } = signedIn();
    page.setClockBack(DAY);
    page.restart();
    expect(person()).toBeUndefined();
  });

  it('does not bring a code back', () => {
    const { page } = signedIn();
    const { code } = page.login.newCode();
    page.restart();
    expect(page.enter(code)).toMatchObject({ why: { status: 401 } });
  });
});

describe('signing everybody out', () => {
  it('ends every cookie and every unused code', () => {
    const page = openLogin();
    const sent = [1, 2].map(() => page.sentBy(page.enter(page.login.newCode().code)));
    const { code } = page.login.newCode();
    page.login.leaveAll();
    page.restart();
    for (const one of sent) expect(page.login.personOf(page.request({ ...one, ...SAME }))).toBeUndefined();
    expect(page.enter(code)).toMatchObject({ why: { status: 401 } });
  });
});
