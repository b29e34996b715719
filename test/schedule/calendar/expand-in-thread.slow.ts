import { describe, expect, it } from 'vitest';
import { expandInThread } from '../../../src/schedule/calendar/ics.ts';
import { readIcs } from '../../../src/schedule/calendar/read-ics.ts';
import { calendar, event } from './ics-samples.ts';

const signal = new AbortController().signal;
const from = Date.parse('2026-06-08T00:00:00Z');
const ask = { from, to: from + 7 * 86_400_000, zone: 'Europe/Berlin', owners: [] };
const good = event('DTSTART:20260608T100000Z', 'DTEND:20260608T110000Z', 'RRULE:FREQ=DAILY');
const bomb = event(
  'DTSTART:19700101T000000Z',
  'DURATION:PT1H',
  'RRULE:FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30',
);

describe('expandInThread', () => {
  it('finds what is found without a thread', async () => {
    const question = { ...ask, texts: [calendar(good)] };
    const { spans } = readIcs(question);
    expect(spans).toHaveLength(7);
    expect(await expandInThread(question, signal)).toEqual({ ok: true, spans });
  });

  it('leaves out a rule that never ends, and the caller goes on meanwhile', async () => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    const answer = await expandInThread({ ...ask, texts: [calendar(bomb, good)] }, signal);
    clearInterval(timer);
    expect(answer.ok && answer.spans.length).toBe(7);
    expect(ticks).toBeGreaterThan(10);
  });

  it('stops at the signal in the midst of many of them', async () => {
    const bombs = Array.from({ length: 200 }, (_, index) => bomb.replace(/UID:.*/, `UID:${index}`));
    const abort = new AbortController();
    const running = expandInThread({ ...ask, texts: [calendar(...bombs)] }, abort.signal);
    setTimeout(() => abort.abort(), 300);
    expect(await running).toMatchObject({ ok: false, why: 'stopped' });
    expect(await expandInThread({ ...ask, texts: [] }, abort.signal)).toMatchObject({ ok: false });
  });

  it('fails for text that is not a calendar', async () => {
    const answer = await expandInThread({ ...ask, texts: ['BEGIN:VCALENDAR\r\nBEGIN:VEVENT'] }, signal);
    expect(answer).toMatchObject({ ok: false, isOff: false });
  });
});
