import {
  asArray,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
  parseJson,
} from '../core/json.ts';
import type { Outline, WireName } from '../core/wire.ts';
import { type ChatWord, parseChatWord, readTypedWords, unquote } from '../text/chat-word.ts';
import { type ByteSpan, eachElement, OPEN_BRACKET, skipValue } from '../wire/json-scan.ts';
import { type ClientName, type TurnKind, toSearchBytes } from './client-clues.ts';
import type { Identity } from './identify.ts';

/** A word to Instar in a request, with what the answer before it was about. */
export interface FoundChatWord {
  readonly word: ChatWord;
  /** What the person had asked before, if the request has it. */
  readonly about?: string;
}

/** The end of a conversation in which a word may stand: behind it a client may put messages of its own. */
const END_BYTES = 16 * 1024;
/** "instar" and "Instar", and "INSTAR". */
const NAMES = ['nstar', 'NSTAR'].map(toSearchBytes);
const COLON = /^\s*(?::|\xef\xbc\x9a)/;
/** Where a colon must be, seen from the name. */
const NEAR_COLON = 8;
const LARGEST_MESSAGE = 64 * 1024;
const MOST_MESSAGES = 400;

/**
 * The word to Instar that a request ends with: see `text/chat-word` for what is one. Nearly every request is ruled out by a
 * search of its last bytes; nothing is parsed before that. Only the user's own agent is heard: a title generator or a sub-agent
 * may be shown a conversation that has such a message.
 */
export function findChatWord(
  kind: TurnKind,
  wire: WireName,
  body: Buffer | undefined,
  outline: Outline | undefined,
  { role, client }: Pick<Identity, 'role' | 'client'>,
): FoundChatWord | undefined {
  if (kind !== 'chat' || role !== 'main' || body === undefined || outline === undefined) return undefined;
  const span = outline.member(wire === 'openai-responses' ? 'input' : 'messages');
  if (span === undefined || !mayHoldWord(body, span)) return undefined;
  return readChatWord(body, span, client);
}

function mayHoldWord(bytes: Buffer, [start, end]: ByteSpan): boolean {
  const tail = bytes.subarray(Math.max(start, end - END_BYTES), end);
  return NAMES.some((name) => {
    for (let at = tail.indexOf(name); at >= 0; at = tail.indexOf(name, at + 1)) {
      const from = at + name.length;
      if (COLON.test(tail.toString('latin1', from, from + NEAR_COLON))) return true;
    }
    return false;
  });
}

function readChatWord(
  bytes: Buffer,
  span: ByteSpan,
  client: ClientName | undefined,
): FoundChatWord | undefined {
  let word: ChatWord | undefined;
  for (const message of messagesFromEnd(bytes, span)) {
    const { by, typed } = readMessage(message);
    if (by === 'client') continue;
    if (word === undefined) {
      word = by === 'person' ? parseChatWord(client === 'opencode' ? unquote(typed) : typed) : undefined;
      if (word === undefined) return undefined;
    } else if (typed !== '' && parseChatWord(unquote(typed)) === undefined) return { word, about: typed };
  }
  return word && { word };
}

/** From the newest on. A large message is no word, and stands for nothing that anyone typed. */
function* messagesFromEnd(bytes: Buffer, span: ByteSpan): Generator<Json | undefined> {
  const parse = ([start, end]: ByteSpan): Json | undefined =>
    end - start > LARGEST_MESSAGE ? undefined : parseJson(bytes.toString('utf8', start, end));
  if (bytes[span[0]] !== OPEN_BRACKET) return yield parse(span);
  const spans: ByteSpan[] = [];
  eachElement(bytes, span[0], (at) => {
    const end = skipValue(bytes, at);
    if (end > 0) spans.push([at, end]);
    return end;
  });
  for (const one of spans.slice(-MOST_MESSAGES).reverse()) yield parse(one);
}

interface SaidInMessage {
  /** `client`: nobody typed any of it. `other`: an answer, a tool's result, a picture, or a message that cannot be read. */
  readonly by: 'person' | 'client' | 'other';
  /** What a person typed. */
  readonly typed: string;
}

const OTHER: SaidInMessage = { by: 'other', typed: '' };
const CLIENT: SaidInMessage = { by: 'client', typed: '' };
const TEXT_TYPES: ReadonlySet<string> = new Set(['text', 'input_text']);

function readMessage(message: Json | undefined): SaidInMessage {
  if (typeof message === 'string') return toSaid([message]);
  if (!isObject(message)) return OTHER;
  const { role, content, type } = message as JsonObject;
  if (type !== undefined && type !== 'message') return OTHER;
  if (role === 'system' || role === 'developer') return CLIENT;
  if (role !== 'user') return OTHER;
  if (typeof content === 'string') return toSaid([content]);
  const parts = asArray(content).map(asObject);
  const texts = parts.filter(({ type: kind }) => TEXT_TYPES.has(asString(kind) ?? ''));
  const results = parts.filter(({ type: kind }) => kind === 'tool_result');
  const { by, typed } = toSaid(texts.map(({ text }) => asString(text) ?? ''));
  const isWhole = texts.length + results.length === parts.length;
  // The result of a tool that a person stopped comes in one message with what they typed then.
  return isWhole && (by === 'person' || results.length === 0) ? { by, typed } : { by: 'other', typed };
}

function toSaid(texts: readonly string[]): SaidInMessage {
  const typed = texts.map(readTypedWords).filter((words) => words !== '');
  return typed.length === 0 ? CLIENT : { by: 'person', typed: typed.join('\n') };
}
