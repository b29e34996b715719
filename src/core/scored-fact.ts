import type { CheckResult } from './check.ts';
import type { RoutedTask, Tier } from './overlay.ts';

/** The outcome of a session, to measure the lessons it was shown and those held out, and the router's choice. Part of the closed list of facts. */
export interface ScoredFact {
  readonly type: 'session-scored';
  readonly session: string;
  /** 0 to 1. Absent: nobody let hear how it went, and nothing checked it; a score may follow. */
  readonly score?: number;
  /** Where the score comes from: a check sees every session alike, people react as they please. Absent in facts of earlier versions: people. */
  readonly by?: 'check' | 'people';
  /** Whose session it was, as far as it is known. */
  readonly agent?: string;
  readonly project?: string;
  readonly lessons: readonly string[];
  readonly heldOut: readonly string[];
  /** Those of `lessons` that are not measured by this session. Absent when there are none. */
  readonly unmeasured?: readonly string[];
  /** Lessons that were shown, and the user had to say the same all the same. Absent when there are none. */
  readonly ignored?: readonly string[];
  /** Lessons that were shown, and the user said otherwise. Absent when there are none. */
  readonly contradicted?: readonly string[];
  /**
   * What their own checks say of measured lessons, those that were held out as well: their outcome is this, not the score. Absent when none has an
   * accepted check.
   */
  readonly checked?: readonly {
    readonly lesson: string;
    readonly revision: number;
    readonly outcome: CheckResult['outcome'];
  }[];
  /** The tier that the router chose first, and for what. Absent without a router. */
  readonly route?: { readonly tier: Tier; readonly task: RoutedTask };
}
