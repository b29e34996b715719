import ICAL from 'ical.js';
import type { BusySpan } from '../busy-times.ts';
import { localMs } from '../ics/event-time.ts';

/** Perhaps is not busy. */
const COUNTS = new Set(['', 'BUSY', 'BUSY-UNAVAILABLE']);

/** The busy times of a VFREEBUSY answer; undefined when it is none. All its times are in UTC. */
export function readFreeBusy(text: string): readonly BusySpan[] | undefined {
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
