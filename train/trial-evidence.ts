import { evidenceAbove, evidenceBelow, evidenceWorse, lowerBound } from '../src/stats/confidence-sequence.ts';
import { tQuantile } from '../src/stats/distributions.ts';
import type { Interval } from '../src/stats/interval.ts';
import { addToMoments, EMPTY_MOMENTS, type MomentSums } from '../src/stats/moments.ts';

/** What is demanded of a checkpoint. Margins are in grades of 0 to 1. */
export interface EvidenceSettings {
  /** The error probability of every single test, where the error budget allows no less. */
  readonly alpha: number;
  /** Worse by more than this on held-out tasks: shown to be worse. */
  readonly margin: number;
  /** Nothing passes on fewer clusters of held-out tasks. */
  readonly fewestTasks: number;
  /** It must be shown to be worse by less than this on the regression suite, and as a canary. */
  readonly regressionMargin: number;
  readonly canaryMargin: number;
}

export const DEFAULT_EVIDENCE: EvidenceSettings = {
  alpha: 0.05,
  margin: 0.02,
  fewestTasks: 10,
  regressionMargin: 0.05,
  canaryMargin: 0.1,
};

/** What the two versions were compared on. `replay`: recorded requests that were answered again by both. */
export type TrialSuite = 'tasks' | 'regression' | 'replay';

/** Grades of both versions on the same task, with the same lessons and the same seed. */
export interface ScoredPair {
  readonly pair: string;
  readonly candidate: number;
  readonly live: number;
  readonly suite?: TrialSuite;
  /** What the task and its variations come from; absent: the pair is a cluster by itself. */
  readonly root?: string;
}

/** Plain data. Clusters are named by suite and root. */
export interface TrialEvidence {
  /** Candidate minus live, a mean for each complete cluster of held-out tasks. */
  readonly differences: MomentSums;
  /** The same on the regression suite and on replayed requests. */
  readonly regression?: MomentSums;
  readonly replay?: MomentSums;
  /** What the live version reached on the regression suite. */
  readonly regressionLive?: number;
  /** Of clusters that are not complete. */
  readonly pairs: readonly string[];
  /** Clusters that are complete: no more pairs of them count. */
  readonly roots?: readonly string[];
  /** Clusters with fewer pairs than they need. */
  readonly open?: Readonly<Record<string, { readonly n: number; readonly sum: number }>>;
  /** Scores of sessions that the canary served, and of the others. */
  readonly canary: MomentSums;
  readonly rest: MomentSums;
  readonly sessions: readonly string[];
}

export const NO_EVIDENCE: TrialEvidence = {
  differences: EMPTY_MOMENTS,
  pairs: [],
  canary: EMPTY_MOMENTS,
  rest: EMPTY_MOMENTS,
  sessions: [],
};

/** A recorded request is one cluster for the measurement and for the canary: it counts in one of them only. */
export const clusterName = (suite: TrialSuite, root: string): string =>
  suite === 'regression' ? `regression/${root}` : `task/${root}`;

/** With one more pair; undefined when it says nothing new. */
export function addPair<Evidence extends TrialEvidence>(
  evidence: Evidence,
  { pair, candidate, live, suite = 'tasks', root = pair }: ScoredPair,
  repeats: number,
): Evidence | undefined {
  const { pairs, roots = [], open = {} } = evidence;
  const name = clusterName(suite, root);
  const { [name]: begun, ...others } = open;
  if (pairs.includes(pair) || (begun === undefined && roots.includes(name))) return undefined;
  if (!isScore(candidate) || !isScore(live)) return undefined;
  const cluster = { n: (begun?.n ?? 0) + 1, sum: (begun?.sum ?? 0) + candidate - live };
  if (cluster.n < repeats)
    return { ...evidence, pairs: [...pairs, pair], open: { ...others, [name]: cluster } };
  const mean = cluster.sum / cluster.n;
  const isDone = Object.keys(others).length === 0;
  const closed = { ...evidence, pairs: isDone ? [] : pairs, open: others, roots: [...roots, name] };
  if (suite === 'replay') return { ...closed, replay: addToMoments(evidence.replay ?? EMPTY_MOMENTS, mean) };
  if (suite === 'tasks') return { ...closed, differences: addToMoments(evidence.differences, mean) };
  return {
    ...closed,
    regression: addToMoments(evidence.regression ?? EMPTY_MOMENTS, mean),
    regressionLive: (evidence.regressionLive ?? 0) + live,
  };
}

/** A verdict, and the words for it. `open`: what is said when nothing more can be measured. */
interface Weighed {
  readonly verdict: 'well' | 'worse' | 'open';
  readonly why: () => string;
}

/** What held-out tasks have to show, at this error level. */
export interface HeldOutTerms {
  readonly level: number;
  /**
   * The number of rules that it is not shown and the live version is. With one or more it need not be better, only less worse than the
   * margin of a canary.
   */
  readonly remembered: number;
}

/** Better than the live version, with evidence against "no better"; or as good without lessons that the live version needs. */
export function weighHeldOut(
  { differences }: TrialEvidence,
  { level, remembered }: HeldOutTerms,
  { alpha, margin, fewestTasks, canaryMargin }: EvidenceSettings,
): Weighed {
  const { n } = differences;
  const on = `on ${tasks(n)} of the user`;
  const low = (): string => points(pairedLowerBound(differences, level));
  if (remembered > 0 && n >= fewestTasks) {
    const { better: near } = pairedEvidence(differences, -canaryMargin);
    const without = `without the lessons of ${remembered === 1 ? 'a rule' : `${remembered} rules`} that it remembers`;
    if (near >= Math.log(1 / level))
      return {
        verdict: 'well',
        why: () => `less than ${points(canaryMargin)} points worse ${on}, ${without}`,
      };
  }
  const { better } = pairedEvidence(differences);
  if (n >= fewestTasks && better >= Math.log(1 / level))
    return {
      verdict: 'well',
      why: () => `better ${on}: at least ${low()} points, ${points(meanOf(differences))} in the mean`,
    };
  if (pairedEvidence(differences, -margin).worse >= Math.log(1 / alpha))
    return { verdict: 'worse', why: () => `worse by more than ${points(margin)} points ${on}` };
  return {
    verdict: 'open',
    why: () => `not shown to be better ${on}: the difference may be as low as ${low()} points`,
  };
}

/** Fewer questions show nothing, even if both versions answer all of them alike. */
export const FEWEST_QUESTIONS = 60;
/** Student's t with this many degrees of freedom is normal. */
const MANY = 1_000_000;

/**
 * No worse than the live version by more than the margin. The suite is asked as a whole, so that this is an ordinary one-sided test
 * at its end. Its variance is at least that of a version which loses the margin and gains nothing: a suite on which few answers
 * differ is not surer than that. Before the end only a loss is decided, by betting.
 */
export function weighRegression(
  { regression = EMPTY_MOMENTS, regressionLive = 0 }: TrialEvidence,
  { alpha, regressionMargin: margin }: EvidenceSettings,
  isComplete: boolean,
): Weighed {
  const { n, squares } = regression;
  const mean = meanOf(regression);
  const on = `on ${n} general questions`;
  if (pairedEvidence(regression).worse >= Math.log(1 / alpha))
    return { verdict: 'worse', why: () => `worse ${on}: ${points(mean)} points in the mean` };
  const isNear = (): boolean => {
    const variance = Math.max(squares / Math.max(1, n) - mean ** 2, margin * (1 - margin));
    return mean - tQuantile(1 - alpha, MANY) * Math.sqrt(variance / Math.max(1, n)) >= -margin;
  };
  if (!isComplete || !isNear())
    return {
      verdict: 'open',
      why: () => `it may be worse by more than ${points(margin)} points ${on}: ${points(mean)} in the mean`,
    };
  return {
    verdict: 'well',
    why: () =>
      regressionLive > 0
        ? `less than ${points(margin)} points worse ${on}`
        : `the live version answers none of ${n} general questions, so that nothing could get worse there`,
  };
}

/**
 * A canary goes live when its sessions or its replayed requests show that it is worse by less than the margin. Each of the two tests
 * has half of the error probability, so that it does not matter which of them decides.
 */
export const weighReplay = (
  { replay = EMPTY_MOMENTS }: TrialEvidence,
  { alpha, canaryMargin, margin }: EvidenceSettings,
): Weighed =>
  weighCanary(
    pairedEvidence(replay, -canaryMargin).better,
    pairedEvidence(replay, -margin).worse,
    { alpha, canaryMargin },
    `on ${replay.n} recorded requests`,
  );

export function weighCanarySessions(
  { canary, rest }: TrialEvidence,
  fewest: number,
  settings: EvidenceSettings,
): Weighed {
  const { alpha, canaryMargin: by } = settings;
  return weighCanary(
    canary.n < fewest ? 0 : evidenceWorse(rest, canary, { by, enough: Math.log(2 / alpha) }),
    evidenceWorse(canary, rest, { enough: Math.log(1 / alpha) }),
    settings,
    `in ${canary.n} sessions than in ${rest.n} others`,
  );
}

function weighCanary(
  well: number,
  worse: number,
  { alpha, canaryMargin }: Pick<EvidenceSettings, 'alpha' | 'canaryMargin'>,
  where: string,
): Weighed {
  if (worse >= Math.log(1 / alpha)) return { verdict: 'worse', why: () => `worse ${where}` };
  return {
    verdict: well >= Math.log(2 / alpha) ? 'well' : 'open',
    why: () => `less than ${points(canaryMargin)} points worse ${where}`,
  };
}

const isScore = (score: number): boolean => score >= 0 && score <= 1;
const points = (share: number): string => (100 * share).toFixed(1);
const meanOf = ({ n, sum }: MomentSums): number => sum / Math.max(1, n);
const tasks = (n: number): string => (n === 1 ? '1 task' : `${n} tasks`);

/** Differences of two grades of 0 to 1. */
const DIFFERENCES: Interval = { low: -1, high: 1 };

/**
 * The sequential test of paired differences of a checkpoint: the new weights and those that
 * serve. Both numbers are logarithms of e-values, valid after every pair, however often they are looked at.
 */
interface PairedEvidence {
  /** Against "the mean difference is at most `bound`". */
  readonly better: number;
  /** Against "the mean difference is at least `bound`". */
  readonly worse: number;
}

/**
 * A bettor stakes a share of its wealth on each pair, at odds that are fair when the mean difference is `bound`; a mixture of
 * thirteen shares needs no guess of the effect (`stats/confidence-sequence`). Pairs must be drawn so that the mean difference given
 * all earlier pairs is the effect: tasks drawn at random from one pool, fresh seeds for each pair.
 */
const pairedEvidence = (differences: MomentSums, bound = 0): PairedEvidence => ({
  better: evidenceAbove(differences, bound, DIFFERENCES),
  worse: evidenceBelow(differences, bound, DIFFERENCES),
});

/** A one-sided confidence sequence: the least that the mean difference can be. */
const pairedLowerBound = (differences: MomentSums, alpha: number): number =>
  lowerBound(differences, { alpha, range: DIFFERENCES });
