import type { PresenceSource } from '../../core/schedule.ts';
import type { SleepRule } from './parse-sleep.ts';
import { clockText, openZone, systemZone, type Zone } from './zone.ts';

interface SleepWindow {
  readonly start: number;
  /** Absent when it never ends. */
  readonly end?: number;
}

/**
 * The instants whose local time is within the given hours. At a daylight-saving gap a skipped start becomes the first
 * instant after the gap, and hours inside the gap do not occur that day; repeated hours occur twice. `fri 23:00-07:00`
 * ends on Saturday even where a Friday is missing from the calendar. Instants are milliseconds since the epoch.
 */
export interface SleepWindows {
  readonly zone: Zone;
  isInside(instant: number): boolean;
  /** The first instant after this one at which `isInside` changes; undefined when it does not within four weeks. */
  nextChange(instant: number): number | undefined;
  /** The rest of the window that contains `from`, or the next window. */
  nextWindow(from: number): SleepWindow | undefined;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;
const WEEK_MINUTES = 7 * DAY_MINUTES;
const WEEK_MS = WEEK_MINUTES * MINUTE_MS;
/** The epoch was a Thursday; weeks begin on Sunday here. */
const EPOCH_IN_WEEK_MS = 4 * DAY_MINUTES * MINUTE_MS;
/** A weekly hour may fall into a gap, and the next one on a day that a country skipped. */
const HORIZON_MS = 4 * WEEK_MS;

export function createSleepWindows(rules: readonly SleepRule[], zone: Zone): SleepWindows {
  const spans = spansOf(rules);
  const edges = edgesOf(spans);

  const isInside = (instant: number): boolean => {
    const minute = Math.floor(inWeek(instant + zone.offsetAt(instant)) / MINUTE_MS);
    return spans.some(({ from, to }) => minute >= from && minute < to);
  };

  const nextChange = (instant: number): number | undefined => {
    if (edges.length === 0) return undefined;
    const isNow = isInside(instant);
    const end = instant + HORIZON_MS;
    let at = instant;
    while (at < end) {
      const edge = at + untilEdge(inWeek(at + zone.offsetAt(at)), edges);
      at = zone.nextShift(at, edge) ?? edge;
      if (isInside(at) !== isNow) return at;
    }
    return undefined;
  };

  const nextWindow = (from: number): SleepWindow | undefined => {
    const start = isInside(from) ? from : nextChange(from);
    if (start === undefined) return undefined;
    const end = nextChange(start);
    return end === undefined ? { start } : { start, end };
  };

  return { zone, isInside, nextChange, nextWindow };
}

/** Milliseconds since the start of the local week. */
const inWeek = (local: number): number => (((local + EPOCH_IN_WEEK_MS) % WEEK_MS) + WEEK_MS) % WEEK_MS;

function untilEdge(local: number, edges: readonly number[]): number {
  const next = edges.find((edge) => edge * MINUTE_MS > local);
  return next === undefined ? WEEK_MS - local + (edges[0] ?? 0) * MINUTE_MS : next * MINUTE_MS - local;
}

/** In minutes of the week, sorted and merged; the night of Saturday is split at the end of the week. */
function spansOf(rules: readonly SleepRule[]): readonly Span[] {
  const cut = rules.flatMap(({ days, start, end }) =>
    days.flatMap((day): Span[] => {
      const from = day * DAY_MINUTES + start;
      const to = day * DAY_MINUTES + end + (end <= start ? DAY_MINUTES : 0);
      if (to <= WEEK_MINUTES) return [{ from, to }];
      return [
        { from, to: WEEK_MINUTES },
        { from: 0, to: to - WEEK_MINUTES },
      ];
    }),
  );
  const joined: Span[] = [];
  for (const span of cut.sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last === undefined || span.from > last.to) joined.push(span);
    else joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, span.to) };
  }
  return joined;
}

/** The minutes at which spans begin or end; a span that continues over the end of the week has no edge there. */
function edgesOf(spans: readonly Span[]): readonly number[] {
  const all = spans.flatMap(({ from, to }) => [from, to % WEEK_MINUTES]);
  const isThroughEnd = spans[0]?.from === 0 && spans.at(-1)?.to === WEEK_MINUTES;
  return [...new Set(isThroughEnd ? all.filter((edge) => edge !== 0) : all)].sort((a, b) => a - b);
}

interface SleepSetting {
  readonly rules: readonly SleepRule[];
  /** Called on every read, for machines that travel; default: the system's zone. */
  readonly zone?: () => string;
}

const NAME = 'sleep';

/** `away` within the configured hours, `unknown` outside: being awake does not mean being present. */
export function createSleepSource({ rules, zone = systemZone }: SleepSetting): PresenceSource {
  const unknown = (why: string) => ({ source: NAME, state: 'unknown', why }) as const;
  let opened: SleepWindows | undefined;

  const windowsNow = (): SleepWindows | undefined => {
    const name = zone();
    if (opened?.zone.name === name) return opened;
    const found = openZone(name);
    opened = found === undefined ? undefined : createSleepWindows(rules, found);
    return opened;
  };

  return {
    name: NAME,
    sees: 'The quiet hours in the config; not whether you are here.',
    async read(now) {
      if (rules.length === 0) return unknown('no quiet hours are set');
      try {
        const windows = windowsNow();
        if (windows === undefined) return unknown('the time zone is unknown');
        const until = windows.nextChange(now);
        const text = until === undefined ? undefined : clockText(windows.zone, until);
        if (windows.isInside(now)) {
          const why = text === undefined ? 'quiet hours without an end' : `quiet hours until ${text}`;
          return { source: NAME, state: 'away', why, ...(until === undefined ? {} : { until }) };
        }
        if (until === undefined) return unknown('no quiet hours within four weeks');
        return { ...unknown(`quiet hours begin at ${text}`), until };
      } catch {
        return unknown('the clock shows an invalid date');
      }
    },
  };
}
