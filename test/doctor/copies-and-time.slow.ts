import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Home, openHome } from '../../src/config/home.ts';
import { checkCopies } from '../../src/doctor/check-copies.ts';
import { checkTime, runDoctor } from '../../src/doctor/doctor.ts';
import { makeCopy } from '../../src/record/make-copy.ts';
import { openSqliteStore } from '../../src/record/store/sqlite-store.ts';
import { openTrustedClock } from '../../src/record/trusted-clock.ts';
import { runCli } from '../cli/run-cli.ts';
import { at, end, start } from '../record/store/facts.ts';
import { createMachine, DAY, HOUR, YEAR } from '../support/machine.ts';

const quiet = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** A home with one turn a day and a copy after each, the newest now. */
function setUp(days: number): { readonly home: Home; readonly now: number } {
  const dir = mkdtempSync(join(tmpdir(), 'instar-doctor-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const home = openHome(join(dir, 'home'));
  openHome(home.snapshotDir);
  const now = Date.now();
  const store = openSqliteStore({ file: home.storeFile });
  for (let day = 1; day <= days; day++) {
    const time = now - (days - day) * DAY;
    store.append({ facts: at(time, start(`t${day}`, 's'), end(`t${day}`)) });
    makeCopy({ store: home.storeFile, dir: home.snapshotDir, at: time, number: day });
  }
  store.close();
  return { home, now };
}

const turnsOf = (file: string): number => {
  const store = openSqliteStore({ file });
  try {
    return store.totals().turns;
  } finally {
    store.close();
  }
};

describe('doctor on copies', () => {
  it('says how old the newest is, and warns when it is older than two days', () => {
    const { home, now } = setUp(3);
    expect(checkCopies(home, [], { now: now + 5 * HOUR, isRunning: false })).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('3 copies, the newest 5 h old'),
    });
    expect(checkCopies(home, [], { now: now + 9 * DAY, isRunning: false })).toMatchObject({
      status: 'warn',
      detail: expect.stringContaining('9 days old'),
    });
    const whileRunning = checkCopies(home, [], { now: now + 9 * DAY, isRunning: true });
    expect(whileRunning.fix).not.toContain('start Instar');
  });

  it('warns of a record without a copy, and of a damaged copy', () => {
    const { home, now } = setUp(2);
    const { snapshotDir } = home;
    const name = `${new Date(now).toISOString().replaceAll(/[:.]/g, '-')}.2.4.sqlite`;
    truncateSync(join(snapshotDir, name), 6_000);
    expect(checkCopies(home, [], { now: now, isRunning: false })).toMatchObject({
      status: 'warn',
      detail: expect.stringContaining(`damaged: ${name}`),
    });
    rmSync(snapshotDir, { recursive: true });
    expect(checkCopies(home, [], { now: now, isRunning: false })).toMatchObject({
      status: 'warn',
      fix: expect.stringContaining('start'),
    });
  });

  it.each(['deleted', 'emptied', 'damaged'])(
    'fails for a record that was %s, and --restore brings back the newest copy that is sound',
    async (how) => {
      const { home, now } = setUp(3);
      if (how === 'deleted') rmSync(home.storeFile);
      if (how === 'emptied') truncateSync(home.storeFile, 0);
      if (how === 'damaged') {
        const bytes = readFileSync(home.storeFile);
        bytes[bytes.indexOf('maker/fast') + 2] = 0x21;
        writeFileSync(home.storeFile, bytes);
      }
      const newest = `${new Date(now).toISOString().replaceAll(/[:.]/g, '-')}.3.6.sqlite`;
      truncateSync(join(home.snapshotDir, newest), 5_000);
      const checks = await runDoctor({ home, env: {} });
      const found = checks.find(({ name }) => name === 'copies');
      expect(checks.find(({ name }) => name === 'store')?.status).toBe('fail');
      expect(found).toMatchObject({
        status: 'warn',
        detail: expect.stringContaining(how === 'damaged' ? 'is damaged' : 'is missing'),
        fix: expect.stringContaining('instar doctor --restore'),
      });
      const { code, stdout } = await runCli(['doctor', '--restore', '--home', home.dir]);
      expect([code, stdout]).toEqual([0, expect.stringContaining('.2.4.sqlite')]);
      expect(turnsOf(home.storeFile)).toBe(2);
      // Nothing is deleted: the old file is beside it, also after a second time.
      await runCli(['doctor', '--restore', '--home', home.dir]);
      const kept = readdirSync(home.dir).filter((name) => /before-restore(-\d)?$/.test(name));
      expect(kept).toHaveLength(how === 'deleted' ? 1 : 2);
    },
  );

  it('--restore says what to do when there is no copy', async () => {
    const { home } = setUp(1);
    rmSync(home.snapshotDir, { recursive: true });
    const { code, stderr } = await runCli(['doctor', '--restore', '--home', home.dir]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('instar data restore FILE')]);
  });
});

describe('doctor on time', () => {
  it('warns of a clock that moved, and --confirm-time settles it', async () => {
    const { home, now } = setUp(1);
    const machine = createMachine(now);
    openTrustedClock({ home, clock: machine.clock, boot: machine.boot, log: quiet }).close();
    machine.jump(YEAR);
    expect(checkTime(home, machine.clock, machine.boot)).toMatchObject({
      status: 'warn',
      detail: expect.stringContaining('forward by 365 days'),
      fix: expect.stringContaining('instar doctor --confirm-time'),
    });
    // The clock of this machine is now a year behind the last time seen.
    writeFileSync(home.clockFile, JSON.stringify({ wall: now + YEAR, up: 1, boot: 'x', held: now + YEAR }));
    const before = await runDoctor({ home, env: {} });
    expect(before.find(({ name }) => name === 'time')?.status).toBe('warn');
    const { code, stdout } = await runCli(['doctor', '--confirm-time', '--json', '--home', home.dir]);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      { time: expect.any(String), was: { kind: 'leap' } },
    ]);
    const checks = await runDoctor({ home, env: {} });
    expect(checks.find(({ name }) => name === 'time')?.status).toBe('ok');
  });
});
