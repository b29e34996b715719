/// <reference lib="esnext.disposable" preserve="true" />

import type { FlowCall } from '../base/flow-calls.ts';
import type { EpisodeOutcome } from '../core/evidence.ts';
import type { Json } from '../core/json.ts';
import type { LessonKind, LessonState } from '../core/lesson.ts';
import type { OverlayPayload } from '../core/overlay.ts';
import type { PracticeResult } from '../learn/practice/practice-input.ts';
import type { EpisodeSummary, ListedLesson, OfferedFlow, QuotedWords } from '../mcp/episode-api.ts';
import type { PracticeOptions } from './practice-options.ts';

/** Whose work it is. Lessons are learned for an agent and a project, and shown to the same ones. */
export interface InstarScope {
  /** The name under which your program learns. Default: `library`. At most 128 characters. */
  readonly agent?: string;
  /** The project or customer that the work belongs to. Default: none. */
  readonly project?: string;
  /** The field of the work, such as `coding` or `mail`. Default: found by the rules of the config. */
  readonly domain?: string;
}

export interface OpenOptions extends InstarScope {
  /** The home folder. Default: `$INSTAR_HOME`, else `~/.instar`. Created if it is missing. */
  readonly home?: string;
  /**
   * Learn in this process. If no daemon serves the home, one is started here, as `instar up --port 0` would, and stopped by
   * `close`; until then it keeps the process alive. Default: false. Lessons are then learned by the daemon, now or when it
   * is next started with `instar up`.
   */
  readonly learn?: boolean;
  /** How long a call waits for another process that has the home open. Default: 5000. */
  readonly waitMs?: number;
  /** Instead of `process.env`: `INSTAR_HOME`, `INSTAR_KEY`, `INSTAR_OWNER_KEY` and, with `learn`, keys of providers. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Lessons that fit a task. */
export interface InstarContext {
  /** Text for the system prompt. Empty when no lesson fits. */
  readonly text: string;
  /** The lessons in it. */
  readonly lessons: readonly { readonly id: string; readonly name: string }[];
  /** What the person said about it in earlier conversations, oldest first; it is in the text, too. */
  readonly said: readonly QuotedWords[];
}

/** One try at a task. */
export interface EpisodeAttempt {
  /** What was done: the command, the edit, the approach. Over 4,000 characters the middle is left out. */
  readonly action: string;
  /** What came of it: the error or the result. Over 12,000 characters the middle is left out. */
  readonly result: string;
  /** Whether it worked. */
  readonly ok: boolean;
}

/** How a task ended: `success`, or `outcome` where a part of it was done. */
export type EpisodeEnd = ({ readonly success: boolean } | { readonly outcome: EpisodeOutcome }) & {
  /** The reason, in a sentence or two. */
  readonly note?: string;
  /** Wait for what is learned from it. Where no daemon serves the home there is nothing to wait for. */
  readonly wait?: boolean;
};

/** One task, from its start to its outcome. Reports are recorded in the order of the calls, awaited or not. */
export interface Episode {
  /** Names the episode in `instar.feedback({ session })` and in the record. */
  readonly id: string;
  /** The lessons for this task, as text for the system prompt. Recorded as shown: the outcome measures their effect. */
  readonly text: string;
  readonly lessons: InstarContext['lessons'];
  /**
   * Reports a try. Durable when it resolves. Failures teach the most. Rejects with `InstarError`: `ended` after the end of
   * the episode, `home-in-use`, `unreachable`, `store`.
   */
  attempt(attempt: EpisodeAttempt): Promise<{ readonly attempts: number; readonly failed: number }>;
  /**
   * Ends the episode. Durable when it resolves. The outcome is your program's word, not a person's, and scores the lessons that
   * were shown. A failure beside something that worked becomes a lesson for this agent (`wait`: resolves when it has, for two minutes
   * at most); a mere failure is learned from together with others like it. Again with the same outcome it does nothing; with
   * another one it rejects with `InstarError` (`ended`).
   */
  end(outcome: EpisodeEnd): Promise<EpisodeSummary>;
}

/** A turn (the reply header `x-instar-turn`), or a session or an episode by its id. */
export type InstarSubject = { readonly turn: string } | { readonly session: string };

export type InstarFeedback = {
  /**
   * `agent`: your program's own judgement, a weak signal. `person`: a person's word, which is learned from first; needs the
   * owner key (`INSTAR_OWNER_KEY`, else the file in the home). Default: `agent`, or `person` for a key that was made
   * with `instar team keys create NAME --may feedback`.
   */
  readonly from?: 'agent' | 'person';
} & (
  | {
      /** −1 (wrong) to 1 (right). */
      readonly score: number;
      /** What was wrong or right, at most 4,000 characters. */
      readonly note?: string;
    }
  | {
      readonly score?: number;
      /** Without a score a note is a correction: it counts as −0.5. */
      readonly note: string;
    }
);

/** What happened at run time. Further fields are kept with it. */
export interface InstarEvent {
  /** A name such as `failed_tdd`. */
  readonly kind: string;
  readonly agent?: string;
  readonly runKind?: string;
  readonly session?: string;
  /** 0 to 100; without it by the kind. */
  readonly score?: number;
  readonly [field: string]: Json | undefined;
}

/** A change of the running system in force. */
export interface InstarOverlay {
  /** The id of its lesson. */
  readonly lesson: string;
  readonly name: string;
  readonly state: 'trial' | 'live';
  readonly payload: OverlayPayload;
}

/**
 * An opened home. With a running daemon every call goes to it over loopback, with the caller key of the home. Without one,
 * calls open the store themselves, for a moment and under the lock of the home, so that `instar up` and other programs can
 * use the same home at any time. A daemon may be started and stopped between two calls.
 *
 * All methods may be called at the same time, and reject only with `InstarError`.
 */
export interface Instar {
  /** The home folder. */
  readonly home: string;
  /**
   * The lessons that fit a task, by the same recall and within the same limits (`library.topK`, `library.tokenBudget`) as
   * in the gateway. Records nothing and counts in no measurement. `limit`: at most this many lessons.
   */
  context(task: string, options?: InstarScope & { readonly limit?: number }): Promise<InstarContext>;
  /**
   * Begins an episode and recalls the lessons for its task. Durable when it resolves. Put `episode.text` into the prompt: a
   * lesson that is under test may be held out, which measures what it is worth. When `context` was
   * called for the same task before, the episode is not measured, since its answer had every lesson.
   */
  episode(task: string, options?: InstarScope): Promise<Episode>;
  /**
   * Rates a turn, a session or an episode. Durable when it resolves. Rejects with `not-found` for an unknown id, and with
   * `forbidden` for a turn of another caller's key or without the owner key where it is needed.
   */
  feedback(subject: InstarSubject, feedback: InstarFeedback): Promise<void>;
  /**
   * Reports what happened at run time, such as `{ kind: 'budget_incident', agent: 'cto', session: 's-1' }` (docs/adaptation.md has the
   * kinds). Events that others support become changes of the system. Durable when it resolves.
   */
  report(event: InstarEvent): Promise<void>;
  /** The changes of the system that are in force for an agent (that of `open` unless one is named) and a kind of run. */
  overlays(query?: { readonly agent?: string; readonly runKind?: string }): Promise<readonly InstarOverlay[]>;
  /** What was learned, by name; changes nothing. All states unless one is named. */
  lessons(query?: {
    readonly state?: LessonState;
    readonly kind?: LessonKind;
  }): Promise<readonly ListedLesson[]>;
  /** The flows in force for an agent: calls that always follow each other, with their parameters. Changes nothing. */
  flows(options?: InstarScope): Promise<readonly OfferedFlow[]>;
  /**
   * The calls of a flow with the values of its parameters; your program makes them. Rejects with `not-found` for a flow that is not
   * in force for the agent, and with `invalid` when a parameter is missing or has another type.
   */
  flow(
    name: string,
    values?: Readonly<Record<string, string | number | boolean>>,
    options?: InstarScope,
  ): Promise<readonly FlowCall[]>;
  /**
   * Attempts tasks several times, compares the better attempts with the worse ones, and puts what it finds on trial: the same
   * pipeline as in quiet hours. Needs a model for learning (`learner`, or `models.evolver` of the config). The home is held
   * meanwhile: without a daemon only, else it rejects with `home-in-use`. A call that was interrupted goes on where it was when
   * it is made again; what was paid for is not paid for again.
   */
  practice(options: PracticeOptions): Promise<PracticeResult>;
  /**
   * Resolves when everything recorded so far has been learned from, or has failed to be. Only with `learn` and a daemon in
   * this process; otherwise it resolves at once.
   */
  settle(): Promise<void>;
  /** Lets go of the home. Idempotent; running calls are finished first, later ones reject with `closed`. */
  close(): Promise<void>;
  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

export type InstarErrorCode =
  /** Another process has the home open and does not answer. */
  | 'home-in-use'
  /** A setting, a key file or the home folder is not valid; the message names it. */
  | 'config'
  /** An argument is not valid. */
  | 'invalid'
  | 'not-found'
  | 'forbidden'
  /** The episode has ended. */
  | 'ended'
  /** The daemon does not answer. What was sent may have been recorded. */
  | 'unreachable'
  /** The store failed: the disk is full, or the file is damaged. Nothing was recorded. */
  | 'store'
  | 'closed'
  | 'unexpected';

/** The one error of the library API. */
export class InstarError extends Error {
  override readonly name = 'InstarError';
  readonly code: InstarErrorCode;
  /** What to do about it, where that is known. */
  readonly fix: string | undefined;

  constructor(
    code: InstarErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly fix?: string } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.fix = options.fix;
  }
}
