import { describe, expect, it } from 'vitest';
import { readIcs } from '../../../src/schedule/calendar/read-ics.ts';
import { calendar, event, OUTLOOK_ZONE } from './ics-samples.ts';

/** `06-08T12:00/13:00` for each busy span between two days of 2026, in UTC. */
function busy(
  text: string,
  from: string,
  to: string,
  zone = 'Europe/Berlin',
  owners: readonly string[] = [],
  limit: { readonly seriesMs?: number } = {},
) {
  const question = { texts: [text], from: Date.parse(`${from}Z`), to: Date.parse(`${to}Z`), zone, owners };
  const { spans, skipped } = readIcs({ ...question, ...limit });
  const time = (instant: number): string => new Date(instant).toISOString();
  const all = spans.map(({ start, end }) => {
    const isSameDay = time(start).slice(0, 10) === time(end).slice(0, 10);
    return `${time(start).slice(5, 16)}/${time(end).slice(isSameDay ? 11 : 5, 16)}`;
  });
  return skipped === 0 ? all : [...all, `${skipped} skipped`];
}
const WEEK = ['2026-06-08T00:00', '2026-06-15T00:00'] as const;

describe('readIcs: time zones', () => {
  it('reads UTC, a zone by name, a zone by its definition, and floating times in the reader’s zone', () => {
    const text = calendar(
      OUTLOOK_ZONE,
      event('DTSTART:20260608T100000Z', 'DTEND:20260608T110000Z'),
      event('DTSTART;TZID=America/New_York:20260609T100000', 'DTEND;TZID=America/New_York:20260609T110000'),
      event('DTSTART;TZID=W. Europe Standard Time:20260610T100000', 'DURATION:PT45M'),
      event('DTSTART:20260611T100000', 'DTEND:20260611T110000'),
      event('DTSTART;TZID=/mozilla.org/20050126_1/Asia/Kathmandu:20260612T100000', 'DURATION:PT1H'),
    );
    const first = ['06-08T10:00/11:00', '06-09T14:00/15:00', '06-10T08:00/08:45'];
    expect(busy(text, ...WEEK)).toEqual([...first, '06-11T08:00/09:00', '06-12T04:15/05:15']);
    expect(busy(text, ...WEEK, 'Asia/Tokyo')).toEqual([...first, '06-11T01:00/02:00', '06-12T04:15/05:15']);
  });

  it('follows local time over a change of the clock, by name and by definition', () => {
    for (const [zone, tzid] of [
      ['', 'Europe/Berlin'],
      [OUTLOOK_ZONE, 'W. Europe Standard Time'],
    ] as const) {
      const text = calendar(
        ...(zone === '' ? [] : [zone]),
        event(
          `DTSTART;TZID=${tzid}:20260302T090000`,
          `DTEND;TZID=${tzid}:20260302T093000`,
          'RRULE:FREQ=WEEKLY',
        ),
      );
      expect(busy(text, '2026-03-20T00:00', '2026-04-01T00:00')).toEqual([
        '03-23T08:00/08:30',
        '03-30T07:00/07:30',
      ]);
      expect(busy(text, '2026-10-15T00:00', '2026-10-28T00:00')).toEqual([
        '10-19T07:00/07:30',
        '10-26T08:00/08:30',
      ]);
    }
  });

  it('skips an event in an undefined zone, and keeps the others', () => {
    const text = calendar(
      event('DTSTART;TZID=Narnia Standard Time:20260608T100000', 'DURATION:PT1H'),
      event('DTSTART:20260608T120000Z', 'DURATION:PT1H'),
    );
    expect(busy(text, ...WEEK)).toEqual(['06-08T12:00/13:00', '1 skipped']);
  });
});

describe('readIcs: recurrence', () => {
  const standup = ['DTSTART;TZID=Europe/Berlin:20260601T090000', 'DTEND;TZID=Europe/Berlin:20260601T091500'];

  it('knows weekdays, intervals, counts and ends', () => {
    const rule = (text: string) => busy(calendar(event(...standup, `RRULE:${text}`)), ...WEEK);
    expect(rule('FREQ=WEEKLY;BYDAY=MO,WE')).toEqual(['06-08T07:00/07:15', '06-10T07:00/07:15']);
    expect(rule('FREQ=DAILY;INTERVAL=3')).toEqual(['06-10T07:00/07:15', '06-13T07:00/07:15']);
    expect(rule('FREQ=DAILY;COUNT=9')).toEqual(['06-08T07:00/07:15', '06-09T07:00/07:15']);
    expect(rule('FREQ=MONTHLY;BYDAY=2TU')).toEqual(['06-09T07:00/07:15']);
    expect(rule('FREQ=DAILY;UNTIL=20260609T070000Z')).toEqual(['06-08T07:00/07:15', '06-09T07:00/07:15']);
    expect(rule('FREQ=DAILY;UNTIL=20260609T065959Z')).toEqual(['06-08T07:00/07:15']);
    expect(rule('FREQ=DAILY;UNTIL=20260608')).toEqual(['06-08T07:00/07:15']);
  });

  it('finds a daily meeting that began fifteen years ago on the same days as one walked through', () => {
    for (const rule of ['FREQ=DAILY;INTERVAL=4', 'FREQ=WEEKLY;INTERVAL=3;BYDAY=MO,FR;WKST=SU']) {
      const long = event('DTSTART:20110103T080000Z', 'DURATION:PT30M', `RRULE:${rule}`);
      const counted = event('DTSTART:20110103T080000Z', 'DURATION:PT30M', `RRULE:${rule};COUNT=20000`);
      const range = ['2026-06-01T00:00', '2026-08-01T00:00'] as const;
      const found = busy(calendar(long), ...range);
      expect(found.length).toBeGreaterThan(3);
      expect(found).toEqual(busy(calendar(counted), ...range));
    }
  });

  it('takes exceptions as instants in any zone, or as days', () => {
    const text = calendar(
      event(
        ...standup,
        'RRULE:FREQ=DAILY',
        'EXDATE;TZID=Europe/Berlin:20260608T090000,20260610T090000',
        'EXDATE:20260611T070000Z',
        'EXDATE;VALUE=DATE:20260613',
      ),
    );
    expect(busy(text, ...WEEK)).toEqual(['06-09T07:00/07:15', '06-12T07:00/07:15', '06-14T07:00/07:15']);
  });

  it('adds further dates, also with a length of their own', () => {
    const text = calendar(
      event(
        ...standup,
        'RDATE;TZID=Europe/Berlin:20260609T150000',
        'RDATE;VALUE=PERIOD:20260611T100000Z/20260611T103000Z,20260612T100000Z/PT2H',
      ),
    );
    expect(busy(text, ...WEEK)).toEqual(['06-09T13:00/13:15', '06-11T10:00/10:30', '06-12T10:00/12:00']);
  });

  it('moves, cancels and prolongs single occurrences, in whatever zone they name them', () => {
    const text = calendar(
      event('UID:s', ...standup, 'RRULE:FREQ=DAILY;UNTIL=20260612T220000Z'),
      event(
        'UID:s',
        'RECURRENCE-ID;TZID=Europe/Berlin:20260608T090000',
        'DTSTART;TZID=Europe/Berlin:20260608T160000',
        'DTEND;TZID=Europe/Berlin:20260608T170000',
      ),
      event(
        'UID:s',
        'RECURRENCE-ID:20260609T070000Z',
        'DTSTART:20260609T070000Z',
        'DURATION:PT15M',
        'STATUS:CANCELLED',
      ),
      // Moved into the asked time from without.
      event('UID:s', 'RECURRENCE-ID:20260603T070000Z', 'DTSTART:20260610T120000Z', 'DURATION:PT15M'),
    );
    expect(busy(text, ...WEEK)).toEqual([
      '06-08T14:00/15:00',
      '06-10T07:00/07:15',
      '06-10T12:00/12:15',
      '06-11T07:00/07:15',
      '06-12T07:00/07:15',
    ]);
  });

  it('moves all that follow', () => {
    const text = calendar(
      event('UID:f', ...standup, 'RRULE:FREQ=DAILY;UNTIL=20260611T220000Z'),
      event(
        'UID:f',
        'RECURRENCE-ID;RANGE=THISANDFUTURE:20260610T070000Z',
        'DTSTART:20260610T100000Z',
        'DTEND:20260610T110000Z',
      ),
    );
    expect(busy(text, ...WEEK)).toEqual([
      '06-08T07:00/07:15',
      '06-09T07:00/07:15',
      '06-10T10:00/11:00',
      '06-11T10:00/11:00',
    ]);
  });
});

describe('readIcs: which events are busy', () => {
  const timed = ['DTSTART:20260608T100000Z', 'DTEND:20260608T110000Z'];
  const isBusy = (lines: readonly string[], owners: readonly string[] = []) =>
    busy(calendar(event(...lines)), ...WEEK, 'Europe/Berlin', owners).length > 0;

  it('is none that was cancelled, is transparent, tentative, or without a length', () => {
    expect(isBusy(timed)).toBe(true);
    expect(isBusy([...timed, 'STATUS:CONFIRMED', 'TRANSP:OPAQUE'])).toBe(true);
    for (const line of [
      'STATUS:CANCELLED',
      'STATUS:TENTATIVE',
      'TRANSP:TRANSPARENT',
      'X-MICROSOFT-CDO-BUSYSTATUS:FREE',
      'X-MICROSOFT-CDO-BUSYSTATUS:WORKINGELSEWHERE',
    ]) {
      expect([line, isBusy([...timed, line])]).toEqual([line, false]);
    }
    expect(isBusy(['DTSTART:20260608T100000Z'])).toBe(false);
    expect(isBusy(['DTSTART:20260608T100000Z', 'DTEND:20260608T090000Z'])).toBe(false);
  });

  it('is none that its owner declined, whoever else comes', () => {
    const answers = (mine: string) => [
      ...timed,
      'ATTENDEE;PARTSTAT=ACCEPTED:mailto:boss@example.com',
      `ATTENDEE;CN=Me;PARTSTAT=${mine}:MAILTO:Me@Example.com`,
    ];
    for (const [mine, expected] of [
      ['DECLINED', false],
      ['TENTATIVE', false],
      ['DELEGATED', false],
      ['ACCEPTED', true],
      ['NEEDS-ACTION', true],
    ] as const) {
      expect([mine, isBusy(answers(mine), ['me@example.com'])]).toEqual([mine, expected]);
      expect([mine, isBusy(answers(mine), ['other@example.com'])]).toEqual([mine, true]);
    }
    const named = calendar('X-WR-CALNAME:me@example.com', event(...answers('DECLINED')));
    expect(busy(named, ...WEEK)).toEqual([]);
  });

  it('is a whole day only when someone marked it busy', () => {
    const day = ['DTSTART;VALUE=DATE:20260609', 'DTEND;VALUE=DATE:20260610'];
    expect(isBusy(day)).toBe(false);
    expect(isBusy([...day, 'TRANSP:TRANSPARENT'])).toBe(false);
    expect(isBusy([...day, 'TRANSP:OPAQUE'])).toBe(true);
    expect(isBusy([...day, 'X-MICROSOFT-CDO-BUSYSTATUS:OOF'])).toBe(true);
  });

  it('has whole days from midnight to midnight in the reader’s zone, 25 hours long when the clock goes back', () => {
    const text = calendar(
      event('DTSTART;VALUE=DATE:20261024', 'RRULE:FREQ=DAILY;COUNT=2', 'TRANSP:OPAQUE'),
      event('DTSTART;VALUE=DATE:20261027', 'DTEND;VALUE=DATE:20261029', 'TRANSP:OPAQUE'),
    );
    expect(busy(text, '2026-10-20T00:00', '2026-10-30T00:00')).toEqual([
      '10-23T22:00/10-25T23:00',
      '10-26T23:00/10-28T23:00',
    ]);
  });

  it('joins meetings that touch or overlap', () => {
    const text = calendar(
      event('DTSTART:20260608T100000Z', 'DTEND:20260608T110000Z'),
      event('DTSTART:20260608T110000Z', 'DTEND:20260608T113000Z'),
      event('DTSTART:20260608T103000Z', 'DTEND:20260608T104500Z'),
      event('DTSTART:20260608T120000Z', 'DTEND:20260608T123000Z'),
    );
    expect(busy(text, ...WEEK)).toEqual(['06-08T10:00/11:30', '06-08T12:00/12:30']);
  });
});

describe('readIcs: invalid and hostile input', () => {
  const good = event('DTSTART:20260608T100000Z', 'DTEND:20260608T110000Z');

  it('skips rules that search forever, and reads the rest', () => {
    const bombs = [
      'FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30',
      'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30',
      'FREQ=MINUTELY;BYDAY=MO;BYMONTHDAY=32',
      'FREQ=SECONDLY',
      'FREQ=HOURLY;COUNT=1000000',
    ];
    const texts = bombs.map((rule) => event('DTSTART:19700101T000000Z', 'DURATION:PT1S', `RRULE:${rule}`));
    const found = busy(calendar(good, ...texts), ...WEEK, 'Europe/Berlin', [], { seriesMs: 250 });
    expect(found).toContain('06-08T10:00/11:00');
    expect(found.at(-1)).toMatch(/^[2-5] skipped$/);
  });

  it('stops a series at five thousand occurrences, without using up the limit of others', () => {
    const flood = event('DTSTART:20260608T000000Z', 'DURATION:PT1S', 'RRULE:FREQ=MINUTELY');
    expect(busy(calendar(flood, good), ...WEEK)).toEqual(['06-08T10:00/11:00', '1 skipped']);
  });

  it('skips invalid events', () => {
    const text = calendar(
      event('SUMMARY:no start'),
      event('DTSTART:20261399T990000Z', 'DURATION:PT1H'),
      event('DTSTART:20260608T100000Z', 'DURATION:soon'),
      event('DTSTART:20260608T100000Z', 'DTEND:20260608T110000Z', 'RRULE:FREQ=NEVER'),
      good,
    );
    expect(busy(text, ...WEEK)).toEqual(['06-08T10:00/11:00', '3 skipped']);
  });

  it('throws for text that is not a calendar', () => {
    for (const text of ['', 'hello', '<html>', 'BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nnonsense']) {
      expect(() => busy(text, ...WEEK), text).toThrow();
    }
  });
});
