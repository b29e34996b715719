import os from 'node:os';
import { type Clock, systemClock } from '../../core/clock.ts';
import type { PresenceSource } from '../../core/presence.ts';
import { createGatewayActivity, type LastActivity } from './gateway-activity.ts';
import type { IdleReader } from './idle-reader.ts';
import { createIdleSource, type IdleRules } from './idle-source.ts';
import { createLogindIdle } from './logind-idle.ts';
import { createMacosIdle } from './macos-idle.ts';
import { createMutterIdle } from './mutter-idle.ts';
import { type RunTool, runTool } from './run-tool.ts';
import { createWindowsIdle } from './windows-idle.ts';
import { createX11Idle } from './x11-idle.ts';

export interface IdleSurroundings {
  readonly platform?: NodeJS.Platform;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly run?: RunTool;
  readonly clock?: Clock;
  readonly uptimeMs?: () => number;
  /** The system's monotonic clock, for logind. */
  readonly monotonicMs?: () => number;
  readonly rules?: Partial<IdleRules>;
  readonly lastActivity?: LastActivity;
}

const MINUTE_MS = 60_000;
const RULES: IdleRules = { awayMs: 30 * MINUTE_MS, presentMs: 5 * MINUTE_MS };

/** What the tools need to find the session; a daemon's keys are none of their business. */
const PASSED_ON =
  /^(PATH|HOME|USER|LOGNAME|DISPLAY|XAUTHORITY|DBUS_SESSION_BUS_ADDRESS|XDG_[A-Z_]+|SYSTEMROOT|WINDIR|TEMP|TMP|USERPROFILE|PATHEXT|COMSPEC|PSMODULEPATH)$/i;

/**
 * Everything on this machine that can see input, by platform and session, best first. The gateway's own traffic is the
 * last: where there is a desktop it can say that someone is there, but not that nobody is.
 */
export function findIdleSources(around: IdleSurroundings = {}): readonly PresenceSource[] {
  const { platform = process.platform, env = process.env, run = runTool, clock = systemClock } = around;
  const { uptimeMs = () => os.uptime() * 1000, monotonicMs = systemMonotonicMs, lastActivity } = around;
  const rules = { ...RULES, ...around.rules };
  const box = { run, env: passedOn(env) };
  const open = (reader: IdleReader, how: IdleRules = rules): PresenceSource =>
    createIdleSource({ reader, rules: how, clock, uptimeMs });

  const readers: IdleReader[] = [];
  const isUnix = platform !== 'darwin' && platform !== 'win32';
  if (platform === 'darwin') readers.push(createMacosIdle(box));
  if (platform === 'win32') readers.push(createWindowsIdle(box));
  if (isUnix && isGnome(env)) readers.push(createMutterIdle(box));
  if (isUnix && isLocalX11(env)) readers.push(createX11Idle(box));
  const hasDesktop = readers.length > 0 || isSet(env.WAYLAND_DISPLAY) || env.XDG_SESSION_TYPE === 'wayland';
  if (platform === 'linux') {
    readers.push(createLogindIdle({ ...box, session: env.XDG_SESSION_ID, monotonicMs }));
  }

  const sources = readers.map((reader) => open(reader));
  if (lastActivity === undefined) return sources;
  const gateway = createGatewayActivity(lastActivity, clock);
  return [...sources, open(gateway, hasDesktop ? { ...rules, awayMs: Number.POSITIVE_INFINITY } : rules)];
}

const isSet = (value: string | undefined): value is string => value !== undefined && value !== '';

const isGnome = (env: IdleSurroundings['env'] & object): boolean =>
  isSet(env.DBUS_SESSION_BUS_ADDRESS) &&
  (env.XDG_CURRENT_DESKTOP ?? '')
    .split(':')
    .some((name) => /^(GNOME|GNOME-Classic|Unity|ubuntu)$/i.test(name));

/** A display of this machine, with nothing that hints at Wayland behind it and nobody who forwards it from afar. */
const isLocalX11 = (env: IdleSurroundings['env'] & object): boolean =>
  /^(unix)?:[0-9]/.test(env.DISPLAY ?? '') &&
  !isSet(env.WAYLAND_DISPLAY) &&
  env.XDG_SESSION_TYPE !== 'wayland' &&
  !isSet(env.SSH_CONNECTION);

function passedOn(env: IdleSurroundings['env'] & object): Readonly<Record<string, string>> {
  const kept = Object.entries(env).filter(
    (pair): pair is [string, string] => PASSED_ON.test(pair[0]) && pair[1] !== undefined,
  );
  return { ...Object.fromEntries(kept), LC_ALL: 'C' };
}

const systemMonotonicMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);
