import type { Fact } from '../../../src/core/fact.ts';
import type { NewFact } from '../../../src/core/store.ts';

type StartFact = Extract<Fact, { type: 'turn-start' }>;
type EndFact = Extract<Fact, { type: 'turn-end' }>;

export const start = (turn: string, session: string, more: Partial<StartFact> = {}): StartFact => ({
  type: 'turn-start',
  turn,
  session,
  agent: 'agent',
  role: 'main',
  wire: 'anthropic',
  model: 'fast',
  generation: 1,
  policy: 'maker/fast',
  lessons: [],
  ...more,
});

export const end = (turn: string, more: Partial<EndFact> = {}): EndFact => ({
  type: 'turn-end',
  turn,
  status: 'complete',
  httpStatus: 200,
  totalMs: 5,
  ...more,
});

/** Facts one millisecond apart. */
export const at = (first: number, ...facts: readonly Fact[]): readonly NewFact[] =>
  facts.map((fact, index) => ({ at: first + index, fact }));
