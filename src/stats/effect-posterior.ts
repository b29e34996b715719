/**
 * Sessions by how they came out: what a check said (`success`, `failure`), what a person let them hear (`praise`, `complaint`), or nothing
 * (`silent`). Counts may be fractions, and those of two parts add up.
 */
export interface OutcomeCounts {
  readonly success: number;
  readonly failure: number;
  readonly praise: number;
  readonly complaint: number;
  readonly silent: number;
}

export const NO_OUTCOMES: OutcomeCounts = { success: 0, failure: 0, praise: 0, complaint: 0, silent: 0 };

/** The mean of paired differences over independent tasks, for a likelihood with the tails of Student's t. */
export interface PairedMean {
  readonly mean: number;
  readonly standardError: number;
  readonly degrees: number;
}

/** Lessons of one kind that were decided before, by their verdicts. */
export interface DecidedCounts {
  readonly helpful: number;
  readonly harmful: number;
  readonly noDifference: number;
}

interface EffectEvidence {
  readonly with: OutcomeCounts;
  readonly without: OutcomeCounts;
  /** Before there was the lesson, in sessions that it would have fitted. Each counts as a part of a session without it. */
  readonly before?: OutcomeCounts;
  /** All other sessions of the home: they tell how often people react to success and to failure. */
  readonly others?: OutcomeCounts;
  readonly paired?: PairedMean;
  readonly decided?: DecidedCounts;
}

/**
 * The mean of the differences at independent tasks, one number for each task: attempts at one task say nothing about another. The spread between
 * few tasks is not known, so that a prior of two tasks is added. Undefined without a task.
 */
export function meanOfTasks(differences: readonly number[]): PairedMean | undefined {
  const count = differences.length;
  if (count === 0) return undefined;
  const mean = differences.reduce((sum, one) => sum + one, 0) / count;
  const squares = differences.reduce((sum, one) => sum + (one - mean) ** 2, 0);
  const degrees = count - 1 + FIRST_TASKS.degrees;
  const variance = (squares + FIRST_TASKS.degrees * FIRST_TASKS.variance) / degrees;
  return { mean, standardError: Math.sqrt(variance / count), degrees };
}

export const addOutcomes = (one: OutcomeCounts, other: OutcomeCounts, times = 1): OutcomeCounts => ({
  success: one.success + times * other.success,
  failure: one.failure + times * other.failure,
  praise: one.praise + times * other.praise,
  complaint: one.complaint + times * other.complaint,
  silent: one.silent + times * other.silent,
});

export const countOutcomes = ({ success, failure, praise, complaint, silent }: OutcomeCounts): number =>
  success + failure + praise + complaint + silent;

/** The posterior of the difference of two success rates, with − without. */
export interface EffectPosterior {
  readonly mean: number;
  readonly deviation: number;
  /** The probability that the difference is above `HELP_MARGIN`. */
  readonly helps: number;
  /** The probability that it is within `SAME_MARGIN` either way. */
  readonly same: number;
  /** The mean of what would be lost by leaving it out (`gain`) and by keeping it (`loss`): both at least 0. */
  readonly gain: number;
  readonly loss: number;
}

/** A lesson that helps by less than two points is not worth its place in a prompt. */
const HELP_MARGIN = 0.02;
/** Differences up to ten points either way are no difference that a person would notice in weeks. */
const SAME_MARGIN = 0.1;
/**
 * A session from before the lesson counts as half a session without it (a power prior): it is of the same person and kind of task, but of
 * another time, model and client.
 */
const HISTORY_WEIGHT = 0.5;
/** Before anything was decided: as if these many lessons of a kind had been. Half of what is learned helps, a third changes little. */
const FIRST_DECIDED: DecidedCounts = { helpful: 3, harmful: 1, noDifference: 2 };
/** What was decided before counts as this many lessons at most: verdicts may be wrong, and must not decide about the next lesson by themselves. */
const MOST_DECIDED = 4;
/** What helps does so by 25 points on average; what harms harms as much; what changes little changes ten points at most, mostly. */
const USUAL_EFFECT = 0.25;
const LITTLE_EFFECT = 0.1;
/** People also complain of success and praise failure, a tenth as often as the other way round. */
const CROSSED = 0.1;
/** More sessions than these say nothing more about how people react: the grid of reaction rates is no finer. */
const MOST_OTHERS = 300;
/** Before the first task: as if two tasks had differed by this much (a standard deviation of 45 points). */
const FIRST_TASKS = { degrees: 2, variance: 0.2 } as const;

const STEP = 0.025;
const RATES = Array.from({ length: 41 }, (_, at) => Math.min(1 - STEP / 4, Math.max(STEP / 4, at * STEP)));
const LAST = RATES.length - 1;
const REACTIONS = [0.03, 0.1, 0.2, 0.3, 0.45, 0.6, 0.75, 0.9];

/**
 * Success rates with and without something are drawn from a prior, sessions from them, and reactions from sessions: a praise is more likely after a
 * success, a complaint after a failure, each with a rate of its own that is not known and the same in both arms. So silence counts as what it
 * is: where complaints grow rarer, it is a sign of success. The outcome of a checked session is observed. All sums are over a grid; the same
 * evidence gives the same numbers.
 *
 * It holds if lots are drawn independently of how a session will come out, and reactions depend on the outcome alone.
 */
export function effectPosterior(evidence: EffectEvidence): EffectPosterior {
  const { before = NO_OUTCOMES, others = NO_OUTCOMES } = evidence;
  const weights = priorWeights(evidence.decided, evidence.paired);
  const byDifference = new Float64Array(2 * LAST + 1);
  const parts = reactionRates(others).map(({ praise, complaint, logWeight }) => {
    const events = logRates(praise, complaint);
    const shown = likelihood(evidence.with, events);
    const absent = likelihood(evidence.without, events);
    const past = likelihood(before, events);
    return { logWeight, shown, absent: absent.map((value, at) => value + HISTORY_WEIGHT * (past[at] ?? 0)) };
  });
  const scales = parts.map(
    ({ logWeight, shown, absent }) => logWeight + Math.max(...shown) + Math.max(...absent),
  );
  const top = Math.max(...scales);
  parts.forEach(({ shown, absent }, at) => {
    const scale = Math.exp((scales[at] ?? 0) - top);
    if (scale > 1e-3) addProducts(byDifference, shown, absent, { weights, scale });
  });
  return summarise(byDifference);
}

/** How probable it is that a session is praised, complained of, passed over, succeeds or fails, by its success rate: logarithms. */
type EventRates = Readonly<Record<keyof OutcomeCounts, Float64Array>>;

const logOf = (rate: (success: number) => number): Float64Array =>
  Float64Array.from(RATES, (success) => Math.log(rate(success)));
const SUCCESS = logOf((success) => success);
const FAILURE = logOf((success) => 1 - success);

const OUTCOMES = ['success', 'failure', 'praise', 'complaint', 'silent'] as const;
const memo = new Map<number, EventRates>();

function logRates(praise: number, complaint: number): EventRates {
  const key = 1000 * praise + complaint;
  const stored = memo.get(key);
  if (stored !== undefined) return stored;
  const praised = (success: number): number => praise * (success + CROSSED * (1 - success));
  const complained = (success: number): number => complaint * (1 - success + CROSSED * success);
  const rates = {
    success: SUCCESS,
    failure: FAILURE,
    praise: logOf(praised),
    complaint: logOf(complained),
    silent: logOf((success) => Math.max(1e-3, 1 - praised(success) - complained(success))),
  };
  memo.set(key, rates);
  return rates;
}

function likelihood(counts: OutcomeCounts, rates: EventRates): Float64Array {
  const logs = new Float64Array(RATES.length);
  for (const outcome of OUTCOMES) {
    const count = counts[outcome];
    const rate = rates[outcome];
    if (count > 0) for (let at = 0; at <= LAST; at++) logs[at] = (logs[at] ?? 0) + count * (rate[at] ?? 0);
  }
  return logs;
}

interface ReactionRates {
  readonly praise: number;
  readonly complaint: number;
  readonly logWeight: number;
}

/** How often people react, as far as other sessions tell: their success rate is not known either. */
function reactionRates(others: OutcomeCounts): readonly ReactionRates[] {
  const { praise, complaint, silent } = others;
  const all = praise + complaint + silent;
  const part = all > MOST_OTHERS ? MOST_OTHERS / all : 1;
  const counts = {
    ...NO_OUTCOMES,
    praise: part * praise,
    complaint: part * complaint,
    silent: part * silent,
  };
  return REACTIONS.flatMap((praised) =>
    REACTIONS.map((complained) => {
      const values = likelihood(counts, logRates(praised, complained));
      const top = Math.max(...values);
      const sum = values.reduce((total, value) => total + Math.exp(value - top), 0);
      return { praise: praised, complaint: complained, logWeight: top + Math.log(sum) };
    }),
  );
}

/** The prior of each pair of rates, times the likelihood of the paired differences: a row for each rate without. */
function priorWeights(
  decided: DecidedCounts | undefined,
  paired: PairedMean | undefined,
): readonly Float64Array[] {
  const { helpful = 0, harmful = 0, noDifference = 0 } = decided ?? {};
  const part = Math.min(1, MOST_DECIDED / Math.max(1, helpful + harmful + noDifference));
  const count = (verdict: keyof DecidedCounts): number =>
    FIRST_DECIDED[verdict] + part * (decided?.[verdict] ?? 0);
  const all = count('helpful') + count('harmful') + count('noDifference');
  const shapes: readonly (readonly [weight: number, shape: (difference: number) => number])[] = [
    [count('helpful') / all, (difference) => (difference > 0 ? Math.exp(-difference / USUAL_EFFECT) : 0)],
    [count('harmful') / all, (difference) => (difference < 0 ? Math.exp(difference / USUAL_EFFECT) : 0)],
    [count('noDifference') / all, (difference) => Math.exp(-Math.abs(difference) / LITTLE_EFFECT)],
  ];
  return RATES.map((_, without) => {
    const row = new Float64Array(RATES.length);
    for (const [weight, shape] of shapes) {
      const values = RATES.map((_rate, shown) => shape(STEP * (shown - without)));
      const sum = values.reduce((total, value) => total + value, 0);
      values.forEach((value, shown) => {
        if (sum > 0) row[shown] = (row[shown] ?? 0) + (weight * value) / sum;
      });
    }
    return row.map((value, shown) => value * pairedLikelihood(STEP * (shown - without), paired));
  });
}

function pairedLikelihood(difference: number, paired: PairedMean | undefined): number {
  if (paired === undefined) return 1;
  const { mean, standardError, degrees } = paired;
  return (1 + ((difference - mean) / standardError) ** 2 / degrees) ** (-(degrees + 1) / 2);
}

function addProducts(
  byDifference: Float64Array,
  shown: Float64Array,
  absent: Float64Array,
  { weights, scale }: { readonly weights: readonly Float64Array[]; readonly scale: number },
): void {
  const [topShown, topAbsent] = [Math.max(...shown), Math.max(...absent)];
  const factors = shown.map((value) => Math.exp(value - topShown));
  for (const [without, row] of weights.entries()) {
    const factor = scale * Math.exp((absent[without] ?? 0) - topAbsent);
    if (factor < 1e-9) continue;
    for (let at = 0; at <= LAST; at++) {
      const place = at - without + LAST;
      byDifference[place] = (byDifference[place] ?? 0) + factor * (factors[at] ?? 0) * (row[at] ?? 0);
    }
  }
}

function summarise(byDifference: Float64Array): EffectPosterior {
  let [total, sum, squares, helps, same, gain, loss] = [0, 0, 0, 0, 0, 0, 0];
  byDifference.forEach((weight, place) => {
    const difference = STEP * (place - LAST);
    total += weight;
    sum += weight * difference;
    squares += weight * difference ** 2;
    if (difference > HELP_MARGIN) helps += weight;
    if (Math.abs(difference) < SAME_MARGIN + STEP / 2) same += weight;
    if (difference > 0) gain += weight * difference;
    else loss -= weight * difference;
  });
  const mean = sum / total;
  return {
    mean,
    deviation: Math.sqrt(Math.max(0, squares / total - mean ** 2)),
    helps: helps / total,
    same: same / total,
    gain: gain / total,
    loss: loss / total,
  };
}
