import ICAL from 'ical.js';
import { openZone, type Zone } from '../windows/zone.ts';
import type { BusySpan } from './busy-times.ts';

interface SeriesQuestion {
  readonly from: number;
  readonly to: number;
  readonly home: Zone;
  readonly owners: readonly string[];
  readonly find: FindZone;
  /** Called for each occurrence within the requested time; throws when there are too many. */
  readonly count: () => void;
}

/** The start and duration of one event. */
interface Shape {
  readonly component: ICAL.Component;
  readonly times: TimeReader;
  readonly start: ICAL.Time;
  readonly startMs: number;
  readonly isBusy: boolean;
  endOf(startMs: number, start: ICAL.Time): number;
}

const DAY_MS = 86_400_000;

/** The busy times of one event with its recurrences, exceptions and overrides. Throws on invalid data. */
export function busyInSeries(
  events: readonly ICAL.Component[],
  question: SeriesQuestion,
): readonly BusySpan[] {
  const shapes = events.map((event) => shapeOf(event, question));
  const changed = shapes.filter(({ component }) => component.hasProperty('recurrence-id'));
  const plain = shapes.filter(({ component }) => !component.hasProperty('recurrence-id'));
  const changes = changed.map((shape) => ({ shape, ...recurrenceId(shape, question) }));
  const replaced = new Set(changes.filter(({ isOnwards }) => !isOnwards).map(({ at }) => at));
  const onwards = changes.filter(({ isOnwards }) => isOnwards).sort((a, b) => b.at - a.at);

  const spans: BusySpan[] = [];
  const add = (shape: Shape, startMs: number, endMs: number): void => {
    if (endMs <= question.from || startMs >= question.to) return;
    question.count();
    if (shape.isBusy) spans.push({ start: startMs, end: endMs });
  };
  for (const { shape } of changes.filter(({ isOnwards }) => !isOnwards)) {
    add(shape, shape.startMs, shape.endOf(shape.startMs, shape.start));
  }
  for (const shape of plain) {
    const excluded = excludedBy(shape, question);
    for (const { startMs, start, endMs } of occurrences(shape, question)) {
      if (replaced.has(startMs) || excluded(startMs, start)) continue;
      const later = onwards.find(({ at }) => at <= startMs);
      if (later === undefined) add(shape, startMs, endMs);
      else {
        const moved = startMs + later.shape.startMs - later.at;
        add(
          later.shape,
          moved,
          moved + later.shape.endOf(later.shape.startMs, later.shape.start) - later.shape.startMs,
        );
      }
    }
  }
  return spans;
}

function shapeOf(component: ICAL.Component, { home, owners, find }: SeriesQuestion): Shape {
  const property = component.getFirstProperty('dtstart');
  const start = property?.getFirstValue();
  const times = property ? readTimesOf(property, home, find) : undefined;
  if (!(start instanceof ICAL.Time) || times === undefined) throw new Error('no start');
  const startMs = times.instantOf(start);
  if (!Number.isFinite(startMs)) throw new Error('no date');
  const lengthMs = lengthOf(component, { start, startMs, times }, { home, find });
  const endOf = (atMs: number, at: ICAL.Time): number => {
    if (!times.isDate) return atMs + lengthMs;
    return times.instantOf(laterBy(at, Math.max(1, Math.round(lengthMs / DAY_MS))));
  };
  return { component, times, start, startMs, endOf, isBusy: isMeeting(component, owners, times.isDate) };
}

function lengthOf(
  component: ICAL.Component,
  { start, startMs, times }: Pick<Shape, 'start' | 'startMs' | 'times'>,
  { home, find }: { home: Zone; find: FindZone },
): number {
  const property = component.getFirstProperty('dtend');
  const end = property?.getFirstValue();
  if (property && end instanceof ICAL.Time) {
    if (times.isDate) return localMs(end) - localMs(start);
    const instant = readTimesOf(property, home, find)?.instantOf(end);
    if (instant === undefined) throw new Error('no end');
    return instant - startMs;
  }
  const duration = component.getFirstPropertyValue('duration');
  return duration instanceof ICAL.Duration ? duration.toSeconds() * 1000 : 0;
}

interface Occurrence {
  readonly startMs: number;
  readonly start: ICAL.Time;
  readonly endMs: number;
}

function* occurrences(shape: Shape, question: SeriesQuestion): Generator<Occurrence> {
  const { component, times, start, startMs } = shape;
  const seen = new Set<number>();
  const lengthMs = shape.endOf(startMs, start) - startMs;
  const at = (time: ICAL.Time): Occurrence => {
    const ms = times.instantOf(time);
    return { startMs: ms, start: time, endMs: shape.endOf(ms, time) };
  };
  const isNew = ({ startMs: ms }: Occurrence): boolean => !seen.has(ms) && seen.add(ms) !== undefined;

  // An event occurs at its start even if its rule does not include it.
  const first = at(start);
  if (isNew(first)) yield first;
  for (const property of component.getAllProperties('rrule')) {
    const rule = property.getFirstValue();
    if (!(rule instanceof ICAL.Recur)) continue;
    for (const time of recurrences(rule, start, times, question.from - lengthMs)) {
      const next = at(time);
      if (!(next.startMs < question.to)) break;
      if (isNew(next)) yield next;
    }
  }
  for (const property of component.getAllProperties('rdate')) {
    const read = readTimesOf(property, question.home, question.find);
    for (const value of property.getValues()) {
      if (read === undefined) continue;
      const time = value instanceof ICAL.Period ? value.start : value;
      if (!(time instanceof ICAL.Time)) continue;
      const ms = read.instantOf(time);
      const endMs = value instanceof ICAL.Period ? read.instantOf(value.getEnd()) : shape.endOf(ms, time);
      const next = { startMs: ms, start: time, endMs };
      if (isNew(next)) yield next;
    }
  }
}

/** An exception given as a date excludes every occurrence that begins on that local day. */
function excludedBy({ component }: Shape, { home, find }: SeriesQuestion) {
  const instants = new Set<number>();
  const days = new Set<number>();
  for (const property of component.getAllProperties('exdate')) {
    const times = readTimesOf(property, home, find);
    for (const value of property.getValues()) {
      if (times === undefined || !(value instanceof ICAL.Time)) continue;
      if (value.isDate) days.add(Math.floor(localMs(value) / DAY_MS));
      else instants.add(times.instantOf(value));
    }
  }
  return (startMs: number, start: ICAL.Time): boolean =>
    instants.has(startMs) || days.has(Math.floor(localMs(start) / DAY_MS));
}

function recurrenceId({ component }: Shape, { home, find }: SeriesQuestion) {
  const property = component.getFirstProperty('recurrence-id');
  const value = property?.getFirstValue();
  const times = property ? readTimesOf(property, home, find) : undefined;
  if (!property || !(value instanceof ICAL.Time) || times === undefined) throw new Error('no recurrence');
  return { at: times.instantOf(value), isOnwards: property.getFirstParameter('range') === 'THISANDFUTURE' };
}

/** Larger than any offset from UTC. */
const NEAR_MS = 2 * DAY_MS;
const PERIOD_MS: Readonly<Record<string, number>> = { DAILY: DAY_MS, WEEKLY: 7 * DAY_MS };

/**
 * The local start times of a rule's occurrences, from about `from` on, without an upper bound. A rule that nothing
 * satisfies may search forever: the caller sets the time limit.
 */
function* recurrences(
  rule: ICAL.Recur,
  start: ICAL.Time,
  times: TimeReader,
  from: number,
): Generator<ICAL.Time> {
  const { until } = rule;
  if (until && localMs(until) < from - NEAR_MS) return;
  const endless = rule.clone();
  // `until` is compared as an instant below; the library would compare a local time with UTC.
  Object.assign(endless, { until: null });
  const iterator = endless.iterator(nearStart(endless, floating(start), from));
  for (let next = iterator.next(); next; next = iterator.next()) {
    // Occurrences long before `from` are skipped without computing their instant.
    if (localMs(next) < from - NEAR_MS) continue;
    if (until && isAfter(next, until, times)) return;
    yield next.clone();
  }
}

function isAfter(next: ICAL.Time, until: ICAL.Time, times: TimeReader): boolean {
  if (until.isDate) return Math.floor(localMs(next) / DAY_MS) > Math.floor(localMs(until) / DAY_MS);
  if (until.zone === ICAL.Timezone.utcTimezone) return times.instantOf(next) > localMs(until);
  return localMs(next) > localMs(until);
}

/**
 * A daily or weekly rule without a count may be expanded from any whole number of periods later, which skips the years of
 * an old series.
 */
function nearStart(rule: ICAL.Recur, start: ICAL.Time, from: number): ICAL.Time {
  const period = PERIOD_MS[rule.freq];
  if (
    period === undefined ||
    rule.count ||
    rule.parts.BYSETPOS !== undefined ||
    rule.parts.BYWEEKNO !== undefined
  ) {
    return start;
  }
  const step = period * Math.max(1, rule.interval);
  const periods = Math.floor((from - NEAR_MS - localMs(start)) / step) - 1;
  if (periods <= 0) return start;
  return laterBy(start, (periods * step) / DAY_MS);
}

const NOT_BUSY = new Set(['FREE', 'TENTATIVE', 'WORKINGELSEWHERE']);

/**
 * Whether the owner is busy during an event. Not when it is cancelled, transparent or tentative, nor when the owner
 * declined or answered tentatively. An unanswered invitation counts, as in the calendars' own free/busy. An all-day event
 * counts only when it is explicitly marked busy: most are birthdays, holidays and reminders.
 */
function isMeeting(event: ICAL.Component, owners: readonly string[], isWholeDay: boolean): boolean {
  const word = (name: string): string => String(event.getFirstPropertyValue(name) ?? '').toUpperCase();
  const status = word('status');
  if (status === 'CANCELLED' || status === 'TENTATIVE') return false;
  const transparency = word('transp');
  const busyStatus = word('x-microsoft-cdo-busystatus');
  if (transparency === 'TRANSPARENT' || NOT_BUSY.has(busyStatus)) return false;
  if (isWholeDay && transparency !== 'OPAQUE' && busyStatus !== 'BUSY' && busyStatus !== 'OOF') return false;
  const answer = answerOf(event, owners);
  return answer !== 'DECLINED' && answer !== 'TENTATIVE' && answer !== 'DELEGATED';
}

function answerOf(event: ICAL.Component, owners: readonly string[]): string {
  for (const attendee of event.getAllProperties('attendee')) {
    const address = String(attendee.getFirstValue())
      .toLowerCase()
      .replace(/^mailto:/, '');
    const email = String(attendee.getFirstParameter('email') ?? '').toLowerCase();
    if (owners.includes(address) || owners.includes(email)) {
      return String(attendee.getFirstParameter('partstat') ?? '').toUpperCase();
    }
  }
  return '';
}

/** Converts the times of one property to instants. */
interface TimeReader {
  readonly isDate: boolean;
  /** The name of the time zone. */
  readonly zone: string;
  instantOf(time: ICAL.Time): number;
}

/** Caches zones by name: opening one costs more than all its lookups. */
type FindZone = (name: string) => Zone | undefined;

export function createFindZone(): FindZone {
  const known = new Map<string, Zone | undefined>();
  return (name) => {
    if (!known.has(name)) known.set(name, openZone(name));
    return known.get(name);
  };
}

/**
 * Zones that this machine knows by name use the machine's rules, since the rules in a calendar file may be outdated;
 * other zones use the definition in the file. Dates and floating times are local to the reader. Undefined for a zone
 * without a definition.
 */
function readTimesOf(property: ICAL.Property, home: Zone, find: FindZone): TimeReader | undefined {
  const value = property.getFirstValue();
  const time = value instanceof ICAL.Period ? value.start : value;
  if (!(time instanceof ICAL.Time)) return undefined;
  const isDate = time.isDate;
  const inZone = (zone: Zone): TimeReader => ({
    isDate,
    zone: zone.name,
    instantOf: (at) => zone.instantOf(wallOf(at)),
  });
  if (isDate) return inZone(home);
  if (time.zone === ICAL.Timezone.utcTimezone) {
    return { isDate, zone: 'UTC', instantOf: localMs };
  }
  const name = property.getFirstParameter('tzid');
  if (typeof name !== 'string' || name === '') return inZone(home);
  const known = find(name) ?? find(name.split('/').slice(-2).join('/'));
  if (known !== undefined) return inZone(known);
  const defined = time.zone;
  if (defined === null || defined === undefined || defined === ICAL.Timezone.localTimezone) return undefined;
  if (defined.tzid !== name) return undefined;
  return { isDate, zone: name, instantOf: (at) => localMs(at) - defined.utcOffset(at) * 1000 };
}

const wallOf = (time: ICAL.Time) => ({
  year: time.year,
  month: time.month,
  day: time.day,
  hour: time.isDate ? 0 : time.hour,
  minute: time.isDate ? 0 : time.minute,
  second: time.isDate ? 0 : time.second,
});

/** The local time, in milliseconds as if it were UTC. */
export const localMs = (time: ICAL.Time): number => {
  const { year, month, day, hour, minute, second } = wallOf(time);
  return Date.UTC(year, month - 1, day, hour, minute, second);
};

/** The same local time without a zone, so that rules are expanded in local time. */
const floating = (time: ICAL.Time): ICAL.Time =>
  ICAL.Time.fromData({ ...wallOf(time), isDate: time.isDate }, ICAL.Timezone.localTimezone);

/** The local time some days later, normalised: the library itself would keep January 5619th. */
function laterBy(time: ICAL.Time, days: number): ICAL.Time {
  const date = new Date(Date.UTC(time.year, time.month - 1, time.day + days));
  const later = time.clone();
  later.year = date.getUTCFullYear();
  later.month = date.getUTCMonth() + 1;
  later.day = date.getUTCDate();
  return later;
}
