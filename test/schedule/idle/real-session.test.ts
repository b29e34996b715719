import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createManualClock } from '../../../src/core/clock.ts';
import type { PresenceSource } from '../../../src/core/schedule.ts';
import { findIdleSources } from '../../../src/schedule/idle/idle-source.ts';

const has = (tool: string): boolean => spawnSync('sh', ['-c', `command -v ${tool}`]).status === 0;
const X11 = { server: 'Xvfb', idle: 'xprintidle', hand: 'xdotool' };
const hasX11 = process.platform === 'linux' && Object.values(X11).every(has);
const signal = new AbortController().signal;

describe.skipIf(!hasX11)('a real X11 display (skipped without Xvfb, xprintidle and xdotool)', () => {
  let server: ChildProcess;
  let display = '';

  beforeAll(async () => {
    // Without -noreset each tool that leaves as the last client takes the count with it.
    server = spawn(
      X11.server,
      ['-noreset', '-displayfd', '3', '-screen', '0', '320x200x8', '-nolisten', 'tcp'],
      {
        stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
      },
    );
    display = await new Promise((resolve, reject) => {
      server.stdio[3]?.once('data', (number: Buffer) => resolve(`:${number.toString().trim()}`));
      server.once('exit', () => reject(new Error('Xvfb ended')));
    });
  });
  afterAll(() => {
    server.kill('SIGKILL');
  });

  const open = (awayMs: number): { source: PresenceSource; tick: () => void } => {
    const clock = createManualClock();
    const env = { PATH: process.env.PATH, DISPLAY: display, XDG_SESSION_TYPE: 'x11' };
    const source = findIdleSources({ env, clock, rules: { awayMs, presentMs: awayMs } })[0];
    if (source?.name !== 'x11') throw new Error('no x11');
    return { source, tick: () => clock.advance(2000) };
  };
  const touch = (): void => {
    // Two moves: the pointer may already be where the first one goes.
    for (const x of ['10', '20']) {
      const moved = spawnSync(X11.hand, ['mousemove', x, '10'], {
        env: { ...process.env, DISPLAY: display },
      });
      expect(moved.status).toBe(0);
    }
  };

  it('counts up while nobody moves, and falls when the mouse does', async () => {
    const { source } = open(3_600_000);
    const idle = async (): Promise<number> => (await source.read(Date.now(), signal)).idleMs ?? Number.NaN;
    touch();
    let before = await idle();
    for (let step = 0; step < 3; step++) {
      await sleep(400);
      const now = await idle();
      expect(now).toBeGreaterThanOrEqual(before + 300);
      before = now;
    }
    // A machine that is very busy may be slow to ask; it is asked again.
    let after = before;
    for (let tries = 0; tries < 5 && after >= before; tries++) {
      touch();
      after = await idle();
    }
    expect(after).toBeLessThan(before);
  });

  it('is away, and present with the first key press', async () => {
    const { source, tick } = open(700);
    const state = async (): Promise<string> => {
      tick();
      return (await source.read(Date.now(), signal)).state;
    };
    touch();
    await sleep(900);
    expect(await state()).toBe('unknown');
    expect(await state()).toBe('away');
    const typed = spawnSync('sh', ['-c', 'xdotool key a; xprintidle'], {
      env: { ...process.env, DISPLAY: display },
    });
    // On a machine that is very busy the key may be old by now; the tool itself says whether it is.
    if (Number(typed.stdout) < 300) expect(await state()).toBe('present');
  });

  it('is unknown when the display is gone', async () => {
    const env = { PATH: process.env.PATH, DISPLAY: ':9876' };
    expect(await findIdleSources({ env })[0]?.read(Date.now(), signal)).toMatchObject({ state: 'unknown' });
  });
});

const hasLogind = existsSync('/run/dbus/system_bus_socket');
describe.skipIf(process.platform !== 'linux' || hasLogind)(
  'a machine without logind (skipped with one)',
  () => {
    it('is unknown (not away)', async () => {
      const logind = findIdleSources({ env: { PATH: process.env.PATH } }).find(
        ({ name }) => name === 'logind',
      );
      expect(await logind?.read(Date.now(), signal)).toMatchObject({ source: 'logind', state: 'unknown' });
    });
  },
);
