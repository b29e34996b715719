import type { Project, TurnRole, TurnStatus } from './fact.ts';
import type { Failure } from './failure.ts';
import type { WireName } from './wire.ts';

/** What is known of a turn when its request has come in and before a provider is called. */
export interface TurnIntent {
  readonly turn: string;
  readonly session: string;
  /** For a session that is known by the chain of its messages alone: the chain's newest link. */
  readonly link?: string;
  readonly agent: string;
  readonly role: TurnRole;
  readonly client?: string;
  readonly project?: Project;
  readonly runKind?: string;
  readonly domain?: string;
  readonly wire: WireName;
  readonly model: string;
  readonly generation: number;
  readonly policy: string;
  readonly lessons: readonly string[];
  readonly block?: string;
  /** The client's request as JSON text, without our block. Undefined when it could not be read. */
  readonly body: Buffer | undefined;
}

export interface TurnOutcome {
  readonly status: TurnStatus;
  readonly httpStatus: number;
  /** Who answered in the end. */
  readonly policy: string;
  readonly failure?: Failure;
  readonly totalMs: number;
}

/** One turn being recorded. */
export interface TurnRecord {
  /** A piece of the reply as it passes to the client; the buffer is read later and must not change. */
  chunk(bytes: Buffer): void;
  /** How the reply's bytes are to be read: its content type and encoding. */
  head(contentType: string, contentEncoding: string | undefined): void;
  end(outcome: TurnOutcome): void;
}

/** Told of every turn on the hot path. Nothing here blocks or throws: serving does not depend on recording. */
export interface TurnRecorder {
  /**
   * Undefined, nearly always: begin. In a flood that a sound store cannot keep up with, resolves when it can take a turn
   * with so many bytes, or a moment later anyway: callers are slowed down rather than their turns lost. While the store
   * is broken nobody waits for it.
   */
  room(bytes: number): Promise<void> | undefined;
  start(intent: TurnIntent): TurnRecord;
}

export const noRecord: TurnRecord = {
  chunk: () => undefined,
  head: () => undefined,
  end: () => undefined,
};
