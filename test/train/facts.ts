import type { Fact, StoredFact } from '../../src/core/fact.ts';
import type { Author, Change } from '../../src/core/lesson.ts';
import { add, text } from '../lessons/library/samples.ts';

type Appraised = Extract<Fact, { type: 'turn-appraised' }>;
type Changed = Extract<Fact, { type: 'library-changed' }>;

/** Numbers facts as a log does. */
export function numbered(first = 1): (fact: Fact, at?: number) => StoredFact {
  let seq = first - 1;
  return (fact, at = 1_000) => ({ seq: ++seq, at, fact });
}

export const success = (turn: string, more: Partial<Appraised> = {}): Appraised => ({
  type: 'turn-appraised',
  turn,
  session: 's1',
  scope: { agent: 'coder' },
  generation: 0,
  verdict: 'success',
  reward: 0.9,
  source: 'signal',
  signals: [{ name: 'tests', source: 'signal', score: 1, weight: 1, reason: 'green' }],
  digests: [],
  ...more,
});

/** A turn that nobody said anything about. */
export function silent(turn: string, more: Partial<Appraised> = {}): Appraised {
  const { reward: _, source: __, ...fact } = success(turn, more);
  return { ...fact, verdict: 'ambiguous', signals: [] };
}

export const failure = (turn: string, more: Partial<Appraised> = {}): Appraised =>
  success(turn, { verdict: 'failure', reward: 0.1, ...more });

export const learner: Author = { kind: 'learner', name: 'evolver' };
const person: Author = { kind: 'person', name: 'ada' };

/** A lesson that rests on these turns. */
export const resting = (...turns: readonly string[]): Change =>
  add(`on-${turns.join('-')}`, { text: text({ evidence: { turns, quotes: [], learner: 'evolver' } }) });

export const changed = (generation: number, more: Partial<Changed> = {}): Changed => ({
  type: 'library-changed',
  set: `set-${generation}`,
  by: person,
  reason: 'why',
  changes: [],
  generation,
  ...more,
});

export const cycleEnd = (...turns: readonly string[]): Fact => ({
  type: 'cycle-end',
  cycle: 'c1',
  learner: 'evolver',
  outcome: 'published',
  items: [],
  turns,
  judgements: [],
  generation: 1,
  cost: { calls: 1, inputTokens: 1, outputTokens: 1, usd: 0 },
  tookMs: 1,
});

export const erased = (session: string): Fact => ({
  type: 'session-erased',
  session,
  turns: 1,
  reason: 'asked',
});
