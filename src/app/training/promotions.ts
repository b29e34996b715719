import type { Clock } from '../../core/clock.ts';
import { asObject, parseJson } from '../../core/json.ts';
import type { Records } from '../../core/records.ts';
import type { PolicyPointer } from '../../train/policy-pointer.ts';
import { type Promotion, pointerOf, promote, startPromotion } from '../../train/promotion.ts';
import type { CheckpointMoved, PromotionEvent } from '../../train/promotion-event.ts';
import type { PromotionSettings } from '../../train/promotion-settings.ts';

export interface PromotionsOptions {
  /** What was trained: weights of one engine mean nothing to another. */
  readonly engine: string;
  readonly records: Pick<Records, 'events' | 'append'>;
  readonly clock: Clock;
  readonly settings: PromotionSettings;
  readonly outside?: OutsideWeights;
}

/** Weights as they are outside of the engine that trained them: they follow the pointer, and may have to be there before it. */
export interface OutsideWeights {
  /** Rejects with a TrainingError when `next` could not be served: then it does not come to be. */
  prepare(next: Promotion, now: Promotion): Promise<void>;
  /** The pointer has moved. */
  moved(now: Promotion): void;
}

/** Which weights serve, and which are on their way. */
export interface Promotions {
  state(): Promotion;
  pointer(): PolicyPointer;
  /** Versions that served, all sessions or some, and were turned back. */
  turnedBack(): readonly number[];
  /**
   * The pointer has moved when it resolves, and what moved it is on the disk. Where weights could not be made ready to
   * serve it rejects, and everything is as if nothing had been told.
   */
  tell(event: PromotionEvent): Promise<readonly CheckpointMoved[]>;
}

/** Taken up where the record says they were. */
export async function openPromotions({
  engine,
  records,
  clock,
  settings,
  outside,
}: PromotionsOptions): Promise<Promotions> {
  const events = await records.events(`policy/${engine}`);
  const before = events.at(-1)?.fact;
  const turnedBack = new Set<number>();
  for (const { fact } of events)
    if (fact.type === 'policy-moved' && fact.to === 'rolled-back') turnedBack.add(fact.version);
  let state: Promotion =
    before?.type === 'policy-moved'
      ? restored(before.state)
      : startPromotion({ version: 0, sampler: undefined });
  let last: Promise<unknown> = Promise.resolve();

  const move = async (event: PromotionEvent): Promise<readonly CheckpointMoved[]> => {
    const { state: next, facts } = promote(state, event, settings);
    if (next === state) return [];
    if (facts.length > 0) await outside?.prepare(next, state);
    // Pairs are weighed again after a restart; what sessions said cannot be asked again.
    const measured = {
      version: next.live.version,
      to: 'measured',
      by: 'measurement',
      why: event.type,
    } as const;
    const moves = facts.length > 0 ? facts : event.type === 'session-scored' ? [measured] : [];
    if (moves.length > 0)
      await records.append(
        moves.map((moved) => {
          const { version, to, by, why } = moved;
          const from = 'from' in moved ? moved.from : undefined;
          const told = { version, to, by, why, ...(from === undefined ? {} : { from }) };
          return {
            at: Math.round(clock.now()),
            fact: { type: 'policy-moved', engine, ...told, state: JSON.stringify(next) },
          };
        }),
      );
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

/** Our own words, written whole; `undefined` does not survive JSON. */
function restored(text: string): Promotion {
  const { live, previous, trial, failed } = asObject(parseJson(text)) as unknown as Promotion;
  const served = ({ version, sampler }: Promotion['live']) => ({ version, sampler: sampler ?? undefined });
  return {
    live: served(live),
    previous: previous === undefined ? undefined : served(previous),
    trial: trial === undefined ? undefined : { ...trial, served: served(trial.served) },
    failed,
  };
}
