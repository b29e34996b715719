import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createCaldavBusyTimes, readMultistatus } from '../../../src/schedule/calendar/caldav.ts';
import { createIcsBusyTimes } from '../../../src/schedule/calendar/ics.ts';
import { startCaldavServer, startIcsServer } from './busy-servers.ts';
import { describeBusyTimes } from './busy-times.contract.ts';
import { startFakeServer } from './fake-server.ts';
import { calendar, event } from './ics-samples.ts';

const zone = () => 'Europe/Berlin';
const person = { user: 'ada', password: 'caldav-secret' };
const signal = new AbortController().signal;
const AT = Date.parse('2026-06-08T00:00:00Z');
const DAY = 86_400_000;

describeBusyTimes({
  name: 'a published calendar',
  secrets: ['private-0123456789'],
  start: startIcsServer,
  open: ({ url }) => createIcsBusyTimes({ place: `${url}/private-0123456789/basic.ics`, fetch, zone }),
});

for (const offersFreeBusy of [true, false]) {
  describeBusyTimes({
    name: offersFreeBusy ? 'CalDAV with free-busy' : 'CalDAV without free-busy',
    secrets: ['caldav-secret', 'YWRhOmNhbGRhdi1zZWNyZXQ'],
    start: (spans) => startCaldavServer(spans, { offersFreeBusy }),
    open: ({ url }) => createCaldavBusyTimes({ url: `${url}/calendars/ada/`, ...person, fetch, zone }),
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

describe('CalDAV', () => {
  it('remembers that free-busy is not offered', async () => {
    const server = await startCaldavServer(() => [], { offersFreeBusy: false });
    const url = `${server.url}/c/`;
    const caldav = createCaldavBusyTimes({ url, ...person, fetch, zone });
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
    const caldav = createCaldavBusyTimes({ url: server.url, ...person, fetch, zone });
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
