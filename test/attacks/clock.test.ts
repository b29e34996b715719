import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import { openSqliteStore } from '../../src/record/store/sqlite-store.ts';
import { end, start } from '../record/store/facts.ts';
import { type AgingHome, openAgingHome } from '../support/aging-home.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { createMachine, DAY, HOUR, START, YEAR } from '../support/machine.ts';

const TURNS = 266;
const KEEP_DAYS = 90;
const JUMPS = {
  '-10 years': -10 * YEAR,
  '-1 year': -YEAR,
  '-1 day': -DAY,
  '+1 day': DAY,
  '+1 year': YEAR,
  '+10 years': 10 * YEAR,
};
const HOURS = Array.from({ length: 24 }, (_, hour) => hour);

describe('a clock that jumps', () => {
  let worn: AgingHome;
  beforeAll(() => {
    const before = createMachine(START);
    worn = openAgingHome(before, { keepDays: KEEP_DAYS });
    // Spread over the days that are kept; the newest is of this minute.
    for (let n = 0; n < TURNS; n++)
      worn.record(`s${n}`, START - Math.round(((TURNS - 1 - n) / TURNS) * (KEEP_DAYS - 1) * DAY));
  });
  afterAll(() => worn.close());

  /** The day goes on for a while after the jump, with a restart of the daemon; what was erased. */
  async function liveThrough(
    hour: number,
    how: 'while it runs' | 'while it is stopped' | 'while the machine is off',
    jump: number,
  ) {
    const machine = createMachine(START);
    const home = openAgingHome(machine, { keepDays: KEEP_DAYS, like: worn.dir });
    try {
      machine.pass(hour * HOUR);
      let erased = (await home.expire()).length;
      if (how === 'while it runs') machine.jump(jump);
      else
        await home.restart(() => {
          if (how === 'while the machine is off') machine.reboot(HOUR);
          machine.jump(jump);
        });
      erased += (await home.expire()).length;
      machine.pass(HOUR);
      erased += (await home.expire()).length;
      await home.restart();
      erased += (await home.expire()).length;
      expect(home.time().doubt()).toBeDefined();
      expect(home.kept().size).toBe(TURNS);
      return erased;
    } finally {
      await home.close();
    }
  }

  it.each(Object.entries(JUMPS))(
    '(3) by %s erases nothing, at any hour of a running day (+1 year erased 265 of 266 turns)',
    async (_, jump) => {
      for (const hour of HOURS) expect(await liveThrough(hour, 'while it runs', jump)).toBe(0);
      for (const hour of [0, 11, 23]) {
        expect(await liveThrough(hour, 'while it is stopped', jump)).toBe(0);
        expect(await liveThrough(hour, 'while the machine is off', jump)).toBe(0);
      }
    },
    240_000,
  );
});

const MAIN = path.resolve(import.meta.dirname, '../../dist/src/cli/main.js');
const SHIM = path.resolve(import.meta.dirname, '../support/wrong-clock.cjs');
const PATIENCE = { timeout: 60_000, interval: 250 };

describe('a daemon whose clock is set one year ahead', () => {
  it('(3) erases nothing, says why, and restores what was erased after a person confirmed the wrong time', async () => {
    const home = makeHome({ store: { keepDays: KEEP_DAYS } });
    onTestFinished(() => home.remove());
    const skew = path.join(home.dir, '..', 'skew');
    writeFileSync(skew, '0');
    const env = { NODE_OPTIONS: `--require ${SHIM}`, WRONG_CLOCK: skew };
    const cli = async (...args: string[]): Promise<string> => {
      const all = { ...process.env, ...env, INSTAR_HOME: home.dir };
      const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...args], { env: all }).catch(
        (error: { stdout: string }) => error,
      );
      return stdout;
    };
    const storeFile = path.join(home.dir, 'instar.sqlite');
    const store = openSqliteStore({ file: storeFile });
    const now = Date.now();
    const facts = Array.from({ length: TURNS }, (_, n) => {
      const at = now - Math.round(((TURNS - 1 - n) / TURNS) * (KEEP_DAYS - 1) * DAY);
      return [
        { at, fact: start(`t${n}`, `s${n}`) },
        { at, fact: end(`t${n}`) },
      ];
    });
    store.append({ facts: facts.flat() });
    store.close();

    let daemon = await startDaemon(home.dir, [], env);
    const owner = async (where: string): Promise<unknown> =>
      JSON.parse(
        (
          await ask(daemon.port, {
            method: 'GET',
            path: where,
            headers: { authorization: `Bearer ${daemon.ownerKey}` },
          })
        ).text,
      );
    const status = async (): Promise<JsonObject> => asObject(await owner('/api/status'));
    const kept = async (): Promise<number> =>
      asArray(await owner('/api/sessions?limit=1000')).filter((session) => asObject(session).erased !== true)
        .length;
    const stop = async ({ child, exited }: RunningDaemon): Promise<void> => {
      child.kill('SIGTERM');
      await exited;
    };
    onTestFinished(() => stop(daemon));

    // A copy is made at the start, not after a day.
    await expect.poll(async () => asObject((await status()).copies).count, PATIENCE).toBe(1);
    expect((await status()).time).toEqual({ trusted: true });

    writeFileSync(skew, String(YEAR));
    await expect
      .poll(async () => (await status()).time, PATIENCE)
      .toMatchObject({ trusted: false, kind: 'leap', fix: 'instar doctor --confirm-time' });
    expect(await cli('status')).toContain('The clock moved forward by 365 days');
    expect(await cli('doctor')).toContain('Nothing expires until you confirm the time');

    await stop(daemon);
    daemon = await startDaemon(home.dir, [], env);
    // Retention has run, and waits.
    await expect
      .poll(async () => (await status()).copies, PATIENCE)
      .toMatchObject({ waitsFor: 'the time to be confirmed' });
    expect(await kept()).toBe(TURNS);

    expect(await cli('doctor', '--confirm-time')).toContain('Time confirmed');
    expect((await status()).time).toEqual({ trusted: true });
    await expect.poll(kept, PATIENCE).toBe(0);

    await stop(daemon);
    rmSync(storeFile);
    expect(await cli('doctor')).toContain('instar doctor --restore');
    expect(await cli('doctor', '--restore')).toContain('Restored from');
    const restored = openSqliteStore({ file: storeFile });
    expect(restored.sessions({ limit: 1000 }).filter(({ erased }) => !erased)).toHaveLength(TURNS);
    restored.close();
  }, 240_000);
});
