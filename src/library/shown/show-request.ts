import type { RecallQuery } from '../../core/recall.ts';

/** A request that may be shown lessons. */
export interface ShowRequest {
  readonly turn: string;
  readonly session: string;
  /** Names a part of a session with its own prompt: one per model and one per sub-agent. */
  readonly thread: string;
  readonly now: number;
  readonly query: Omit<RecallQuery, 'text' | 'session' | 'among'>;
  /** Called only when the messages matter, possibly more than once; undefined when they cannot be read. */
  conversation(): ConversationView | undefined;
  /** The prompt is only counted: it gets the text that it would be sent with, and no decision is stored. */
  readonly peek?: boolean;
}

/** The messages of a request. */
export interface ConversationView {
  /** One hash per message, each over all messages up to it; empty when the history is not in the request. */
  readonly links: readonly string[];
  /** Whether the last message is a user's, so that text can be added to it. */
  readonly newestIsUser: boolean;
  /** The user's newest request. */
  readonly task: string;
}
