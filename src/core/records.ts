import type { Appended, Block, NewFact, StoreReader } from './store.ts';

type Reads = {
  [K in keyof StoreReader]: (...args: Parameters<StoreReader[K]>) => Promise<ReturnType<StoreReader[K]>>;
};

/**
 * The store as everyone but its own thread sees it. Reads never stand in the writer's way. Every promise rejects with
 * `StoreError` when the store cannot do it.
 */
export interface Records extends Reads {
  /** Durable when it resolves, with the bodies that the facts name. A patient one may wait for company first. */
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

/** How recording is doing, for `status`. */
export interface RecordingState {
  /** Undefined when all is well. */
  readonly degraded: string | undefined;
  /** Turns that were served and could not be kept. */
  readonly lost: number;
  readonly recorded: number;
}
