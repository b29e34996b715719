import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type AgingHome, openAgingHome } from '../support/aging-home.ts';
import { runsOf } from '../support/counts.ts';
import { createMachine, DAY, HOUR, type Machine, YEAR } from '../support/machine.ts';

const KEEP_DAYS = 10;
const RUNS = runsOf(12, 40);

interface World {
  readonly machine: Machine;
  readonly home: AgingHome;
  /** Of each session: when it really was, and which date it got. */
  readonly sessions: Map<string, { readonly truth: number; readonly at: number }>;
  readonly seen: { erased: number; doubts: number; confirmed: number };
}

/** The law: what retention erases is really too old, and a copy holds it. */
async function expire({ machine, home, sessions, seen }: World): Promise<void> {
  for (const { session, isCopied } of await home.expire()) {
    const { truth, at } = sessions.get(session) ?? { truth: Number.POSITIVE_INFINITY, at: 0 };
    // A session that a slow clock dated too early is as old as its date says, once a person confirmed the time.
    const misdated = Math.max(0, truth - at);
    expect(machine.truth() - truth + misdated).toBeGreaterThan(KEEP_DAYS * DAY);
    expect(isCopied).toBe(true);
    seen.erased++;
  }
  if (home.time().doubt() !== undefined) seen.doubts++;
}

type Command = fc.AsyncCommand<object, World>;
const command = (name: string, run: (world: World) => void | Promise<void>): Command => ({
  check: () => true,
  run: async (_, world) => run(world),
  toString: () => name,
});

const JUMPS = [-10 * YEAR, -YEAR, -DAY, DAY, YEAR, 10 * YEAR];
const jump = fc.constantFrom(...JUMPS);
const commands = [
  fc.constant(
    command('record', ({ machine, home, sessions }) => {
      for (let n = 0; n < 3; n++) {
        const session = `s${sessions.size}`;
        sessions.set(session, { truth: machine.truth(), at: home.time().now() });
        home.record(session);
      }
    }),
  ),
  fc.constantFrom(HOUR, 10 * HOUR, 3 * DAY, 8 * DAY).map((ms) =>
    command(`${ms / HOUR} h pass`, async (world) => {
      for (let left = ms; left > 0; left -= DAY) {
        world.machine.pass(Math.min(DAY, left));
        await expire(world);
      }
    }),
  ),
  jump.map((ms) =>
    command(`the clock jumps ${ms / DAY} days`, async (world) => {
      world.machine.jump(ms);
      await expire(world);
    }),
  ),
  fc.constant(
    command('the clock is set right', async (world) => {
      world.machine.jump(-world.machine.skew());
      await expire(world);
    }),
  ),
  fc.constant(command('restart', ({ home }) => home.restart())),
  fc.tuple(fc.constantFrom(0, HOUR, 30 * HOUR, 25 * DAY), fc.oneof(fc.constant(0), jump)).map(([off, ms]) =>
    command(`off for ${off / HOUR} h, the clock jumps ${ms / DAY} days meanwhile`, async (world) => {
      await world.home.restart(() => {
        world.machine.reboot(off);
        world.machine.jump(ms);
      });
      await expire(world);
    }),
  ),
  fc.constant(
    command('a person confirms the right time', async (world) => {
      if (world.machine.skew() !== 0) return;
      await world.home.time().confirm();
      world.seen.confirmed++;
      await expire(world);
    }),
  ),
];

describe('retention', () => {
  it('erases nothing that is not really too old, or that no copy holds, however the clock jumps', async () => {
    const seen = { erased: 0, doubts: 0, confirmed: 0 };
    await fc.assert(
      fc.asyncProperty(fc.commands(commands, { maxCommands: 30 }), async (sequence) => {
        const machine = createMachine();
        const home = openAgingHome(machine, { keepDays: KEEP_DAYS });
        const world: World = { machine, home, sessions: new Map(), seen };
        try {
          await fc.asyncModelRun(() => ({ model: {}, real: world }), sequence);
          // Nothing is kept for ever: with the right time confirmed, what is old goes.
          machine.jump(-machine.skew());
          await home.time().confirm();
          for (let day = 0; day < KEEP_DAYS + 3; day++) {
            machine.pass(DAY);
            await expire(world);
          }
          const late = [...home.kept()].filter((session) => {
            const { truth = 0, at = 0 } = world.sessions.get(session) ?? {};
            return Math.max(truth, at) < machine.truth() - (KEEP_DAYS + 2) * DAY;
          });
          expect(late).toEqual([]);
        } finally {
          await home.close();
        }
      }),
      { ...RUNS, endOnFailure: false },
    );
    // The law is not vacuous.
    expect(seen.erased).toBeGreaterThan(RUNS.numRuns);
    expect(seen.doubts).toBeGreaterThan(RUNS.numRuns);
    expect(seen.confirmed).toBeGreaterThan(RUNS.numRuns / 8);
  }, 240_000);

  it('counts a laptop’s sleep as time, not as a leap', async () => {
    const machine = createMachine();
    const home = openAgingHome(machine, { keepDays: KEEP_DAYS });
    onTestFinished(() => home.close());
    home.record('old');
    machine.sleep((KEEP_DAYS + 2) * DAY);
    expect(home.time().doubt()).toBeUndefined();
    expect((await home.expire()).map(({ session }) => session)).toEqual(['old']);
  });

  it('erases nothing while no copy can be made, says so, and goes on when there is room again', async () => {
    const machine = createMachine();
    const room = { bytes: 1_000 };
    const home = openAgingHome(machine, { keepDays: KEEP_DAYS, freeBytes: () => room.bytes });
    onTestFinished(() => home.close());
    home.record('old');
    machine.pass((KEEP_DAYS + 2) * DAY);
    expect(await home.expire()).toEqual([]);
    expect(home.describe()).toMatchObject({
      count: 0,
      problem: expect.stringContaining('0 MB free'),
      waitsFor: 'a copy of the record',
    });
    room.bytes = 10 ** 12;
    expect(await home.expire()).toEqual([{ session: 'old', isCopied: true }]);
    expect(home.describe()).not.toHaveProperty('problem');
  });

  it('keeps a session whose newest turn no copy holds, whatever its date says', async () => {
    const machine = createMachine();
    const home = openAgingHome(machine, { keepDays: KEEP_DAYS });
    onTestFinished(() => home.close());
    home.record('first');
    machine.pass((KEEP_DAYS + 2) * DAY);
    expect(await home.expire()).toHaveLength(1);
    // Dated by a clock that was slow and believed: too old at once, and recorded after the copy.
    home.record('late', machine.truth() - (KEEP_DAYS + 5) * DAY);
    expect(await home.expire()).toEqual([]);
    machine.pass(DAY);
    expect(await home.expire()).toEqual([{ session: 'late', isCopied: true }]);
  });
});
