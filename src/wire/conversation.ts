import type { Insertion, WireName } from '../core/wire.ts';
import { appendText } from './place.ts';
import { quoteText } from './quote-text.ts';
import { linkAfter, type MessageSpans, readMessage, withoutMarks } from './read-message.ts';
import {
  eachElement,
  eachMember,
  isText,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  type Span,
  skipSpace,
  skipValue,
  viewBytes,
} from './scan.ts';
import { taskText } from './task-text.ts';

/** A request's messages: their links, the user's task, and where text can be added to them. */
export interface Conversation {
  /**
   * One for each message that is not a system message, a hash of everything up to it: like `chainOf`, but a string and a
   * list of that one text are the same message, since clients that move prompt-cache marks along write the marked one
   * as a list. Empty when the body contains only the new messages and the provider stores the others.
   */
  readonly links: readonly string[];
  /** Whether the message of the last link is a user's and text can be added to it. */
  readonly newestIsUser: boolean;
  /** The user's newest text, shortened to a few thousand characters, without tool results and harness texts. */
  readonly task: string;
  /**
   * Insertions that append to the user's message of a link: to its text if it contains nothing else, else as one more
   * part. Undefined when there is no such message or it is not a user's.
   */
  placeAt(link: string, text: string): readonly Insertion[] | undefined;
}

/** The texts of a user's message and where text can be added. */
interface UserMessage {
  readonly content: Span;
  /** The text of a message that contains nothing else. */
  readonly only: Span | undefined;
  readonly texts: readonly Span[];
}

const START = linkAfter('conversation', []);
const MARKS = ['cache_control', 'prompt_cache_breakpoint'];
/** OpenClaw's transient notes. They are absent from the next request, so no link may depend on them. */
const TRANSIENT = Buffer.from('<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>');

/** One pass. Undefined unless the body is one JSON object; never throws. */
export function readConversation(wire: WireName, body: Uint8Array): Conversation | undefined {
  const bytes = viewBytes(body);
  const start = skipSpace(bytes, 0);
  if (bytes[start] !== OPEN_BRACE) return undefined;
  const isResponses = wire === 'openai-responses';
  const listName = isResponses ? 'input' : 'messages';
  let found: Links = noLinks();
  let isStored = false;

  const end = eachMember(bytes, start, (key, at) => {
    if (isText(bytes, key, listName)) {
      found = noLinks();
      if (bytes[at] === OPEN_BRACKET) return readList(bytes, at, isResponses, found);
      const valueEnd = skipValue(bytes, at);
      if (isResponses && bytes[at] === QUOTE && valueEnd > 0) addText(bytes, [at, valueEnd], found);
      return valueEnd;
    }
    if (isResponses && (isText(bytes, key, 'previous_response_id') || isText(bytes, key, 'conversation')))
      isStored = bytes[at] === QUOTE || bytes[at] === OPEN_BRACE;
    return skipValue(bytes, at);
  });
  if (end < 0 || skipSpace(bytes, end) !== bytes.length) return undefined;
  return describe(bytes, found, isStored, isResponses ? 'input_text' : 'text');
}

/** All links and, at the same index, the user's message if the link is one. */
interface Links {
  readonly links: string[];
  readonly users: (UserMessage | undefined)[];
}

const noLinks = (): Links => ({ links: [], users: [] });

function add({ links, users }: Links, pieces: readonly Buffer[], user: UserMessage | undefined): void {
  links.push(linkAfter(links.at(-1) ?? START, pieces));
  users.push(user);
}

const addText = (bytes: Buffer, span: Span, into: Links): void =>
  add(into, [bytes.subarray(...span)], { content: span, only: span, texts: [span] });

function readList(bytes: Buffer, at: number, isResponses: boolean, into: Links): number {
  return eachElement(bytes, at, (itemAt) => {
    if (bytes[itemAt] !== OPEN_BRACE) return skipValue(bytes, itemAt);
    const message = readMessage(bytes, itemAt, MARKS);
    if (message.span[1] < 0 || message.isSystem) return message.span[1];
    const isMessage = !isResponses || !message.type || isText(bytes, message.type, 'message');
    const isUser = isMessage && message.role !== undefined && isText(bytes, message.role, 'user');
    const user = isUser ? readUser(bytes, message) : undefined;
    const first = user?.texts[0];
    const isTransient = first !== undefined && startsWith(bytes, first, TRANSIENT);
    if (!isTransient) add(into, canonical(bytes, message), user);
    return message.span[1];
  });
}

const startsWith = (bytes: Buffer, [start]: Span, text: Buffer): boolean =>
  bytes.compare(text, 0, text.length, start + 1, Math.min(start + 1 + text.length, bytes.length)) === 0;

function readUser(bytes: Buffer, message: MessageSpans): UserMessage | undefined {
  const { content, parts } = message;
  if (content === undefined) return undefined;
  if (bytes[content[0]] === QUOTE) return { content, only: content, texts: [content] };
  if (bytes[content[0]] !== OPEN_BRACKET) return undefined;
  const texts = parts.map((part) => textOf(bytes, part)).filter((text) => text !== undefined);
  return { content, only: onlyText(bytes, message), texts };
}

const textOf = (bytes: Buffer, { type, text }: MessageSpans['parts'][number]): Span | undefined =>
  type &&
  text &&
  bytes[text[0]] === QUOTE &&
  (isText(bytes, type, 'text') || isText(bytes, type, 'input_text'))
    ? text
    : undefined;

/** The text of a content that is a list of one text part. */
function onlyText(bytes: Buffer, { parts }: MessageSpans): Span | undefined {
  const [part] = parts;
  return parts.length === 1 && part?.isPlain ? textOf(bytes, part) : undefined;
}

/** The bytes that identify a message, independent of how its text is written. */
function canonical(bytes: Buffer, message: MessageSpans): readonly Buffer[] {
  const { span, content, marks } = message;
  const only = onlyText(bytes, message);
  if (content === undefined || only === undefined) return withoutMarks(bytes, span, marks);
  const before = marks.filter((mark) => mark[1] <= content[0]);
  const after = marks.filter((mark) => mark[0] >= content[1]);
  return [
    ...withoutMarks(bytes, [span[0], content[0]], before),
    bytes.subarray(...only),
    ...withoutMarks(bytes, [content[1], span[1]], after),
  ];
}

function describe(bytes: Buffer, { links, users }: Links, isStored: boolean, partType: string): Conversation {
  let task: string | undefined;
  const placeAt = (link: string, text: string): readonly Insertion[] | undefined => {
    const user = isStored ? undefined : users[links.indexOf(link)];
    if (user === undefined) return undefined;
    const part = `{"type":"${partType}","text":${quoteText(text)}}`;
    const inside = appendText(bytes, user.only ?? user.content, text, part);
    return inside && [inside];
  };
  return {
    links: isStored ? [] : links,
    newestIsUser: !isStored && users.at(-1) !== undefined,
    placeAt,
    get task() {
      task ??= newestTask(bytes, users);
      return task;
    },
  };
}

function newestTask(bytes: Buffer, users: readonly (UserMessage | undefined)[]): string {
  for (let i = users.length - 1; i >= 0; i--) {
    const user = users[i];
    const text = user === undefined ? '' : taskText(bytes, user.texts);
    if (text !== '') return text;
  }
  return '';
}
