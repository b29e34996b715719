import type { ChatEvent, ChatRequest } from './chat.ts';
import type { Failure } from './failure.ts';
import type { JsonObject } from './json.ts';

export const WIRE_NAMES = ['openai-chat', 'openai-responses', 'anthropic'] as const;
export type WireName = (typeof WIRE_NAMES)[number];

/** Text to put into a body at a byte offset; already escaped for the place it goes to. */
export interface Insertion {
  readonly at: number;
  readonly text: string;
}

/** What the gateway must know of a body to route and augment it, found in one pass over its bytes. */
export interface Outline {
  readonly model: string | undefined;
  /** Where the model's JSON string stands, quotes included. */
  readonly modelSpan: readonly [start: number, end: number] | undefined;
  readonly stream: boolean;
  /** Where the value of a member of the body's object stands. */
  member(name: string): readonly [start: number, end: number] | undefined;
  /**
   * Where a block of lessons goes: after the client's last leading system text. Only insertions, so that taking
   * them out again gives the client's bytes. Empty when the body has no safe place.
   */
  place(block: string): readonly Insertion[];
}

/** One server-sent event. */
export interface SseEvent {
  readonly event: string | undefined;
  readonly data: string;
}

/** Reads one streamed reply. Events follow the grammar of `ChatEvent`; after its last event it gives nothing. */
export interface StreamDecoder {
  decode(event: SseEvent): readonly ChatEvent[];
  /** The stream ended: a `truncated` failure unless the reply was already over. */
  end(): readonly ChatEvent[];
}

/** Writes one streamed reply as server-sent events, terminator included. */
export interface StreamEncoder {
  encode(event: ChatEvent): string;
}

/**
 * One foreign format, read and written. Decoding a request throws `WireError` for what the format forbids;
 * nothing else here throws, whatever a stranger sends.
 */
export interface Wire {
  readonly name: WireName;
  /** Added to a provider's base path, such as `/chat/completions`. */
  readonly path: string;
  /** Undefined when the body is not a JSON object: it is then passed on as it is. */
  outline(body: Uint8Array): Outline | undefined;
  decodeRequest(body: JsonObject): ChatRequest;
  encodeRequest(request: ChatRequest): JsonObject;
  /** A whole, unstreamed reply. */
  decodeReply(body: JsonObject): readonly ChatEvent[];
  encodeReply(events: readonly ChatEvent[]): JsonObject;
  createStreamDecoder(): StreamDecoder;
  /** `request` is the caller's own body, where the format lets it choose what the stream contains. */
  createStreamEncoder(request?: JsonObject): StreamEncoder;
  decodeFailure(status: number, body: string): Failure;
  encodeFailure(failure: Failure): JsonObject;
  /** The event that tells a client, in the middle of a stream, that there will be no more. */
  encodeStreamFailure(failure: Failure): string;
}

/** The caller sent something its own format does not allow; the message names the field and the mend. */
export class WireError extends Error {
  override readonly name = 'WireError';
}
