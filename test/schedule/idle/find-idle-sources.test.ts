import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../src/core/clock.ts';
import { findIdleSources } from '../../../src/schedule/idle/idle-source.ts';
import { createRecordedTools } from './recorded-tools.ts';

const signal = new AbortController().signal;
const MINUTE = 60_000;
const namesOf = (platform: NodeJS.Platform, env: Record<string, string>): readonly string[] =>
  findIdleSources({ platform, env, lastActivity: () => undefined }).map(({ name }) => name);

describe('findIdleSources', () => {
  it('asks each platform in its own way', () => {
    expect(namesOf('darwin', {})).toEqual(['macos', 'gateway']);
    expect(namesOf('win32', {})).toEqual(['windows', 'gateway']);
    expect(namesOf('linux', {})).toEqual(['logind', 'gateway']);
    expect(namesOf('linux', { DISPLAY: ':0', XDG_SESSION_TYPE: 'x11' })).toEqual([
      'x11',
      'logind',
      'gateway',
    ]);
    expect(namesOf('openbsd', { DISPLAY: 'unix:0' })).toEqual(['x11', 'gateway']);
    const gnome = { XDG_CURRENT_DESKTOP: 'GNOME', DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/user/1/bus' };
    expect(namesOf('linux', { ...gnome, WAYLAND_DISPLAY: 'wayland-0', DISPLAY: ':0' })).toEqual([
      'gnome',
      'logind',
      'gateway',
    ]);
    expect(namesOf('linux', { ...gnome, DISPLAY: ':0' })).toEqual(['gnome', 'x11', 'logind', 'gateway']);
  });

  it('never asks X11 under Wayland, where XWayland answers, nor a display that is forwarded', () => {
    for (const env of [
      { DISPLAY: ':0', XDG_SESSION_TYPE: 'wayland' },
      { DISPLAY: ':0', WAYLAND_DISPLAY: 'wayland-1' },
      { DISPLAY: ':0', XDG_SESSION_TYPE: 'x11', WAYLAND_DISPLAY: 'wayland-1' },
      { DISPLAY: 'localhost:10.0' },
      { DISPLAY: ':10', SSH_CONNECTION: '10.0.0.1 1 10.0.0.2 22' },
      { DISPLAY: '' },
    ]) {
      expect(namesOf('linux', env), JSON.stringify(env)).not.toContain('x11');
    }
  });

  it('describes what each source can detect', () => {
    const all = findIdleSources({ platform: 'linux', env: { DISPLAY: ':0' }, lastActivity: () => undefined });
    expect(new Set(all.map(({ sees }) => sees)).size).toBe(3);
  });

  it('passes the session variables to the tools, and no keys', async () => {
    const { run, asked } = createRecordedTools({ xprintidle: () => '5' });
    const env = {
      DISPLAY: ':7',
      XAUTHORITY: '/x',
      PATH: '/bin',
      OPENAI_API_KEY: 'sk-1',
      DISPLAY_SECRET: 'x',
    };
    const [x11] = findIdleSources({ platform: 'linux', env, run });
    await x11?.read(0, signal);
    expect(asked).toEqual([
      { file: 'xprintidle', args: [], env: { DISPLAY: ':7', XAUTHORITY: '/x', PATH: '/bin', LC_ALL: 'C' } },
    ]);
  });

  it('survives a runner that throws', async () => {
    const run = async (): Promise<never> => {
      throw new Error('out of files');
    };
    const [macos] = findIdleSources({ platform: 'darwin', env: {}, run });
    expect(await macos?.read(0, signal)).toMatchObject({ state: 'unknown' });
  });
});

describe('the gateway as a source', () => {
  const open = (env: Record<string, string>) => {
    const clock = createManualClock(1_000_000);
    clock.advance(50 * MINUTE);
    let last: number | undefined;
    const sources = findIdleSources({
      platform: 'linux',
      env,
      clock,
      uptimeMs: () => 1e9,
      lastActivity: () => last,
      run: createRecordedTools({}).run,
    });
    const source = sources.at(-1);
    if (source?.name !== 'gateway') throw new Error('no gateway');
    return { clock, read: () => source.read(0, signal), serve: (at = clock.monotonic()) => (last = at) };
  };

  it('calls people away on a machine without a desktop, after half an hour without a request', async () => {
    const { clock, read, serve } = open({});
    serve();
    expect(await read()).toMatchObject({ state: 'present' });
    clock.advance(31 * MINUTE);
    expect(await read()).toMatchObject({ state: 'unknown' });
    clock.advance(10_000);
    expect(await read()).toMatchObject({ state: 'away', idleMs: 31 * MINUTE + 10_000 });
    serve();
    expect(await read()).toMatchObject({ state: 'present', idleMs: 0 });
  });

  it('counts idle time from its start (not: away since the epoch)', async () => {
    const { clock, read } = open({});
    expect(await read()).toMatchObject({ state: 'present', idleMs: 0 });
    clock.advance(10 * MINUTE);
    expect(await read()).toMatchObject({ state: 'unknown', idleMs: 10 * MINUTE });
  });

  it('reports only present (not away) on a machine with a desktop', async () => {
    for (const env of [{ DISPLAY: ':0' }, { WAYLAND_DISPLAY: 'wayland-0' }]) {
      const { clock, read, serve } = open(env);
      serve();
      expect(await read()).toMatchObject({ state: 'present' });
      for (let count = 0; count < 3; count++) {
        clock.advance(9 * 60 * MINUTE);
        expect(await read()).toMatchObject({ state: 'unknown' });
        clock.advance(5000);
        expect(await read()).toMatchObject({ state: 'unknown' });
      }
    }
  });

  it('is unknown when the last request is in the future or not a number', async () => {
    const { read, serve } = open({});
    for (const odd of [1.7e12, Number.NaN, Number.POSITIVE_INFINITY]) {
      serve(odd);
      expect(await read(), String(odd)).toMatchObject({ state: 'unknown' });
    }
  });
});
