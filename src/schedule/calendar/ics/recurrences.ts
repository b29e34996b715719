import ICAL from 'ical.js';
import { floating, laterBy, localMs, type TimeReader } from './event-time.ts';

const DAY_MS = 86_400_000;
/** More than any wall is apart from UTC. */
const NEAR_MS = 2 * DAY_MS;
const PERIOD_MS: Readonly<Record<string, number>> = { DAILY: DAY_MS, WEEKLY: 7 * DAY_MS };

/**
 * The wall times at which a rule has the event begin, from about `from` on, without an end of its own. A rule that
 * nothing satisfies may search forever: whoever calls sets the limit.
 */
export function* recurrences(
  rule: ICAL.Recur,
  start: ICAL.Time,
  times: TimeReader,
  from: number,
): Generator<ICAL.Time> {
  const { until } = rule;
  if (until && localMs(until) < from - NEAR_MS) return;
  const endless = rule.clone();
  // The end is compared on instants below; the library would compare a wall time with UTC.
  endless.until = null as unknown as ICAL.Time;
  const iterator = endless.iterator(nearStart(endless, floating(start), from));
  for (let next = iterator.next(); next; next = iterator.next()) {
    // What lies far back costs only the step: it need not be known when exactly it was.
    if (localMs(next) < from - NEAR_MS) continue;
    if (until && isAfter(next, until, times)) return;
    yield next.clone();
  }
}

function isAfter(next: ICAL.Time, until: ICAL.Time, times: TimeReader): boolean {
  if (until.isDate) return Math.floor(localMs(next) / DAY_MS) > Math.floor(localMs(until) / DAY_MS);
  if (until.zone === ICAL.Timezone.utcTimezone) return times.instantOf(next) > localMs(until);
  return localMs(next) > localMs(until);
}

/**
 * A daily or weekly rule that does not count can begin any whole number of its periods later: a series that began
 * fifteen years ago need not be walked through.
 */
function nearStart(rule: ICAL.Recur, start: ICAL.Time, from: number): ICAL.Time {
  const period = PERIOD_MS[rule.freq];
  if (
    period === undefined ||
    rule.count ||
    rule.parts.BYSETPOS !== undefined ||
    rule.parts.BYWEEKNO !== undefined
  ) {
    return start;
  }
  const step = period * Math.max(1, rule.interval);
  const periods = Math.floor((from - NEAR_MS - localMs(start)) / step) - 1;
  if (periods <= 0) return start;
  return laterBy(start, (periods * step) / DAY_MS);
}
