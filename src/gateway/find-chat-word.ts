import type { ClientName } from '../core/client-name.ts';
import {
  asArray,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
  parseJson,
} from '../core/json.ts';
import { type ChatWord, parseChatWord, readTypedWords, unquote } from '../text/chat-word.ts';
import { type ByteSpan, eachElement, OPEN_BRACKET, skipValue } from '../wire/json-scan.ts';
import type { Identity } from './identify.ts';
import type { Turn } from './turn.ts';

/** A word to Instar in a request, with what the answer before it was about. */
export interface FoundChatWord {
  readonly word: ChatWord;
  /** What the person had asked before, if the request has it. */
  readonly about?: string;
}

type ChatTurn = Pick<Turn, 'kind' | 'body' | 'outline'> & {
  readonly wire: Pick<Turn['wire'], 'name'>;
  readonly identity: Pick<Identity, 'role' | 'client'>;
};

/** The end of a message in which a word may stand: clients put their own text before it, and little behind it. */
const END_BYTES = 2048;
const LARGEST_MESSAGE = 64 * 1024;
const MOST_MESSAGES = 400;

/**
 * The word to Instar that a request ends with: see `text/chat-word` for what is one. Nearly every request is ruled out by a
 * search of the last bytes of its last messages; nothing is parsed before that. Only the user's own agent is heard: a title generator or a sub-agent
 * may be shown a conversation that has such a message.
 */
export function findChatWord({
  kind,
  wire,
  body,
  outline,
  identity: { role, client },
}: ChatTurn): FoundChatWord | undefined {
  if (kind !== 'chat' || role !== 'main' || body === undefined || outline === undefined) return undefined;
  const span = outline.member(wire.name === 'openai-responses' ? 'input' : 'messages');
  if (span === undefined || !mayHoldWord(body, span, outline.newest())) return undefined;
  return readChatWord(body, span, client);
}

/** Whether one of the last messages has "instar" and a colon near its end. A client may put messages of its own behind it. */
function mayHoldWord(bytes: Buffer, [start, end]: ByteSpan, newest: readonly number[]): boolean {
  if (bytes[start] !== OPEN_BRACKET) return holdsName(bytes, Math.max(start, end - END_BYTES), end);
  let to = end;
  for (const from of newest) {
    if (from < start || from > to) return false;
    if (holdsName(bytes, Math.max(from, to - END_BYTES), to)) return true;
    if (!CLIENT_START.test(bytes.toString('latin1', from, Math.min(to, from + START_BYTES)))) return false;
    to = from;
  }
  return false;
}

/** How a message begins that a client puts behind the person's. */
const CLIENT_START = /"role"\s*:\s*"(?:system|developer)"|"(?:\\n|\s)*<(?:<<BEGIN_|[a-z_-]{3,40}[>\s])/;
const START_BYTES = 256;

/** How far to go on when a byte (in lower case) is not the end of "instar": past it, or to where it could be a part of it. */
const STEPS = new Uint8Array(256).fill(6);
for (const [index, letter] of [...'insta'].entries()) STEPS[letter.charCodeAt(0)] = 5 - index;
const [A, R, T] = [0x61, 0x72, 0x74];
const NAME = /^instar\s*(?::|\xef\xbc\x9a)/i;
/** How far behind the name its colon may end. */
const LONGEST_END = 9;

/** Searches six bytes at a time for the name in any case: several times faster than `indexOf` for so short a word. */
function holdsName(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from + 5; at < to; ) {
    const letter = lower(bytes, at);
    if (letter !== R) at += STEPS[letter] ?? 1;
    else if (lower(bytes, at - 1) !== A || lower(bytes, at - 2) !== T) at++;
    else if (NAME.test(bytes.toString('latin1', at - 5, Math.min(to, at + LONGEST_END)))) return true;
    else at++;
  }
  return false;
}

/** Of a letter; other bytes become anything but a letter's. */
const lower = (bytes: Buffer, at: number): number => (bytes[at] ?? 0) | 0x20;

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
