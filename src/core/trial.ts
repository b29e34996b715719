import type { Spending } from './budget.ts';

/**
 * A trial measures whether something new helps, before it is used without reserve: one revision of a lesson
 * (`lesson/ID/REVISION`), one checkpoint of a policy (`policy/ENGINE/VERSION`), or a proposal for an identity, by the hash of its
 * text and of the text that it would replace (`identity/ID/HASH`).
 */
export const lessonSubject = (id: string, revision: number): string => `lesson/${id}/${revision}`;
export const policySubject = (engine: string, version: number): string => `policy/${engine}/${version}`;

export const identitySubject = (id: string, hash: string): string => `identity/${id}/${hash}`;

/** The subject of all facts about trials, for `Records.events`. */
export const TRIALS_SUBJECT = 'library/trials';

/**
 * `tasks`: attempts at tasks of the gate, graded by their checks. `replay`: recorded requests answered again, compared by a
 * judge; it is weaker evidence.
 */
export type TrialMethod = 'tasks' | 'replay';

/** One comparison: the mean grades of attempts with and without, on the same task with the same seeds. */
export interface TrialPair {
  /** The id of the task, and what it comes from. */
  readonly task: string;
  readonly root: string;
  /** 0 to 1; where the owner weighs more than the task, the weighted mean of the parts. */
  readonly with: number;
  readonly without: number;
  /** How far the answers keep the identity, according to its judge, 0 to 1. */
  readonly identity?: { readonly with: number; readonly without: number };
}

/**
 * How a trial stands at its end. `no-difference`: it was tested as far as its test budget goes, and no difference was seen.
 * `untested`: it could not be tested, and the owner is asked. Both stay on trial, and a later measurement may still decide.
 */
export type TrialOutcome = 'helpful' | 'harmful' | 'no-difference' | 'untested';

/** Facts about trials. Ids, numbers and sentences of our own, never text of people. */
export type TrialFact =
  | {
      readonly type: 'trial-opened';
      readonly subject: string;
      /** Its place among all trials of its family, from 1. Of weights it determines the share of the error budget. */
      readonly place: number;
      /** The date by which it is decided or a person is asked, in milliseconds since the epoch. */
      readonly until: number;
      /** Of a lesson: how earlier sessions came out that would have been shown it. */
      readonly before?: {
        readonly success: number;
        readonly failure: number;
        readonly praise: number;
        readonly complaint: number;
        readonly silent: number;
      };
    }
  | {
      readonly type: 'trial-measured';
      readonly subject: string;
      readonly by: TrialMethod;
      /** Counts the pairs that were begun, also those that an infrastructure error spoiled. */
      readonly begun: number;
      readonly pairs: readonly TrialPair[];
      readonly used: Spending;
    }
  | {
      readonly type: 'trial-ended';
      readonly subject: string;
      readonly outcome: TrialOutcome;
      readonly why: string;
    };
