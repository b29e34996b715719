import type { Usage } from './chat.ts';
import type { Signal, Verdict } from './evidence.ts';
import type { Json } from './json.ts';
import type { Cost, GateOutcome } from './learn.ts';
import type { Author, Change, Scope } from './lesson.ts';
import type { Considered, Domain } from './recall.ts';
import type { SlowFact } from './slow-fact.ts';
import type { WireName } from './wire.ts';

/** How a turn ended. `crashed` is said by the next start of a turn that a dead process left open. */
export type TurnStatus = 'complete' | 'client-abort' | 'upstream-error' | 'truncated' | 'refused' | 'crashed';

/** `main`: the user's agent at work. `side`: a sub-agent of it. `aux`: a title, a count, a compaction; never taught from. */
export type TurnRole = 'main' | 'side' | 'aux';

/**
 * Something that happened. Appended once, never changed; every view is a fold over these. This list is closed: a new
 * kind of fact is a new line here, or in `SlowFact`. Texts in facts have been redacted before they come here.
 */
export type Fact =
  | {
      readonly type: 'turn-start';
      readonly turn: string;
      readonly session: string;
      readonly agent: string;
      readonly role: TurnRole;
      /** The client program, when it was recognised. */
      readonly client?: string;
      readonly project?: Project;
      readonly runKind?: string;
      readonly domain?: string;
      readonly wire: WireName;
      /** The model the caller named. */
      readonly model: string;
      /** What prompts could contain when the request came in. */
      readonly generation: number;
      /** Who was asked first: `provider/model`, or a policy's version. */
      readonly policy: string;
      /** The lessons that were shown, and the hash of the block they were shown in. */
      readonly lessons: readonly string[];
      readonly block?: string;
      /** The request, as the hash of a block; absent when it could not be read. */
      readonly request?: string;
    }
  | {
      readonly type: 'turn-end';
      readonly turn: string;
      readonly status: TurnStatus;
      readonly httpStatus: number;
      /** Who answered in the end, when it was not who was asked first. */
      readonly policy?: string;
      readonly failure?: string;
      readonly usage?: Usage;
      readonly stop?: string;
      readonly firstByteMs?: number;
      readonly totalMs: number;
      /** The reply, as the hash of a block; absent when it could not be read or kept. */
      readonly reply?: string;
      /** The request, when the turn's start could not say it yet. */
      readonly request?: string;
    }
  | {
      readonly type: 'reward-given';
      /** A turn, or a whole session. */
      readonly turn?: string;
      readonly session?: string;
      readonly source: RewardSource;
      /** −1 to 1. */
      readonly score: number;
      readonly note?: string;
    }
  | {
      readonly type: 'event-reported';
      readonly kind: string;
      readonly agent?: string;
      readonly runKind?: string;
      readonly session?: string;
      readonly score?: number;
      readonly data: { readonly [name: string]: Json | undefined };
    }
  | { readonly type: 'session-end'; readonly session: string; readonly reason: string }
  /** The tombstone: what a session said is gone, that it was there is not. */
  | {
      readonly type: 'session-erased';
      readonly session: string;
      readonly turns: number;
      readonly reason: string;
    }
  /** A set of changes to the library took effect, as one. Those that were refused or said nothing new are not in it. */
  | {
      readonly type: 'library-changed';
      readonly set: string;
      readonly by: Author;
      readonly reason: string;
      readonly changes: readonly Change[];
      /** The generation in force afterwards. */
      readonly generation: number;
      /** Training samples that the change does not concern: they stay, certified for the new generation. */
      readonly recertified?: readonly string[];
    }
  /** Lessons were chosen for a session: its block was frozen, or text was added to it in the middle. */
  | {
      readonly type: 'lessons-recalled';
      readonly session: string;
      readonly turn: string;
      /** A session has a block for each model it speaks to and for each of its sub-agents. */
      readonly thread: string;
      readonly generation: number;
      readonly why: 'new' | 'compacted' | 'expired' | 'changed' | 'task';
      /** Where the text stands: with the system's words, or in the message behind this link of the chain. */
      readonly after?: string;
      /** The first link of the conversation when the block was frozen. */
      readonly first?: string;
      /** The text as it was spliced in, as the hash of a block; absent when there was nothing to show. */
      readonly block?: string;
      readonly lessons: readonly string[];
      readonly heldOut: readonly string[];
      readonly domain: Domain;
      readonly considered: readonly Considered[];
      readonly engine: string;
    }
  /** How a session came out, for the measurement of what it was shown and what was held back from it. */
  | {
      readonly type: 'session-scored';
      readonly session: string;
      /** 0 to 1. */
      readonly score: number;
      readonly lessons: readonly string[];
      readonly heldOut: readonly string[];
    }
  /** What is believed of a turn. A later appraisal of the same turn takes the place of an earlier one. */
  | {
      readonly type: 'turn-appraised';
      readonly turn: string;
      readonly session: string;
      /** Whose work it was: the agent, and the project when it is known. */
      readonly scope: Scope;
      /** The turn's own, from when its request came in. */
      readonly generation: number;
      readonly verdict: Verdict;
      readonly reward?: number;
      readonly source?: RewardSource;
      readonly signals: readonly Signal[];
      readonly digests: readonly string[];
    }
  /** Something waits to be learned from; it is done with when a cycle names it. */
  | {
      readonly type: 'learning-queued';
      readonly item: string;
      readonly learner: string;
      readonly session: string;
      readonly turns: readonly string[];
    }
  /** A learner's run is over. */
  | {
      readonly type: 'cycle-end';
      readonly cycle: string;
      readonly learner: string;
      readonly outcome: 'published' | 'queued' | 'refused' | 'nothing' | 'stuck' | 'aborted';
      /** What was waiting and is now done with. */
      readonly items: readonly string[];
      /** The failures it learned from: support data, for ever. */
      readonly turns: readonly string[];
      readonly judgements: readonly {
        readonly lesson: string;
        readonly name: string;
        readonly outcome: GateOutcome;
        readonly why: readonly string[];
      }[];
      readonly set?: string;
      readonly generation: number;
      readonly cost: Cost;
      readonly tookMs: number;
      readonly note?: string;
    }
  /** A session that is worth practising on. */
  | {
      readonly type: 'session-marked';
      readonly session: string;
      readonly mark: 'hard';
      readonly reason: string;
    }
  | SlowFact;

export type RewardSource = 'verifier' | 'person' | 'judge' | 'signal';

/** A working directory or repository, without its path: paths say who people are. */
export interface Project {
  readonly id: string;
  readonly label: string;
}

export interface StoredFact {
  /** Grows by one for each fact. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly fact: Fact;
}
