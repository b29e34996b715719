import vm from 'node:vm';
import ICAL from 'ical.js';
import { openZone } from '../windows/zone.ts';
import { type BusySpan, mergeSpans } from './busy-times.ts';
import { busyInSeries, createFindZone } from './ics-series.ts';

export interface IcsQuestion {
  readonly texts: readonly string[];
  readonly from: number;
  readonly to: number;
  /** The reader's zone, for dates and floating times. */
  readonly zone: string;
  /** E-mail addresses of the calendar's owner, in lower case, to find declined invitations. */
  readonly owners: readonly string[];
  /** How long the rule of one event may take to expand; 1 s by default. */
  readonly seriesMs?: number;
}

export interface IcsAnswer {
  readonly spans: readonly BusySpan[];
  /** The number of events that could not be read, or not in time. */
  readonly skipped: number;
}

const MAX_OCCURRENCES = 5000;
const SERIES_MS = 1000;
/** Setting a time limit costs more than reading most events, so it is set per batch, and per event when a batch exceeds it. */
const BATCH = 100;

/**
 * The busy times in calendar files. Invalid events, and events whose rule takes too long to expand, are skipped. Throws
 * when a text is not a calendar. Slow: run it in a worker thread.
 */
export function readIcs({ texts, from, to, zone, owners, seriesMs = SERIES_MS }: IcsQuestion): IcsAnswer {
  const home = openZone(zone) ?? openZone('UTC');
  if (home === undefined) throw new Error('no zone');
  const find = createFindZone();
  const withinTime = createTimeLimit(seriesMs);
  const spans: BusySpan[] = [];
  let skipped = 0;
  let used = 0;
  const count = (): void => {
    if (used >= MAX_OCCURRENCES) throw new Error('too many occurrences');
    used++;
  };
  const readOne = (events: Series, people: readonly string[]): readonly BusySpan[] | undefined => {
    const before = used;
    try {
      return busyInSeries(events, { from, to, home, owners: people, find, count });
    } catch {
      // A skipped series does not use up the limit of the others.
      used = before;
      return undefined;
    }
  };
  const read = (batch: readonly Series[], people: readonly string[]): void => {
    const before = used;
    const found = withinTime(() => batch.map((events) => readOne(events, people)));
    if (found !== undefined) {
      for (const one of found) spans.push(...(one ?? []));
      skipped += found.filter((one) => one === undefined).length;
      return;
    }
    used = before;
    if (batch.length === 1) skipped++;
    else for (const one of batch) read([one], people);
  };
  for (const text of texts) {
    const { calendar, events, unreadable } = readCalendar(text);
    skipped += unreadable;
    const people = [...owners, ...ownersOf(calendar)];
    const series = seriesOf(events);
    for (let at = 0; at < series.length; at += BATCH) read(series.slice(at, at + BATCH), people);
  }
  return { spans: mergeSpans(spans, from, to), skipped };
}

type Series = readonly ICAL.Component[];

/** Stops synchronous code after a time limit, with `vm`. One context is reused, because creating one is slow. */
function createTimeLimit(ms: number): <T>(work: () => T) => T | undefined {
  const box: { work: () => unknown } = { work: () => undefined };
  const context = vm.createContext(box);
  const script = new vm.Script('work()');
  return <T>(work: () => T) => {
    box.work = work;
    try {
      return script.runInContext(context, { timeout: ms }) as T;
    } catch {
      return undefined;
    }
  };
}

/** Google names a person's own calendar by their e-mail address. */
function ownersOf(calendar: ICAL.Component): readonly string[] {
  const name = String(calendar.getFirstPropertyValue('x-wr-calname') ?? '');
  return name.includes('@') ? [name.toLowerCase()] : [];
}

function seriesOf(events: readonly ICAL.Component[]): readonly Series[] {
  const series = new Map<string, ICAL.Component[]>();
  let unnamed = 0;
  for (const event of events) {
    const uid = event.getFirstPropertyValue('uid');
    const key = typeof uid === 'string' && uid !== '' ? `uid ${uid}` : `none ${unnamed++}`;
    const known = series.get(key);
    if (known === undefined) series.set(key, [event]);
    else known.push(event);
  }
  return [...series.values()];
}

interface ReadCalendar {
  /** Its properties and time zones, without events. */
  readonly calendar: ICAL.Component;
  readonly events: readonly ICAL.Component[];
  /** The number of events that could not be parsed. */
  readonly unreadable: number;
}

/**
 * Parses a calendar file, each event separately: anyone can send an invitation, and one bad line must not hide the other
 * meetings. Several calendars in one text become one. Throws when it is not a calendar.
 */
function readCalendar(text: string): ReadCalendar {
  const rest: string[] = [];
  const blocks: string[][] = [];
  let open: string[] | undefined;
  let calendars = 0;
  for (const line of text.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    const word = line.trimEnd().toUpperCase();
    if (word === 'BEGIN:VEVENT') {
      open = [];
      blocks.push(open);
    }
    if (word === 'BEGIN:VCALENDAR' && calendars++ > 0) continue;
    if (word === 'END:VCALENDAR') continue;
    (open ?? rest).push(line);
    if (word === 'END:VEVENT') open = undefined;
  }
  if (calendars === 0 || open !== undefined) throw new Error('not a complete calendar');
  const calendar = componentOf([...rest.filter((line) => line !== ''), 'END:VCALENDAR']);
  calendar.getAllSubcomponents('vtimezone').forEach(startLater);
  let unreadable = 0;
  const events: ICAL.Component[] = [];
  for (const lines of blocks) {
    try {
      const event = componentOf(lines);
      // Only linked, not added: for every time, the library searches all added components for a zone.
      event.parent = calendar;
      events.push(event);
    } catch {
      unreadable++;
    }
  }
  return { calendar, events, unreadable };
}

const FIRST_YEAR = 1970;

/** Outlook's zones start their yearly rules in 1601, and the library would expand every year since. */
function startLater(zone: ICAL.Component): void {
  for (const observance of zone.getAllSubcomponents()) {
    const start = observance.getFirstPropertyValue('dtstart');
    const rule = observance.getFirstPropertyValue('rrule');
    const isEndless =
      rule instanceof ICAL.Recur && rule.freq === 'YEARLY' && !rule.count && rule.interval === 1;
    if (!(start instanceof ICAL.Time) || !isEndless || start.year >= FIRST_YEAR) continue;
    const later = start.clone();
    later.year = FIRST_YEAR;
    observance.updatePropertyWithValue('dtstart', later);
  }
}

const componentOf = (lines: readonly string[]): ICAL.Component =>
  new ICAL.Component(ICAL.parse(lines.join('\r\n')));
