import { mayTeach } from '../../core/caller.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Records } from '../../core/store.ts';
import { DAY_NAMES } from '../windows/parse-sleep.ts';
import { openZone, systemZone } from '../windows/zone.ts';
import {
  type ActivityDay,
  activityDays,
  type DayWindow,
  dayWindows,
  type QuietShare,
  type QuietTally,
  quietHours,
  quietRuns,
  shareOf,
  withoutHolidays,
} from './quiet-hours.ts';

export interface SuggestedWindow {
  /** In the syntax of the setting: `mon,tue,wed 23:00-07:00`. */
  readonly text: string;
  /** The hours per week that it covers. */
  readonly hours: number;
  /** The share of the recorded hours in this window without activity. */
  readonly evidence: QuietShare;
}

/** A suggestion with its evidence. It changes nothing. */
export type Suggestion =
  | {
      readonly kind: 'windows';
      /** The value for `schedule.sleep`. */
      readonly text: string;
      readonly windows: readonly SuggestedWindow[];
      readonly zone: string;
      readonly days: number;
      readonly weeks: number;
    }
  | { readonly kind: 'nothing'; readonly why: string; readonly days: number; readonly weeks: number };

export interface SuggestQuestion {
  /** When turns began, milliseconds since the epoch, in any order. */
  readonly activity: readonly number[];
  readonly zone: string;
  readonly now: number;
}

const MAX_DAYS = 56;
/** After a move or a change of shifts the last three weeks may agree where eight do not; they then find clearly more hours. */
const RECENT_DAYS = 21;
const CLEARLY_MORE = 1.25;
const MIN_DAYS = 14;
const MIN_ACTIVE_HOURS = 20;
const MIN_RUN_HOURS = 4;
/** How much rarer activity must be inside the windows than outside, at the unfavourable ends of both intervals. */
const CONTRAST = 2;

/**
 * Finds the hours of the week at which usually nobody is present. Chance alone makes some hours look quiet, so the result
 * is cross-validated: windows found in odd weeks are tested on even weeks and the other way round, and nothing is
 * suggested unless activity there is clearly rarer inside the windows than outside.
 */
export function suggestWindows({ activity, zone, now }: SuggestQuestion): Suggestion {
  const place = openZone(zone);
  if (place === undefined) return { kind: 'nothing', why: 'the time zone is unknown', days: 0, weeks: 0 };
  const seen = activityDays(activity, place, now, MAX_DAYS);
  const all = suggestFrom(withoutHolidays(seen), zone);
  if (seen.length <= RECENT_DAYS) return all;
  const recent = suggestFrom(withoutHolidays(seen.slice(-RECENT_DAYS)), zone);
  return hoursAWeek(recent) > CLEARLY_MORE * hoursAWeek(all) ? recent : all;
}

const hoursAWeek = (suggestion: Suggestion): number =>
  suggestion.kind === 'nothing' ? 0 : suggestion.windows.reduce((sum, { hours }) => sum + hours, 0);

function suggestFrom(days: readonly ActivityDay[], zone: string): Suggestion {
  const span = { days: days.length, weeks: Math.floor(days.length / 7) };
  const nothing = (why: string): Suggestion => ({ kind: 'nothing', why, ...span });
  if (days.length < MIN_DAYS) {
    return nothing(`${days.length} days are recorded, ${MIN_DAYS} are needed`);
  }
  const active = days.reduce((sum, { isActive }) => sum + isActive.filter(Boolean).length, 0);
  if (active < MIN_ACTIVE_HOURS) return nothing(`only ${active} hours with activity are recorded`);

  const windows = windowsOf(days);
  if (windows.length === 0) return nothing('no hours are quiet week after week');
  if (!isHabit(days)) return nothing('the hours of activity differ from week to week');
  const suggested = joined(windows).map(({ text, parts }) => ({
    text,
    hours: parts.reduce((count, { hours }) => count + hours.length, 0),
    evidence: shareOf(tallyOf(days, new Set(parts.flatMap(({ hours }) => hours)))),
  }));
  return {
    kind: 'windows',
    text: suggested.map(({ text }) => text).join('; '),
    windows: suggested,
    zone,
    ...span,
  };
}

/** The tally of the given hours of the week. */
function tallyOf(days: readonly ActivityDay[], hours: ReadonlySet<number>): QuietTally {
  let [count, quiet] = [0, 0];
  for (const { weekday, isActive } of days) {
    for (const [hour, isBusy] of isActive.entries()) {
      if (!hours.has(weekday * 24 + hour)) continue;
      count++;
      if (!isBusy) quiet++;
    }
  }
  return { hours: count, quiet };
}

const windowsOf = (days: readonly ActivityDay[]): readonly DayWindow[] =>
  quietRuns(quietHours(days), MIN_RUN_HOURS).flatMap(dayWindows);

const WEEK_HOURS = Array.from({ length: 168 }, (_, hour) => hour);

function isHabit(days: readonly ActivityDay[]): boolean {
  const isOdd = ({ number }: ActivityDay): boolean => Math.floor(number / 7) % 2 === 1;
  const halves = [days.filter(isOdd), days.filter((day) => !isOdd(day))] as const;
  let [inside, outside] = [NONE, NONE];
  for (const [learned, tried] of [halves, [halves[1], halves[0]]] as const) {
    const hours = new Set(windowsOf(learned).flatMap((window) => window.hours));
    inside = sum(inside, tallyOf(tried, hours));
    outside = sum(outside, tallyOf(tried, new Set(WEEK_HOURS.filter((hour) => !hours.has(hour)))));
  }
  return (1 - shareOf(inside).low) * CONTRAST <= 1 - shareOf(outside).high;
}

const NONE: QuietTally = { hours: 0, quiet: 0 };
const sum = (a: QuietTally, b: QuietTally): QuietTally => ({
  hours: a.hours + b.hours,
  quiet: a.quiet + b.quiet,
});

interface Joined {
  readonly text: string;
  readonly parts: readonly DayWindow[];
}

/** Joins windows with the same hours into one entry, with the days from Monday on. */
function joined(windows: readonly DayWindow[]): readonly Joined[] {
  const byHours = new Map<string, DayWindow[]>();
  const monday = (weekday: number): number => (weekday + 6) % 7;
  for (const window of [...windows].sort((a, b) => monday(a.weekday) - monday(b.weekday))) {
    const hours = `${clock(window.start)}-${clock(window.end)}`;
    byHours.set(hours, [...(byHours.get(hours) ?? []), window]);
  }
  return [...byHours].map(([hours, parts]) => {
    const days = parts.map(({ weekday }) => DAY_NAMES[weekday]).join(',');
    return { text: parts.length === 7 ? hours : `${days} ${hours}`, parts };
  });
}

const clock = (hour: number): string => `${String(hour).padStart(2, '0')}:00`;

/** Quiet hours from the recorded activity, in the syntax of `schedule.sleep`, with the evidence. Changes nothing. */
export async function suggestWindowsFromRecord(
  records: Pick<Records, 'sessions' | 'turns'>,
  now: number,
): Promise<JsonObject> {
  const activity = await recordedActivity(records, now);
  const suggestion = suggestWindows({ activity, zone: systemZone(), now });
  const { days, weeks } = suggestion;
  const seen = { turns: activity.length, days, weeks };
  if (suggestion.kind === 'nothing') return { ...seen, why: suggestion.why, evidence: [] };
  const { text, windows, zone } = suggestion;
  return {
    ...seen,
    zone,
    sleep: text,
    setting: { schedule: { sleep: text } },
    evidence: windows.map(
      ({ text: hours, evidence }) =>
        `${hours}: ${evidence.quiet} of ${evidence.hours} recorded hours were quiet (95 % interval: ${percent(evidence.low)} to ${percent(evidence.high)})`,
    ),
  };
}

const percent = (share: number): string => `${Math.floor(100 * share)} %`;

const PAGE = 200;
const DAYS = 56;

/** The start times of recorded turns, milliseconds since the epoch, in order. */
export async function recordedActivity(
  records: Pick<Records, 'sessions' | 'turns'>,
  now: number,
): Promise<readonly number[]> {
  const since = now - DAYS * 86_400_000;
  const starts: number[] = [];
  for (let before: number | undefined; ; ) {
    const page = await records.sessions({
      limit: PAGE,
      withoutPractice: true,
      ...(before === undefined ? {} : { before }),
    });
    for (const { id, lastAt } of page) {
      if (lastAt < since) continue;
      const turns = (await records.turns(id)).filter(({ caller }) => mayTeach(caller));
      starts.push(...turns.map(({ startedAt }) => startedAt).filter((at) => at >= since && at <= now));
    }
    const last = page.at(-1);
    if (last === undefined || last.lastAt < since || page.length < PAGE) break;
    before = last.lastAt;
  }
  return starts.sort((a, b) => a - b);
}
