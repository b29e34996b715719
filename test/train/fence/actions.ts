import fc from 'fast-check';
import type { Verdict } from '../../../src/core/evidence.ts';
import type { Fate } from './world.ts';

/** What a turn is said to have been; `unrewarded` is a success that nobody put a number on. */
export type Outcome = 'rewarded' | 'unrewarded' | Exclude<Verdict, 'success'>;

/** How the generation advances: everything leaves, or all but what the change does not concern. */
export type Policy = readonly Fate[] | 'strict';

/** Which turns something is said of: those nothing is known of, those that are held for training, any. */
export type Pool = 'open' | 'held' | 'erased' | 'any';

type Deed =
  | { readonly do: 'serve'; readonly session: number; readonly outcome: Outcome | 'open' }
  | { readonly do: 'appraise'; readonly turn: number; readonly outcome: Outcome; readonly among: Pool }
  | { readonly do: 'evolve'; readonly turns: readonly number[]; readonly isShown: boolean; policy: Policy }
  | {
      readonly do: 'person';
      readonly what: 'skill' | 'proposal' | 'retire';
      readonly turn: number;
      policy: Policy;
    }
  | { readonly do: 'roll-back'; readonly to: number; readonly policy: Policy }
  | { readonly do: 'erase'; readonly session: number }
  | { readonly do: 'kill' };

export type Action = Deed & {
  /** The process dies after this many writes of the deed. */
  readonly cut?: number | undefined;
  readonly fault: 'none' | 'refuse' | 'lose-answer';
  readonly reward: number;
};

const number = fc.nat(99);
const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  { weight: 5, arbitrary: fc.constant('rewarded' as const) },
  { weight: 2, arbitrary: fc.constant('failure' as const) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('unrewarded' as const, 'ambiguous' as const, 'infrastructure' as const),
  },
);
const policy: fc.Arbitrary<Policy> = fc.oneof(
  fc.constant('strict' as const),
  fc.array(fc.constantFrom<Fate[]>('same', 'same', 'other', 'unknown'), { minLength: 7, maxLength: 7 }),
);

const deed: fc.Arbitrary<Deed> = fc.oneof(
  {
    weight: 16,
    arbitrary: fc.record({
      do: fc.constant('serve' as const),
      session: fc.nat(4),
      outcome: fc.oneof(
        { weight: 3, arbitrary: outcome },
        { weight: 1, arbitrary: fc.constant('open' as const) },
      ),
    }),
  },
  {
    weight: 9,
    arbitrary: fc.record({
      do: fc.constant('appraise' as const),
      turn: number,
      outcome,
      among: fc.constantFrom<Pool[]>('open', 'held', 'erased', 'any'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('evolve' as const),
      turns: fc.array(number, { minLength: 1, maxLength: 3 }),
      isShown: fc.boolean(),
      policy,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('person' as const),
      what: fc.constantFrom('skill' as const, 'proposal' as const, 'retire' as const),
      turn: number,
      policy,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('roll-back' as const), to: number, policy }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('erase' as const), session: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('kill' as const) }) },
);

/** Fifty of them: a short history has no past to get wrong. */
export const history: fc.Arbitrary<readonly Action[]> = fc.array(
  fc
    .tuple(
      deed,
      fc.record({
        cut: fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.nat(3) }),
        fault: fc.oneof(
          { weight: 4, arbitrary: fc.constant('none' as const) },
          { weight: 1, arbitrary: fc.constantFrom('refuse' as const, 'lose-answer' as const) },
        ),
        reward: fc.constantFrom(0.5, 0.7, 0.9, 1),
      }),
    )
    .map(([what, how]): Action => ({ ...what, ...how })),
  { minLength: 50, maxLength: 50 },
);
