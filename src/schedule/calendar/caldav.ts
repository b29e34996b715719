import ICAL from 'ical.js';
import { systemZone } from '../windows/zone.ts';
import { type BusyAnswer, type BusySpan, type BusyTimes, busyFailure, mergeSpans } from './busy-times.ts';
import { failureOfStatus, requestText, type TextAnswer } from './http-text.ts';
import { type ExpandIcs, expandInThread } from './ics.ts';
import { localMs } from './ics-series.ts';

interface CaldavSetting {
  /** The calendar's own address. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly fetch: typeof fetch;
  readonly owners?: readonly string[];
  readonly zone?: () => string;
  readonly expand?: ExpandIcs;
  readonly timeoutMs?: number;
}

const MAX_BYTES = 5 * 1024 * 1024;
/** The statuses of servers that do not support a report. */
const NOT_OFFERED = new Set([400, 403, 405, 415, 422, 501]);

/**
 * Sends a free-busy query (RFC 4791, 7.10). A server that does not support it is asked for the events, which are expanded
 * here; which of the two works is remembered.
 */
export function createCaldavBusyTimes(setting: CaldavSetting): BusyTimes {
  const { url, user, password, owners = [], zone = systemZone, expand = expandInThread } = setting;
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  let offersFreeBusy = true;

  const report = (body: string, depth: string, signal: AbortSignal): Promise<TextAnswer> =>
    requestText({
      fetch: setting.fetch,
      url,
      method: 'REPORT',
      headers: { authorization, depth, 'content-type': 'application/xml; charset=utf-8' },
      body,
      timeoutMs: setting.timeoutMs ?? 10_000,
      maxBytes: MAX_BYTES,
      signal,
    });

  /** Undefined where the server does not offer it. */
  const askFreeBusy = async (
    from: number,
    to: number,
    signal: AbortSignal,
  ): Promise<BusyAnswer | undefined> => {
    const answer = await report(freeBusyQuery(from, to), '1', signal);
    if (!answer.ok) return answer;
    if (NOT_OFFERED.has(answer.status) || answer.status === 207) return undefined;
    if (answer.status !== 200) return failureOfStatus(answer.status, answer.headers);
    const spans = readFreeBusy(answer.text);
    return spans === undefined ? undefined : { ok: true, spans: mergeSpans(spans, from, to) };
  };

  const askEvents = async (from: number, to: number, signal: AbortSignal): Promise<BusyAnswer> => {
    const answer = await report(eventQuery(from, to), '1', signal);
    if (!answer.ok) return answer;
    if (answer.status === 200) return busyFailure('the server does not speak CalDAV');
    if (answer.status !== 207) return failureOfStatus(answer.status, answer.headers);
    const texts = readMultistatus(answer.text);
    if (texts === undefined) return busyFailure('the reply of the server cannot be parsed');
    if (texts.length === 0) return { ok: true, spans: [] };
    const addresses = owners.map((owner) => owner.toLowerCase());
    return expand({ texts, from, to, zone: zone(), owners: addresses }, signal);
  };

  return {
    name: 'caldav',
    async busy(from, to, signal) {
      try {
        const answer = offersFreeBusy ? await askFreeBusy(from, to, signal) : undefined;
        if (answer !== undefined) return answer;
        const events = await askEvents(from, to, signal);
        if (events.ok) offersFreeBusy = false;
        return events;
      } catch {
        return busyFailure('the calendar could not be read');
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

/** Tentative times do not count as busy. */
const COUNTS = new Set(['', 'BUSY', 'BUSY-UNAVAILABLE']);

/** The busy times of a VFREEBUSY reply; undefined for anything else. All its times are in UTC. */
function readFreeBusy(text: string): readonly BusySpan[] | undefined {
  try {
    const calendar = new ICAL.Component(ICAL.parse(text));
    const answers = calendar.getAllSubcomponents('vfreebusy');
    if (calendar.name !== 'vcalendar' || answers.length === 0) return undefined;
    return answers
      .flatMap((answer) => answer.getAllProperties('freebusy'))
      .filter((property) => COUNTS.has(String(property.getFirstParameter('fbtype') ?? '').toUpperCase()))
      .flatMap((property) => property.getValues())
      .map(spanOf);
  } catch {
    return undefined;
  }
}

function spanOf(value: unknown): BusySpan {
  if (!(value instanceof ICAL.Period)) throw new Error('no period');
  const span = { start: localMs(value.start), end: localMs(value.getEnd()) };
  if (!Number.isFinite(span.start + span.end)) throw new Error('no dates');
  return span;
}

const MAX_REFERENCE = 12;
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * The text of every `calendar-data` element of a WebDAV reply, with any prefix. One pass; only the five predefined
 * entities and character references. Undefined for a document with a document type and for text that is not XML.
 */
export function readMultistatus(xml: string): readonly string[] | undefined {
  if (!xml.trimStart().startsWith('<')) return undefined;
  const texts: string[] = [];
  let open: string[] | undefined;
  let hasRoot = false;
  let at = 0;
  while (at < xml.length) {
    const tag = xml.indexOf('<', at);
    const text = xml.slice(at, tag < 0 ? xml.length : tag);
    const read = open === undefined ? '' : decode(text);
    if (read === undefined) return undefined;
    open?.push(read);
    if (tag < 0) break;
    const part = partAt(xml, tag);
    if (part === undefined) return undefined;
    at = part.end;
    if (part.kind === 'cdata') open?.push(part.text);
    if (part.kind === 'open' && part.text === 'multistatus') hasRoot = true;
    if (part.kind === 'open' && part.text === 'calendar-data') open = [];
    if (part.kind === 'close' && part.text === 'calendar-data' && open !== undefined) {
      texts.push(open.join(''));
      open = undefined;
    }
  }
  return hasRoot && open === undefined ? texts : undefined;
}

interface Part {
  readonly kind: 'open' | 'close' | 'cdata' | 'other';
  /** The element's name without its prefix, or the characters of a CDATA section. */
  readonly text: string;
  readonly end: number;
}

function partAt(xml: string, at: number): Part | undefined {
  const until = (mark: string, from: number): number => {
    const found = xml.indexOf(mark, from);
    return found < 0 ? -1 : found + mark.length;
  };
  if (xml.startsWith('<![CDATA[', at)) {
    const end = until(']]>', at);
    return end < 0 ? undefined : { kind: 'cdata', text: xml.slice(at + 9, end - 3), end };
  }
  if (xml.startsWith('<!--', at)) {
    const end = until('-->', at + 4);
    return end < 0 ? undefined : { kind: 'other', text: '', end };
  }
  if (xml.startsWith('<!', at)) return undefined;
  if (xml.startsWith('<?', at)) {
    const end = until('?>', at);
    return end < 0 ? undefined : { kind: 'other', text: '', end };
  }
  const end = tagEnd(xml, at);
  if (end === undefined) return undefined;
  const isClose = xml[at + 1] === '/';
  const inside = xml.slice(at + (isClose ? 2 : 1), end - 1);
  const name = inside.split(/[\s/]/, 1)[0] ?? '';
  const local = name.slice(name.indexOf(':') + 1);
  const isEmpty = !isClose && inside.endsWith('/');
  return { kind: isClose ? 'close' : isEmpty ? 'other' : 'open', text: local, end };
}

/** The offset after the `>` of a tag, skipping quoted attribute values. */
function tagEnd(xml: string, at: number): number | undefined {
  let quote = '';
  for (let index = at + 1; index < xml.length; index++) {
    const character = xml[index] ?? '';
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '>') return index + 1;
    else if (character === '<') return undefined;
  }
  return undefined;
}

function decode(text: string): string | undefined {
  const parts: string[] = [];
  let at = 0;
  for (let mark = text.indexOf('&'); mark >= 0; mark = text.indexOf('&', at)) {
    const end = text.indexOf(';', mark);
    if (end < 0 || end - mark > MAX_REFERENCE) return undefined;
    const character = referenced(text.slice(mark + 1, end));
    if (character === undefined) return undefined;
    parts.push(text.slice(at, mark), character);
    at = end + 1;
  }
  parts.push(text.slice(at));
  return parts.join('');
}

function referenced(name: string): string | undefined {
  const code = /^#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}))$/.exec(name);
  if (code === null) return Object.hasOwn(NAMED, name) ? NAMED[name] : undefined;
  const point = code[1] === undefined ? Number(code[2]) : Number.parseInt(code[1], 16);
  return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : undefined;
}
