import type { BusySpan } from '../../../src/schedule/calendar/busy-times.ts';
import { type FakeServer, startFakeServer } from './fake-server.ts';
import { calendar, event } from './ics-samples.ts';

const stamp = (instant: number): string =>
  `${new Date(instant).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;

const eventsOf = (spans: readonly BusySpan[]): string[] =>
  spans.map(({ start, end }) => event(`DTSTART:${stamp(start)}`, `DTEND:${stamp(end)}`));

/** A published calendar, which knows whether it changed. */
export const startIcsServer = (spans: () => readonly BusySpan[]): Promise<FakeServer> =>
  startFakeServer((request) => {
    const body = calendar(...eventsOf(spans()));
    const etag = `"${spans().length}"`;
    if (request.headers['if-none-match'] === etag) return { status: 304, headers: { etag } };
    return { status: 200, headers: { 'content-type': 'text/calendar; charset=utf-8', etag }, body };
  });

const BASIC = `Basic ${Buffer.from('ada:caldav-secret').toString('base64')}`;

/** A CalDAV server, with or without the free-busy report. */
export const startCaldavServer = (
  spans: () => readonly BusySpan[],
  { offersFreeBusy, authorization = BASIC }: { offersFreeBusy: boolean; authorization?: string },
): Promise<FakeServer> =>
  startFakeServer((request) => {
    if (request.headers.authorization !== authorization) return { status: 401, body: 'who are you' };
    if (request.method !== 'REPORT') return { status: 405 };
    if (request.body.includes('free-busy-query')) {
      if (!offersFreeBusy) {
        const body = '<?xml version="1.0"?><D:error xmlns:D="DAV:"><D:supported-report/></D:error>';
        return { status: 403, headers: { 'content-type': 'application/xml' }, body };
      }
      const lines = spans().map(({ start, end }) => `FREEBUSY;FBTYPE=BUSY:${stamp(start)}/${stamp(end)}`);
      const body = calendar('BEGIN:VFREEBUSY', 'DTSTAMP:20260101T000000Z', ...lines, 'END:VFREEBUSY');
      return { status: 200, headers: { 'content-type': 'text/calendar' }, body };
    }
    const responses = eventsOf(spans()).map((one, index) => {
      const text = calendar(one).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
      const data = index % 2 === 0 ? text.replaceAll('\r', '&#13;') : `<![CDATA[${calendar(one)}]]>`;
      return `<d:response><d:href>/c/${index}.ics</d:href><d:propstat><d:prop><cal:calendar-data>${data}</cal:calendar-data></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`;
    });
    const body = `<?xml version="1.0" encoding="utf-8"?>\n<d:multistatus xmlns:d="DAV:" xmlns:cal="urn:ietf:params:xml:ns:caldav">${responses.join('')}</d:multistatus>`;
    return { status: 207, headers: { 'content-type': 'application/xml; charset=utf-8' }, body };
  });
