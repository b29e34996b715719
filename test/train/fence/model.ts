import type { Verdict } from '../../../src/core/evidence.ts';

/** A turn with everything that was ever said of it: what may be done with it can be read off at any time. */
export interface ModelTurn {
  readonly id: string;
  readonly session: string;
  readonly generation: number;
  verdict?: Verdict;
  reward?: number | undefined;
  hasFailed: boolean;
  isCited: boolean;
  isErased: boolean;
  /** The generation for which its prompt still holds. */
  certified: number;
}

export interface Model {
  readonly cap: number;
  readonly turns: ModelTurn[];
  generation: number;
  /** Turns that take up room, oldest first. */
  places: ModelTurn[];
}

export const newModel = (cap: number): Model => ({ cap, turns: [], generation: 0, places: [] });

export const isSupport = (turn: ModelTurn): boolean => turn.hasFailed || turn.isCited;

export const visible = (model: Model): readonly ModelTurn[] =>
  model.places.filter(({ isErased }) => !isErased);

export const waiting = (model: Model): readonly string[] =>
  model.turns
    .filter(({ verdict, isCited, isErased }) => verdict === 'failure' && !isCited && !isErased)
    .map(({ id }) => id)
    .sort();

export function serveIn(model: Model, id: string, session: string, generation: number): ModelTurn {
  const turn = { id, session, generation, certified: generation };
  const served: ModelTurn = { ...turn, hasFailed: false, isCited: false, isErased: false };
  model.turns.push(served);
  return served;
}

export function appraiseIn(model: Model, turn: ModelTurn, verdict: Verdict, reward?: number): void {
  turn.verdict = verdict;
  turn.reward = reward;
  if (verdict === 'failure') turn.hasFailed = true;
  if (isSample(model, turn) && !model.places.includes(turn)) model.places.push(turn);
  settle(model);
}

export function citeIn(model: Model, turns: readonly ModelTurn[]): void {
  for (const turn of turns) turn.isCited = true;
  settle(model);
}

export function advanceIn(model: Model, generation: number, survivors: readonly ModelTurn[]): void {
  if (generation === model.generation) return;
  model.generation = generation;
  for (const turn of survivors) turn.certified = generation;
  settle(model);
}

export function eraseIn(model: Model, session: string): void {
  for (const turn of model.turns) if (turn.session === session) turn.isErased = true;
}

const isSample = (model: Model, turn: ModelTurn): boolean =>
  turn.verdict === 'success' &&
  turn.reward !== undefined &&
  !isSupport(turn) &&
  turn.certified === model.generation;

/** Whoever has to go goes, and what it was certified for goes with it. */
function settle(model: Model): void {
  const staying = model.places.filter((turn) => isSample(model, turn)).slice(-model.cap);
  for (const turn of model.places) if (!staying.includes(turn)) turn.certified = turn.generation;
  model.places = staying;
}
