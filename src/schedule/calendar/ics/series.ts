import ICAL from 'ical.js';
import type { Zone } from '../../windows/zone.ts';
import type { BusySpan } from '../busy-times.ts';
import { type FindZone, laterBy, localMs, readTimesOf, type TimeReader } from './event-time.ts';
import { isMeeting } from './meeting.ts';
import { recurrences } from './recurrences.ts';

export interface SeriesQuestion {
  readonly from: number;
  readonly to: number;
  readonly home: Zone;
  readonly owners: readonly string[];
  readonly find: FindZone;
  /** Called for each occurrence in the asked time; throws when there were too many. */
  readonly count: () => void;
}

/** When one event begins and how long it lasts. */
interface Shape {
  readonly component: ICAL.Component;
  readonly times: TimeReader;
  readonly start: ICAL.Time;
  readonly startMs: number;
  readonly isBusy: boolean;
  endOf(startMs: number, start: ICAL.Time): number;
}

const DAY_MS = 86_400_000;

/** The busy times of one event with all its recurrences, exceptions and changed occurrences. Throws on nonsense. */
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
  const lengthMs = lengthOf(component, start, startMs, times, { home, find });
  const endOf = (atMs: number, at: ICAL.Time): number => {
    if (!times.isDate) return atMs + lengthMs;
    return times.instantOf(laterBy(at, Math.max(1, Math.round(lengthMs / DAY_MS))));
  };
  return { component, times, start, startMs, endOf, isBusy: isMeeting(component, owners, times.isDate) };
}

function lengthOf(
  component: ICAL.Component,
  start: ICAL.Time,
  startMs: number,
  times: TimeReader,
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

  // An event happens at its start, whether or not its rule would say so.
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

/** An exception given as a date takes away whatever begins on that day of the event's own wall. */
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
