import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { homeAt } from '../../src/config/home.ts';
import { createDayBudget } from '../../src/cost/day-budget.ts';
import { toRecords } from '../../src/record/records.ts';
import { openSqliteStore } from '../../src/record/store/sqlite-store.ts';
import { confirmTimeOf, describeDoubt, judgeTime, openTrustedClock } from '../../src/record/trusted-clock.ts';
import { createMachine, DAY, HOUR, START, YEAR } from '../support/machine.ts';
import { scratch } from './store/scratch.ts';

const quiet = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

function setUp() {
  const machine = createMachine();
  const home = homeAt(scratch());
  const store = openSqliteStore({ file: home.storeFile });
  onTestFinished(() => store.close());
  const records = toRecords(store, machine.clock.now);
  const open = () => {
    const time = openTrustedClock({ home, clock: machine.clock, boot: machine.boot, log: quiet });
    time.record(records);
    onTestFinished(() => time.close());
    return time;
  };
  const facts = () => store.events('machine/clock').map(({ at, fact }) => ({ at, ...fact }));
  return { machine, home, store, records, open, facts };
}

describe('the trusted clock', () => {
  it('records a leap and its confirmation as facts, dated by the time that is believed', async () => {
    const { machine, open, facts } = setUp();
    const time = open();
    machine.pass(HOUR);
    machine.jump(YEAR);
    expect(time.now()).toBe(START + HOUR);
    machine.pass(HOUR);
    expect(time.now()).toBe(START + 2 * HOUR);
    expect(await time.confirm()).toMatchObject({ was: { kind: 'leap', from: START + HOUR } });
    expect(time.doubt()).toBeUndefined();
    expect(time.now()).toBe(START + 2 * HOUR + YEAR);
    expect(facts()).toEqual([
      { at: START + HOUR, type: 'clock-leaped', kind: 'leap', from: START + HOUR, to: START + HOUR + YEAR },
      {
        at: START + 2 * HOUR + YEAR,
        type: 'time-confirmed',
        by: 'owner',
        time: START + 2 * HOUR + YEAR,
      },
    ]);
  });

  it('remembers a doubt over a restart, also when its file is lost: the record has it', async () => {
    const { machine, home, open, facts } = setUp();
    const first = open();
    machine.jump(YEAR);
    expect(first.doubt()).toBeDefined();
    await expect.poll(facts).toHaveLength(1);
    first.close();
    for (const lost of [false, true, 'damaged']) {
      if (lost === true) rmSync(home.clockFile);
      if (lost === 'damaged') writeFileSync(home.clockFile, '{"wall": 1');
      machine.pass(60_000);
      const next = open();
      expect(next.describe()).toMatchObject({ trusted: false, fix: 'instar doctor --confirm-time' });
      next.close();
    }
    expect(facts()).toHaveLength(1);
  });

  it('is confirmed without a daemon, too, and the next start believes the clock', async () => {
    const { machine, home, records, open, facts } = setUp();
    open().close();
    machine.jump(-YEAR);
    expect(judgeTime(home, machine.clock, machine.boot)?.kind).toBe('leap');
    await confirmTimeOf(home, records, machine.clock, machine.boot);
    expect(judgeTime(home, machine.clock, machine.boot)).toBeUndefined();
    machine.pass(HOUR);
    expect(open().doubt()).toBeUndefined();
    expect(facts().map(({ type }) => type)).toEqual(['time-confirmed']);
  });

  it('does not count a confirmation that could not be recorded', async () => {
    const { machine, home } = setUp();
    const time = openTrustedClock({ home, clock: machine.clock, boot: machine.boot, log: quiet });
    onTestFinished(() => time.close());
    machine.jump(YEAR);
    const fail = async () => {
      throw new Error('the disk is full');
    };
    time.record({ append: fail });
    await expect(time.confirm()).rejects.toThrow('full');
    expect(time.doubt()).toBeDefined();
  });

  it('ends an absence when three servers in a row show its date, and never a leap', async () => {
    const { machine, open } = setUp();
    open().close();
    machine.reboot(21 * DAY);
    const time = open();
    expect(time.doubt()?.kind).toBe('absence');
    for (const off of [0, 1_000, 30 * DAY, 0, -2_000]) time.hear(machine.clock.now() + off);
    expect(time.doubt()?.kind).toBe('absence');
    time.hear(machine.clock.now());
    expect(time.doubt()).toBeUndefined();
    machine.jump(YEAR);
    expect(time.doubt()?.kind).toBe('leap');
    for (let n = 0; n < 9; n++) time.hear(machine.clock.now());
    expect(time.doubt()?.kind).toBe('leap');
  });

  it('gives no budget a second day: neither background work nor learning', () => {
    const { machine, open } = setUp();
    const clock = open();
    const work = createDayBudget({ limits: { ms: 60_000 }, setting: 'schedule.budget', clock });
    const learning = createDayBudget({ limits: { usd: 1 }, setting: 'learn.budget', clock });
    work.spend({ ms: 60_000, tokens: 0, usd: 0 });
    learning.spend({ usd: 2 });
    for (const jump of [2 * DAY, YEAR, -2 * YEAR]) {
      machine.jump(jump);
      expect(work.refusal()).toContain('used up');
      expect(learning.refusal()).toContain('used up');
    }
    machine.pass(DAY);
    expect([work.refusal(), learning.refusal()]).toEqual([undefined, undefined]);
  });

  it('says what happened in a sentence', () => {
    expect(describeDoubt({ kind: 'leap', from: START, to: START + YEAR })).toBe(
      'The clock moved forward by 365 days at 2026-11-16 00:00 UTC. Nothing expires until you confirm the time.',
    );
    expect(describeDoubt({ kind: 'leap', from: START, to: START - DAY })).toContain('back by 1 day');
    expect(describeDoubt({ kind: 'absence', from: START, to: START + 21 * DAY })).toContain(
      '21 days ahead of the last time seen',
    );
  });

  it('keeps what it knows in a file that only the owner can read', () => {
    const { home, open } = setUp();
    open();
    expect(statSync(home.clockFile).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(home.clockFile, 'utf8'))).toMatchObject({
      boot: 'boot-1',
      held: START,
    });
  });
});
