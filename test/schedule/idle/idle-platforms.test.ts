import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ToolEnd } from '../../../src/schedule/idle/idle-readers.ts';
import { NOW, openPlatform, PLATFORMS, UPTIME_MS } from './platforms.ts';
import { ioregWith, loginctlWith } from './recorded-tools.ts';

const signal = new AbortController().signal;
const MINUTE = 60_000;

describe.each(PLATFORMS)('$name with $tool', (platform) => {
  it('is present at the first input', async () => {
    const { source } = openPlatform(platform, () => platform.print(1500));
    expect(await source.read(NOW, signal)).toEqual({
      source: platform.name,
      state: 'present',
      why: 'input within the last minute',
      idleMs: 1500,
    });
    expect(source.sees.length).toBeGreaterThan(20);
  });

  it('is away after two readings (not one), and present after one', async () => {
    let idleMs = 42 * MINUTE;
    const { source, clock } = openPlatform(platform, () => platform.print(idleMs));
    expect(await source.read(NOW, signal)).toMatchObject({ state: 'unknown', idleMs });
    expect(await source.read(NOW, signal)).toMatchObject({ state: 'unknown' });
    clock.advance(10_000);
    expect(await source.read(NOW, signal)).toMatchObject({
      state: 'away',
      why: 'no input for 42 min',
      idleMs,
    });
    clock.advance(1);
    expect(await source.read(NOW, signal)).toMatchObject({ state: 'away' });
    idleMs = 200;
    expect(await source.read(NOW, signal)).toMatchObject({ state: 'present', idleMs: 200 });
    idleMs = 42 * MINUTE;
    clock.advance(10_000);
    expect(await source.read(NOW, signal)).toMatchObject({ state: 'unknown' });
  });

  it('is unknown between the limits of present and away', async () => {
    const { source, clock } = openPlatform(platform, () => platform.print(12 * MINUTE));
    for (let count = 0; count < 3; count++) {
      expect(await source.read(NOW, signal)).toMatchObject({ state: 'unknown', why: 'no input for 12 min' });
      clock.advance(10_000);
    }
  });

  it('is unknown for a tool that is missing, fails, hangs or prints too much, and starts over after it', async () => {
    const broken: ToolEnd[] = [
      { kind: 'missing' },
      { kind: 'timeout' },
      { kind: 'too-large' },
      { kind: 'aborted' },
      { kind: 'failed' },
      { kind: 'exit', code: 1, stdout: platform.print(42 * MINUTE) },
      { kind: 'exit', code: undefined, stdout: platform.print(42 * MINUTE) },
    ];
    let next: ToolEnd | string = '';
    const { source, clock } = openPlatform(platform, () => next);
    for (const end of broken) {
      next = platform.print(42 * MINUTE);
      expect((await source.read(NOW, signal)).state).toBe('unknown');
      clock.advance(10_000);
      next = end;
      const presence = await source.read(NOW, signal);
      expect(presence.state).toBe('unknown');
      expect(presence.why).toContain(platform.tool.startsWith('xss') ? 'xprintidle' : platform.tool);
      clock.advance(10_000);
    }
  });

  it('is neither away nor present for garbage', async () => {
    let read = 0;
    const real = platform.print(42 * MINUTE);
    const garbage = fc.oneof(
      fc.string({ maxLength: 200 }),
      fc.constantFrom(
        '',
        '-5',
        'NaN',
        '1e9',
        '0x7fffffff',
        '99999999999999999999999',
        '1.5',
        '١٢٣',
        '(uint64 -1,)',
      ),
      // The real thing with every number spoiled, or cut before its number.
      fc.constantFrom('-', 'x', 'NaN', '.').map((bad) => real.replace(/[0-9]+/g, bad)),
      fc.nat({ max: real.length >> 1 }).map((length) => real.slice(0, length).replace(/[0-9]+$/, '')),
    );
    await fc.assert(
      fc.asyncProperty(garbage, async (text) => {
        // A few digits on their own are what the X11 tools print.
        fc.pre(!/^\s*[0-9]{1,9}\s*$/.test(text));
        const { source, clock } = openPlatform(platform, () => text);
        const first = await source.read(NOW, signal);
        clock.advance(10_000);
        const second = await source.read(NOW, signal);
        // Cut behind its first number, what ioreg printed is still a reading.
        if (platform.tool === 'ioreg' && text.includes('"HIDIdleTime"=2')) return;
        read++;
        expect([text, first.state, second.state]).toEqual([text, 'unknown', 'unknown']);
      }),
      { numRuns: 150, seed: 8 },
    );
    expect(read).toBeGreaterThan(60);
  });
});

describe('an impossible idle time', () => {
  it.each(PLATFORMS.filter(({ tool }) => tool !== 'powershell.exe' && tool !== 'loginctl'))(
    'is unknown on $name: longer than the machine is up, or wrapped',
    async (platform) => {
      for (const ms of [UPTIME_MS + 3_600_000, 2 ** 53]) {
        const { source, clock } = openPlatform(platform, () => platform.print(ms));
        await source.read(NOW, signal);
        clock.advance(10_000);
        expect(await source.read(NOW, signal)).toMatchObject({ state: 'unknown' });
      }
    },
  );

  it('is read over the wrap of the Windows counter, and a last input after now is no time at all', async () => {
    const windows = PLATFORMS.find(({ name }) => name === 'windows');
    if (windows === undefined) throw new Error('no windows');
    const wrapped = openPlatform(windows, () => `${2 ** 32 - 1000} 500`).source;
    expect(await wrapped.read(NOW, signal)).toMatchObject({ state: 'present', idleMs: 1500 });
    const ahead = openPlatform(windows, () => '5000 4984').source;
    expect(await ahead.read(NOW, signal)).toMatchObject({ state: 'present', idleMs: 0 });
    for (const text of ['0 5000', 'none', `${2 ** 32} 5`]) {
      const { source } = openPlatform(windows, () => text);
      expect((await source.read(NOW, signal)).state, text).toBe('unknown');
    }
  });

  it('is the least of all input devices of a Mac', async () => {
    const mac = PLATFORMS.find(({ name }) => name === 'macos');
    if (mac === undefined) throw new Error('no mac');
    const two = ioregWith(3_600_000 * 1e6).replace(/"HIDIdleTime" = [0-9]+/, '"HIDIdleTime" = 2000000000');
    expect(await openPlatform(mac, () => two).source.read(NOW, signal)).toMatchObject({ idleMs: 2000 });
  });
});

describe('logind', () => {
  const logind = PLATFORMS.find(({ name }) => name === 'logind');
  if (logind === undefined) throw new Error('no logind');
  const twice = async (text: string): Promise<string> => {
    const { source, clock } = openPlatform(logind, () => text);
    await source.read(NOW, signal);
    clock.advance(10_000);
    const { state, why } = await source.read(NOW, signal);
    return `${state}: ${why}`;
  };
  const since = { since: (NOW - 40 * MINUTE) * 1000, sinceMonotonic: (UPTIME_MS - 40 * MINUTE) * 1000 };

  it('is away for a locked screen', async () => {
    expect(await twice(loginctlWith({ locked: 'yes' }))).toBe('away: the screen is locked');
  });

  it('uses a desktop that reports idleness, and ignores one that does not (not: present)', async () => {
    expect(await twice(loginctlWith({ idle: 'yes', ...since }))).toBe('away: no input for 40 min');
    expect(await twice(loginctlWith({ idle: 'no', ...since }))).toBe(
      'unknown: the desktop reports no idleness',
    );
  });

  it('counts neither a clock that was set forward nor suspend as idle time', async () => {
    const forward = { ...since, sinceMonotonic: (UPTIME_MS - MINUTE) * 1000 };
    expect(await twice(loginctlWith({ type: 'tty', ...forward }))).toBe('present: input 1 min ago');
    const later = { ...since, since: (NOW + MINUTE) * 1000 };
    expect(await twice(loginctlWith({ type: 'tty', ...later }))).toBe(
      'unknown: loginctl does not report since when',
    );
  });
});
