import type { ChatEvent, ChatRequest } from './chat.ts';
import type { Failure } from './failure.ts';
import type { JsonObject } from './json.ts';

export const WIRE_NAMES = ['openai-chat', 'openai-responses', 'anthropic'] as const;
export type WireName = (typeof WIRE_NAMES)[number];

/** Text to insert into a body at a byte offset, already escaped for its place. */
export interface Insertion {
  readonly at: number;
  readonly text: string;
}

/** What the gateway needs of a body to route and augment it, found in one pass over its bytes. */
export interface Outline {
  readonly model: string | undefined;
  /** The span of the model's JSON string, quotes included. */
  readonly modelSpan: readonly [start: number, end: number] | undefined;
  readonly stream: boolean;
  /** How many messages it has. More than the limit: the walk ended there, and the outline is of no further use. */
  readonly messages: number;
  /** The offsets of the last messages, at most three, from the last one on. */
  newest(): readonly number[];
  /** The span of the value of a top-level member. */
  member(name: string): readonly [start: number, end: number] | undefined;
  /**
   * The insertions for a block of lessons, after the client's last leading system text. Removing them gives the client's
   * bytes again. Empty when the body has no safe place.
   */
  place(block: string): readonly Insertion[];
}

/** One server-sent event. */
export interface SseEvent {
  readonly event: string | undefined;
  readonly data: string;
}

/** Decodes one streamed reply. Events follow the grammar of `ChatEvent`; there are none after the last one. */
export interface StreamDecoder {
  decode(event: SseEvent): readonly ChatEvent[];
  /** The stream ended: a `truncated` failure unless the reply was already over. */
  end(): readonly ChatEvent[];
}

/** Encodes one streamed reply as server-sent events, terminator included. */
export interface StreamEncoder {
  encode(event: ChatEvent): string;
}

/**
 * One foreign format, decoded and encoded. Decoding a request throws `WireError` for what the format forbids; nothing else
 * here throws, whatever the input.
 */
export interface Wire {
  readonly name: WireName;
  /** Added to a provider's base path, such as `/chat/completions`. */
  readonly path: string;
  /** Undefined when the body is not a JSON object: it is then forwarded unchanged. */
  outline(body: Uint8Array, mostMessages?: number): Outline | undefined;
  decodeRequest(body: JsonObject): ChatRequest;
  encodeRequest(request: ChatRequest): JsonObject;
  /** A whole, unstreamed reply. */
  decodeReply(body: JsonObject): readonly ChatEvent[];
  encodeReply(events: readonly ChatEvent[]): JsonObject;
  createStreamDecoder(): StreamDecoder;
  /** `request` is the caller's body: in some formats it chooses what the stream contains. */
  createStreamEncoder(request?: JsonObject): StreamEncoder;
  decodeFailure(status: number, body: string): Failure;
  encodeFailure(failure: Failure): JsonObject;
  /** The event that ends a stream with a failure. */
  encodeStreamFailure(failure: Failure): string;
}

/** The caller sent something that its format does not allow; the message names the field and the fix. */
export class WireError extends Error {
  override readonly name = 'WireError';
}
