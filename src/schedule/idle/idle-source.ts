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
  /** With input within this time, a person is there. Between the two nothing is said. */
  readonly presentMs: number;
}

interface IdleSetting {
  readonly reader: IdleReader;
  readonly rules: IdleRules;
  readonly clock: Clock;
  /** How long the machine has been up: nobody was idle before that. */
  readonly uptimeMs: () => number;
}

/** Two questions asked in one breath are one reading. */
const LEAST_GAP_MS = 1000;
/** Readings with more than this between them, say a night in suspend, do not confirm each other. */
const MOST_GAP_MS = 10 * 60_000;
const UPTIME_SLACK_MS = 60_000;

interface Candidate {
  readonly at: number;
  readonly idleMs: number | undefined;
}

/**
 * One look is enough to see that someone is there; to call them away takes two that agree. A time without input that
 * exceeds the machine's own is a broken counter and says nothing.
 */
export function createIdleSource({ reader, rules, clock, uptimeMs }: IdleSetting): PresenceSource {
  const presentMs = Math.min(rules.presentMs, rules.awayMs);
  let candidate: Candidate | undefined;

  const say = (state: Presence['state'], why: string, idleMs?: number): Presence => ({
    source: reader.name,
    state,
    why,
    ...(idleMs === undefined ? {} : { idleMs }),
  });

  const confirm = (seen: string, idleMs?: number): Presence => {
    const at = clock.monotonic();
    const first = candidate;
    const gap = first === undefined ? 0 : at - first.at;
    if (first === undefined || gap > MOST_GAP_MS || isLess(idleMs, first.idleMs)) {
      candidate = { at, idleMs };
      return say('unknown', `${seen}, seen once`, idleMs);
    }
    if (gap < LEAST_GAP_MS) return say('unknown', `${seen}, seen once`, idleMs);
    // Stays confirmed by the next one; the first sight is moved on so that only neighbours confirm each other.
    candidate = { at: at - LEAST_GAP_MS, idleMs };
    return say('away', seen, idleMs);
  };

  const judge = (reading: IdleReading): Presence => {
    if (reading.kind === 'away') return confirm(reading.why);
    if (reading.kind === 'idle') {
      const { ms } = reading;
      const isSane = Number.isFinite(ms) && ms >= 0 && ms <= uptimeMs() + UPTIME_SLACK_MS;
      if (!isSane) {
        candidate = undefined;
        return say('unknown', 'a time without input that cannot be');
      }
      if (ms >= rules.awayMs) return confirm(`no input for ${minutes(ms)} min`, ms);
      candidate = undefined;
      return ms < presentMs
        ? say('present', ms < 60_000 ? 'input within the last minute' : `input ${minutes(ms)} min ago`, ms)
        : say('unknown', `no input for ${minutes(ms)} min`, ms);
    }
    candidate = undefined;
    return say('unknown', reading.why);
  };

  return {
    name: reader.name,
    sees: reader.sees,
    async read(now, signal) {
      try {
        return judge(await reader.read(now, signal));
      } catch {
        candidate = undefined;
        return say('unknown', 'the reader failed');
      }
    },
  };
}

const minutes = (ms: number): number => Math.floor(ms / 60_000);

/** Input came between the two; a locked screen and a count do not compare. */
const isLess = (now: number | undefined, before: number | undefined): boolean =>
  now !== undefined && before !== undefined && now + LEAST_GAP_MS < before;

interface IdleSurroundings {
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
