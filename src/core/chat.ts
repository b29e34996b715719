import type { Failure } from './failure.ts';
import type { Json, JsonObject } from './json.ts';

/** One conversation turn in the internal format, which every wire decodes to and encodes from. */
export interface ChatRequest {
  readonly model: string;
  /** The leading system text, one part per block the client sent. */
  readonly system: readonly TextPart[];
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly Tool[];
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly name: string };
  readonly parallelTools?: boolean;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly stop?: readonly string[];
  readonly effort?: Effort;
  readonly format?: ReplyFormat;
  /** The caller's opaque end-user id. */
  readonly user?: string;
  readonly stream: boolean;
}

export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

export type ReplyFormat =
  | { readonly type: 'json' }
  | {
      readonly type: 'json-schema';
      readonly name: string;
      readonly schema: JsonObject;
      readonly strict?: boolean;
    };

export interface Tool {
  readonly name: string;
  readonly description?: string;
  readonly parameters: JsonObject;
}

export type ChatMessage =
  | { readonly role: 'user'; readonly content: readonly UserPart[] }
  /** Instructions given in the middle of a conversation; leading ones are `ChatRequest.system`. */
  | { readonly role: 'system'; readonly content: readonly TextPart[] }
  | { readonly role: 'assistant'; readonly content: readonly AssistantPart[] }
  | {
      readonly role: 'tool';
      readonly callId: string;
      readonly content: readonly UserPart[];
      readonly isError?: boolean;
    };

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  /** A client's prompt-cache mark, kept between wires that have such marks. */
  readonly cacheControl?: Json;
}
export interface ImagePart {
  readonly type: 'image';
  /** An https URL or a `data:` URL. */
  readonly url: string;
}
export interface FilePart {
  readonly type: 'file';
  /** An https URL or a `data:` URL. */
  readonly url: string;
  readonly name?: string;
}
export interface ReasoningPart {
  readonly type: 'reasoning';
  readonly text: string;
  /** The provider's signature of the text; without it the part cannot be sent back to that provider. */
  readonly signature?: string;
}
export interface ToolCallPart {
  readonly type: 'tool-call';
  readonly id: string;
  readonly name: string;
  /** The arguments as JSON text, exactly as the model wrote them (it may be malformed). */
  readonly arguments: string;
}
export type UserPart = TextPart | ImagePart | FilePart;
export type AssistantPart = TextPart | ReasoningPart | ToolCallPart;

/** Token counts; `inputTokens` includes tokens read from or written to a prompt cache. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
}

/** What two replies used together. */
export function totalUsage(a: Usage | undefined, b: Usage): Usage {
  if (a === undefined) return b;
  const sum: Record<string, number> = {};
  for (const [name, count] of [...Object.entries(a), ...Object.entries(b)])
    sum[name] = (sum[name] ?? 0) + count;
  return {
    ...sum,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
  };
}

export type StopReason = 'end' | 'length' | 'tool-calls' | 'stop-sequence' | 'filter';

/**
 * A reply in order. The grammar:
 *   reply-start (text-delta | reasoning-delta | reasoning-signature | tool-start | tool-delta)* (reply-end | failure)
 * or a lone failure. A `tool-delta` carries the id of a `tool-start` before it; the deltas of one id, joined, are
 * the arguments. A `reasoning-signature` closes the reasoning before it.
 */
export type ChatEvent =
  | { readonly type: 'reply-start'; readonly id: string; readonly model: string }
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'reasoning-delta'; readonly text: string }
  | { readonly type: 'reasoning-signature'; readonly signature: string }
  | { readonly type: 'tool-start'; readonly id: string; readonly name: string }
  | { readonly type: 'tool-delta'; readonly id: string; readonly json: string }
  | { readonly type: 'reply-end'; readonly stop: StopReason; readonly usage?: Usage }
  | { readonly type: 'failure'; readonly failure: Failure };

export interface ChatOptions {
  readonly signal: AbortSignal;
  /** The caller's own credential headers, for a provider entry that has no key of its own. */
  readonly credentials?: Readonly<Record<string, string>>;
  /** The caller's `traceparent` and `tracestate`, passed on as they are. */
  readonly trace?: Readonly<Record<string, string>>;
  /** The gateway's turn that this request belongs to; absent outside a gateway. */
  readonly turn?: TurnMark;
  /** Instead of those in the settings; a model that is not called over HTTP has none of them. */
  readonly limits?: ChatLimits | undefined;
}

/** Limits of one call of a model. */
export interface ChatLimits {
  /** Tries after the first. */
  readonly retries?: number;
  /** See `Timeouts`. */
  readonly headersMs?: number;
  readonly idleMs?: number;
}

/** The part of a turn that an embedded model needs. */
export interface TurnMark {
  readonly id: string;
  readonly session: string;
  /** The library generation that its prompt was built under. */
  readonly generation: number;
}

/**
 * A model is a function. It never throws and never rejects: a failure is its last event. It stops its work when the
 * signal aborts or the reader leaves the iteration.
 */
export type ChatModel = (request: ChatRequest, options: ChatOptions) => AsyncIterable<ChatEvent>;
