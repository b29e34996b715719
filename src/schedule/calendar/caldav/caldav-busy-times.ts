import { systemZone } from '../../windows/system-zone.ts';
import { type BusyAnswer, type BusyTimes, busyFailure, mergeSpans } from '../busy-times.ts';
import { type ExpandIcs, expandInThread } from '../ics/expand-in-thread.ts';
import { failureOfStatus, requestText, type TextAnswer } from '../request-text.ts';
import { readFreeBusy } from './read-free-busy.ts';
import { readMultistatus } from './read-multistatus.ts';

export type CaldavAccess = { readonly user: string; readonly password: string } | { readonly bearer: string };

export interface CaldavSetting {
  /** The calendar's own address. */
  readonly url: string;
  readonly access: CaldavAccess;
  readonly fetch: typeof fetch;
  readonly owners?: readonly string[];
  readonly zone?: () => string;
  readonly expand?: ExpandIcs;
  readonly timeoutMs?: number;
}

const MOST_BYTES = 5 * 1024 * 1024;
/** How servers say that they do not know this report. */
const NOT_OFFERED = new Set([400, 403, 405, 415, 422, 501]);

/**
 * Asks for free and busy times (RFC 4791, 7.10). A server that does not offer that is asked for the events themselves,
 * which are read here; which of the two it does is remembered.
 */
export function createCaldavBusyTimes(setting: CaldavSetting): BusyTimes {
  const { url, access, owners = [], zone = systemZone, expand = expandInThread } = setting;
  const authorization =
    'bearer' in access
      ? `Bearer ${access.bearer}`
      : `Basic ${Buffer.from(`${access.user}:${access.password}`).toString('base64')}`;
  let offersFreeBusy = true;

  const report = (body: string, depth: string, signal: AbortSignal): Promise<TextAnswer> =>
    requestText({
      fetch: setting.fetch,
      url,
      method: 'REPORT',
      headers: { authorization, depth, 'content-type': 'application/xml; charset=utf-8' },
      body,
      timeoutMs: setting.timeoutMs ?? 10_000,
      mostBytes: MOST_BYTES,
      signal,
    });

  const askFreeBusy = async (
    from: number,
    to: number,
    signal: AbortSignal,
  ): Promise<BusyAnswer | 'not offered'> => {
    const answer = await report(freeBusyQuery(from, to), '1', signal);
    if (!answer.ok) return answer;
    if (NOT_OFFERED.has(answer.status) || answer.status === 207) return 'not offered';
    if (answer.status !== 200) return failureOfStatus(answer.status, answer.headers);
    const spans = readFreeBusy(answer.text);
    return spans === undefined ? 'not offered' : { ok: true, spans: mergeSpans(spans, from, to) };
  };

  const askEvents = async (from: number, to: number, signal: AbortSignal): Promise<BusyAnswer> => {
    const answer = await report(eventQuery(from, to), '1', signal);
    if (!answer.ok) return answer;
    if (answer.status === 200) return busyFailure('the server does not speak CalDAV');
    if (answer.status !== 207) return failureOfStatus(answer.status, answer.headers);
    const texts = readMultistatus(answer.text);
    if (texts === undefined) return busyFailure('the server said nothing that can be read');
    if (texts.length === 0) return { ok: true, spans: [] };
    const addresses = owners.map((owner) => owner.toLowerCase());
    return expand({ texts, from, to, zone: zone(), owners: addresses }, signal);
  };

  return {
    name: 'caldav',
    async busy(from, to, signal) {
      try {
        const answer = offersFreeBusy ? await askFreeBusy(from, to, signal) : 'not offered';
        if (answer !== 'not offered') return answer;
        const events = await askEvents(from, to, signal);
        if (events.ok) offersFreeBusy = false;
        return events;
      } catch {
        return busyFailure('the calendar could not be asked');
      }
    },
  };
}

/** `20260605T120000Z` */
const stamp = (instant: number): string =>
  `${new Date(instant).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
const range = (from: number, to: number): string =>
  `<C:time-range start="${stamp(from)}" end="${stamp(to)}"/>`;
const HEAD = '<?xml version="1.0" encoding="utf-8"?>';
const CALDAV = 'xmlns:C="urn:ietf:params:xml:ns:caldav"';

const freeBusyQuery = (from: number, to: number): string =>
  `${HEAD}<C:free-busy-query ${CALDAV}>${range(from, to)}</C:free-busy-query>`;

const eventQuery = (from: number, to: number): string =>
  `${HEAD}<C:calendar-query ${CALDAV} xmlns:D="DAV:"><D:prop><C:calendar-data/></D:prop>` +
  `<C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT">${range(from, to)}</C:comp-filter>` +
  '</C:comp-filter></C:filter></C:calendar-query>';
