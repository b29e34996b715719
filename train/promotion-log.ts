import type { Clock } from '../src/core/clock.ts';
import type { Fact, StoredFact } from '../src/core/fact.ts';
import {
  asArray,
  asNumber,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
  parseJson,
} from '../src/core/json.ts';
import type { NewFact, Records } from '../src/core/store.ts';
import { PRACTICE_TASKS } from '../src/core/task-fact.ts';
import type { RememberedRules } from '../src/core/task-source.ts';
import { policySubject, TRIALS_SUBJECT, type TrialFact } from '../src/core/trial.ts';
import { levelInSequence, WEIGHTS_ERROR_BUDGET } from '../src/stats/error-budget.ts';
import {
  findTrialShortage,
  type PolicyPointer,
  type PromotionEvent,
  type PromotionSettings,
  pointerOf,
  promote,
} from './promotion.ts';
import {
  type CheckpointMoved,
  type PolicyVersion,
  type PromotionState,
  startPromotion,
} from './promotion-stages.ts';
import { expectedPairVariance, type TaskRate, type TrialShortage } from './trial-plan.ts';

interface PromotionLogOptions {
  /** The engine's name: weights of one engine are useless to another. */
  readonly engine: string;
  readonly records: Pick<Records, 'events' | 'append'>;
  readonly clock: Clock;
  readonly settings: PromotionSettings;
  readonly outside?: ExternalWeights;
}

/** Weights outside of the engine that trained them. They follow the pointer, and may have to be loaded before it moves. */
export interface ExternalWeights {
  /** Rejects with a TrainingError when `next` could not be served: then the pointer does not move. */
  prepare(next: PromotionState, now: PromotionState): Promise<void>;
  /** The pointer has moved. */
  moved(now: PromotionState): void;
}

/** Which weights serve and which are on trial, kept in the record. */
export interface PromotionLog {
  state(): PromotionState;
  pointer(): PolicyPointer;
  /** Versions that were rolled back after serving all sessions or some. */
  turnedBack(): readonly number[];
  /**
   * Applies an event. When it resolves, the pointer has moved and the move is on disk. Rejects without any effect when the
   * weights could not be made ready to serve.
   */
  tell(event: PromotionEvent): Promise<readonly CheckpointMoved[]>;
  /** Why a checkpoint that is trained now could not be tried on this many clusters of held-out tasks; undefined when it could. */
  shortage(clusters: number): Promise<TrialShortage | undefined>;
}

/** Restores the state from the record. */
export async function openPromotionLog({
  engine,
  records,
  clock,
  settings,
  outside,
}: PromotionLogOptions): Promise<PromotionLog> {
  const events = await records.events(`policy/${engine}`);
  const before = events.at(-1)?.fact;
  const turnedBack = new Set<number>();
  for (const { fact } of events)
    if (fact.type === 'policy-moved' && fact.to === 'rolled-back') turnedBack.add(fact.version);
  let state: PromotionState =
    before?.type === 'policy-moved'
      ? restored(before.state)
      : startPromotion({ version: 0, sampler: undefined });
  let last: Promise<unknown> = Promise.resolve();

  const budget = foldPolicyTrials(await records.events(TRIALS_SUBJECT));

  /** The terms of the next test. */
  const terms = async (): Promise<{ readonly level: number; readonly pairVariance: number }> => {
    const rates = await readTaskRates(records, engine);
    return { level: budget.nextLevel(), pairVariance: expectedPairVariance(rates, settings.effect) };
  };
  const move = async (given: PromotionEvent): Promise<readonly CheckpointMoved[]> => {
    const event = given.type === 'proposed' ? { ...(await terms()), ...given } : given;
    const { state: next, facts } = promote(state, event, settings);
    if (next === state && facts.length === 0) return [];
    if (facts.length > 0) await outside?.prepare(next, state);
    // Session scores cannot be measured again after a restart; of pairs at most a few are.
    const measured = {
      version: next.live.version,
      to: 'measured',
      by: 'measurement',
      why: event.type,
    } as const;
    const isKept =
      event.type === 'session-scored' || (event.type === 'pair-scored' && isMilestone(next, event.version));
    const moves = facts.length > 0 ? facts : isKept ? [measured] : [];
    const at = Math.round(clock.now());
    const trials = facts.flatMap((moved) => trialFactOf(engine, moved, budget.places() + 1, at) ?? []);
    if (moves.length > 0)
      await records.append([
        ...trials.map((fact) => ({ at, fact })),
        ...moves.map((moved): NewFact => {
          const { version, to, by, why } = moved;
          const from = 'from' in moved ? moved.from : undefined;
          const move = { version, to, by, why, ...(from === undefined ? {} : { from }) };
          return { at, fact: { type: 'policy-moved', engine, ...move, state: JSON.stringify(next) } };
        }),
      ]);
    for (const fact of trials) budget.add(fact);
    state = next;
    for (const { to, version } of facts) if (to === 'rolled-back') turnedBack.add(version);
    if (facts.length > 0) outside?.moved(next);
    return facts;
  };

  return {
    state: () => state,
    pointer: () => pointerOf(state, settings),
    turnedBack: () => [...turnedBack],
    shortage: async (clusters) => findTrialShortage(state, clusters, await terms(), settings),
    tell: (event) => {
      const moves = last.then(() => move(event));
      last = moves.catch(() => undefined);
      return moves;
    },
  };
}

/** A state is written with every fifth cluster: a measurement of hundreds goes on about there. */
const CLUSTERS_BETWEEN = 5;

function isMilestone({ trial, waiting }: PromotionState, version: number): boolean {
  const measured = [trial, waiting].find((one) => one?.served.version === version);
  const { pairs = [], roots = [] } = measured ?? {};
  return pairs.length === 0 && roots.length > 0 && roots.length % CLUSTERS_BETWEEN === 0;
}

/**
 * How many sessions of an engine's policy were rated since a time, while a canary served: where they are few, a canary is compared on
 * recorded requests.
 */
export async function countRatedSessions(
  records: Pick<Records, 'events'>,
  engine: string,
  since: number,
): Promise<number> {
  return (await records.events(`policy/${engine}`)).filter(
    ({ at, fact }) => at >= since && fact.type === 'policy-moved' && fact.why === 'session-scored',
  ).length;
}

/** When the weights of a version were proposed; undefined when that is not in the record. */
export async function readProposedAt(
  records: Pick<Records, 'events'>,
  engine: string,
  version: number,
): Promise<number | undefined> {
  return (await records.events(`policy/${engine}`)).find(
    ({ fact }) => fact.type === 'policy-moved' && fact.version === version && fact.to === 'candidate',
  )?.at;
}

/** How the policy did at the tasks that it practised, at each in its newest group of two attempts or more. */
async function readTaskRates(records: Pick<Records, 'events'>, engine: string): Promise<readonly TaskRate[]> {
  const rates = new Map<string, TaskRate>();
  for (const { fact } of await records.events(PRACTICE_TASKS)) {
    if (fact.type !== 'practice-task' || fact.op !== 'practised' || fact.by !== `instar/${engine}`) continue;
    const { id, rewards } = fact;
    if (rewards.length > 1)
      rates.set(id, { attempts: rewards.length, rewards: rewards.reduce((sum, one) => sum + one, 0) });
  }
  return [...rates.values()];
}

/** Members that were undefined are missing in JSON. */
function restored(text: string): PromotionState {
  const { live, previous, trial, waiting, failed, spread } = asObject(parseJson(text));
  const serving = readServed(live);
  if (serving === undefined) throw new Error('the recorded promotion state cannot be read');
  return {
    live: serving,
    previous: readServed(previous),
    trial: isTrial(trial) ? { ...trial, served: readServed(trial.served) ?? serving } : undefined,
    ...(isTrial(waiting) ? { waiting: { ...waiting, served: readServed(waiting.served) ?? serving } } : {}),
    failed: asNumber(failed) ?? 0,
    ...(isSpread(spread) ? { spread } : {}),
  };
}

function readServed(value: unknown): PolicyVersion | undefined {
  const { version, sampler, remembers } = asObject(value);
  const number = asNumber(version);
  if (number === undefined) return undefined;
  const rules = readRemembered(remembers);
  return { version: number, sampler: asString(sampler), ...(rules && { remembers: rules }) };
}

function readRemembered(value: Json | undefined): RememberedRules | undefined {
  const { at, rules } = asObject(value);
  const known = asArray(rules).flatMap((one) => {
    const { lesson, revision } = asObject(one);
    return typeof lesson === 'string' && typeof revision === 'number' ? [{ lesson, revision }] : [];
  });
  return typeof at === 'number' && known.length > 0 ? { at, rules: known } : undefined;
}

const isSpread = (value: Json | undefined): value is JsonObject & NonNullable<PromotionState['spread']> =>
  isObject(value) && [value.clusters, value.variance, value.repeats].every((one) => typeof one === 'number');

const isTrial = (value: Json | undefined): value is JsonObject & NonNullable<PromotionState['trial']> =>
  isObject(value) &&
  readServed(value.served) !== undefined &&
  (value.stage === 'candidate' || value.stage === 'canary') &&
  [value.differences, value.canary, value.rest].every(isObject) &&
  Array.isArray(value.pairs) &&
  Array.isArray(value.sessions);

/** The checkpoints that were tested so far, of all engines: they share one part of the error budget of all promotions. */
interface PolicyTrials {
  add(fact: Fact): void;
  /** How many were tested. */
  places(): number;
  /** The error level of the next test. */
  nextLevel(): number;
}

function foldPolicyTrials(events: readonly Pick<StoredFact, 'fact'>[]): PolicyTrials {
  const places = new Map<string, number>();
  const passed = new Set<string>();
  const add = (fact: Fact): void => {
    if (fact.type !== 'trial-opened' && fact.type !== 'trial-ended') return;
    if (!fact.subject.startsWith('policy/')) return;
    if (fact.type === 'trial-opened') places.set(fact.subject, fact.place);
    else if (fact.outcome === 'helpful') passed.add(fact.subject);
  };
  for (const { fact } of events) add(fact);
  const last = (): number => Math.max(0, ...places.values());
  return {
    add,
    places: last,
    nextLevel: () => levelInSequence(last() + 1, passed.size, WEIGHTS_ERROR_BUDGET),
  };
}

/**
 * What a move of a checkpoint says about its test; undefined when it says nothing. A test begins with the proposal and ends with
 * the last held-out pair; what happens to a canary later is no part of it, nor is what a person decides.
 */
function trialFactOf(
  engine: string,
  { version, from, to, by, why, isWorse }: CheckpointMoved,
  place: number,
  at: number,
): TrialFact | undefined {
  const subject = policySubject(engine, version);
  if (to === 'candidate') return { type: 'trial-opened', subject, place, until: at };
  if (from !== 'candidate' || by !== 'measurement') return undefined;
  const outcome = to === 'canary' ? 'helpful' : isWorse === true ? 'harmful' : 'no-difference';
  return { type: 'trial-ended', subject, outcome, why };
}
