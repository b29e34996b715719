import type { ChatCommand } from '../core/chat-command.ts';
import { asksBack } from './looks-back.ts';
import { separateTypedText } from './typed-text.ts';

/*
 * A word to Instar, typed in the chat: a whole user message that rates the answer before it.
 *
 *   message    = "instar" ":" said              in any case, with spaces anywhere between the parts; the colon is needed
 *   said       = "why" | "undo" | "list"        a command, alone, with punctuation: Instar answers or does it
 *              | "forget" what
 *              | "help" … | nothing             Instar says what can be said, and saves nothing
 *              | a question                     what was said before, with or without "?"
 *              | verdict [ note ]               "good": 1, "bad": -1, with what was good or bad about it
 *              | note                           a correction, without a verdict: -0.5
 *   verdict    = "good" | "bad" | "👍" | "👎", followed by anything
 *              | "great" | "perfect" | "thanks" | "+1" | "wrong" | "-1", followed by its end or by punctuation
 *
 * Only what the person typed counts: sections, stamps and reminders of the client are left out. A message of more than
 * LONGEST characters or MOST_LINES lines is an ordinary message that happens to begin like that (a log, a paste), and so is
 * one with quoted lines, a code block or a second line that begins with "instar:".
 */

export type ChatWord =
  | { readonly kind: 'help' }
  | { readonly kind: 'command'; readonly command: ChatCommand }
  | {
      readonly kind: 'rating';
      /** 1 for good, -1 for bad, -0.5 for a correction without a verdict. */
      readonly score: 1 | -1 | -0.5;
      /** The person's words, without the verdict. */
      readonly note?: string;
    };

const LONGEST = 1000;
const MOST_LINES = 10;

const ADDRESS = /^instar\s*[:：]\s*/i;
const COMMAND = /^(why|undo|list)\s*[.!?？]*$/i;
const FORGET = /^forget\s*[:：]?\s+["“]?(.+?)["”]?[.!]*$/is;
const HELP = /^(?:help\b[\s\S]*|[\s.!?？]*)$/i;
/** A verdict, what separates it from the note, and the note. */
const PLAIN = /^(good|bad|👍|👎)(?![\p{L}\p{N}])[\s,;:.!–—-]*/iu;
const OTHER = /^(great|perfect|thanks|\+1|wrong|-1)(?:\s*[,;:.!–—\n]\s*|\s+[–—-]\s+|\s*$)/i;
const GOOD: ReadonlySet<string> = new Set(['good', '👍', 'great', 'perfect', 'thanks', '+1']);
const NOT_OWN_WORDS = /^\s{0,3}(?:>|```|~~~)|\n\s{0,3}(?:>|```|~~~|instar\s*[:：])/i;

/** The word that a typed text is as a whole; undefined for any other text. */
export function parseChatWord(typed: string): ChatWord | undefined {
  const text = typed.trim();
  const address = ADDRESS.exec(text);
  if (address === null || text.length > LONGEST || NOT_OWN_WORDS.test(text)) return undefined;
  if (text.split('\n', MOST_LINES + 1).length > MOST_LINES) return undefined;
  const said = text.slice(address[0].length);
  const command = readCommand(said);
  if (command !== undefined) return { kind: 'command', command };
  const verdict = PLAIN.exec(said) ?? OTHER.exec(said);
  if (verdict === null && HELP.test(said)) return { kind: 'help' };
  if (verdict === null) return { kind: 'rating', score: -0.5, note: said };
  const score = GOOD.has((verdict[1] ?? '').toLowerCase()) ? 1 : -1;
  const note = said.slice(verdict[0].length).trim();
  return { kind: 'rating', score, ...(note === '' ? {} : { note }) };
}

function readCommand(said: string): ChatCommand | undefined {
  const name = COMMAND.exec(said)?.[1]?.toLowerCase();
  if (name === 'why' || name === 'undo' || name === 'list') return { name };
  const what = FORGET.exec(said)?.[1];
  if (what !== undefined) return { name: 'forget', what };
  const isOther = HELP.test(said) || PLAIN.test(said) || OTHER.test(said);
  return asksBack(said) && !isOther ? { name: 'recall', what: said.trim() } : undefined;
}

/** A channel's envelope before the text: `[Telegram Ann 2026-11-15 03:41 UTC] `. */
const ENVELOPE = /^\[[^\]\n]{0,120}\d{1,2}:\d{2}[^\]\n]{0,40}\]\s*/;
/** What a channel tells of a message, before it. */
const ABOUT_MESSAGE =
  /^(?:[^\n]{0,60} \(untrusted[^()\n]{0,40}\):\s*\n```[^\n]{0,20}\n[\s\S]{0,8000}?\n```\s*)+/;
/** Lines of a client's own, and one after which all are. */
const CLIENT_LINE = /^(?:\[message_id: ?[^\]]*\]\s*$|\[Request interrupted by user)/;
const REST_IS_CLIENT = /^Runtime: agent=/m;
/** A client that quotes the whole message: `opencode run "…"`. */
const QUOTED = /^"([^"]*)"$/;

/** What the person typed of one part of a message, without anything that a client or a channel put around it. */
export function readTypedWords(part: string): string {
  const { typed } = separateTypedText(part.trimStart().replace(ABOUT_MESSAGE, '').replace(ENVELOPE, ''));
  const rest = typed.search(REST_IS_CLIENT);
  return (rest < 0 ? typed : typed.slice(0, rest))
    .split('\n')
    .filter((line) => !CLIENT_LINE.test(line))
    .join('\n')
    .trim()
    .replace(ENVELOPE, '');
}

/** Whether a user message of a recorded conversation is a word to Instar; then the message after it is Instar's answer. */
export function isChatWordMessage(parts: readonly string[]): boolean {
  if (!parts.some((part) => MENTIONED.test(part))) return false;
  const typed = parts.map(readTypedWords).filter((words) => words !== '');
  return typed.length === 1 && parseChatWord(unquote(typed[0] ?? '')) !== undefined;
}

const MENTIONED = /instar\s*[:：]/i;

/** The text without the quotation marks that a client put around all of it. */
export const unquote = (text: string): string => QUOTED.exec(text)?.[1] ?? text;
