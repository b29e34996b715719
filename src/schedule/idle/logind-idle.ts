import { ask, type IdleReader, type IdleReading, type ToolBox, unknown } from './idle-reader.ts';

const PROPERTIES = ['Type', 'IdleHint', 'IdleSinceHint', 'IdleSinceHintMonotonic', 'LockedHint'];
const ARGS = PROPERTIES.flatMap((name) => ['-p', name]);

export interface LogindSetting extends ToolBox {
  /** `XDG_SESSION_ID`; logind finds the caller's own session without it. */
  readonly session: string | undefined;
  /** Milliseconds on the system's monotonic clock, on which logind counts too; it stands still in suspend. */
  readonly monotonicMs: () => number;
}

/**
 * systemd's login daemon knows what it is told: a locked screen always, idleness only where the desktop reports it. On a
 * terminal it looks at the terminal itself. A desktop's `IdleHint=no` is the same for a person who types and for a
 * desktop that never says anything, so it means nothing.
 */
export function createLogindIdle(setting: LogindSetting): IdleReader {
  const id = /^[A-Za-z0-9]{1,32}$/.test(setting.session ?? '') ? (setting.session ?? 'auto') : 'auto';
  return {
    name: 'logind',
    sees: 'Whether the session is locked, and input on a terminal; idleness of a desktop only if the desktop tells.',
    async read(now, signal) {
      const answer = await ask(setting, { file: 'loginctl', args: ['show-session', id, ...ARGS] }, signal);
      if ('why' in answer) return unknown(answer.why);
      return readSession(answer.said, now, setting.monotonicMs());
    },
  };
}

function readSession(text: string, now: number, monotonicMs: number): IdleReading {
  const said = new Map<string, string>();
  for (const line of text.slice(0, 4096).split('\n')) {
    const equals = line.indexOf('=');
    if (equals > 0) said.set(line.slice(0, equals), line.slice(equals + 1).trim());
  }
  const hint = said.get('IdleHint');
  if (hint !== 'yes' && hint !== 'no') return unknown('loginctl said nothing that can be read');
  if (said.get('LockedHint') === 'yes') return { kind: 'away', why: 'the screen is locked' };
  if (hint === 'no' && said.get('Type') !== 'tty') return unknown('the desktop reports no idleness');
  const wall = sinceMs(said.get('IdleSinceHint'), now);
  const monotonic = sinceMs(said.get('IdleSinceHintMonotonic'), monotonicMs);
  if (wall === undefined || monotonic === undefined) return unknown('loginctl does not say since when');
  // The lesser of the two: a clock that was set forward, or time in suspend, makes nobody idle.
  return { kind: 'idle', ms: Math.min(wall, monotonic) };
}

function sinceMs(microseconds: string | undefined, nowMs: number): number | undefined {
  if (microseconds === undefined || !/^[0-9]{1,17}$/.test(microseconds)) return undefined;
  const since = Number(microseconds) / 1000;
  return since > 0 && since <= nowMs ? Math.floor(nowMs - since) : undefined;
}
