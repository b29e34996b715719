import type { Spending } from './budget.ts';
import type { PracticeKind, SessionWeights, TaskOrigin } from './practice.ts';
import type { PracticeCounts, PracticeEnd } from './practice-fact.ts';

/** Sessions of practice: what each was for, which tasks were chosen, and what came of it. Part of the closed list of facts. */
export type SessionFact =
  | {
      readonly type: 'practice-session';
      readonly op: 'planned';
      /** The run that it began; an interrupted one goes on with the same tasks. */
      readonly run: string;
      readonly kind: PracticeKind;
      readonly why: string;
      readonly area: { readonly agent?: string; readonly project?: string; readonly domain?: string };
      /** The ids of the tasks to learn from, and of those that passed once and are tried again. */
      readonly tasks: readonly string[];
      readonly regression: readonly string[];
      readonly epochs: number;
      readonly groupSize: number;
      /** The id of the key of the person who asked for it; absent when it was due. */
      readonly by?: string;
    }
  | {
      readonly type: 'practice-session';
      readonly op: 'closed';
      readonly run: string;
      readonly end: PracticeEnd;
      readonly note?: string;
      readonly counts: PracticeCounts;
      readonly spent: Spending;
      /** Trials that were decided in it: how many lessons helped, and how many did not. */
      readonly helpful: number;
      readonly refused: number;
      /** Tasks that passed once and did not pass any more. */
      readonly forgotten: readonly string[];
      /** What tasks of each origin brought for the tokens of their attempts. Absent in older sessions. */
      readonly origins?: readonly {
        readonly origin: TaskOrigin;
        readonly tokens: number;
        readonly learned: number;
      }[];
      /** Where an engine trains the policy that attempts. */
      readonly weights?: SessionWeights;
    };

/** The subject of facts about sessions of practice. */
export const PRACTICE_SESSIONS = 'practice/sessions';
