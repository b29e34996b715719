import os from 'node:os';
import { type Clock, systemClock } from '../../core/clock.ts';
import type { Presence, PresenceSource } from '../../core/schedule.ts';
import {
  createGatewayActivity,
  createLogindIdle,
  createMacosIdle,
  createMutterIdle,
  createWindowsIdle,
  createX11Idle,
  type IdleReader,
  type IdleReading,
  type LastActivity,
  type RunTool,
  runTool,
} from './idle-readers.ts';

interface IdleRules {
  /** Without input for this long, a person is away. */
  readonly awayMs: number;
  /** With input within this time, a person is present. Between the two limits the state is `unknown`. */
  readonly presentMs: number;
}

interface IdleSetting {
  readonly reader: IdleReader;
  readonly rules: IdleRules;
  readonly clock: Clock;
  /** The machine's uptime: no idle time can be longer. */
  readonly uptimeMs: () => number;
}

/** Readings closer together do not confirm each other. */
const MIN_GAP_MS = 1000;
/** Neither do readings further apart, such as before and after a suspend. */
const MAX_GAP_MS = 10 * 60_000;
const UPTIME_SLACK_MS = 60_000;

interface Candidate {
  readonly at: number;
  readonly idleMs: number | undefined;
}

/**
 * One reading is enough for `present`; `away` takes two that agree. An idle time longer than the machine's uptime comes
 * from a broken counter and is `unknown`.
 */
export function createIdleSource({ reader, rules, clock, uptimeMs }: IdleSetting): PresenceSource {
  const presentMs = Math.min(rules.presentMs, rules.awayMs);
  let candidate: Candidate | undefined;

  const presence = (state: Presence['state'], why: string, idleMs?: number): Presence => ({
    source: reader.name,
    state,
    why,
    ...(idleMs === undefined ? {} : { idleMs }),
  });

  const confirm = (seen: string, idleMs?: number): Presence => {
    const at = clock.monotonic();
    const first = candidate;
    const gap = first === undefined ? 0 : at - first.at;
    if (first === undefined || gap > MAX_GAP_MS || isLess(idleMs, first.idleMs)) {
      candidate = { at, idleMs };
      return presence('unknown', `${seen}, one reading so far`, idleMs);
    }
    if (gap < MIN_GAP_MS) return presence('unknown', `${seen}, one reading so far`, idleMs);
    // Backdated, so that the next reading confirms it at once but only consecutive readings confirm each other.
    candidate = { at: at - MIN_GAP_MS, idleMs };
    return presence('away', seen, idleMs);
  };

  const judge = (reading: IdleReading): Presence => {
    if (reading.kind === 'away') return confirm(reading.why);
    if (reading.kind === 'idle') {
      const { ms } = reading;
      const isSane = Number.isFinite(ms) && ms >= 0 && ms <= uptimeMs() + UPTIME_SLACK_MS;
      if (!isSane) {
        candidate = undefined;
        return presence('unknown', 'the reported idle time is impossible');
      }
      if (ms >= rules.awayMs) return confirm(`no input for ${minutes(ms)} min`, ms);
      candidate = undefined;
      return ms < presentMs
        ? presence(
            'present',
            ms < 60_000 ? 'input within the last minute' : `input ${minutes(ms)} min ago`,
            ms,
          )
        : presence('unknown', `no input for ${minutes(ms)} min`, ms);
    }
    candidate = undefined;
    return presence('unknown', reading.why);
  };

  return {
    name: reader.name,
    sees: reader.sees,
    async read(now, signal) {
      try {
        return judge(await reader.read(now, signal));
      } catch {
        candidate = undefined;
        return presence('unknown', 'the reader failed');
      }
    },
  };
}

const minutes = (ms: number): number => Math.floor(ms / 60_000);

/** There was input between the two readings. A locked screen has no idle time to compare. */
const isLess = (now: number | undefined, before: number | undefined): boolean =>
  now !== undefined && before !== undefined && now + MIN_GAP_MS < before;

interface IdleEnvironment {
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

/** The variables that the tools need to find the session. Keys in the environment are not passed on. */
const PASSED_ON =
  /^(PATH|HOME|USER|LOGNAME|DISPLAY|XAUTHORITY|DBUS_SESSION_BUS_ADDRESS|XDG_[A-Z_]+|SYSTEMROOT|WINDIR|TEMP|TMP|USERPROFILE|PATHEXT|COMSPEC|PSMODULEPATH)$/i;

/**
 * All sources that can detect input on this machine, by platform and session, best first. The gateway's traffic comes
 * last: on a machine with a desktop it can report `present`, but not `away`.
 */
export function findIdleSources(around: IdleEnvironment = {}): readonly PresenceSource[] {
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

const isGnome = (env: IdleEnvironment['env'] & object): boolean =>
  isSet(env.DBUS_SESSION_BUS_ADDRESS) &&
  (env.XDG_CURRENT_DESKTOP ?? '')
    .split(':')
    .some((name) => /^(GNOME|GNOME-Classic|Unity|ubuntu)$/i.test(name));

/** A local X11 display: not XWayland, not forwarded over ssh. */
const isLocalX11 = (env: IdleEnvironment['env'] & object): boolean =>
  /^(unix)?:[0-9]/.test(env.DISPLAY ?? '') &&
  !isSet(env.WAYLAND_DISPLAY) &&
  env.XDG_SESSION_TYPE !== 'wayland' &&
  !isSet(env.SSH_CONNECTION);

function passedOn(env: IdleEnvironment['env'] & object): Readonly<Record<string, string>> {
  const kept = Object.entries(env).filter(
    (pair): pair is [string, string] => PASSED_ON.test(pair[0]) && pair[1] !== undefined,
  );
  return { ...Object.fromEntries(kept), LC_ALL: 'C' };
}

const systemMonotonicMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);
