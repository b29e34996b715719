import { createManualClock, type ManualClock } from '../../../src/core/clock.ts';
import type { PresenceSource } from '../../../src/core/schedule.ts';
import type { ToolEnd } from '../../../src/schedule/idle/idle-readers.ts';
import { findIdleSources } from '../../../src/schedule/idle/idle-source.ts';
import { createRecordedTools, gdbusWith, ioregWith, loginctlWith } from './recorded-tools.ts';

export const NOW = Date.parse('2026-06-05T12:00:00Z');
export const UPTIME_MS = 40 * 86_400_000;

export interface Platform {
  readonly name: string;
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string>>;
  readonly tool: string;
  /** What the tool prints when there was no input for so long. */
  readonly print: (idleMs: number) => string;
}

const GNOME = {
  XDG_CURRENT_DESKTOP: 'ubuntu:GNOME',
  XDG_SESSION_TYPE: 'wayland',
  WAYLAND_DISPLAY: 'wayland-0',
  DISPLAY: ':0',
  DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/user/1000/bus',
};

export const PLATFORMS: readonly Platform[] = [
  { name: 'macos', platform: 'darwin', env: {}, tool: 'ioreg', print: (ms) => ioregWith(ms * 1e6) },
  {
    name: 'x11',
    platform: 'linux',
    env: { DISPLAY: ':0', XDG_SESSION_TYPE: 'x11' },
    tool: 'xprintidle',
    print: (ms) => `${ms}\n`,
  },
  { name: 'x11', platform: 'freebsd', env: { DISPLAY: ':0' }, tool: 'xssstate', print: (ms) => `${ms}\n` },
  { name: 'gnome', platform: 'linux', env: GNOME, tool: 'gdbus', print: gdbusWith },
  {
    name: 'logind',
    platform: 'linux',
    env: { XDG_SESSION_ID: '4' },
    tool: 'loginctl',
    print: (ms) =>
      loginctlWith({ type: 'tty', since: (NOW - ms) * 1000, sinceMonotonic: (UPTIME_MS - ms) * 1000 }),
  },
  {
    name: 'windows',
    platform: 'win32',
    env: { SystemRoot: 'C:\\Windows' },
    tool: 'powershell.exe',
    print: (ms) => `${3_000_000_000 - ms} 3000000000\r\n`,
  },
];

/** The platform's own source, with the tool answering as told, and the clock it looks at. */
export function openPlatform(
  { name, platform, env, tool }: Platform,
  answer: () => ToolEnd | string,
): { source: PresenceSource; clock: ManualClock } {
  const clock = createManualClock(NOW);
  const sources = findIdleSources({
    platform,
    env,
    run: createRecordedTools({ [tool]: answer }).run,
    clock,
    uptimeMs: () => UPTIME_MS,
    monotonicMs: () => UPTIME_MS,
  });
  const source = sources.find((one) => one.name === name);
  if (source === undefined) throw new Error(`${name} is not among ${sources.map((one) => one.name)}`);
  return { source, clock };
}
