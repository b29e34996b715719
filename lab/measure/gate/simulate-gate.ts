import { createSfc32 } from '../../../src/base/random.ts';
import { levelInSequence, WEIGHTS_ERROR_BUDGET } from '../../../src/stats/error-budget.ts';
import { DEFAULT_PROMOTION, isInCanary, type PromotionEvent, promote } from '../../../train/promotion.ts';
import { canaryOf, type PromotionState, startPromotion } from '../../../train/promotion-stages.ts';
import { expectedPairVariance } from '../../../train/trial-plan.ts';

/** How many sessions are rated. */
export type Traffic = 'thin' | 'thick';

/** A world with a known truth. Effects are in grades of 0 to 1. */
export interface GateWorld {
  readonly effect: number;
  /** Clusters of held-out tasks. */
  readonly tasks: number;
  /** Whether the effect differs between tasks: `spread` to both sides of it. */
  readonly spread: number;
  /** It is not shown the lesson of a rule that it keeps. */
  readonly remembers?: true;
  /** The effect on general questions; 0 if absent. */
  readonly onQuestions?: number;
  /** It is a canary from the beginning: what happens when held-out tasks did not tell. */
  readonly isCanary?: boolean;
  /** Tasks of the same sort that practice attempted with the live version, eight times each; none if absent. */
  readonly practised?: number;
  /** The highest success rate of the live version at a task; 1 if absent. */
  readonly mostLive?: number;
}

const ATTEMPTS_OF_PRACTICE = 8;

/** How a trial of the gate ended. `waiting`: a canary about which nothing was decided in time. */
export interface GateRun {
  readonly end: 'not-tried' | 'rejected' | 'rolled-back' | 'waiting' | 'live';
  /** It was shown to be better on held-out tasks. */
  readonly isBetter: boolean;
  /** Pairs of attempts at held-out tasks and recorded requests, and rated sessions. */
  readonly pairs: number;
  readonly sessions: number;
}

/** Weeks that a canary may take, rated sessions of a week, and recorded requests of a week that can be graded. */
export const WEEKS = 8;
export const RATED_A_WEEK = { thin: 5, thick: 200 } as const;
export const REPLAYED_A_WEEK = 20;
/** General questions, and the share of them to which the answers of two equal versions differ. */
const QUESTIONS = 401;
const DIFFER = 0.08;
/** The first checkpoint of a home. */
const LEVEL = levelInSequence(1, 0, WEIGHTS_ERROR_BUDGET);

type Next = () => number;

/** Draws a cluster, and answers with a function that draws a pair of it. */
function drawCluster(
  { effect, spread, mostLive = 1 }: GateWorld,
  next: Next,
): () => readonly [number, number] {
  const own = Math.max(-1, Math.min(1, effect + (next() < 0.5 ? spread : -spread)));
  const least = Math.max(0, -own);
  const live = least + next() * (Math.max(least, Math.min(mostLive, 1 - own)) - least);
  return () => [next() < live + own ? 1 : 0, next() < live ? 1 : 0];
}

/** What practice lets expect of the pairs of a trial. */
function drawPairVariance(world: GateWorld, next: Next): number {
  const rates = Array.from({ length: world.practised ?? 0 }, () => {
    const draw = drawCluster(world, next);
    const rewards = Array.from({ length: ATTEMPTS_OF_PRACTICE }, () => draw()[1]);
    return { attempts: rewards.length, rewards: rewards.reduce((sum, one) => sum + one, 0) };
  });
  return expectedPairVariance(rates, DEFAULT_PROMOTION.effect);
}

/** One checkpoint through the gate, once for each traffic: both begin with the same measurement. */
export function runGates(world: GateWorld, seed: number): Readonly<Record<Traffic, GateRun>> {
  const measured = measureCheckpoint(world, seed);
  const after = (traffic: Traffic): GateRun =>
    canaryOf(measured.state) === undefined ? measured.run : serveCanary(world, traffic, seed, measured);
  return { thin: after('thin'), thick: after('thick') };
}

/** A checkpoint on its way: the fold that a daemon runs, told what windows, questions and sessions would tell. */
interface Progress {
  readonly state: PromotionState;
  readonly run: GateRun;
  /** Clusters that were used. */
  readonly used: number;
}

function createTeller(from: PromotionState, before: GateRun) {
  let state = from;
  const run = { ...before };
  const tell = (event: PromotionEvent): boolean => {
    const result = promote(state, event, DEFAULT_PROMOTION);
    state = result.state;
    if (event.type === 'pair-scored' && event.suite !== 'regression') run.pairs++;
    if (event.type === 'session-scored') run.sessions++;
    for (const { to } of result.facts) {
      if (to === 'canary') run.isBetter = true;
      if (to !== 'candidate' && to !== 'canary' && to !== 'replaced') run.end = to;
    }
    return result.facts.length > 0;
  };
  const tellCluster = (world: GateWorld, name: string, suite: 'tasks' | 'replay', next: Next): void => {
    const draw = drawCluster(world, next);
    const { repeats } = state.trial?.plan ?? { repeats: 1 };
    for (let place = 0; place < repeats; place++) {
      const [candidate, live] = draw();
      const pair = { pair: `${name}/${place}`, root: name, suite, candidate, live };
      if (tell({ type: 'pair-scored', version: 1, ...pair })) return;
    }
  };
  return { state: () => state, run: (): GateRun => ({ ...run }), tell, tellCluster };
}

const BEGUN: GateRun = { end: 'waiting', isBetter: false, pairs: 0, sessions: 0 };

/** Held-out tasks, then general questions. */
function measureCheckpoint(world: GateWorld, seed: number): Progress {
  const next = createSfc32(seed, world.tasks, Math.round(1000 * (world.effect + 2 * world.spread)) + 7);
  const teller = createTeller(startPromotion({ version: 0, sampler: undefined }), BEGUN);
  const { tell } = teller;
  const onTrial = () => {
    const { trial } = teller.state();
    return trial?.stage === 'candidate' ? trial : undefined;
  };
  const remembers = { at: 0, rules: [{ lesson: 'rule', revision: 1 }] };
  const served = { version: 1, sampler: 'path', ...(world.remembers === true && { remembers }) };
  if (world.isCanary === true) {
    tell({ type: 'proposed', served });
    tell({ type: 'person-promoted' });
  } else {
    const pairVariance = drawPairVariance(world, createSfc32(seed, world.tasks, 13));
    tell({ type: 'proposed', served, level: LEVEL, clusters: world.tasks, pairVariance, isRegressed: true });
  }
  let used = 0;
  for (let trial = onTrial(); trial !== undefined && trial.better === undefined; trial = onTrial()) {
    if (used === world.tasks) tell({ type: 'measured-out', version: 1 });
    else teller.tellCluster(world, `task-${used++}`, 'tasks', next);
  }
  const isBetter = onTrial() !== undefined || teller.run().isBetter;
  for (let at = 0; onTrial() !== undefined; at++) {
    if (at === QUESTIONS) tell({ type: 'measured-out', version: 1 });
    else tell({ type: 'pair-scored', version: 1, ...drawQuestion(world.onQuestions ?? 0, at, next) });
  }
  return { state: teller.state(), run: { ...teller.run(), isBetter }, used };
}

/** The weeks of a canary: tasks that the measurement did not need are replayed first, then the requests of each week. */
function serveCanary(
  world: GateWorld,
  traffic: Traffic,
  seed: number,
  { state, run, used }: Progress,
): GateRun {
  const next = createSfc32(seed, world.tasks, Math.round(1000 * (world.effect + 2 * world.spread)) + 11);
  const teller = createTeller(state, run);
  const isServing = (): boolean => canaryOf(teller.state()) !== undefined;
  const fresh = (week: number): number =>
    traffic === 'thick' ? 0 : week === 0 ? world.tasks - used : REPLAYED_A_WEEK;
  for (let week = 0; week <= WEEKS && isServing(); week++) {
    for (let at = 0; at < fresh(week) && isServing(); at++)
      teller.tellCluster(world, `week-${week}/${at}`, 'replay', next);
    for (let at = 0; week > 0 && at < RATED_A_WEEK[traffic] && isServing(); at++)
      teller.tell(drawSession(world, `${seed}/${week}/${at}`, next));
  }
  return teller.run();
}

function drawQuestion(effect: number, at: number, next: Next) {
  const luck = next();
  const better = Math.max(0, (DIFFER + effect) / 2);
  const worse = better - effect;
  const both = next() < 0.6 ? 1 : 0;
  const [candidate, live] = luck < worse ? [0, 1] : luck < worse + better ? [1, 0] : [both, both];
  return { pair: `question-${at}`, root: `question-${at}`, suite: 'regression', candidate, live } as const;
}

function drawSession({ effect }: GateWorld, session: string, next: Next): PromotionEvent {
  const isCanary = isInCanary(session, 1, DEFAULT_PROMOTION.canaryShare);
  return { type: 'session-scored', session, score: next() < 0.5 + (isCanary ? effect : 0) ? 1 : 0 };
}
