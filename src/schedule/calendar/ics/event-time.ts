import ICAL from 'ical.js';
import { openZone, type Zone } from '../../windows/zone.ts';

/** Reads the times of one property: which wall they are shown on, and when that is. */
export interface TimeReader {
  readonly isDate: boolean;
  /** Stands for the wall: equal for times that follow the same clock. */
  readonly zone: string;
  instantOf(time: ICAL.Time): number;
}

/** Remembers zones by name; opening one costs more than all its questions. */
export type FindZone = (name: string) => Zone | undefined;

export function createFindZone(): FindZone {
  const known = new Map<string, Zone | undefined>();
  return (name) => {
    if (!known.has(name)) known.set(name, openZone(name));
    return known.get(name);
  };
}

/**
 * A zone that this machine knows by the event's own name is taken from here, for calendars carry rules that were true
 * when they were written; others by the definition that came along. Whole days and floating times are on the reader's
 * wall. Undefined when the zone is one that nobody defined.
 */
export function readTimesOf(property: ICAL.Property, home: Zone, find: FindZone): TimeReader | undefined {
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

/** What the wall shows, as if it were UTC. */
export const localMs = (time: ICAL.Time): number => {
  const { year, month, day, hour, minute, second } = wallOf(time);
  return Date.UTC(year, month - 1, day, hour, minute, second);
};

/** The same wall time without a zone, so that rules are expanded on the wall alone. */
export const floating = (time: ICAL.Time): ICAL.Time =>
  ICAL.Time.fromData({ ...wallOf(time), isDate: time.isDate }, ICAL.Timezone.localTimezone);

/** So many days later on the same wall, as a date that exists: the library copies the 5,619th of January as it stands. */
export function laterBy(time: ICAL.Time, days: number): ICAL.Time {
  const date = new Date(Date.UTC(time.year, time.month - 1, time.day + days));
  const later = time.clone();
  later.year = date.getUTCFullYear();
  later.month = date.getUTCMonth() + 1;
  later.day = date.getUTCDate();
  return later;
}
