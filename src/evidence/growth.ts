import type { StoredFact } from '../core/fact.ts';
import { compact, type JsonObject } from '../core/json.ts';
import { isAttemptId } from '../core/practice.ts';
import { wilsonInterval } from '../stats/interval.ts';

/** How turns went over time: folded from appraisals, by hour, agent and project. */
export interface TurnGrowth {
  add(stored: StoredFact): void;
  describe(query: GrowthQuery): JsonObject;
}

export interface GrowthQuery {
  /** The newest days, to `now`. */
  readonly days: number;
  readonly now: number;
  readonly agent?: string | undefined;
  readonly project?: string | undefined;
  /** Of the local time, in minutes east of UTC. */
  readonly offset?: number | undefined;
  /** Before and after this time are compared. */
  readonly split?: number | undefined;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

interface Tally {
  turns: number;
  successes: number;
  failures: number;
  /** Turns with a reward, their sum and the sum of squares. */
  scored: number;
  sum: number;
  squares: number;
}

interface Place extends Tally {
  readonly hour: number;
  readonly agent: string;
  readonly project: string;
}

/** What an appraisal added, to take it back when a later one replaces it. */
interface Added {
  readonly place: Place;
  readonly verdict: string;
  readonly reward: number | undefined;
}

export function createGrowth(): TurnGrowth {
  const places = new Map<string, Place>();
  const turns = new Map<string, Added>();
  const placeOf = (at: number, agent: string, project: string): Place => {
    const hour = Math.floor(at / HOUR);
    const key = `${hour}\n${agent}\n${project}`;
    let place = places.get(key);
    if (place === undefined) {
      place = { hour, agent, project, ...nothing() };
      places.set(key, place);
    }
    return place;
  };
  return {
    add: ({ at, fact }) => {
      if (fact.type !== 'turn-appraised' || isAttemptId(fact.session)) return;
      const before = turns.get(fact.turn);
      if (before !== undefined) count(before, -1);
      const { verdict, reward, scope } = fact;
      // A turn stays at the time of its first appraisal: the turn was just before.
      const place = before?.place ?? placeOf(at, scope.agent ?? '', scope.project ?? '');
      const added = { place, verdict, reward };
      count(added, 1);
      turns.set(fact.turn, added);
    },
    describe: (query) => describeGrowth([...places.values()], query),
  };
}

const nothing = (): Tally => ({ turns: 0, successes: 0, failures: 0, scored: 0, sum: 0, squares: 0 });

function count({ place, verdict, reward }: Added, by: 1 | -1): void {
  place.turns += by;
  if (verdict === 'success') place.successes += by;
  if (verdict === 'failure') place.failures += by;
  if (reward === undefined) return;
  place.scored += by;
  place.sum += by * reward;
  place.squares += by * reward * reward;
}

function describeGrowth(places: readonly Place[], query: GrowthQuery): JsonObject {
  const { days, now, agent, project, offset = 0, split } = query;
  const east = offset * 60_000;
  const dayOf = (at: number): number => Math.floor((at + east) / DAY);
  const first = dayOf(now) - days + 1;
  const byDay = new Map<number, Tally>();
  const total = nothing();
  const before = nothing();
  const after = nothing();
  for (const place of places) {
    const at = place.hour * HOUR;
    if (dayOf(at) < first) continue;
    if (agent !== undefined && place.agent !== agent) continue;
    if (project !== undefined && place.project !== project) continue;
    const day = byDay.get(dayOf(at)) ?? nothing();
    byDay.set(dayOf(at), day);
    for (const tally of [day, total, split !== undefined && at < split ? before : after]) addTo(tally, place);
  }
  const listed = [...byDay].sort(([a], [b]) => a - b);
  return compact({
    days: listed.map(([day, tally]) => ({
      day: new Date(day * DAY).toISOString().slice(0, 10),
      turns: tally.turns,
      successes: tally.successes,
      failures: tally.failures,
      success: orNull(successOf(tally)),
      scored: tally.scored,
      reward: orNull(rewardOf(tally)),
    })),
    total: {
      turns: total.turns,
      successes: total.successes,
      failures: total.failures,
      scored: total.scored,
    },
    split:
      split === undefined
        ? undefined
        : {
            at: new Date(split).toISOString(),
            success: {
              before: successOf(before),
              after: successOf(after),
              difference: successDifference(successOf(before), successOf(after)),
            },
            reward: {
              before: rewardOf(before),
              after: rewardOf(after),
              difference: rewardDifference(before, after),
            },
          },
  });
}

function addTo(tally: Tally, more: Tally): void {
  tally.turns += more.turns;
  tally.successes += more.successes;
  tally.failures += more.failures;
  tally.scored += more.scored;
  tally.sum += more.sum;
  tally.squares += more.squares;
}

/** A mean with its 95 % interval, for a number of values that nobody chose by looking at them. */
interface Sample extends JsonObject {
  readonly n: number;
  readonly mean: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

const EMPTY: Sample = { n: 0, mean: null, low: null, high: null };

const orNull = (sample: Sample): Sample | null => (sample.n === 0 ? null : sample);

function successOf({ successes, failures }: Tally): Sample {
  const n = successes + failures;
  if (n === 0) return EMPTY;
  const { low, high } = wilsonInterval(successes, n);
  return { n, mean: successes / n, low, high };
}

const Z = 1.959963984540054;

function rewardOf({ scored: n, sum, squares }: Tally): Sample {
  if (n === 0) return EMPTY;
  const mean = sum / n;
  // One value says nothing about how far others are from it.
  if (n === 1) return { n, mean, low: -1, high: 1 };
  const reach = Z * Math.sqrt(varianceOf(n, sum, squares) / n);
  return { n, mean, low: Math.max(-1, mean - reach), high: Math.min(1, mean + reach) };
}

const varianceOf = (n: number, sum: number, squares: number): number =>
  Math.max(0, (squares - (sum * sum) / n) / (n - 1));

/** Newcombe's interval for the difference of two proportions. */
function successDifference(before: Sample, after: Sample): JsonObject | null {
  if (before.mean === null || after.mean === null) return null;
  const mean = after.mean - before.mean;
  const below = Math.hypot(after.mean - (after.low ?? 0), (before.high ?? 1) - before.mean);
  const above = Math.hypot((after.high ?? 1) - after.mean, before.mean - (before.low ?? 0));
  return { mean, low: mean - below, high: mean + above };
}

function rewardDifference(before: Tally, after: Tally): JsonObject | null {
  if (before.scored < 2 || after.scored < 2) return null;
  const mean = after.sum / after.scored - before.sum / before.scored;
  const error = [before, after].reduce(
    (sum, { scored, sum: total, squares }) => sum + varianceOf(scored, total, squares) / scored,
    0,
  );
  const reach = Z * Math.sqrt(error);
  return { mean, low: mean - reach, high: mean + reach };
}
