import type { Fact, StoredFact } from '../core/fact.ts';

/** A rewarded turn that weights may be trained on: served under exactly the generation in force. */
export interface Sample {
  readonly turn: string;
  readonly session: string;
  readonly generation: number;
  readonly reward: number;
}

/**
 * The query side of learning, apart from the support side for ever. A failure teaches the library and never the weights;
 * what is left trains the weights, and only while prompts are what they were when it happened. All of it is a fold of
 * facts: the fact that makes a new generation is the fact that empties the buffer, so no crash can come between.
 */
export interface Buffer {
  /** In the order of their numbers; one that was taken before is passed over. */
  add(stored: StoredFact): void;
  /** The oldest samples of the current generation; none when there are fewer than `size`. */
  batch(size: number): readonly Sample[];
  samples(): readonly Sample[];
  has(turn: string): boolean;
  counts(): { readonly query: number; readonly support: number; readonly generation: number };
}

export interface BufferOptions {
  /** Beyond this the oldest go. */
  readonly cap: number;
}

/**
 * Turns that may never become samples. Only a turn of the current generation can enter, so marks of turns from before the
 * last flush could be dropped without harm; a bound on their number is enough.
 */
const MOST_MARKS = 200_000;

export function createBuffer({ cap }: BufferOptions): Buffer {
  const query = new Map<string, Sample>();
  let support = new Set<string>();
  let supportCount = 0;
  let generation = 0;
  let seq = 0;

  const mark = (turn: string): void => {
    query.delete(turn);
    if (support.has(turn)) return;
    supportCount++;
    if (support.size >= MOST_MARKS) support = new Set([...support].slice(MOST_MARKS / 2));
    support.add(turn);
  };
  const appraise = (fact: Fact & { readonly type: 'turn-appraised' }): void => {
    const { turn, session, verdict, reward } = fact;
    if (verdict === 'failure') mark(turn);
    query.delete(turn);
    if (verdict !== 'success' || reward === undefined) return;
    if (fact.generation !== generation || support.has(turn)) return;
    query.set(turn, { turn, session, generation, reward });
    const oldest = query.keys().next().value;
    if (query.size > cap && oldest !== undefined) query.delete(oldest);
  };
  /** The survivors are certified for the new generation; everything else was made under another. */
  const flush = (next: number, recertified: ReadonlySet<string>): void => {
    generation = next;
    for (const [turn, sample] of query) {
      if (recertified.has(turn)) query.set(turn, { ...sample, generation });
      else query.delete(turn);
    }
  };

  return {
    add: ({ seq: number, fact }) => {
      if (number <= seq) return;
      seq = number;
      if (fact.type === 'turn-appraised') appraise(fact);
      else if (fact.type === 'cycle-end') fact.turns.forEach(mark);
      else if (fact.type === 'library-changed') {
        if (fact.by.kind === 'learner')
          for (const change of fact.changes) if ('text' in change) change.text.evidence.turns.forEach(mark);
        if (fact.generation !== generation) flush(fact.generation, new Set(fact.recertified ?? []));
      } else if (fact.type === 'session-erased') {
        for (const [turn, { session }] of query) if (session === fact.session) query.delete(turn);
      }
    },
    batch: (size) => (query.size < size ? [] : [...query.values()].slice(0, size)),
    samples: () => [...query.values()],
    has: (turn) => query.has(turn),
    counts: () => ({ query: query.size, support: supportCount, generation }),
  };
}
