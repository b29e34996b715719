import type { AssistantPart, ChatMessage } from '../core/chat.ts';
import { compact, type JsonObject } from '../core/json.ts';
import { type Records, StoreError, type TurnView } from '../core/store.ts';
import { readMessagesUntil, readNewMessages } from '../record/new-messages.ts';
import type { BlockCache } from '../record/request-manifest.ts';
import { readStoredReply } from '../record/stored-turn.ts';
import { truncateEnd } from '../text/truncate.ts';
import { separateTypedText } from '../text/typed-text.ts';

/** The most characters of a text in a preview. */
const PREVIEW = 300;

type BodyRecords = Pick<Records, 'block'>;

/**
 * What was asked and answered in a turn, in one line each: `{ asked?, results?, answered?, calls?, missing? }`. `asked` is
 * what the person typed, without what the client added; absent when the turn continues the work on an earlier question,
 * with `results` of tools. `calls` names the tools that the reply called. `missing` says why there is nothing to show.
 */
export async function previewTurn(
  view: TurnView,
  records: BodyRecords,
  known: BlockCache,
): Promise<JsonObject> {
  const { messages, reply, missing } = await readTurnTexts(view, records, known);
  const results = messages.filter(({ role }) => role === 'tool').length;
  const calls = reply.flatMap((part) => (part.type === 'tool-call' ? [part.name] : []));
  return compact({
    asked: askedIn(messages),
    results: results === 0 ? undefined : results,
    answered: toLine(textOf(reply)),
    calls: calls.length === 0 ? undefined : calls,
    missing,
  });
}

/** The question that a turn works on, in one line: its own, or the newest before it. */
export async function readQuestion(
  view: TurnView,
  records: BodyRecords,
  known: BlockCache,
): Promise<string | undefined> {
  const { value } = await unlessDamaged(() =>
    readMessagesUntil(view, records, known, (messages) => askedIn(messages) !== undefined),
  );
  return value && askedIn(value);
}

/** What was answered in a turn, in one line: its text, or else the tools that it called. */
export async function readAnswer(view: TurnView, records: BodyRecords): Promise<string | undefined> {
  const { value } = await unlessDamaged(() => readStoredReply(view, records));
  if (value === undefined) return undefined;
  const calls = value.parts.flatMap((part) => (part.type === 'tool-call' ? [part.name] : []));
  return toLine(textOf(value.parts)) ?? (calls.length === 0 ? undefined : `called ${calls.join(', ')}`);
}

/** The whole texts of a turn: the messages that its request added, and the parts of its reply. As stored, so redacted. */
export async function readWholeTurn(
  view: TurnView,
  records: BodyRecords,
  known: BlockCache,
): Promise<JsonObject> {
  const { messages, reply } = await readTurnTexts(view, records, known);
  return {
    messages: messages.map((message) =>
      compact({
        role: message.role,
        text: message.content.map(describePart).join('\n'),
        callId: message.role === 'tool' ? message.callId : undefined,
        isError: message.role === 'tool' ? message.isError : undefined,
      }),
    ),
    reply: reply.map((part) => ({ ...part })),
  };
}

interface TurnTexts {
  readonly messages: readonly ChatMessage[];
  readonly reply: readonly AssistantPart[];
  readonly missing?: string;
}

async function readTurnTexts(view: TurnView, records: BodyRecords, known: BlockCache): Promise<TurnTexts> {
  const request = await unlessDamaged(() => readNewMessages(view, records, known));
  const reply = await unlessDamaged(() => readStoredReply(view, records));
  const isDamaged = request.isDamaged || reply.isDamaged;
  const isGone = view.request !== undefined && view.unreadable?.request === undefined;
  return compact({
    messages: request.value ?? [],
    reply: reply.value?.parts ?? [],
    missing: isDamaged
      ? 'the stored text is damaged: run instar doctor'
      : request.value === undefined && isGone
        ? 'its text was erased, or cannot be decoded'
        : undefined,
  });
}

/** One damaged row does not hide the others. */
async function unlessDamaged<T>(
  read: () => Promise<T>,
): Promise<{ readonly value?: T; readonly isDamaged: boolean }> {
  try {
    return { value: await read(), isDamaged: false };
  } catch (error) {
    if (error instanceof StoreError && error.code === 'corrupt') return { isDamaged: true };
    throw error;
  }
}

/** What a person typed last; without any, the last message that was sent in the user's place. */
function askedIn(messages: readonly ChatMessage[]): string | undefined {
  const texts = messages.flatMap((message) => (message.role === 'user' ? [textOf(message.content)] : []));
  const typed = texts.map((text) => toLine(undecorated(separateTypedText(undecorated(text)).typed)));
  return typed.findLast((text) => text !== undefined) ?? toLine(texts.at(-1) ?? '');
}

/** Blocks of JSON about the sender that messaging clients put before a message. */
const ABOUT_SENDER = /^[A-Z][\w ]{0,60} \(untrusted[^()\n]{0,60}\):\s*```\w*\n[^`]{0,4000}```\s*/;
/** `[Telegram Ann +2m 2026-11-16 14:02 UTC] `: the channel and the time that a messaging client puts before a message. */
const CHANNEL = /^\s*\[[^\][\n]{0,160}\d{1,2}:\d{2}[^\][\n]{0,20}\]\s*/;
const MESSAGE_ID = /\n\[message_id: [^\]\n]{1,80}\]\s*$/;

/** Without what a messaging channel writes around a message. */
function undecorated(text: string): string {
  let rest = text;
  for (let before = ''; before !== rest; ) {
    before = rest;
    rest = rest.replace(ABOUT_SENDER, '').replace(CHANNEL, '');
  }
  return rest.replace(MESSAGE_ID, '');
}

const textOf = (parts: readonly { readonly type: string; readonly text?: string }[]): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text ?? ''] : [])).join('\n');

const describePart = (part: ChatMessage['content'][number]): string =>
  part.type === 'text' || part.type === 'reasoning' ? part.text : `[${part.type}]`;

function toLine(text: string): string | undefined {
  const line = text
    .slice(0, 20 * PREVIEW)
    .replace(/\s+/g, ' ')
    .trim();
  return line === '' ? undefined : truncateEnd(line, PREVIEW);
}
