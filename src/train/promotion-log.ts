import type { Clock } from '../core/clock.ts';
import {
  asNumber,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
  parseJson,
} from '../core/json.ts';
import type { NewFact, Records } from '../core/store.ts';
import { TRIALS_SUBJECT } from '../core/trial.ts';
import { foldPolicyTrials, trialFactOf } from './policy-trials.ts';
import type {
  CheckpointMoved,
  PolicyPointer,
  PolicyVersion,
  PromotionEvent,
  PromotionSettings,
} from './promotion.ts';
import { type PromotionState, pointerOf, promote, startPromotion } from './promotion.ts';

export interface PromotionLogOptions {
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

  const move = async (told: PromotionEvent): Promise<readonly CheckpointMoved[]> => {
    const event = told.type === 'proposed' ? { level: budget.nextLevel(), ...told } : told;
    const { state: next, facts } = promote(state, event, settings);
    if (next === state) return [];
    if (facts.length > 0) await outside?.prepare(next, state);
    // Pairs are measured again after a restart; session scores cannot be, so they are written.
    const measured = {
      version: next.live.version,
      to: 'measured',
      by: 'measurement',
      why: event.type,
    } as const;
    const moves = facts.length > 0 ? facts : event.type === 'session-scored' ? [measured] : [];
    const at = Math.round(clock.now());
    const trials = facts.flatMap((moved) => trialFactOf(engine, moved, budget.places() + 1, at) ?? []);
    if (moves.length > 0)
      await records.append([
        ...trials.map((fact) => ({ at, fact })),
        ...moves.map((moved): NewFact => {
          const { version, to, by, why } = moved;
          const from = 'from' in moved ? moved.from : undefined;
          const told = { version, to, by, why, ...(from === undefined ? {} : { from }) };
          return { at, fact: { type: 'policy-moved', engine, ...told, state: JSON.stringify(next) } };
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
    tell: (event) => {
      const told = last.then(() => move(event));
      last = told.catch(() => undefined);
      return told;
    },
  };
}

/** Members that were undefined are missing in JSON. */
function restored(text: string): PromotionState {
  const { live, previous, trial, failed } = asObject(parseJson(text));
  const serving = readServed(live);
  if (serving === undefined) throw new Error('the recorded promotion state cannot be read');
  return {
    live: serving,
    previous: readServed(previous),
    trial: isTrial(trial) ? { ...trial, served: readServed(trial.served) ?? serving } : undefined,
    failed: asNumber(failed) ?? 0,
  };
}

function readServed(value: unknown): PolicyVersion | undefined {
  const { version, sampler } = asObject(value);
  const number = asNumber(version);
  return number === undefined ? undefined : { version: number, sampler: asString(sampler) };
}

const isTrial = (value: Json | undefined): value is JsonObject & NonNullable<PromotionState['trial']> =>
  isObject(value) &&
  readServed(value.served) !== undefined &&
  (value.stage === 'candidate' || value.stage === 'canary') &&
  [value.differences, value.canary, value.rest].every(isObject) &&
  Array.isArray(value.pairs) &&
  Array.isArray(value.sessions);
