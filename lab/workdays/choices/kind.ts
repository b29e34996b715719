import type { Random } from '../../../src/base/random.ts';
import type { Paper } from '../documents/paths.ts';
import type { DayFacts } from '../make-world/day-facts.ts';
import type { Claim } from './claim.ts';

/** A kind of question that can be made of a day. */
export interface Kind {
  readonly name: string;
  /** What has to be read to answer; a day without one of them has no such question. */
  readonly papers: readonly Paper[];
  draft(facts: DayFacts, random: Random): Draft;
}

/** A question before it is decided which of its claims become options. */
export interface Draft {
  readonly stem: string;
  readonly claims: readonly Claim[];
}
