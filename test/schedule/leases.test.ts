import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../src/schedule/job-history.ts';
import { createLeases, type Lease, LeaseLostError } from '../../src/schedule/leases.ts';
import { createMemoryJournal } from './memory-journal.ts';
import { createVirtualTime } from './virtual-time.ts';

const LEASE_MS = 600_000;

function createWorld() {
  const time = createVirtualTime();
  const journal = createMemoryJournal(time.clock);
  let runs = 0;
  const process = (holder: string, isAlone = false) =>
    createLeases({
      journal,
      clock: time.clock,
      holder,
      newRun: () => `run-${++runs}`,
      isAlone,
      leaseMs: LEASE_MS,
    });
  return { time, journal, process };
}
const taken = async (lease: Promise<Lease | undefined>): Promise<Lease> => {
  const got = await lease;
  if (got === undefined) throw new Error('another holds it');
  return got;
};

describe('a lease', () => {
  it('is given to one of many concurrent callers, and no run is shared', async () => {
    const { process } = createWorld();
    const asked = await Promise.all(Array.from({ length: 20 }, (_, n) => process(`p${n}`).take('job')));
    expect(asked.filter((lease) => lease !== undefined).length).toBe(1);
  });

  it.each([0, -1, 1, -24, 24, -8_760, 8_760, -87_600, 87_600])(
    'of a process that is gone ends after its length, whether or not the wall clock jumps by %d h',
    async (hours) => {
      const { time, process } = createWorld();
      const first = await taken(process('a').take('job'));
      await first.checkpoint('half', NO_USAGE);
      const other = process('b');
      expect(await other.take('job')).toBeUndefined();
      time.jump(hours * 3_600_000);
      await time.pass(LEASE_MS - 1);
      expect(await other.take('job')).toBeUndefined();
      await time.pass(1);
      const second = await taken(other.take('job'));
      expect([second.run, second.from]).toEqual([first.run, 'half']);
    },
  );

  it('that is renewed by checkpoints does not end', async () => {
    const { time, process } = createWorld();
    const first = await taken(process('a').take('job'));
    const other = process('b');
    for (let part = 0; part < 5; part++) {
      await first.checkpoint(String(part), NO_USAGE);
      expect(await other.take('job')).toBeUndefined();
      await time.pass(LEASE_MS - 1);
    }
    expect(await other.take('job')).toBeUndefined();
  });

  it('is taken over at once by a process that is alone', async () => {
    const { process } = createWorld();
    const first = await taken(process('a', true).take('job'));
    const second = await taken(process('b', true).take('job'));
    expect(second.run).toBe(first.run);
  });

  it('that was taken over refuses further writes of its first holder', async () => {
    const { process, journal } = createWorld();
    const first = await taken(process('a', true).take('job'));
    const second = await taken(process('b', true).take('job'));
    await expect(first.checkpoint('late', NO_USAGE)).rejects.toBeInstanceOf(LeaseLostError);
    expect(await first.end({ end: 'done' }, NO_USAGE)).toBe(false);
    expect(await second.end({ end: 'done' }, NO_USAGE)).toBe(true);
    const done = journal.facts().filter((fact) => fact.type === 'job-ended' && fact.end === 'done');
    expect(done.length).toBe(1);
  });

  it('continues a run after a retryable failure, and starts a new one after a permanent one', async () => {
    const { process } = createWorld();
    const leases = process('a', true);
    const first = await taken(leases.take('job'));
    await first.end({ end: 'failed', why: 'no network', isRetryable: true }, NO_USAGE);
    const second = await taken(leases.take('job'));
    expect(second.run).toBe(first.run);
    await second.end({ end: 'failed', why: 'no such model', isRetryable: false }, NO_USAGE);
    const third = await taken(leases.take('job'));
    expect(third.run).not.toBe(first.run);
    expect(third.from).toBeUndefined();
  });

  it('completes each run once, however processes interleave, die and change their clocks', async () => {
    let completed = 0;
    const act = fc.record({
      who: fc.nat(2),
      what: fc.constantFrom('take', 'checkpoint', 'end', 'die', 'wait', 'jump'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 40, maxLength: 80 }), async (acts) => {
        const { time, process, journal } = createWorld();
        const lives = [0, 0, 0];
        const open = (who: number) => process(`p${who}-${lives[who]}`);
        const processes = [open(0), open(1), open(2)];
        const held: (Lease | undefined)[] = [undefined, undefined, undefined];
        for (const { who, what } of acts) {
          if (what === 'take') held[who] ??= await processes[who]?.take('job');
          if (what === 'checkpoint') await held[who]?.checkpoint('x', NO_USAGE).catch(() => undefined);
          if (what === 'end') {
            await held[who]?.end({ end: 'done' }, NO_USAGE);
            held[who] = undefined;
          }
          if (what === 'die') {
            lives[who] = (lives[who] ?? 0) + 1;
            processes[who] = open(who);
            held[who] = undefined;
          }
          if (what === 'wait') await time.pass(LEASE_MS / 2);
          if (what === 'jump') time.jump(-3_600_000);
        }
        const facts = journal.facts().flatMap((fact) => ('n' in fact ? [fact] : []));
        expect(facts.map(({ n }) => n)).toEqual(facts.map((_, index) => index + 1));
        const over = facts.flatMap((fact) => (fact.type === 'job-ended' && fact.isOver ? [fact.run] : []));
        expect(new Set(over).size).toBe(over.length);
        completed += over.length;
      }),
      { numRuns: 300 },
    );
    expect(completed).toBeGreaterThan(100);
  });
});
