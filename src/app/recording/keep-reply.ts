import zlib from 'node:zlib';
import type { AssistantPart, ChatEvent, StopReason, Usage } from '../../core/chat.ts';
import { asObject, parseJson } from '../../core/json.ts';
import type { Wire } from '../../core/wire.ts';
import { createSseDecoder } from '../../wire/sse.ts';

/** A model's reply in the internal format, as recorded. */
export interface KeptReply {
  readonly model: string;
  readonly content: readonly AssistantPart[];
  readonly stop?: StopReason;
  readonly usage?: Usage;
  /** The kind of failure that ended it. */
  readonly failure?: string;
}

const MOST_BYTES = 64 * 1024 * 1024;

/** Decodes the bytes that went to the client. Undefined when they are not a reply of that wire. */
export function readReply(
  wire: Wire,
  bytes: Buffer,
  contentType: string,
  contentEncoding: string | undefined,
): KeptReply | undefined {
  const plain = inflate(bytes, contentEncoding);
  if (plain === undefined) return undefined;
  const events = contentType.startsWith('text/event-stream')
    ? readStream(wire, plain)
    : readWhole(wire, plain);
  return events.some((event) => event.type === 'reply-start') ? foldReply(events) : undefined;
}

function readStream(wire: Wire, bytes: Buffer): readonly ChatEvent[] {
  const decoder = wire.createStreamDecoder();
  const events = createSseDecoder().push(bytes);
  return [...events.flatMap((event) => decoder.decode(event)), ...decoder.end()];
}

function readWhole(wire: Wire, bytes: Buffer): readonly ChatEvent[] {
  return wire.decodeReply(asObject(parseJson(bytes.toString('utf8'))));
}

function foldReply(events: readonly ChatEvent[]): KeptReply {
  let reply: KeptReply = { model: '', content: [] };
  const content: AssistantPart[] = [];
  const calls = new Map<string, number>();
  for (const event of events) {
    const last = content.at(-1);
    if (event.type === 'reply-start') reply = { ...reply, model: event.model };
    else if (event.type === 'text-delta') {
      if (last?.type === 'text') content[content.length - 1] = { ...last, text: last.text + event.text };
      else content.push({ type: 'text', text: event.text });
    } else if (event.type === 'reasoning-delta') {
      if (last?.type === 'reasoning') content[content.length - 1] = { ...last, text: last.text + event.text };
      else content.push({ type: 'reasoning', text: event.text });
    } else if (event.type === 'tool-start') {
      calls.set(event.id, content.length);
      content.push({ type: 'tool-call', id: event.id, name: event.name, arguments: '' });
    } else if (event.type === 'tool-delta') {
      const at = calls.get(event.id) ?? -1;
      const call = content[at];
      if (call?.type === 'tool-call') content[at] = { ...call, arguments: call.arguments + event.json };
    } else if (event.type === 'reply-end') {
      reply = { ...reply, stop: event.stop, ...(event.usage ? { usage: event.usage } : {}) };
    } else if (event.type === 'failure') reply = { ...reply, failure: event.failure.kind };
  }
  return { ...reply, content };
}

function inflate(bytes: Buffer, encoding: string | undefined): Buffer | undefined {
  const options = { maxOutputLength: MOST_BYTES, finishFlush: zlib.constants.Z_SYNC_FLUSH };
  try {
    if (encoding === undefined || encoding === 'identity') return bytes;
    if (encoding === 'gzip' || encoding === 'x-gzip') return zlib.gunzipSync(bytes, options);
    if (encoding === 'deflate') return zlib.inflateSync(bytes, options);
    if (encoding === 'br') return zlib.brotliDecompressSync(bytes, { maxOutputLength: MOST_BYTES });
    return undefined;
  } catch {
    return undefined;
  }
}
