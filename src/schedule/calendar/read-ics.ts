import vm from 'node:vm';
import ICAL from 'ical.js';
import { openZone } from '../windows/zone.ts';
import { type BusySpan, mergeSpans } from './busy-times.ts';
import { busyInSeries, createFindZone } from './ics-series.ts';

export interface IcsQuestion {
  readonly texts: readonly string[];
  readonly from: number;
  readonly to: number;
  /** Where the reader is, for whole days and floating times. */
  readonly zone: string;
  /** Addresses of the calendar's owner, in lower case, to know which invitations were declined. */
  readonly owners: readonly string[];
}

export interface IcsAnswer {
  readonly spans: readonly BusySpan[];
  /** Events that could not be read, or not in time. */
  readonly skipped: number;
}

const MOST_OCCURRENCES = 5000;
const MOST_SERIES_MS = 1000;
/** To set a limit costs more than to read most events, so it is set for many; if they exceed it, for each. */
const BATCH = 100;

/**
 * The busy times in calendar files. An event that makes no sense, or whose rule searches without an end, is left out and
 * the others are read. Throws when a text is no calendar. Takes time: for a thread of its own.
 */
export function readIcs({ texts, from, to, zone, owners }: IcsQuestion): IcsAnswer {
  const home = openZone(zone) ?? openZone('UTC');
  if (home === undefined) throw new Error('no zone');
  const find = createFindZone();
  const withinTime = createTimeLimit();
  const spans: BusySpan[] = [];
  let skipped = 0;
  let used = 0;
  const count = (): void => {
    if (used >= MOST_OCCURRENCES) throw new Error('too many occurrences');
    used++;
  };
  const readOne = (events: Series, people: readonly string[]): readonly BusySpan[] | undefined => {
    const before = used;
    try {
      return busyInSeries(events, { from, to, home, owners: people, find, count });
    } catch {
      // What a flood used up is not taken from the others.
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

/** A synchronous search can only be stopped from outside. One context serves all series: to make one takes longer. */
function createTimeLimit(): <T>(work: () => T) => T | undefined {
  const box: { work: () => unknown } = { work: () => undefined };
  const context = vm.createContext(box);
  const script = new vm.Script('work()');
  return <T>(work: () => T) => {
    box.work = work;
    try {
      return script.runInContext(context, { timeout: MOST_SERIES_MS }) as T;
    } catch {
      return undefined;
    }
  };
}

/** The name that Google gives to a person's own calendar is their address. */
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
  /** Its own words and its zones. */
  readonly calendar: ICAL.Component;
  readonly events: readonly ICAL.Component[];
  /** How many events could not be read. */
  readonly unreadable: number;
}

/**
 * Reads a calendar file, each event on its own: anyone can send an invitation, and one bad line must not hide all the
 * other meetings. Several calendars in one text become one. Throws when it is no calendar.
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
  if (calendars === 0 || open !== undefined) throw new Error('no whole calendar');
  const calendar = componentOf([...rest.filter((line) => line !== ''), 'END:VCALENDAR']);
  calendar.getAllSubcomponents('vtimezone').forEach(startLater);
  let unreadable = 0;
  const events: ICAL.Component[] = [];
  for (const lines of blocks) {
    try {
      const event = componentOf(lines);
      // Related without being added: the library looks for a zone among all that was added, for every time it reads.
      event.parent = calendar;
      events.push(event);
    } catch {
      unreadable++;
    }
  }
  return { calendar, events, unreadable };
}

const FIRST_YEAR = 1970;

/** Outlook's zones have changed their clocks every year since 1601, and the library walks through all of them. */
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
