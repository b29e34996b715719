import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBackPressure } from '../../src/record/recorder.ts';
import { runsOf } from '../support/counts.ts';

const MOST = 100;
const NEVER = 2 ** 30;

function open(patienceMs = NEVER) {
  let used = 0;
  const entered: number[] = [];
  const room = createBackPressure({ used: () => used, most: MOST, patienceMs });
  const begin = (id: number, bytes: number): void => {
    entered.push(id);
    used += bytes;
  };
  const enter = (id: number, bytes: number): Promise<void> | undefined => {
    const wait = room.enter(bytes);
    if (wait === undefined) begin(id, bytes);
    return wait?.then(() => begin(id, bytes));
  };
  const finish = (bytes: number): void => {
    used -= bytes;
    room.look();
  };
  return { room, enter, finish, entered, used: () => used };
}

describe('back-pressure', () => {
  it('admits turns in order as soon as they fit, and never more than the limit', async () => {
    let waited = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.integer({ min: 1, max: 150 }), fc.constant('finish' as const)), {
          maxLength: 60,
        }),
        async (steps) => {
          const { room, enter, finish, entered, used } = open();
          const sizes: number[] = [];
          let done = 0;
          for (const step of steps) {
            if (step !== 'finish') {
              if (enter(sizes.length, step) !== undefined) waited++;
              sizes.push(step);
            } else if (done < entered.length) finish(sizes[entered[done++] ?? 0] ?? 0);
            await Promise.resolve();
            await Promise.resolve();
            const inside = entered.slice(done).map((id) => sizes[id] ?? 0);
            expect(used()).toBe(inside.reduce((sum, size) => sum + size, 0));
            expect(used() <= MOST || inside.length === 1).toBe(true);
            expect(entered).toEqual(entered.map((_, n) => n));
          }
          // Every turn is admitted in the end.
          while (done < sizes.length) {
            expect(done).toBeLessThan(entered.length);
            finish(sizes[entered[done++] ?? 0] ?? 0);
            await Promise.resolve();
            await Promise.resolve();
          }
          expect(entered).toHaveLength(sizes.length);
          room.open();
        },
      ),
      runsOf(100, 300),
    );
    expect(waited).toBeGreaterThan(100);
  });

  it('admits all turns when it is opened, and each after its time limit', async () => {
    const opened = open();
    opened.enter(0, MOST);
    const waits = [1, 2, 3].map((id) => opened.enter(id, MOST));
    opened.room.open();
    await Promise.all(waits);
    expect(opened.entered).toEqual([0, 1, 2, 3]);
    const patient = open(1);
    patient.enter(0, MOST);
    await patient.enter(1, MOST);
    expect(patient.entered).toEqual([0, 1]);
  });
});
