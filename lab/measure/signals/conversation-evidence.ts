import type { ChatMessage, ChatRequest } from '../../../src/core/chat.ts';
import type { TurnEvidence } from '../../../src/core/evidence.ts';
import { asArray, asObject, asString, isObject, type Json, type JsonObject } from '../../../src/core/json.ts';
import type { DecodedTurn, TurnView } from '../../../src/core/store.ts';
import { WireError, type WireName } from '../../../src/core/wire.ts';
import { createTurnEvidence } from '../../../src/evidence/turn-evidence.ts';
import { wires } from '../../../src/wire/wires.ts';

/** One labelled conversation, as its client sent it. Only `messages` is needed. */
interface ConversationRow {
  readonly id: string;
  readonly messages: readonly Json[];
  readonly client?: string;
  readonly agent?: string;
  readonly system?: Json;
  readonly tools?: Json;
}

/**
 * The evidence of the turn that a conversation is labelled for: its last reply, with what followed it (tool results, the user's
 * next message), or with nothing when the conversation ends with the reply. It is read on the product's own path: a wire decodes
 * the messages, `createTurnEvidence` reads the turn from the request that made it and the request after it.
 */
export function readConversationEvidence(row: ConversationRow): TurnEvidence {
  const { messages, tools } = decodeConversation(row);
  const replies = messages.flatMap(({ role }, index) =>
    role === 'assistant' && messages[index - 1]?.role !== 'assistant' ? [index] : [],
  );
  const from = replies.at(-1);
  if (from === undefined) throw new Error(`${row.id}: no reply of an assistant`);
  const to = endOf(messages, from);
  const next = messages.findIndex(({ role }, index) => index >= to && role === 'assistant');
  const after = messages.slice(0, next < 0 ? messages.length : next);
  const turn = decodedTurn(row, messages.slice(0, from), tools, messages.slice(from, to));
  const isFollowed = to < messages.length;
  return createTurnEvidence({
    session: row.id,
    turn,
    after: isFollowed ? decodedTurn(row, after, tools, []) : undefined,
    given: [],
  });
}

/** The index behind the reply that begins at `from`. */
function endOf(messages: readonly ChatMessage[], from: number): number {
  const end = messages.findIndex(({ role }, index) => index > from && role !== 'assistant');
  return end < 0 ? messages.length : end;
}

function decodedTurn(
  row: ConversationRow,
  messages: readonly ChatMessage[],
  tools: ChatRequest['tools'],
  replies: readonly ChatMessage[],
): DecodedTurn {
  const reply = replies.flatMap((message) => (message.role === 'assistant' ? message.content : []));
  const view: TurnView = {
    id: row.id,
    session: row.id,
    agent: row.agent ?? row.client ?? 'unknown',
    role: 'main',
    wire: 'openai-chat',
    model: '',
    generation: 0,
    policy: '',
    lessons: [],
    startedAt: 0,
    status: 'complete',
  };
  const request: ChatRequest = { model: '', system: [], messages, tools, stream: false };
  const stop = reply.some(({ type }) => type === 'tool-call') ? ('tool-calls' as const) : ('end' as const);
  return { view, request, reply, stop };
}

const ITEM_TYPES = new Set([
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'reasoning',
  'message',
]);
const BLOCK_TYPES = new Set(['tool_use', 'tool_result', 'thinking']);

/** Decodes with the wire that the messages are written in; what no wire accepts is put into the form of one first. */
function decodeConversation(row: ConversationRow): Pick<ChatRequest, 'messages' | 'tools'> {
  const items = row.messages.map(asObject);
  try {
    return decode(wireOf(items), items, row);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return decode('anthropic', toBlocks(items), { ...row, tools: [] });
  }
}

function decode(
  wire: WireName,
  items: readonly JsonObject[],
  { system, tools }: Pick<ConversationRow, 'system' | 'tools'>,
): Pick<ChatRequest, 'messages' | 'tools'> {
  const instructions = system === undefined ? [] : [{ role: 'system', content: system }];
  const list = wire === 'openai-responses' ? { input: items } : { messages: [...instructions, ...items] };
  const decoded = wires[wire].decodeRequest({ model: 'm', max_tokens: 1, ...list, tools: tools ?? [] });
  return { messages: decoded.messages, tools: decoded.tools };
}

function wireOf(items: readonly JsonObject[]): WireName {
  if (items.some(({ type }) => typeof type === 'string' && ITEM_TYPES.has(type))) return 'openai-responses';
  const isFlagged = ({ role, is_error, isError }: JsonObject): boolean =>
    role === 'tool' && (is_error !== undefined || isError !== undefined);
  if (items.some(isFlagged)) throw new WireError('a flag that only the form of blocks has');
  const blocks = items.flatMap(({ content }) => asArray(content).map(asObject));
  return blocks.some(({ type }) => BLOCK_TYPES.has(asString(type) ?? '')) ? 'anthropic' : 'openai-chat';
}

const ROLES: Readonly<Record<string, 'user' | 'assistant' | 'system'>> = {
  user: 'user',
  human: 'user',
  assistant: 'assistant',
  ai: 'assistant',
  model: 'assistant',
  system: 'system',
  developer: 'system',
};

/** Any mixture of the known forms as messages with blocks. Calls without an id get one, and results the next unanswered one. */
function toBlocks(items: readonly JsonObject[]): readonly JsonObject[] {
  const open: string[] = [];
  let count = 0;
  const call = (id: Json | undefined, name: Json | undefined, given: Json | undefined): JsonObject => {
    const known = asString(id) ?? `call_${++count}`;
    open.push(known);
    return { type: 'tool_use', id: known, name: asString(name) ?? 'tool', input: toInput(given) };
  };
  const result = (id: Json | undefined, content: Json | undefined, flag: Json | undefined): JsonObject => {
    const known = asString(id) ?? open[0] ?? `call_${++count}`;
    open.splice(open.indexOf(known), open.includes(known) ? 1 : 0);
    return {
      type: 'tool_result',
      tool_use_id: known,
      content: toText(content),
      ...(flag === true ? { is_error: true } : {}),
    };
  };
  const blocksOf = (item: JsonObject): readonly JsonObject[] => {
    const list = asArray(item.content ?? item.parts).map((part) =>
      typeof part === 'string' ? { text: part } : asObject(part),
    );
    const plain = asString(item.content ?? item.text);
    const own = plain === undefined || plain === '' ? [] : [{ type: 'text', text: plain }];
    const parts = list.flatMap((part): readonly JsonObject[] => {
      const { functionCall, functionResponse } = part;
      if (isObject(functionCall)) return [call(functionCall.id, functionCall.name, functionCall.args)];
      if (isObject(functionResponse))
        return [result(functionResponse.id, functionResponse.response, undefined)];
      if (part.type === 'tool_use') return [call(part.id, part.name, part.input)];
      if (part.type === 'tool_result')
        return [result(part.tool_use_id, part.content, part.is_error ?? part.isError)];
      const text = asString(part.text) ?? '';
      return text === '' || part.type === 'thinking' ? [] : [{ type: 'text', text }];
    });
    const calls = asArray(item.tool_calls).map((value) => {
      const { id, function: made, name, arguments: given, args } = asObject(value);
      const { name: inner, arguments: text } = asObject(made);
      return call(id, inner ?? name, text ?? given ?? args);
    });
    return [...own, ...parts, ...calls];
  };
  return items.flatMap((item): readonly JsonObject[] => {
    const flag = item.is_error ?? item.isError;
    if (item.type === 'function_call' || item.type === 'custom_tool_call')
      return [{ role: 'assistant', content: [call(item.call_id, item.name, item.arguments ?? item.input)] }];
    if (item.type === 'local_shell_call')
      return [{ role: 'assistant', content: [call(item.call_id, 'local_shell', item.action)] }];
    if (asString(item.type)?.endsWith('_call_output'))
      return [{ role: 'user', content: [result(item.call_id, item.output, flag)] }];
    if (item.role === 'tool' || item.role === 'function' || item.role === 'toolResult')
      return [{ role: 'user', content: [result(item.tool_call_id ?? item.toolCallId, item.content, flag)] }];
    const role = ROLES[asString(item.role) ?? ''];
    const content = blocksOf(item);
    return role === undefined || content.length === 0 ? [] : [{ role, content }];
  });
}

function toInput(given: Json | undefined): JsonObject {
  if (isObject(given)) return given;
  if (typeof given !== 'string') return given === undefined ? {} : { input: given };
  try {
    const parsed: unknown = JSON.parse(given);
    return isObject(parsed) ? parsed : { input: given };
  } catch {
    return { input: given };
  }
}

function toText(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content) && content.every((part) => typeof asObject(part).text === 'string'))
    return content.map((part) => asString(asObject(part).text) ?? '').join('\n');
  return content === undefined || content === null ? '' : JSON.stringify(content);
}
