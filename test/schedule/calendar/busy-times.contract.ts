import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BusySpan, BusyTimes } from '../../../src/schedule/calendar/busy-times.ts';
import type { FakeServer, Reply } from './fake-server.ts';

export interface BusyTimesUnderTest {
  readonly name: string;
  /** In whatever an address or a credential has; must never be told. */
  readonly secrets: readonly string[];
  start(spans: () => readonly BusySpan[]): Promise<FakeServer>;
  open(server: FakeServer): BusyTimes;
}

const HOUR = 3_600_000;
const NOON = Date.parse('2026-06-08T12:00:00Z');
const FROM = NOON - HOUR;
const TO = NOON + 12 * HOUR;

const MEETINGS: readonly BusySpan[] = [
  { start: NOON + 4 * HOUR, end: NOON + 5 * HOUR },
  { start: NOON, end: NOON + HOUR },
  { start: NOON + HOUR / 2, end: NOON + 2 * HOUR },
  { start: NOON - 9 * HOUR, end: NOON - 8 * HOUR },
  { start: NOON + 20 * HOUR, end: NOON + 21 * HOUR },
];

/** What every calendar must do, whichever way it is asked. */
export function describeBusyTimes(subject: BusyTimesUnderTest): void {
  describe(`${subject.name} as busy times`, () => {
    let server: FakeServer;
    let spans = MEETINGS;
    beforeAll(async () => {
      server = await subject.start(() => spans);
    });
    afterAll(() => server.close());

    const ask = async (busyTimes: BusyTimes, limitMs = 8000) => {
      const answer = await busyTimes.busy(FROM, TO, AbortSignal.timeout(limitMs));
      const text = JSON.stringify(answer);
      for (const secret of [...subject.secrets, new URL(server.url).host]) expect(text).not.toContain(secret);
      return answer;
    };
    const withFault = async (reply: Reply) => {
      server.fault = { kind: 'reply', reply };
      const answer = await ask(subject.open(server)).finally(() => {
        server.fault = undefined;
      });
      return answer.ok ? 'ok' : answer;
    };

    it('gives the meetings of the asked time in order, joined where they overlap', async () => {
      expect(await ask(subject.open(server))).toEqual({
        ok: true,
        spans: [
          { start: NOON, end: NOON + 2 * HOUR },
          { start: NOON + 4 * HOUR, end: NOON + 5 * HOUR },
        ],
      });
    });

    it('gives no span when there is no meeting', async () => {
      spans = [];
      expect(await ask(subject.open(server))).toEqual({ ok: true, spans: [] });
      spans = MEETINGS;
    });

    it('is off when access is refused or the calendar is gone', async () => {
      for (const status of [401, 403, 404, 410]) {
        expect(await withFault({ status, body: 'no' }), String(status)).toMatchObject({
          ok: false,
          isOff: true,
        });
      }
    });

    it('is not off, and honours Retry-After, when it asked too often', async () => {
      expect(await withFault({ status: 429, headers: { 'retry-after': '120' } })).toMatchObject({
        isOff: false,
        retryAfterMs: 120_000,
      });
    });

    it('fails without being off for a server in trouble, and recovers', async () => {
      for (const status of [500, 502, 503]) {
        const failed = await withFault({ status, body: `<html>${subject.secrets.join()}</html>` });
        expect(failed, String(status)).toMatchObject({ ok: false, isOff: false });
      }
      const same = subject.open(server);
      server.fault = { kind: 'reply', reply: { status: 500 } };
      expect((await ask(same)).ok).toBe(false);
      server.fault = undefined;
      expect((await ask(same)).ok).toBe(true);
    });

    it('fails for invalid replies: a login page, nonsense, nothing, a truncated one', async () => {
      for (const [type, body] of [
        ['text/html', '<html><body>Please log in</body></html>'],
        ['text/calendar', 'BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n'],
        ['application/json', '{"calendars":'],
        ['application/json', '[]'],
        ['application/octet-stream', '\u0000\u0001\u0002'],
        ['text/plain', ''],
      ] as const) {
        const failed = await withFault({ status: 200, headers: { 'content-type': type }, body });
        expect(failed, body).toMatchObject({ ok: false, isOff: false });
      }
    });

    it('does not follow a redirect to another origin', async () => {
      let visits = 0;
      const other = await subject.start(() => {
        visits++;
        return MEETINGS;
      });
      const failed = await withFault({ status: 302, headers: { location: `${other.url}/stolen` } });
      expect(failed).toMatchObject({ ok: false, isOff: true });
      expect(other.seen).toEqual([]);
      expect(visits).toBe(0);
      await other.close();
      expect(await withFault({ status: 302, headers: { location: '/again' } })).toMatchObject({ ok: false });
    });

    it('stops at the signal when the server is silent, drips or floods, and when it hangs up', async () => {
      for (const kind of ['hang', 'drip', 'flood', 'cut'] as const) {
        server.fault = { kind };
        const answer = await ask(subject.open(server), kind === 'flood' ? 8000 : 300);
        expect(answer, kind).toMatchObject({ ok: false, isOff: false });
      }
      server.fault = undefined;
    });

    it('resolves for an aborted signal, and for a missing server', async () => {
      const answer = await subject.open(server).busy(FROM, TO, AbortSignal.abort());
      expect(answer.ok).toBe(false);
      const gone = await subject.start(() => []);
      await gone.close();
      expect(await ask(subject.open(gone))).toMatchObject({ ok: false, isOff: false });
    });
  });
}
