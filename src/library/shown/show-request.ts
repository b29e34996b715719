import type { RecallQuery } from '../../core/recall.ts';

/** A request that may be shown lessons. */
export interface ShowRequest {
  readonly turn: string;
  readonly session: string;
  /** Names the part of a session that has a prompt of its own: one for each model it speaks to, one for each sub-agent. */
  readonly thread: string;
  readonly now: number;
  readonly query: Omit<RecallQuery, 'text' | 'session' | 'among'>;
  /** Called only when it matters what the request says, then perhaps more than once; undefined when it cannot be read. */
  conversation(): ConversationView | undefined;
  /** The prompt is only counted: it gets what it would be sent with, and nothing is settled by it. */
  readonly peek?: boolean;
}

/** What has to be known of a request's messages. */
export interface ConversationView {
  /** One for each message, each standing for everything up to it; empty when the history is not in the request. */
  readonly links: readonly string[];
  /** Whether text can be added to the message behind the last link, a user having written it. */
  readonly newestIsUser: boolean;
  /** What the user wants, in the newest words. */
  readonly task: string;
}
