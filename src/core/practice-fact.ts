import type { Spending } from './budget.ts';
import type { Json } from './json.ts';
import type { PracticeKind } from './practice.ts';

/** Facts of practice. A run is the fold of its units: a run that was killed continues behind the last one. */
export type PracticeFact =
  | {
      readonly type: 'practice-begun';
      readonly run: string;
      readonly kind: PracticeKind;
      /** How many tasks it may attempt, and the attempts at each. */
      readonly tasks: number;
      readonly groupSize: number;
      readonly seed: string;
    }
  /** One unit of work and its result, such as an attempt, a summary or a judgement. The first value of a unit stays. */
  | {
      readonly type: 'practice-unit';
      readonly run: string;
      readonly unit: string;
      readonly value: Json;
      /** The recorded sessions that its tasks were mined from: erasing one of them erases the value. */
      readonly sessions?: readonly string[];
    }
  /** The result of this content (model, parameters, prompt, lessons) is in a unit of a run: it is not paid for again. */
  | { readonly type: 'practice-cached'; readonly key: string; readonly run: string; readonly unit: string }
  /** A run attempts a task of this session. */
  | { readonly type: 'practice-used'; readonly session: string; readonly run: string }
  | {
      readonly type: 'practice-ended';
      readonly run: string;
      readonly end: PracticeEnd;
      readonly note?: string;
      readonly counts: PracticeCounts;
      readonly spent: Spending;
    };

/**
 * `done`: every batch was learned from. `budget`: a limit was reached before that. `stuck`: a model or the store was not available.
 * `deferred`: a provider limits us. `aborted`: somebody came back. All but `done` and `budget` can be continued under the same id.
 */
export type PracticeEnd = 'done' | 'budget' | 'stuck' | 'deferred' | 'aborted';

/** What a run did. Every attempt is in exactly one of the first three. */
export interface PracticeCounts {
  readonly graded: number;
  readonly ungraded: number;
  /** Attempts that failed for reasons of our own: they taught nothing. */
  readonly infrastructure: number;
  readonly groups: number;
  /** Of them, groups of recorded work of users: no attempt was made for them. Absent in older sessions. */
  readonly recorded?: number;
  /** Groups whose rewards differ. */
  readonly kept: number;
  /** Groups that a model's reply made useless. */
  readonly lost: number;
  /** Operations that named no lesson of the library: reported, and not carried out. */
  readonly quarantined: number;
  readonly published: number;
  readonly proposed: number;
  readonly refused: number;
}

/** The subject of a run's facts, for `Records.events`. */
export const practiceSubject = (run: string): string => `practice/${run}`;

export const cacheSubject = (key: string): string => `practice-cache/${key}`;
