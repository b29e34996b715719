import type { AssistantPart, ChatRequest, StopReason } from './chat.ts';
import type { Appended, Block, NewFact, StoreReader, TurnView } from './store.ts';

type Reads = {
  [K in keyof StoreReader]: (...args: Parameters<StoreReader[K]>) => Promise<ReturnType<StoreReader[K]>>;
};

/**
 * The store as seen from other threads than its own. Reads never block the writer. Every promise rejects with `StoreError`
 * when the store fails.
 */
export interface Records extends Reads {
  /** Durable when it resolves, with the bodies that the facts refer to. `isPatient`: it may wait for a group commit. */
  append(
    facts: readonly NewFact[],
    blocks?: readonly Block[],
    isPatient?: boolean,
  ): Promise<readonly Appended[]>;
  /** The number of turns erased. */
  erase(session: string, reason: string): Promise<number>;
  /** A consistent copy in one new file. */
  snapshot(file: string): Promise<void>;
}

/** A recorded turn with its request and reply decoded from the stored blocks. */
export interface DecodedTurn {
  readonly view: TurnView;
  readonly request: ChatRequest;
  readonly reply: readonly AssistantPart[];
  readonly stop: StopReason | undefined;
}

/** The state of recording, for `status`. */
export interface RecordingState {
  /** What is wrong; undefined when nothing is. */
  readonly degraded: string | undefined;
  /** Turns that were served and could not be recorded. */
  readonly lost: number;
  readonly recorded: number;
}
