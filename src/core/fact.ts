import type { AdherenceFact } from './adherence-fact.ts';
import type { JobUsage, Spending } from './budget.ts';
import type { Usage } from './chat.ts';
import type { CreatedObjectFact } from './created-object.ts';
import type { RewardSource, Signal, TurnRole, TurnStatus, Verdict } from './evidence.ts';
import type { ServedBy } from './gateway-process.ts';
import { isObject, type Json } from './json.ts';
import type { Cost, GateOutcome, StuckCause } from './learn.ts';
import type { Author, RecordedChange, Scope } from './lesson.ts';
import type { MemberFact } from './member.ts';
import type { OverlayFact } from './overlay.ts';
import type { PracticeFact } from './practice-fact.ts';
import type { MessageReadFact } from './reading.ts';
import type { ConsideredLesson, Domain } from './recall.ts';
import type { MessageIndexedFact, MessageQuotedFact } from './recollection.ts';
import type { ScoredFact } from './scored-fact.ts';
import type { SessionFact } from './session-fact.ts';
import type { SettingsFact } from './shared-setting.ts';
import type { TaskFact } from './task-fact.ts';
import type { TrialFact } from './trial.ts';
import type { WireName } from './wire.ts';

/**
 * Something that happened. Appended once, never changed; every view is a fold over facts. The list is closed: a new kind
 * of fact is a new line here, or in `SlowFact`. Texts in facts are already redacted.
 */
export type Fact =
  | {
      readonly type: 'turn-start';
      readonly turn: string;
      readonly session: string;
      readonly agent: string;
      readonly role: TurnRole;
      /** The client program, if it was recognised. */
      readonly client?: string;
      /** An agent that the request named and its key does not speak for. */
      readonly claimed?: string;
      readonly project?: Project;
      readonly runKind?: string;
      readonly domain?: string;
      readonly wire: WireName;
      /** The model the caller named. */
      readonly model: string;
      /** The library generation when the request came in. */
      readonly generation: number;
      /** The model that was called first: `provider/model`, or a policy's version. */
      readonly policy: string;
      /** The lessons shown, and the hash of the block that contained them. */
      readonly lessons: readonly string[];
      readonly block?: string;
      /** The key of the request's body; absent if it could not be decoded. */
      readonly request?: string;
      /** The id of the caller's key, `anonymous`, or `unverified`; absent in records of earlier versions. */
      readonly caller?: string;
      /** The request could not be read: there is no conversation to learn from, but what came is kept as text. */
      readonly unreadable?: UnreadableBody;
      /** In a record that several gateways share. */
      readonly gateway?: ServedBy;
    }
  | {
      readonly type: 'turn-end';
      readonly turn: string;
      readonly status: TurnStatus;
      readonly httpStatus: number;
      /** The model that answered, if it was not the first one. */
      readonly policy?: string;
      readonly failure?: string;
      /** Of all replies: also of those that failed a check and were asked for again, `reasks` times. */
      readonly usage?: Usage;
      readonly reasks?: number;
      readonly stop?: string;
      readonly firstByteMs?: number;
      readonly totalMs: number;
      /** The key of the reply's body; absent if it could not be decoded or stored. */
      readonly reply?: string;
      /** The key of the request's body, if it was not known at the turn's start. */
      readonly request?: string;
      /** A caller with its own provider credential, known once the provider has accepted it. */
      readonly caller?: string;
      /** The same of the reply. */
      readonly unreadable?: UnreadableBody;
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
      /** The id of the key that gave it. */
      readonly by?: string;
    }
  | {
      readonly type: 'event-reported';
      readonly kind: string;
      readonly agent?: string;
      readonly runKind?: string;
      readonly session?: string;
      readonly score?: number;
      readonly data: { readonly [name: string]: Json | undefined };
      /** The member whose key reported it; absent: the home's own. */
      readonly member?: string;
      /** The id of the key that reported it. */
      readonly by?: string;
    }
  /**
   * A key changed something. Numbered without a gap, each with the hash of the one before: none is removed unnoticed. No text of people.
   */
  | {
      readonly type: 'action-taken';
      readonly n: number;
      readonly action: string;
      readonly subject: string;
      /** The id of the key. */
      readonly key: string;
      readonly previous: string;
      readonly hash: string;
    }
  | { readonly type: 'session-end'; readonly session: string; readonly reason: string }
  /** The tombstone: the session's content is erased, the fact that it took place is not. */
  | {
      readonly type: 'session-erased';
      readonly session: string;
      readonly turns: number;
      readonly reason: string;
    }
  /** A change set took effect in the library. Refused changes and changes without effect are not in it. */
  | {
      readonly type: 'library-changed';
      readonly set: string;
      readonly by: Author;
      readonly reason: string;
      readonly changes: readonly RecordedChange[];
      /** The generation in force afterwards. */
      readonly generation: number;
      /** Training samples that the change does not concern: they stay valid, recertified for the new generation. */
      readonly recertified?: readonly string[];
    }
  /** Lessons were selected for a session: its block was frozen, or text was added to the conversation. */
  | {
      readonly type: 'lessons-recalled';
      readonly session: string;
      readonly turn: string;
      /** A session has one block per model and per sub-agent. */
      readonly thread: string;
      readonly generation: number;
      /**
       * `shortened`: what the user said is shown again, since the client's history lost it. `broken`, `reminder`: a rule is shown again,
       * since an answer did not keep to it, or since it stands far back and is about the work at hand. `past`: the message asks for what was said in earlier sessions.
       */
      readonly why:
        | 'new'
        | 'compacted'
        | 'expired'
        | 'withdrawn'
        | 'changed'
        | 'task'
        | 'error'
        | 'shortened'
        | 'broken'
        | 'reminder'
        | 'past';
      /** The chain link of the message that contains the text; absent: it is in the system prompt. */
      readonly after?: string;
      /** The conversation's first chain link when the block was frozen. */
      readonly first?: string;
      /** The hash of the block with the inserted text; absent when there was nothing to show. */
      readonly block?: string;
      /** All that were shown, with their bodies or by a line. */
      readonly lessons: readonly string[];
      /** Those of `lessons` of which only the line was shown. Facts of earlier versions have none. */
      readonly lines?: readonly string[];
      /** Those of `lessons` whose words the client's own prompt has already: they are not in the inserted text. */
      readonly inPrompt?: readonly string[];
      /** Those of `lessons` that the weights keep: they are in force, and not in the inserted text. */
      readonly remembered?: readonly string[];
      /** The turns whose messages are quoted. Absent when there are none. */
      readonly quoted?: readonly string[];
      /** How well each of `quoted` fits the message, from 0 to 1. Facts of earlier versions have none. */
      readonly relevance?: readonly number[];
      readonly heldOut: readonly string[];
      /** Those of `lessons` that the session says nothing about: it could not have been without them. Absent when there are none. */
      readonly unmeasured?: readonly string[];
      readonly domain: Domain;
      readonly considered: readonly ConsideredLesson[];
      readonly engine: string;
    }
  | ScoredFact
  | AdherenceFact
  | MessageReadFact
  | MessageIndexedFact
  | MessageQuotedFact
  /** The appraisal of a turn. A later one replaces an earlier one of the same turn. */
  | {
      readonly type: 'turn-appraised';
      readonly turn: string;
      readonly session: string;
      /** The agent, and the project if it is known. */
      readonly scope: Scope;
      /** The generation when the turn's request came in. */
      readonly generation: number;
      readonly verdict: Verdict;
      readonly reward?: number;
      readonly source?: RewardSource;
      readonly signals: readonly Signal[];
      readonly digests: readonly string[];
      /** The person stated something after the answer; see `Appraisal.remark`. */
      readonly isRemarked?: true;
    }
  /** Something is queued for a learner, until a cycle lists it as an item. */
  | {
      readonly type: 'learning-queued';
      readonly item: string;
      readonly learner: string;
      readonly session: string;
      readonly turns: readonly string[];
      /** The model that is asked about them. */
      readonly model?: string;
    }
  /** A learner's run ended. */
  | {
      readonly type: 'cycle-end';
      readonly cycle: string;
      readonly learner: string;
      readonly outcome: 'published' | 'queued' | 'refused' | 'nothing' | 'stuck' | 'aborted';
      /** The queued items that this cycle consumed. */
      readonly items: readonly string[];
      /** Queued items that it had no answer to: they stay queued and are tried again later. */
      readonly tried?: readonly string[];
      /** The failures it learned from: support data, never used for training. */
      readonly turns: readonly string[];
      /** The sessions that its learner was shown. Facts of earlier versions have none. */
      readonly sessions?: readonly string[];
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
      /** Of a stuck cycle. Facts of earlier versions have none. */
      readonly cause?: StuckCause;
    }
  /** A session worth practising on. */
  | {
      readonly type: 'session-marked';
      readonly session: string;
      readonly mark: 'hard';
      readonly reason: string;
    }
  | TaskFact
  | PracticeFact
  | SessionFact
  | OverlayFact
  | TrialFact
  | MemberFact
  | SettingsFact
  | CreatedObjectFact
  | ClockFact
  | BackgroundFact;

/** A field of reported events: the program that reports may speak for its user, and passes on the user's words. */
export const BY_PERSON = 'byPerson';
/** The kind of an `event-reported` whose data has `expected`, the right answer to `turn` or to the session's last turn. */
export const EXPECTED_EVENT = 'expected';

/** For facts read back from the store: their hash vouches for the rest, and a newer version may have added types. */
export const isFact = (value: unknown): value is Fact => isObject(value) && typeof value.type === 'string';

/**
 * Why a body was recorded without its structure. `not-json`, `not-utf8`, `not-a-reply`: its text is kept, redacted. `encoding`
 * (compressed in a way that cannot be undone here) and `too-long`: only its size is known.
 */
export interface UnreadableBody {
  readonly why: 'not-json' | 'not-utf8' | 'not-a-reply' | 'encoding' | 'too-long';
  readonly bytes: number;
}

/** A working directory or repository, without its path: paths identify people. */
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

/** Facts about background jobs and the weights they train. */
type BackgroundFact =
  /** Whether background jobs may run has changed. The reasons name sources and states, never a person's actions or plans. */
  | {
      readonly type: 'schedule-changed';
      readonly from: SchedulePhase;
      readonly to: SchedulePhase;
      readonly reasons: readonly string[];
      readonly job?: string;
    }
  /**
   * A process leased a job. The facts of a job are numbered without a gap: of two processes that write the same number
   * the second is refused, and knows that it has lost the lease.
   */
  | {
      readonly type: 'job-leased';
      readonly job: string;
      /** The same for all parts of one run, however often it is interrupted. */
      readonly run: string;
      readonly n: number;
      readonly holder: string;
      /** For people. Waiting for a lease to expire uses the monotonic clock. */
      readonly until: number;
    }
  | {
      readonly type: 'job-checkpointed';
      readonly job: string;
      readonly run: string;
      readonly n: number;
      /** What the job needs to resume: positions and counts, never text of people. */
      readonly state: string;
      /** By this part of the run so far. */
      readonly spent: JobUsage;
    }
  /** A part of a run ended. */
  | {
      readonly type: 'job-ended';
      readonly job: string;
      readonly run: string;
      readonly n: number;
      readonly end: 'done' | 'paused' | 'failed';
      /** The run is over: no further part follows. */
      readonly isOver: boolean;
      readonly note?: string;
      /** Of a finished run: how much came of it, and the numbers of the newest facts that it had read. */
      readonly yielded?: number;
      readonly input?: string;
      readonly spent: JobUsage;
    }
  /** A reply of a policy in training, in tokens. The turn itself has the same reply as text. */
  | {
      readonly type: 'turn-sampled';
      readonly turn: string;
      readonly session: string;
      /** The version of the weights. */
      readonly version: number;
      readonly generation: number;
      readonly temperature: number;
      /** Ids and log-probabilities, as the hash of a block. */
      readonly tokens?: string;
    }
  /** Weights moved between stages, or were measured. The last of these facts determines which weights serve. */
  | {
      readonly type: 'policy-moved';
      readonly engine: string;
      readonly version: number;
      readonly from?: string;
      readonly to: string;
      readonly by: 'measurement' | 'probe' | 'person';
      readonly why: string;
      /** The whole state after this move. */
      readonly state: string;
    }
  /** Set aside of a day's budget (`learning`, or `jobs`) before a model is called; spent without the `budget-settled` that names it. */
  | {
      readonly type: 'budget-reserved';
      readonly budget: string;
      /** The local date. */
      readonly day: string;
      readonly reservation: string;
      /** Whom it pays, and what for: names, never text of people. */
      readonly model: string;
      readonly purpose: string;
      readonly most: Spending;
    }
  | {
      readonly type: 'budget-settled';
      readonly budget: string;
      /** The day of the reservation. */
      readonly day: string;
      readonly reservation: string;
      readonly used: Spending;
    }
  /** The owner turned learning on or off; the last of these facts counts. */
  | { readonly type: 'learning-switched'; readonly on: boolean }
  /** A judge graded steps whose outcome is known; the last of these facts counts. */
  | {
      readonly type: 'judge-tested';
      readonly model: string;
      /** The hash of the steps and of the question. */
      readonly set: string;
      readonly right: number;
      /** Failures that it called successes, successes that it called failures, and steps that it left open. */
      readonly praised: number;
      readonly blamed: number;
      readonly unclear: number;
      /** Whether its verdicts count. */
      readonly isPassed: boolean;
      /** Absent: it graded steps of work. `identity`: it said whether replies keep who an agent is. */
      readonly about?: 'identity';
    };

/** The subjects of facts that turn learning on or off, and of tests of the judge. */
export const LEARNING_SUBJECT = 'machine/learning';
export const JUDGE_SUBJECT = 'machine/judge';

/** `waiting`: someone may be present. `open`: nobody is, and nothing runs. `pausing`: someone is back, the job is stopping. */
export type SchedulePhase = 'waiting' | 'open' | 'running' | 'pausing';

/** Facts about the clock of the machine. */
type ClockFact =
  /** The wall clock is not believed (see `base/trusted-time`). Nothing expires until a `time-confirmed` follows. */
  | {
      readonly type: 'clock-leaped';
      readonly kind: 'leap' | 'absence';
      /** The time that was expected, and the time that the clock showed. */
      readonly from: number;
      readonly to: number;
    }
  /** The clock is believed again. `clock`: it is back at the time that was expected; `server`: servers show the same date. */
  | {
      readonly type: 'time-confirmed';
      readonly by: 'owner' | 'clock' | 'server';
      readonly time: number;
    };
