import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createManualClock } from '../../../src/core/clock.ts';
import { createCaldavBusyTimes, readMultistatus } from '../../../src/schedule/calendar/caldav.ts';
import { createGoogleBusyTimes } from '../../../src/schedule/calendar/google.ts';
import { createIcsBusyTimes } from '../../../src/schedule/calendar/ics.ts';
import { createGoogleState, startCaldavServer, startGoogleServer, startIcsServer } from './busy-servers.ts';
import { describeBusyTimes } from './busy-times.contract.ts';
import { startFakeServer } from './fake-server.ts';
import { calendar, event } from './ics-samples.ts';

const zone = () => 'Europe/Berlin';
const access = { user: 'ada', password: 'caldav-secret' };
const signal = new AbortController().signal;
const AT = Date.parse('2026-06-08T00:00:00Z');
const DAY = 86_400_000;

describeBusyTimes({
  name: 'a published calendar',
  secrets: ['private-0123456789'],
  start: startIcsServer,
  open: ({ url }) => createIcsBusyTimes({ place: `${url}/private-0123456789/basic.ics`, fetch, zone }),
});

const state = createGoogleState();
describeBusyTimes({
  name: 'Google',
  secrets: ['refresh-secret', 'access-secret'],
  start: (spans) => startGoogleServer(state, spans),
  open: ({ url }) =>
    createGoogleBusyTimes({
      calendars: ['primary'],
      client: { id: 'client' },
      tokens: { read: async () => state.refreshToken, write: async () => undefined },
      clock: createManualClock(),
      fetch,
      places: { consent: `${url}/consent`, token: `${url}/token`, freeBusy: `${url}/freeBusy` },
    }),
});

for (const offersFreeBusy of [true, false]) {
  describeBusyTimes({
    name: offersFreeBusy ? 'CalDAV with free-busy' : 'CalDAV without free-busy',
    secrets: ['caldav-secret', 'YWRhOmNhbGRhdi1zZWNyZXQ'],
    start: (spans) => startCaldavServer(spans, { offersFreeBusy }),
    open: ({ url }) => createCaldavBusyTimes({ url: `${url}/calendars/ada/`, access, fetch, zone }),
  });
}

describe('a published calendar', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'instar-ics-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const meeting = calendar(event('DTSTART:20260608T100000Z', 'DTEND:20260608T110000Z'));
  const spans = [{ start: AT + 10 * 3_600_000, end: AT + 11 * 3_600_000 }];

  it('is not sent again when it has not changed, and still answers', async () => {
    const server = await startIcsServer(() => spans);
    const ics = createIcsBusyTimes({ place: `${server.url}/x.ics`, fetch, zone });
    expect(await ics.busy(AT, AT + DAY, signal)).toEqual({ ok: true, spans });
    expect(await ics.busy(AT, AT + DAY, signal)).toEqual({ ok: true, spans });
    expect(server.seen.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"1"']);
    await server.close();
  });

  it('is read from a file, which may change, be missing, be a folder or be too large', async () => {
    const file = path.join(folder, 'a.ics');
    const ask = (place: string) => createIcsBusyTimes({ place, fetch, zone }).busy(AT, AT + DAY, signal);
    writeFileSync(file, `\uFEFF${meeting}`);
    expect(await ask(file)).toEqual({ ok: true, spans });
    writeFileSync(file, calendar());
    expect(await ask(file)).toEqual({ ok: true, spans: [] });
    expect(await ask(path.join(folder, 'none.ics'))).toMatchObject({ ok: false, isOff: false });
    expect(await ask(folder)).toMatchObject({ ok: false, isOff: true });
    writeFileSync(file, meeting + ' '.repeat(5 * 1024 * 1024));
    expect(await ask(file)).toMatchObject({ ok: false, why: expect.stringContaining('larger than') });
  });

  it('is cut off behind five megabytes', async () => {
    const body = meeting + 'X'.repeat(5 * 1024 * 1024);
    const server = await startFakeServer(() => ({ status: 200, body }));
    const answer = await createIcsBusyTimes({ place: server.url, fetch, zone }).busy(AT, AT + DAY, signal);
    expect(answer).toMatchObject({ ok: false, why: expect.stringContaining('larger than') });
    await server.close();
  });

  it('follows a redirect within its own origin', async () => {
    const server = await startFakeServer(({ path: at }) =>
      at === '/new' ? { status: 200, body: meeting } : { status: 301, headers: { location: '/new' } },
    );
    const answer = await createIcsBusyTimes({ place: `${server.url}/old`, fetch, zone }).busy(
      AT,
      AT + DAY,
      signal,
    );
    expect(answer).toEqual({ ok: true, spans });
    await server.close();
  });

  it('is never fetched unencrypted beyond this machine, nor with a password in its address', async () => {
    for (const place of [
      'http://calendar.example.com/private-1/basic.ics',
      'https://u:p@calendar.example.com/x',
    ]) {
      const answer = await createIcsBusyTimes({ place, fetch, zone }).busy(AT, AT + DAY, signal);
      expect(answer).toEqual({ ok: false, isOff: true, why: 'the address is not https' });
    }
  });
});

describe('Google', () => {
  const open = async (first = createGoogleState()) => {
    const server = await startGoogleServer(first, () => []);
    let kept: string | undefined = first.refreshToken;
    const clock = createManualClock();
    const google = createGoogleBusyTimes({
      calendars: ['primary'],
      client: { id: 'client', secret: 'client-secret' },
      tokens: {
        read: async () => kept,
        write: async (token) => {
          kept = token;
        },
      },
      clock,
      fetch,
      places: { consent: server.url, token: `${server.url}/token`, freeBusy: `${server.url}/freeBusy` },
    });
    const ask = () => google.busy(AT, AT + DAY, signal);
    return { server, clock, ask, kept: () => kept, keep: (token?: string) => (kept = token), state: first };
  };

  it('refreshes its token when it runs out, and once when it is refused before', async () => {
    const { server, clock, ask, state: now } = await open();
    await ask();
    await ask();
    expect(now.issued).toBe(1);
    clock.advance(3_600_000);
    expect((await ask()).ok).toBe(true);
    expect(now.issued).toBe(2);
    now.good.clear();
    expect((await ask()).ok).toBe(true);
    expect(now.issued).toBe(3);
    await server.close();
  });

  it('gives up after one fresh token (not: asks forever)', async () => {
    const { server, ask, state: now } = await open();
    now.good.add = () => now.good;
    expect(await ask()).toMatchObject({ ok: false, isOff: true });
    expect(now.issued).toBe(2);
    await server.close();
  });

  it('is off when access was revoked, asks no more, and is on again after new consent', async () => {
    const { server, ask, state: now, keep } = await open();
    now.refuse = 'invalid_grant';
    expect(await ask()).toMatchObject({ isOff: true, why: expect.stringContaining('connect it again') });
    const asked = server.seen.length;
    expect(await ask()).toMatchObject({ isOff: true });
    expect(server.seen.length).toBe(asked);
    now.refuse = undefined;
    now.refreshToken = 'refresh-secret-2';
    keep('refresh-secret-2');
    expect((await ask()).ok).toBe(true);
    keep(undefined);
    expect(await ask()).toMatchObject({ isOff: true, why: 'the Google calendar is not connected' });
    await server.close();
  });

  it('keeps a refresh token that was exchanged for another', async () => {
    const { server, ask, state: now, kept } = await open();
    now.nextRefreshToken = 'refresh-secret-9';
    expect((await ask()).ok).toBe(true);
    expect(kept()).toBe('refresh-secret-9');
    expect((await ask()).ok).toBe(true);
    expect(now.issued).toBe(1);
    await server.close();
  });

  it('treats a 403 for its rate as a rate limit (not: off)', async () => {
    const { server, ask } = await open();
    await ask();
    const body = JSON.stringify({ error: { code: 403, errors: [{ reason: 'userRateLimitExceeded' }] } });
    server.fault = { kind: 'reply', reply: { status: 403, headers: { 'retry-after': '7' }, body } };
    expect(await ask()).toMatchObject({ isOff: false, retryAfterMs: 7000 });
    await server.close();
  });

  it('is off for a missing calendar, and fails when its token store fails', async () => {
    const first = createGoogleState();
    const server = await startGoogleServer(first, () => []);
    const places = { consent: server.url, token: `${server.url}/token`, freeBusy: `${server.url}/freeBusy` };
    const setting = { client: { id: 'c' }, clock: createManualClock(), fetch, places };
    const store = { read: async () => first.refreshToken, write: async () => undefined };
    const other = createGoogleBusyTimes({ ...setting, calendars: ['work@example.com'], tokens: store });
    expect(await other.busy(AT, AT + DAY, signal)).toMatchObject({ isOff: true });
    const read = async (): Promise<never> => {
      throw new Error('disk');
    };
    const broken = createGoogleBusyTimes({ ...setting, calendars: ['primary'], tokens: { ...store, read } });
    expect(await broken.busy(AT, AT + DAY, signal)).toMatchObject({ ok: false, isOff: false });
    await server.close();
  });
});

describe('CalDAV', () => {
  it('speaks with a bearer token too, and remembers that free-busy is not offered', async () => {
    const server = await startCaldavServer(() => [], { offersFreeBusy: false, authorization: 'Bearer t-1' });
    const url = `${server.url}/c/`;
    const caldav = createCaldavBusyTimes({ url, access: { bearer: 't-1' }, fetch, zone });
    expect(await caldav.busy(AT, AT + DAY, signal)).toEqual({ ok: true, spans: [] });
    expect(await caldav.busy(AT, AT + DAY, signal)).toEqual({ ok: true, spans: [] });
    expect(server.seen.map(({ body }) => body.includes('free-busy-query'))).toEqual([true, false, false]);
    expect(server.seen[0]?.body).toContain('start="20260608T000000Z" end="20260609T000000Z"');
    await server.close();
  });

  it('counts busy and unavailable, and not what is free or tentative', async () => {
    const lines = ['BUSY', 'BUSY-UNAVAILABLE', 'BUSY-TENTATIVE', 'FREE'].map(
      (type, index) => `FREEBUSY;FBTYPE=${type}:20260608T1${index}0000Z/PT30M`,
    );
    const body = calendar(
      'BEGIN:VFREEBUSY',
      ...lines,
      'FREEBUSY:20260608T180000Z/20260608T190000Z',
      'END:VFREEBUSY',
    );
    const server = await startFakeServer(() => ({ status: 200, body }));
    const caldav = createCaldavBusyTimes({ url: server.url, access, fetch, zone });
    const answer = await caldav.busy(AT, AT + DAY, signal);
    expect(answer.ok && answer.spans.map(({ start }) => new Date(start).getUTCHours())).toEqual([10, 11, 18]);
    await server.close();
  });
});

describe('readMultistatus', () => {
  const wrap = (inside: string) => `<?xml version="1.0"?><multistatus xmlns="DAV:">${inside}</multistatus>`;

  it('reads references, CDATA, comments, prefixes and quotes in attributes', () => {
    const data =
      '<a:calendar-data x="a>b" y=\'<!-- "\'>1 &lt; 2 &amp;amp; &#65;&#x42;<!-- no --><![CDATA[<&]]></a:calendar-data>';
    expect(readMultistatus(wrap(data))).toEqual(['1 < 2 &amp; AB<&']);
    expect(readMultistatus(wrap('<calendar-data/>'))).toEqual([]);
  });

  it('refuses documents that declare anything, before it reads them', () => {
    const laughs = '<!DOCTYPE m [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>';
    expect(readMultistatus(`${laughs}${wrap('<calendar-data>&b;</calendar-data>')}`)).toBeUndefined();
    expect(readMultistatus(wrap('<calendar-data>&b;</calendar-data>'))).toBeUndefined();
    expect(readMultistatus(wrap('<!ENTITY x SYSTEM "file:///etc/passwd">'))).toBeUndefined();
  });

  it('refuses truncated and invalid replies', () => {
    const whole = wrap('<calendar-data>text &amp; more</calendar-data>');
    expect(readMultistatus(whole)).toHaveLength(1);
    const cutInside = whole.indexOf('text');
    expect(readMultistatus(whole.slice(0, cutInside))).toBeUndefined();
    for (const text of [
      '',
      'BEGIN:VCALENDAR',
      '<html></html>',
      '<multistatus',
      wrap('<![CDATA[ open'),
      wrap('<a "'),
    ]) {
      expect(readMultistatus(text), text).toBeUndefined();
    }
  });
});
