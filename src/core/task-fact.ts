import type { PracticeTask } from './practice.ts';

/** Facts about practice: its tasks, and what attempts at them begin with. Part of the closed list of facts. */
export type TaskFact =
  /** A task was found or given. An id that was excluded or erased never comes back. */
  | {
      readonly type: 'practice-task';
      readonly op: 'found' | 'added';
      readonly id: string;
      /** Absent when one of its sessions is erased: then it never comes back. */
      readonly task?: PracticeTask;
      /** The hash of the block with the diff and the untracked files of its workspace. */
      readonly content?: string;
      /** The sessions that its words come from: it is erased with any of them. */
      readonly sessions: readonly string[];
      /** The id of the key of the person who gave it. */
      readonly by?: string;
    }
  /** A person took it away, for good. */
  | {
      readonly type: 'practice-task';
      readonly op: 'excluded';
      readonly id: string;
      readonly why?: string;
      readonly by?: string;
    }
  /** A group of attempts at it was graded. */
  | {
      readonly type: 'practice-task';
      readonly op: 'practised';
      readonly id: string;
      readonly run: string;
      /** 0 to 1, one for each graded attempt; infrastructure errors are left out. */
      readonly rewards: readonly number[];
      /** Who attempted it, as a session names it (`instar/nano`); absent in older facts. */
      readonly by?: string;
    }
  /** The client's project as it was when a request came in; the owner has allowed it. */
  | {
      readonly type: 'workspace-snapshotted';
      readonly session: string;
      readonly turn: string;
      /** The folder of the git work tree, and its commit. Absent when nothing was kept, or the session is erased. */
      readonly repository?: string;
      readonly commit?: string;
      /** The folder within it that the client named; absent when it is the whole. */
      readonly within?: string;
      /** The hash of a block: JSON with the diff and the untracked files. Absent when the work tree was clean. */
      readonly content?: string;
      /** Why nothing was kept: names of files and limits, never their text. */
      readonly skipped?: string;
    };

/** The subject of facts about tasks of practice. */
export const PRACTICE_TASKS = 'practice/tasks';
