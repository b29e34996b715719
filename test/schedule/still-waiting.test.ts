import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stillWaiting } from '../../src/schedule/scheduler.ts';
import { defaultScheduleRules, type ScheduleState } from '../../src/schedule/state.ts';
import { stepSchedule } from '../../src/schedule/step.ts';
import { runsOf } from '../support/counts.ts';

const HOUR = 3_600_000;
const names = fc.array(fc.constantFrom('practice', 'training', 'review'), { maxLength: 3 });
/** Fractions as clocks have them, and so far apart that many a step is a jump on one clock or a sleep on both. */
const time = fc.nat(12 * HOUR).map((quarters) => quarters / 4);
const moment = fc.record({
  wall: time,
  mono: time,
});
const state: fc.Arbitrary<ScheduleState> = fc.record({
  phase: fc.constantFrom('waiting', 'open', 'running', 'pausing'),
  reasons: fc.array(fc.constantFrom('traffic: present', 'just started', 'window too short'), {
    maxLength: 2,
  }),
  at: fc.option(moment, { nil: undefined }),
  looks: fc.nat(3),
  readings: fc.constant([{ source: 'x11', state: 'away', why: '' } as const]),
  trafficAt: fc.option(time, { nil: undefined }),
  inFlight: fc.nat(3),
  job: fc.option(fc.constantFrom('practice', 'training'), { nil: undefined }),
  beside: names,
  stuck: names,
  rests: fc.dictionary(
    fc.constantFrom('practice', 'review'),
    fc.record({ until: fc.nat(), failures: fc.nat(5) }),
  ),
  isClosing: fc.boolean(),
});

describe('traffic while the scheduler waits', () => {
  it('has the same result as the whole state machine, without effects, and only in that phase', () => {
    const met = { waiting: 0, other: 0, jumps: 0 };
    fc.assert(
      fc.property(state, moment, fc.nat(3), (before, at, inFlight) => {
        const whole = stepSchedule(before, { type: 'traffic', inFlight, at }, defaultScheduleRules);
        const short = stillWaiting(before, at, inFlight);
        if (before.phase !== 'waiting') {
          expect(short).toBeUndefined();
          met.other++;
          return;
        }
        expect(short).toStrictEqual(whole.state);
        expect(whole.effects).toEqual([]);
        met.waiting++;
        if (before.at && Math.abs(at.mono - before.at.mono) >= defaultScheduleRules.gapMs) met.jumps++;
      }),
      runsOf(330, 1000),
    );
    for (const count of Object.values(met)) expect(count).toBeGreaterThan(50);
  });
});
