import { asString, isObject, parseJson } from '../core/json.ts';
import type { Insertion, WireName } from '../core/wire.ts';
import { withoutAiderRules } from '../text/aider-frame.ts';
import { isSummary } from '../text/typed-text.ts';
import { oneLine } from '../text/visible-text.ts';
import {
  type ByteSpan,
  DOUBLE_QUOTE,
  eachElement,
  eachMember,
  equalsText,
  OPEN_BRACE,
  OPEN_BRACKET,
  readString,
  skipSpace,
  skipValue,
  viewBytes,
} from './json-scan.ts';
import { type MessageSpans, nextChainLink, readMessageSpans, withoutCacheMarks } from './message-chain.ts';
import { appendJsonText, quoteJson } from './splice.ts';

/** A request's messages: their links, the user's task, and where text can be added to them. */
interface Conversation {
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
  /** The link of the message with that text; undefined when there is none, or the provider stores the others. */
  readonly taskLink: string | undefined;
  /**
   * Insertions that append to the message of a link, a user's or a tool's: to its text if it contains nothing else, else as
   * one more part. Undefined when there is no such message or it is the model's.
   */
  placeAt(link: string, text: string): readonly Insertion[] | undefined;
  /** What came since the model's last message: texts of users and of tool results. Undefined when no text can be added behind it. */
  readonly newest: NewestInput | undefined;
  /** The link of the newest message that stands for others, which the client has compacted away. */
  readonly summaryLink: string | undefined;
  /** Whether a message of the model, or of a tool, is in it. */
  readonly hasReply: boolean;
  /** The link that the request before this one ended with: that of the last message before the model's newest answer. */
  readonly previousLink: string | undefined;
  /**
   * How many answers of the model stand behind the message of a link, each of one or more messages, and how many bytes; of an undefined link:
   * in the whole conversation. Undefined where it does not have the link.
   */
  answersAfter(link: string | undefined): number | undefined;
  bytesAfter(link: string | undefined): number | undefined;
  /** Whether a user's message contains the text; the kind of white space does not matter. */
  says(text: string): boolean;
}

interface NewestInput {
  /** The last link. */
  readonly link: string;
  readonly texts: readonly string[];
}

/** The texts of a user's message and where text can be added. */
interface UserMessage {
  readonly content: ByteSpan;
  /** The text of a message that contains nothing else. */
  readonly only: ByteSpan | undefined;
  readonly texts: readonly ByteSpan[];
}

const START = nextChainLink('conversation', []);
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
    if (equalsText(bytes, key, listName)) {
      found = noLinks();
      if (bytes[at] === OPEN_BRACKET) return readList(bytes, at, isResponses, found);
      const valueEnd = skipValue(bytes, at);
      if (isResponses && bytes[at] === DOUBLE_QUOTE && valueEnd > 0) addText(bytes, [at, valueEnd], found);
      return valueEnd;
    }
    if (
      isResponses &&
      (equalsText(bytes, key, 'previous_response_id') || equalsText(bytes, key, 'conversation'))
    )
      isStored = bytes[at] === DOUBLE_QUOTE || bytes[at] === OPEN_BRACE;
    return skipValue(bytes, at);
  });
  if (end < 0 || skipSpace(bytes, end) !== bytes.length) return undefined;
  return describe(bytes, found, isStored, isResponses ? 'input_text' : 'text');
}

/** All links and, at the same index, the message, and the user's message if the link is one. */
interface Links {
  readonly links: string[];
  readonly spans: ByteSpan[];
  readonly users: (UserMessage | undefined)[];
  /** The index of the newest item that a provider compacted; -1 without one. */
  compacted: number;
}

const noLinks = (): Links => ({ links: [], spans: [], users: [], compacted: -1 });
/** Items of the Responses API that stand for earlier ones. */
const COMPACTED_TYPES = ['compaction', 'compaction_summary', 'context_compaction'];

function add(
  { links, spans, users }: Links,
  pieces: readonly Buffer[],
  span: ByteSpan,
  user: UserMessage | undefined,
): void {
  links.push(nextChainLink(links.at(-1) ?? START, pieces));
  spans.push(span);
  users.push(user);
}

const addText = (bytes: Buffer, span: ByteSpan, into: Links): void =>
  add(into, [bytes.subarray(...span)], span, { content: span, only: span, texts: [span] });

function readList(bytes: Buffer, at: number, isResponses: boolean, into: Links): number {
  return eachElement(bytes, at, (itemAt) => {
    if (bytes[itemAt] !== OPEN_BRACE) return skipValue(bytes, itemAt);
    const message = readMessageSpans(bytes, itemAt, MARKS);
    if (message.span[1] < 0 || message.isSystem) return message.span[1];
    const isMessage = !isResponses || !message.type || equalsText(bytes, message.type, 'message');
    const isUser = isMessage && message.role !== undefined && equalsText(bytes, message.role, 'user');
    const user = isUser ? readUser(bytes, message) : undefined;
    const first = user?.texts[0];
    const isTransient = first !== undefined && startsWith(bytes, first, TRANSIENT);
    if (!isTransient) add(into, canonical(bytes, message), message.span, user);
    const { type } = message;
    if (type !== undefined && COMPACTED_TYPES.some((name) => equalsText(bytes, type, name)))
      into.compacted = into.links.length - 1;
    return message.span[1];
  });
}

const startsWith = (bytes: Buffer, [start]: ByteSpan, text: Buffer): boolean =>
  bytes.compare(text, 0, text.length, start + 1, Math.min(start + 1 + text.length, bytes.length)) === 0;

function readUser(bytes: Buffer, message: MessageSpans): UserMessage | undefined {
  const { content, parts } = message;
  if (content === undefined) return undefined;
  if (bytes[content[0]] === DOUBLE_QUOTE) return { content, only: content, texts: [content] };
  if (bytes[content[0]] !== OPEN_BRACKET) return undefined;
  const texts = parts.map((part) => textOf(bytes, part)).filter((text) => text !== undefined);
  return { content, only: onlyText(bytes, message), texts };
}

const textOf = (bytes: Buffer, { type, text }: MessageSpans['parts'][number]): ByteSpan | undefined =>
  type &&
  text &&
  bytes[text[0]] === DOUBLE_QUOTE &&
  (equalsText(bytes, type, 'text') || equalsText(bytes, type, 'input_text'))
    ? text
    : undefined;

/** The text of a content that is a list of one text part. */
function onlyText(bytes: Buffer, { parts }: MessageSpans): ByteSpan | undefined {
  const [part] = parts;
  return parts.length === 1 && part?.isPlain ? textOf(bytes, part) : undefined;
}

/** The bytes that identify a message, independent of how its text is written. */
function canonical(bytes: Buffer, message: MessageSpans): readonly Buffer[] {
  const { span, content, marks } = message;
  const only = onlyText(bytes, message);
  if (content === undefined || only === undefined) return withoutCacheMarks(bytes, span, marks);
  const before = marks.filter((mark) => mark[1] <= content[0]);
  const after = marks.filter((mark) => mark[0] >= content[1]);
  return [
    ...withoutCacheMarks(bytes, [span[0], content[0]], before),
    bytes.subarray(...only),
    ...withoutCacheMarks(bytes, [content[1], span[1]], after),
  ];
}

function describe(bytes: Buffer, all: Links, isStored: boolean, partType: string): Conversation {
  const { links, spans, users } = all;
  let found: NewestTask | undefined;
  const newest = (): NewestTask => {
    found ??= newestTask(bytes, users);
    return found;
  };
  const placeAt = (link: string, text: string): readonly Insertion[] | undefined => {
    const at = links.indexOf(link);
    const span = spans[at];
    if (isStored || span === undefined) return undefined;
    const user = users[at];
    const into = user === undefined ? readResultSpan(bytes, span) : (user.only ?? user.content);
    if (into === undefined) return undefined;
    const part = `{"type":"${partType}","text":${quoteJson(text)}}`;
    const inside = appendJsonText(bytes, into, text, part);
    return inside && [inside];
  };
  const isAnswer = (at: number): boolean =>
    users[at] === undefined && readResultSpan(bytes, spans[at] ?? [0, 0]) === undefined;
  /** Whether an answer begins there. */
  const isBeginning = (at: number): boolean => isAnswer(at) && (at === 0 || !isAnswer(at - 1));
  const indexAfter = (link: string | undefined): number | undefined => {
    const at = link === undefined ? -1 : links.lastIndexOf(link);
    return isStored || (link !== undefined && at < 0) ? undefined : at + 1;
  };
  return {
    get previousLink() {
      const at = isStored ? -1 : links.findLastIndex((_, index) => isBeginning(index));
      return at < 1 ? undefined : links[at - 1];
    },
    answersAfter: (link) => {
      const from = indexAfter(link);
      return from === undefined
        ? undefined
        : links.filter((_, index) => index >= from && isBeginning(index)).length;
    },
    bytesAfter: (link) => {
      const from = indexAfter(link);
      return from === undefined
        ? undefined
        : spans.slice(from).reduce((sum, [start, end]) => sum + end - start, 0);
    },
    links: isStored ? [] : links,
    newestIsUser: !isStored && users.at(-1) !== undefined,
    placeAt,
    get task() {
      return newest().text;
    },
    get taskLink() {
      return isStored ? undefined : links[newest().at];
    },
    get newest() {
      return isStored ? undefined : readNewest(bytes, all);
    },
    get summaryLink() {
      if (isStored) return undefined;
      const isBegun = (text: ByteSpan): boolean => isSummary(readStart(bytes, text));
      const written = users.findLastIndex((user) => user?.texts.some(isBegun) === true);
      return links[Math.max(written, all.compacted)];
    },
    hasReply: users.includes(undefined),
    says: (text) => {
      const sought = oneLine(text);
      const isIn = (span: ByteSpan): boolean => oneLine(readString(bytes, span) ?? '').includes(sought);
      return users.some((user) => user?.texts.some(isIn) === true);
    },
  };
}

/** The content of a message that is a tool's result; undefined for others. */
function readResultSpan(bytes: Buffer, [start]: ByteSpan): ByteSpan | undefined {
  let isResult = false;
  let content: ByteSpan | undefined;
  eachMember(bytes, start, (key, at) => {
    const span: ByteSpan = [at, skipValue(bytes, at)];
    if (equalsText(bytes, key, 'role'))
      isResult ||= equalsText(bytes, span, 'tool') || equalsText(bytes, span, 'function');
    else if (equalsText(bytes, key, 'type'))
      isResult ||= RESULT_TYPES.some((type) => equalsText(bytes, span, type));
    else if (equalsText(bytes, key, 'content') || equalsText(bytes, key, 'output')) content = span;
    return span[1];
  });
  return isResult ? content : undefined;
}

/** Items of the Responses API that are the results of calls. */
const RESULT_TYPES = ['function_call_output', 'custom_tool_call_output', 'local_shell_call_output'];

function readNewest(bytes: Buffer, { links, spans, users }: Links): NewestInput | undefined {
  const link = links.at(-1);
  if (link === undefined) return undefined;
  const texts: string[] = [];
  for (let at = links.length - 1; at >= 0; at--) {
    const content = users[at]?.content ?? readResultSpan(bytes, spans[at] ?? [0, 0]);
    if (content === undefined) break;
    texts.unshift(...textsIn(parseJson(bytes.toString('utf8', ...content))));
  }
  return texts.length === 0 ? undefined : { link, texts };
}

/** The texts of a content, those of tool results in it among them. */
function textsIn(content: unknown, depth = 0): readonly string[] {
  if (typeof content === 'string') return content === '' ? [] : [content];
  if (depth > DEEPEST) return [];
  if (Array.isArray(content)) return content.flatMap((part) => textsIn(part, depth + 1));
  if (!isObject(content)) return [];
  return [...textsIn(asString(content.text)), ...textsIn(content.content, depth + 1)];
}

/** A list of results, each with a list of texts. */
const DEEPEST = 5;

interface NewestTask {
  readonly text: string;
  /** The index of its message; -1 without one. */
  readonly at: number;
}

function newestTask(bytes: Buffer, users: readonly (UserMessage | undefined)[]): NewestTask {
  for (let i = users.length - 1; i >= 0; i--) {
    const user = users[i];
    const text = user === undefined ? '' : readTaskText(bytes, user.texts);
    if (text !== '') return { text, at: i };
  }
  return { text: '', at: -1 };
}

/** Only the beginning and the end of a task are read: they state the request, a pasted log in between does not. */
const HALF_CHARS = 4000;
const GAP = '\n…\n';
/** The bytes that may be needed for HALF_CHARS: no escape is longer than six bytes. */
const HALF_BYTES = 6 * HALF_CHARS;
const LONGEST_ESCAPE = 6;

/** Text that a client's harness adds to a user message; the user's own text is in another part. */
const REMINDER = ['<system-reminder>', '</system-reminder>'] as const;

/** The user's own text of one message, given the spans of its texts; may be empty. */
function readTaskText(bytes: Buffer, spans: readonly ByteSpan[]): string {
  const texts = spans.map((span) => readEnds(bytes, span).trim()).filter((text) => !isReminder(text));
  return shorten(withoutAiderRules(texts.filter((text) => text !== '').join('\n')));
}

const isReminder = (text: string): boolean => text.startsWith(REMINDER[0]) && text.endsWith(REMINDER[1]);

function shorten(text: string): string {
  if (text.length <= 2 * HALF_CHARS) return text;
  const from = text.length - HALF_CHARS;
  const head = text.slice(0, isHalf(text, HALF_CHARS) ? HALF_CHARS - 1 : HALF_CHARS);
  return `${head}${GAP}${text.slice(isHalf(text, from) ? from + 1 : from)}`;
}

/** Whether `at` is the second half of a surrogate pair. */
const isHalf = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xdc00;

/** As much as the words need that a summary begins with. */
const START_BYTES = 300;
const readStart = (bytes: Buffer, [start, end]: ByteSpan): string =>
  decode(bytes, start + 1, Math.min(end - 1, start + START_BYTES), 'end');

function readEnds(bytes: Buffer, span: ByteSpan): string {
  const [start, end] = [span[0] + 1, span[1] - 1];
  if (end - start <= 2 * HALF_BYTES) return readString(bytes, span) ?? '';
  const head = decode(bytes, start, start + HALF_BYTES, 'end');
  return `${head}${GAP}${decode(bytes, end - HALF_BYTES, end, 'start')}`;
}

/** Decodes a piece of a JSON string that was cut anywhere: drops a split escape, with up to five more bytes. */
function decode(bytes: Buffer, start: number, end: number, cut: 'start' | 'end'): string {
  for (let less = 0; less < LONGEST_ESCAPE; less++) {
    const from = cut === 'start' ? start + less : start;
    const raw = bytes.toString('utf8', from, cut === 'end' ? end - less : end);
    const text = asString(parseJson(`"${raw}"`));
    if (text !== undefined) return text;
  }
  return '';
}
