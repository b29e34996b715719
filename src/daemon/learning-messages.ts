import type { PracticeTrainingCall } from '../../train/practice-training-calls.ts';
import type { AttemptAccess, AttemptPlace, AttemptTurns } from '../core/attempt-model.ts';
import type { ChatEvent, ChatRequest } from '../core/chat.ts';
import type { JsonObject } from '../core/json.ts';
import type { ChangeSet, PublishResult } from '../core/lesson.ts';
import type { AttemptLessons, LessonsForTask } from '../core/practice.ts';
import type { EmbeddingModel } from '../core/recall.ts';
import type { Recollection, RecollectQuery } from '../core/recollection.ts';
import { type AppendResult, type Block, type NewFact, StoreError } from '../core/store.ts';
import type { TrainingBuffer, TrainingOutcome } from '../evidence/training-buffer.ts';
import type { WrittenPrompt } from '../learn/compress/compressor.ts';
import type { AgentPrompt } from '../learn/compress/prompt-cache.ts';
import type { LearningModel, LearningRole } from '../learn/learning-model.ts';
import type { LearningSettings } from '../learn/learning-ports.ts';
import type { LearningStatus } from '../learn/learning-status.ts';

/** What the learning thread starts with. */
export interface LearningThreadData {
  /** Where the record is: a file, or the URL of a PostgreSQL. */
  readonly place: string;
  /** The HMAC key of redaction marks, and the secrets to look for. */
  readonly salt: string;
  readonly keys: readonly string[];
  readonly settings: LearningSettings;
  /** What the serving thread embeds with. */
  readonly sentenceModel: Pick<EmbeddingModel, 'id' | 'dimensions'>;
  /** The time in the serving thread, which knows whether the wall clock can be believed. */
  readonly now: number;
  /** Whether it learns. Otherwise another process does, and this thread only makes attempts that are asked of any process. */
  readonly isLeader: boolean;
  /** Who leads, where it is another process. */
  readonly leader?: string | undefined;
  /** Whether it makes attempts that other processes ask for. */
  readonly takesAttempts: boolean;
}

/** The calls that the learning thread answers, and the messages it receives. */
export interface LearningSide {
  readonly calls: {
    /** Answered when there is nothing left to learn for now; the status was sent before. */
    settle(): void;
    /** Answered when everything recorded so far has been read; the status was sent before. */
    look(): void;
    /** See `LearningWorker.statements`. */
    statements(session: string): readonly string[];
    /** What the asker said in earlier sessions. Also where another process learns. */
    recollect(query: RecollectQuery): readonly Recollection[];
    shorten(prompt: AgentPrompt, limitTokens: number): WrittenPrompt;
    /** See `Practice.command`. */
    practice(request: JsonObject): JsonObject;
    /** Answered when the attempts that other processes asked for are over. It takes no more. */
    drain(): void;
  };
  readonly posts:
    | {
        readonly type: 'wake';
        /** Turns that have ended since the last message; absent: other facts, which are learned from at once. */
        readonly turns?: number;
        readonly now: number;
        /** Counted, so that a status says which of them it knows. */
        readonly nth: number;
      }
    | { readonly type: 'keys'; readonly keys: readonly string[] }
    /** This process learns from now on. */
    | { readonly type: 'lead' };
}

/** The calls that the serving thread answers for the learning thread, and the messages it receives. */
export interface ServingSide {
  readonly calls: {
    /** Durable when it is answered. */
    append(facts: readonly NewFact[], blocks?: readonly Block[]): readonly AppendResult[];
    publish(set: ChangeSet): PublishResult;
    model(role: LearningRole): LearningModel | undefined;
    chat(role: LearningRole, request: ChatRequest): readonly ChatEvent[];
    embed(texts: readonly string[]): readonly Float32Array[];
    embedKept(texts: readonly string[]): readonly Float32Array[];
    lessonsFor(...query: Parameters<LessonsForTask>): AttemptLessons;
    /** See `PracticeTrainingCalls`. */
    training(call: PracticeTrainingCall): unknown;
    /** Rejects when the config names no model for the program. */
    programSettings(program: string): Readonly<Record<string, string>>;
    openAttempt(order: AttemptPlace): Pick<AttemptAccess, 'url' | 'key'>;
    attemptTurns(id: string): AttemptTurns;
  };
  readonly posts:
    | {
        readonly type: 'log';
        readonly level: 'debug' | 'info' | 'warn' | 'error';
        readonly fields: object;
        readonly message: string;
      }
    | {
        readonly type: 'status';
        readonly status: LearningStatus;
        /** The last wake-up that arrived before it. */
        readonly heard: number;
        readonly buffer: ReturnType<TrainingBuffer['counts']>;
      }
    | { readonly type: 'attempt-over'; readonly id: string }
    /** The rules whose check applies to what the agent of a session did last. */
    | { readonly type: 'work'; readonly session: string; readonly rules: readonly string[] }
    /** Sent whenever they have changed. */
    | { readonly type: 'samples'; readonly samples: readonly TrainingOutcome[] };
}

/** How errors travel between the two threads. */
export const learningErrors = {
  toFailure: (error: unknown) => ({
    code: error instanceof StoreError ? error.code : '',
    message: error instanceof Error ? error.message : String(error),
  }),
  toError: (code: string, message: string): Error =>
    code === '' ? new Error(message) : new StoreError(code as StoreError['code'], message),
};
