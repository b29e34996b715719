import ICAL from 'ical.js';

export interface ReadCalendar {
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
export function readCalendar(text: string): ReadCalendar {
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
