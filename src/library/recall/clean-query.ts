import { dropBetween, dropTags } from './drop-tags.ts';
import { shortenLines } from './shorten-lines.ts';

/** Characters read from the start and the end. A longer text contains a document; the request stands before or after it. */
const READ_HEAD = 48_000;
const READ_TAIL = 16_000;
const KEPT_HEAD = 1000;
const KEPT_TAIL = 500;

/** `[Telegram Alice id:123 2026-11-15 10:00]`, `[Sun 2026-11-15 03:38 UTC]`, `[Subagent Context]`: written by a channel. */
const BRACKET = /^\s*\[([^[\]\n]{1,160})\]:?[ \t]*/;
const CHANNEL =
  /\d{4}-\d\d-\d\d|\b\d{1,2}:\d\d\b|\bid:|^(?:telegram|discord|slack|signal|whatsapp|imessage|matrix|teams|sms|email|webchat|subagent|cron|heartbeat|system|message|queued|chat messages|current message|from)\b/i;
const SUBAGENT_TASK = '[Subagent Task]';
const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi;
const DATA_URL = /data:[\w./+-]{3,60};base64,[\w+/=-]*/g;
/** Longer than anything that a person types without a space: hashes, keys, encoded files. */
const BLOB = /[\w+/=-]{100,}|\b(?=[a-f]*\d)[0-9a-f]{24,}\b/g;

/** The task in the person's words, without the text that a channel, an editor or a client program added. Linear in the text. */
export function cleanQuery(text: string): string {
  let rest = joinEnds(text, READ_HEAD, READ_TAIL);
  rest = dropBetween(rest, '<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>', '<<<END_OPENCLAW_INTERNAL_CONTEXT>>>');
  rest = dropTags(rest);
  const task = rest.lastIndexOf(SUBAGENT_TASK);
  if (task >= 0) rest = rest.slice(task);
  rest = rest.replace(DATA_URL, ' ').replace(BLOB, ' ').replace(UUID, ' ');
  rest = shortenLines(rest)
    .split('\n')
    .map(withoutPrefix)
    .filter((line) => line.trim() !== '')
    .join('\n');
  return joinEnds(rest.replace(/[ \t]+/g, ' ').trim(), KEPT_HEAD, KEPT_TAIL);
}

function withoutPrefix(line: string): string {
  let rest = line;
  for (let match = BRACKET.exec(rest); match !== null; match = BRACKET.exec(rest)) {
    if (!CHANNEL.test(match[1] ?? '')) break;
    rest = rest.slice(match[0].length);
  }
  return rest;
}

/** The beginning and the end of a text that is too long. */
export const joinEnds = (text: string, head: number, tail: number): string =>
  text.length <= head + tail ? text : `${text.slice(0, head)}\n${text.slice(-tail)}`;
