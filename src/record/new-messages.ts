import type { ChatMessage } from '../core/chat.ts';
import { asString, type Json, type JsonObject } from '../core/json.ts';
import type { Records, TurnView } from '../core/store.ts';
import { WireError, type WireName } from '../core/wire.ts';
import { wires } from '../wire/wires.ts';
import { type BlockCache, readLastItems, readRecordedRequest } from './request-manifest.ts';

/** The number of elements that is read first; four times as many each time that they are not enough. */
const FIRST_READ = 8;
const GROWTH = 4;

/**
 * The messages that a turn's request added to the conversation: those after the model's last reply. Only the end of the
 * request is read. Undefined when it was not stored, was erased, or cannot be decoded.
 */
export async function readNewMessages(
  view: Pick<TurnView, 'request' | 'wire'>,
  records: Pick<Records, 'block'>,
  known: BlockCache,
): Promise<readonly ChatMessage[] | undefined> {
  const messages = await readMessagesUntil(view, records, known, (read) => lastReply(read) >= 0);
  return messages?.slice(lastReply(messages) + 1);
}

/** The last messages of a turn's request, oldest first, at least so many that they are enough, or else all. */
export async function readMessagesUntil(
  view: Pick<TurnView, 'request' | 'wire'>,
  records: Pick<Records, 'block'>,
  known: BlockCache,
  isEnough: (messages: readonly ChatMessage[]) => boolean,
): Promise<readonly ChatMessage[] | undefined> {
  const { request, wire } = view;
  if (request === undefined) return undefined;
  for (let most = FIRST_READ; ; most *= GROWTH) {
    const read = await readLastItems(request, records, known, { key: LISTS[wire], most });
    if (read === undefined) return undefined;
    // Text in place of a list of messages.
    if (read.items.length === 0) return decode(wire, await readRecordedRequest(request, records, known));
    const messages = decode(wire, { [LISTS[wire]]: read.items as Json[] });
    if (read.isWhole || (messages !== undefined && isEnough(messages))) return messages;
  }
}

const LISTS: Readonly<Record<WireName, string>> = {
  anthropic: 'messages',
  'openai-chat': 'messages',
  'openai-responses': 'input',
};

function decode(wire: WireName, body: JsonObject | undefined): readonly ChatMessage[] | undefined {
  if (body === undefined) return undefined;
  try {
    const { messages } = wires[wire].decodeRequest({ ...body, model: asString(body.model) ?? '-' });
    // The beginning of a reply that the model is to continue is no reply yet.
    return messages.at(-1)?.role === 'assistant' ? messages.slice(0, -1) : messages;
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

const lastReply = (messages: readonly ChatMessage[]): number =>
  messages.findLastIndex(({ role }) => role === 'assistant');
