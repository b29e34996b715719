import { type ChildProcess, spawn } from 'node:child_process';
import type { Clock } from '../../core/clock.ts';

/** The result of one idle query. */
export type IdleReading =
  | { readonly kind: 'idle'; readonly ms: number }
  /** Explicitly away: the screen is locked. */
  | { readonly kind: 'away'; readonly why: string }
  | { readonly kind: 'unknown'; readonly why: string };

/** A way to query the time since the last input. Never rejects. */
export interface IdleReader {
  readonly name: string;
  readonly sees: string;
  read(now: number, signal: AbortSignal): Promise<IdleReading>;
}

/** What readers need to run a command line tool. */
interface ToolBox {
  readonly run: RunTool;
  readonly env: Readonly<Record<string, string>>;
}

const unknownIdle = (why: string): IdleReading => ({ kind: 'unknown', why });

const MAX_DIGITS = 20;

/** Parses the idle time that a tool printed; `unknown` for anything else. */
function idleFromDigits(digits: string | undefined, perMs: number, tool: string): IdleReading {
  const value = digits !== undefined && digits.length <= MAX_DIGITS ? Number(digits) : Number.NaN;
  if (digits === undefined || !/^[0-9]+$/.test(digits) || !Number.isFinite(value)) {
    return unknownIdle(`${tool} printed nothing that can be parsed`);
  }
  return { kind: 'idle', ms: Math.floor(value / perMs) };
}

/** Why a tool gave no answer; undefined when it did. */
function whyNoAnswer(end: ToolEnd, tool: string): string | undefined {
  switch (end.kind) {
    case 'exit':
      return end.code === 0 ? undefined : `${tool} failed`;
    case 'missing':
      return `${tool} is not installed`;
    case 'timeout':
      return `${tool} did not answer in time`;
    case 'too-large':
      return `${tool} printed too much`;
    case 'aborted':
      return `${tool} was stopped`;
    case 'failed':
      return `${tool} could not be started`;
  }
}

type ToolAnswer =
  | { readonly ok: true; readonly stdout: string }
  | { readonly ok: false; readonly why: string };

/** The tool's output, or why there is none. */
async function askIdleTool(
  box: ToolBox,
  call: { readonly file: string; readonly args: readonly string[]; readonly timeoutMs?: number },
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const tool = call.file.slice(call.file.lastIndexOf('/') + 1);
  const end = await box
    .run({ ...call, timeoutMs: call.timeoutMs ?? 2000, env: box.env, signal })
    .catch((): ToolEnd => ({ kind: 'failed' }));
  const why = whyNoAnswer(end, tool);
  return end.kind === 'exit' && why === undefined
    ? { ok: true, stdout: end.stdout }
    : { ok: false, why: why ?? `${tool} failed` };
}

interface ToolCall {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export type ToolEnd =
  | { readonly kind: 'exit'; readonly code: number | undefined; readonly stdout: string }
  | { readonly kind: 'missing' | 'timeout' | 'too-large' | 'aborted' | 'failed' };

/** Runs a small program that changes nothing. Never rejects. */
export type RunTool = (call: ToolCall) => Promise<ToolEnd>;

/** About ten times what ioreg prints. */
const MAX_BYTES = 1024 * 1024;

/**
 * Resolves at the time-out or the abort, whether or not the program has exited by then: one that hangs in the kernel
 * cannot be waited for. Its process group is killed at once; these programs have nothing to clean up.
 */
export const runTool: RunTool = ({ file, args, env, timeoutMs, signal }) => {
  if (signal.aborted) return Promise.resolve({ kind: 'aborted' });
  return new Promise((resolve) => {
    const hasGroups = process.platform !== 'win32';
    let child: ChildProcess;
    try {
      child = spawn(file, args, {
        env,
        detached: hasGroups,
        windowsHide: true,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    } catch {
      resolve({ kind: 'failed' });
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;

    const finish = (end: ToolEnd): void => {
      clearTimeout(limit);
      signal.removeEventListener('abort', abort);
      resolve(end);
    };
    const stop = (kind: 'timeout' | 'too-large' | 'aborted'): void => {
      kill(child, hasGroups);
      child.stdout?.destroy();
      child.unref();
      finish({ kind });
    };
    const abort = (): void => stop('aborted');
    const limit = setTimeout(() => stop('timeout'), timeoutMs);
    signal.addEventListener('abort', abort, { once: true });

    child.stdout?.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_BYTES) stop('too-large');
      else chunks.push(chunk);
    });
    child.on('error', (error) => {
      const isMissing = 'code' in error && (error.code === 'ENOENT' || error.code === 'EACCES');
      finish({ kind: isMissing ? 'missing' : 'failed' });
    });
    child.on('close', (code) =>
      finish({ kind: 'exit', code: code ?? undefined, stdout: Buffer.concat(chunks).toString('utf8') }),
    );
  });
};

function kill(child: ChildProcess, hasGroups: boolean): void {
  if (child.pid === undefined) return;
  try {
    if (hasGroups) process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // It exited before the signal.
    child.kill('SIGKILL');
  }
}

/**
 * When the gateway last served a request, in `clock.monotonic()` time; undefined before the first request. Not wall time:
 * setting the clock forward would make everyone look idle.
 */
export type LastActivity = () => number | undefined;

/** For machines without a keyboard: the only activity is requests. Idle time counts from the start of the process. */
export function createGatewayActivity(lastActivity: LastActivity, clock: Clock): IdleReader {
  const began = clock.monotonic();
  return {
    name: 'gateway',
    sees: 'Requests through this gateway; not whether a person sent them, and no other use of this machine.',
    async read() {
      const now = clock.monotonic();
      const last = lastActivity() ?? began;
      if (!Number.isFinite(last))
        return { kind: 'unknown', why: 'the time of the last request is not known' };
      if (last > now) return { kind: 'unknown', why: 'the time of the last request is in the future' };
      return { kind: 'idle', ms: now - Math.max(last, began) };
    },
  };
}

const PROPERTIES = ['Type', 'IdleHint', 'IdleSinceHint', 'IdleSinceHintMonotonic', 'LockedHint'];
const ARGS = PROPERTIES.flatMap((name) => ['-p', name]);

interface LogindSetting extends ToolBox {
  /** `XDG_SESSION_ID`; logind finds the caller's own session without it. */
  readonly session: string | undefined;
  /** Milliseconds on the system's monotonic clock, which logind uses too; it stops during suspend. */
  readonly monotonicMs: () => number;
}

/**
 * systemd's login daemon: it knows about a locked screen, and about idleness only where the desktop reports it. On a
 * terminal it watches the terminal itself. A desktop's `IdleHint=no` is ignored: a person who types and a desktop that
 * never reports idleness look the same.
 */
export function createLogindIdle(setting: LogindSetting): IdleReader {
  const id = /^[A-Za-z0-9]{1,32}$/.test(setting.session ?? '') ? (setting.session ?? 'auto') : 'auto';
  return {
    name: 'logind',
    sees: 'Whether the session is locked, and input on a terminal; idleness of a desktop only if the desktop reports it.',
    async read(now, signal) {
      const answer = await askIdleTool(
        setting,
        { file: 'loginctl', args: ['show-session', id, ...ARGS] },
        signal,
      );
      if (!answer.ok) return unknownIdle(answer.why);
      return readSession(answer.stdout, now, setting.monotonicMs());
    },
  };
}

function readSession(text: string, now: number, monotonicMs: number): IdleReading {
  const properties = new Map<string, string>();
  for (const line of text.slice(0, 4096).split('\n')) {
    const equals = line.indexOf('=');
    if (equals > 0) properties.set(line.slice(0, equals), line.slice(equals + 1).trim());
  }
  const hint = properties.get('IdleHint');
  if (hint !== 'yes' && hint !== 'no') return unknownIdle('loginctl printed nothing that can be parsed');
  if (properties.get('LockedHint') === 'yes') return { kind: 'away', why: 'the screen is locked' };
  if (hint === 'no' && properties.get('Type') !== 'tty')
    return unknownIdle('the desktop reports no idleness');
  const wall = sinceMs(properties.get('IdleSinceHint'), now);
  const monotonic = sinceMs(properties.get('IdleSinceHintMonotonic'), monotonicMs);
  if (wall === undefined || monotonic === undefined)
    return unknownIdle('loginctl does not report since when');
  // The smaller of the two: neither setting the clock forward nor suspend counts as idle time.
  return { kind: 'idle', ms: Math.min(wall, monotonic) };
}

function sinceMs(microseconds: string | undefined, nowMs: number): number | undefined {
  if (microseconds === undefined || !/^[0-9]{1,17}$/.test(microseconds)) return undefined;
  const since = Number(microseconds) / 1000;
  return since > 0 && since <= nowMs ? Math.floor(nowMs - since) : undefined;
}

const NANOSECONDS_PER_MS = 1e6;
const MAX_ENTRIES = 16;

/** macOS: the time since the last event of a keyboard, mouse or trackpad. */
export function createMacosIdle(box: ToolBox): IdleReader {
  return {
    name: 'macos',
    sees: 'Keyboard, mouse and trackpad of this Mac; not ssh logins, nor someone who reads without any input.',
    async read(_now, signal) {
      const answer = await askIdleTool(
        box,
        { file: '/usr/sbin/ioreg', args: ['-c', 'IOHIDSystem', '-d', '4'] },
        signal,
      );
      if (!answer.ok) return unknownIdle(answer.why);
      const found = [...answer.stdout.matchAll(/"HIDIdleTime" ?= ?([^\s,}]{1,40})/g)].slice(0, MAX_ENTRIES);
      if (found.length === 0) return unknownIdle('ioreg lists no input device');
      const readings = found.map((match) => idleFromDigits(match[1], NANOSECONDS_PER_MS, 'ioreg'));
      // The shortest idle time of all devices; `unknown` when one cannot be read.
      return readings.reduce((least, one) =>
        one.kind !== 'idle' || (least.kind === 'idle' && one.ms < least.ms) ? one : least,
      );
    },
  };
}

const CALL = [
  'call',
  '--session',
  '--timeout',
  '2',
  '--dest',
  'org.gnome.Mutter.IdleMonitor',
  '--object-path',
  '/org/gnome/Mutter/IdleMonitor/Core',
  '--method',
  'org.gnome.Mutter.IdleMonitor.GetIdletime',
];

/** GNOME, on Wayland and X11: the compositor sees all input and reports milliseconds. */
export function createMutterIdle(box: ToolBox): IdleReader {
  return {
    name: 'gnome',
    sees: 'Keyboard, mouse and touch of this GNOME session; not consoles or ssh.',
    async read(_now, signal) {
      const answer = await askIdleTool(box, { file: 'gdbus', args: CALL, timeoutMs: 3000 }, signal);
      if (!answer.ok) return unknownIdle(answer.why);
      const match = /^\(uint64 ([0-9]{1,20}),\)$/.exec(answer.stdout.trim().slice(0, 100));
      return idleFromDigits(match?.[1], 1, 'gdbus');
    },
  };
}

/** Prints the tick of the last input and the current tick, both unsigned 32-bit. */
const SCRIPT = `$ErrorActionPreference = 'Stop'
Add-Type -Namespace Instar -Name Input -MemberDefinition @'
[StructLayout(LayoutKind.Sequential)] public struct Info { public uint Size; public uint Time; }
[DllImport("user32.dll")] static extern bool GetLastInputInfo(ref Info info);
[DllImport("kernel32.dll")] static extern uint GetTickCount();
public static string Ticks() {
  Info info = new Info(); info.Size = 8;
  if (!GetLastInputInfo(ref info)) return "none";
  return info.Time + " " + GetTickCount();
}
'@
[Instar.Input]::Ticks()`;

const TICKS = 2 ** 32;
/** The two ticks come from different clocks: a slightly negative difference counts as 0. */
const SKEW_MS = 60_000;
const COMPILE_MS = 10_000;

/** Windows: the last input of this session, on a counter that wraps every 49.7 days. */
export function createWindowsIdle(box: ToolBox): IdleReader {
  return {
    name: 'windows',
    sees: 'Keyboard and mouse of this Windows session; nothing when it runs as a background service.',
    async read(_now, signal) {
      const args = ['-NoProfile', '-NonInteractive', '-Command', SCRIPT];
      const answer = await askIdleTool(box, { file: 'powershell.exe', args, timeoutMs: COMPILE_MS }, signal);
      if (!answer.ok) return unknownIdle(answer.why);
      const match = /^([0-9]{1,10}) ([0-9]{1,10})$/.exec(answer.stdout.trim().slice(0, 100));
      const [last, now] = [Number(match?.[1]), Number(match?.[2])];
      if (!(last < TICKS && now < TICKS))
        return unknownIdle('powershell.exe printed nothing that can be parsed');
      // 0 in a session without an input queue.
      if (last === 0) return unknownIdle('this session has had no input');
      const ms = (now - last + TICKS) % TICKS;
      return { kind: 'idle', ms: ms >= TICKS - SKEW_MS ? 0 : ms };
    },
  };
}

/** Both print the XScreenSaver extension's idle time in milliseconds. */
const TOOLS = [
  { file: 'xprintidle', args: [] },
  { file: 'xssstate', args: ['-i'] },
] as const;

/** X11: the server's idle counter. Not for Wayland: XWayland would answer, which misses most input. */
export function createX11Idle(box: ToolBox): IdleReader {
  return {
    name: 'x11',
    sees: 'Keyboard and mouse of this X11 display; not other displays, consoles or ssh.',
    async read(_now, signal) {
      let reading: IdleReading = unknownIdle('no tool');
      for (const tool of TOOLS) {
        const answer = await askIdleTool(box, tool, signal);
        if (answer.ok) return idleFromDigits(answer.stdout.trim(), 1, tool.file);
        // Report the failure of the preferred tool.
        if (tool === TOOLS[0]) reading = unknownIdle(answer.why);
      }
      return reading;
    },
  };
}
