import type { Fact, StoredFact } from '../core/fact.ts';
import { asArray, asObject } from '../core/json.ts';

/** A rewarded turn that weights may be trained on: its prompt is what it would be under the generation in force. */
export interface Sample {
  readonly turn: string;
  readonly session: string;
  /** What it was served under, or what it was certified for since. */
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
  /**
   * The oldest samples; none when there are fewer than `size`. Nor are there any while this fold has not come as far as
   * the generation in force, which only the library knows: what is held here is then older than the prompts.
   */
  batch(size: number, inForce: number): readonly Sample[];
  /** Oldest first. */
  samples(): readonly Sample[];
  has(turn: string): boolean;
  counts(): { readonly query: number; readonly support: number; readonly generation: number };
}

export interface BufferOptions {
  /** Beyond this the oldest go. */
  readonly cap: number;
  /** How many marks of turns from before the last flush are kept. */
  readonly mostMarks?: number;
}

/** What was erased keeps its place until newer ones push it out, so that reading the log anew ends in the same. */
interface Held extends Sample {
  readonly isErased: boolean;
}

export function createBuffer({ cap, mostMarks = 200_000 }: BufferOptions): Buffer {
  const held = new Map<string, Held>();
  // A turn of an earlier generation cannot enter, marked or not: only marks from before the last flush may be dropped.
  let older = new Set<string>();
  let marks = new Set<string>();
  let support = 0;
  let generation = 0;
  let seq = 0;

  const isMarked = (turn: string): boolean => marks.has(turn) || older.has(turn);
  const mark = (turn: string): void => {
    held.delete(turn);
    if (isMarked(turn)) return;
    support++;
    marks.add(turn);
  };
  const appraise = (fact: Fact & { readonly type: 'turn-appraised' }): void => {
    const { turn, session, verdict, reward } = fact;
    if (verdict === 'failure') mark(turn);
    if (verdict !== 'success' || reward === undefined) held.delete(turn);
    else if (held.has(turn) || (fact.generation === generation && !isMarked(turn))) {
      // No belief is without a sign: where they are gone, the session was erased.
      held.set(turn, { turn, session, generation, reward, isErased: fact.signals.length === 0 });
      const [oldest] = held.keys();
      if (held.size > cap && oldest !== undefined) held.delete(oldest);
    }
  };
  /** The survivors are certified for the new generation; everything else was made under another. */
  const flush = (next: number, survivors: ReadonlySet<string>): void => {
    generation = next;
    for (const [turn, sample] of held) {
      if (survivors.has(turn)) held.set(turn, { ...sample, generation });
      else held.delete(turn);
    }
    for (const turn of marks) older.add(turn);
    marks = new Set();
    if (older.size > mostMarks) older = new Set([...older].slice(older.size - Math.ceil(mostMarks / 2)));
  };
  const samples = (): readonly Sample[] =>
    [...held.values()].flatMap(({ isErased, ...sample }) => (isErased ? [] : [sample]));

  return {
    add: ({ seq: number, fact }) => {
      if (number <= seq) return;
      seq = number;
      if (fact.type === 'turn-appraised') appraise(fact);
      else if (fact.type === 'cycle-end') fact.turns.forEach(mark);
      else if (fact.type === 'library-changed') {
        if (fact.by.kind === 'learner') citedTurns(fact.changes).forEach(mark);
        if (fact.generation !== generation) flush(fact.generation, new Set(fact.recertified ?? []));
      } else if (fact.type === 'session-erased')
        for (const [turn, sample] of held)
          if (sample.session === fact.session) held.set(turn, { ...sample, isErased: true });
    },
    batch: (size, inForce) => {
      const ready = inForce === generation ? samples() : [];
      return ready.length < size ? [] : ready.slice(0, size);
    },
    samples,
    has: (turn) => held.get(turn)?.isErased === false,
    counts: () => ({ query: samples().length, support, generation }),
  };
}

/** What the changes rest on. They may be of a newer version's shape: what cannot be read cites nothing. */
const citedTurns = (changes: readonly unknown[]): readonly string[] =>
  changes.flatMap((change) => {
    const { turns } = asObject(asObject(asObject(change).text).evidence);
    return asArray(turns).filter((turn) => typeof turn === 'string');
  });
