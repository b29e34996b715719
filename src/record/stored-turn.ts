import type { AssistantPart, ChatMessage, StopReason } from '../core/chat.ts';
import { asArray, asObject, asString, compact, type JsonObject, parseJson } from '../core/json.ts';
import type { DecodedTurn, Records, TurnView } from '../core/store.ts';
import { WireError } from '../core/wire.ts';
import { wires } from '../wire/wires.ts';
import { type BlockCache, readRecordedRequest } from './request-manifest.ts';

const STOPS: readonly string[] = [
  'end',
  'length',
  'tool-calls',
  'stop-sequence',
  'filter',
] satisfies readonly StopReason[];

/**
 * Decodes a recorded turn from its stored blocks. Undefined when the request was erased or its wire cannot decode it.
 * Turns of one session share `known`, so that a block is parsed once.
 */
export async function readStoredTurn(
  view: TurnView,
  records: Pick<Records, 'block'>,
  known: BlockCache,
): Promise<DecodedTurn | undefined> {
  const body =
    view.request === undefined ? undefined : await readRecordedRequest(view.request, records, known);
  if (body === undefined) return undefined;
  const { parts: reply, stop } = (await readStoredReply(view, records)) ?? { parts: [], stop: undefined };
  // A request without a model was answered by the one that the config names.
  const model = asString(body.model) || view.policy.replace(/^[^/]*\//, '') || '-';
  try {
    return { view, request: wires[view.wire].decodeRequest({ ...body, model }), reply, stop };
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

/** The recorded reply of a turn; undefined when there is none, or it was erased. */
export async function readStoredReply(
  { reply }: Pick<TurnView, 'reply'>,
  records: Pick<Records, 'block'>,
): Promise<{ readonly parts: readonly AssistantPart[]; readonly stop: StopReason | undefined } | undefined> {
  const stored = reply === undefined ? undefined : await records.block(reply);
  if (stored === undefined) return undefined;
  const { content, stop } = asObject(parseJson(stored || '{}'));
  return { parts: asArray(content).flatMap(readPart), stop: isStop(stop) ? stop : undefined };
}

function readPart(value: unknown): readonly AssistantPart[] {
  const part = asObject(value);
  const text = asString(part.text) ?? '';
  if (part.type === 'text') return [{ type: 'text', text }];
  if (part.type === 'reasoning')
    return [compact({ type: 'reasoning' as const, text, signature: asString(part.signature) })];
  if (part.type !== 'tool-call') return [];
  const [id = '', name = '', given = ''] = [part.id, part.name, part.arguments].map(asString);
  return [{ type: 'tool-call', id, name, arguments: given }];
}

const isStop = (value: unknown): value is StopReason => typeof value === 'string' && STOPS.includes(value);

/**
 * A decoded turn as chat messages that training programs read: `prompt`, `completion` and `tools` of OpenAI's chat format. Contents
 * are one text each, since a table has one type per column; pictures are named and not copied.
 */
export function encodeChatRow({ request, reply }: DecodedTurn): JsonObject {
  const answer: ChatMessage = { role: 'assistant', content: reply };
  const { messages, tools } = asObject(
    wires['openai-chat'].encodeRequest({ ...request, messages: [...request.messages, answer] }),
  );
  const rows = asArray(messages).map(asObject).map(plainMessage);
  return { prompt: rows.slice(0, -1), completion: rows.slice(-1), tools: tools ?? [] };
}

function plainMessage({ role, content, tool_calls, tool_call_id }: JsonObject): JsonObject {
  const parts = asArray(content).map(asObject);
  const text = parts.map((part) => asString(part.text) ?? `[${asString(part.type) ?? 'part'}]`).join('\n');
  return compact({
    role,
    content: asString(content) ?? text,
    tool_calls,
    tool_call_id,
  });
}

/** Reads turns with what they share read once. */
export function createTurnDecoder(store: Parameters<typeof readStoredTurn>[1]) {
  const known: BlockCache = new Map();
  return (view: TurnView) => readStoredTurn(view, store, known);
}
