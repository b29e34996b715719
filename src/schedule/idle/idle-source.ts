import type { Clock } from '../../core/clock.ts';
import type { Presence, PresenceSource } from '../../core/presence.ts';
import type { IdleReader, IdleReading } from './idle-reader.ts';

export interface IdleRules {
  /** Without input for this long, a person is away. */
  readonly awayMs: number;
  /** With input within this time, a person is there. Between the two nothing is said. */
  readonly presentMs: number;
}

export interface IdleSetting {
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
