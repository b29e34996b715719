import type { ChatRequest, ToolCallPart, Usage } from './chat.ts';
import type { Failure } from './failure.ts';

/** The identity of a caller, as in Instar's request headers. */
export interface CallerIdentity {
  readonly session: string;
  readonly agent: string;
  readonly runKind: string;
  readonly domain?: string;
  readonly project?: string;
  /** This is the session's last turn. */
  readonly isLast?: boolean;
}

/** One whole reply. A failure is a value; `turn` and `generation` are absent when no gateway answered. */
export interface GatewayReply {
  readonly text: string;
  readonly calls: readonly ToolCallPart[];
  readonly usage?: Usage;
  readonly failure?: Failure;
  /** The gateway's id of this turn, the generation and the lessons it showed the model. */
  readonly turn?: string;
  readonly generation?: number;
  /** Who answered: `provider/model`, perhaps a fallback, or a policy's version. */
  readonly policy?: string;
  readonly lessons: readonly string[];
}

/** Sends a request through the gateway, like every other client. Never rejects. */
export type GatewayClient = (
  request: ChatRequest,
  speaker: CallerIdentity,
  signal: AbortSignal,
) => Promise<GatewayReply>;
