import type { Usage } from './chat.ts';
import type { TurnStatus } from './evidence.ts';
import type { Fact } from './fact.ts';
import type { Failure } from './failure.ts';
import type { PromptState } from './gateway-process.ts';
import type { SpoolState } from './store.ts';

/** A turn as it is known before a provider is called. */
export interface TurnIntent
  extends Omit<Extract<Fact, { readonly type: 'turn-start' }>, 'type' | 'request' | 'caller' | 'gateway'> {
  /** For a session that is recognised by its message chain: the newest link. */
  readonly link?: string;
  /** The id of the caller, `anonymous`, or `unverified`. */
  readonly caller: string;
  /** The client's request as JSON text, without the inserted lessons. Undefined when it could not be decoded. */
  readonly body: Buffer | undefined;
  /** The client's `traceparent` header. Not recorded: it is for the receiver of traces. */
  readonly traceparent?: string;
  /** What another gateway needs to go on with the session. */
  readonly prompt?: PromptState;
}

export interface TurnOutcome {
  readonly status: TurnStatus;
  readonly httpStatus: number;
  /** The model that answered. */
  readonly policy: string;
  readonly failure?: Failure;
  readonly totalMs: number;
  readonly reasked?: ReaskedReplies;
  /** A caller with its own credential, which the provider accepted. */
  readonly caller?: string;
}

/** Replies of a turn that failed a check and were asked for again. */
export interface ReaskedReplies {
  readonly times: number;
  /** Of the replies that the client did not get, as far as they state it. */
  readonly usage?: Usage;
}

/** One turn being recorded. */
export interface TurnRecord {
  /** A piece of the reply as it passes to the client; the buffer is read later and must not change. */
  chunk(bytes: Buffer): void;
  /** The content type and encoding of the reply's bytes. */
  head(contentType: string, contentEncoding: string | undefined): void;
  end(outcome: TurnOutcome): void;
}

/** Called for every turn on the hot path. Nothing here blocks or throws: serving does not depend on recording. */
export interface TurnRecorder {
  /**
   * Back-pressure. Undefined, nearly always: start at once. While the store cannot keep up, resolves when it can take a
   * turn of this size, or after a short limit: callers are slowed down rather than their turns lost. Nobody waits for a
   * store that fails.
   */
  room(bytes: number): Promise<void> | undefined;
  start(intent: TurnIntent): TurnRecord;
  /** False while the store does not open or fails: turns are served and may be lost. */
  readonly isRecording?: () => boolean;
  /** What waits for a database that is away; undefined while nothing does. */
  readonly spooled?: () => SpoolState | undefined;
}

export const noRecord: TurnRecord = {
  chunk: () => undefined,
  head: () => undefined,
  end: () => undefined,
};
