import type { ChatRequest, ToolCallPart, Usage } from './chat.ts';
import type { Failure } from './failure.ts';

/** Who is speaking, as Instar's own request headers say it. */
export interface Speaker {
  readonly session: string;
  readonly agent: string;
  readonly runKind: string;
  readonly domain?: string;
  readonly project?: string;
  /** This is the session's last turn. */
  readonly isLast?: boolean;
}

/** One reply, read to its end. What went wrong is a value; `turn` and the rest are missing where no gateway answered. */
export interface Said {
  readonly text: string;
  readonly calls: readonly ToolCallPart[];
  readonly usage?: Usage;
  readonly failure?: Failure;
  /** What the gateway calls this turn, and what it showed the model. */
  readonly turn?: string;
  readonly generation?: number;
  readonly lessons: readonly string[];
}

/** Says something through the gateway, like every other client. Never rejects. */
export type Speak = (request: ChatRequest, speaker: Speaker, signal: AbortSignal) => Promise<Said>;
