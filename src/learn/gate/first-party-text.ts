import type { Origin } from '../../core/learn.ts';
import { splitFoldedSentences } from '../../text/sentences.ts';
import { foldedWords, foldText } from './normalize-text.ts';
import { isProse } from './outside-statements.ts';

export interface FirstPartyText {
  /** What the author wrote. */
  readonly own: string;
  /** What the author forwarded: a page, a mail, a log. */
  readonly pasted: string;
}

const FENCE = /^\s{0,3}(?:```|~~~)/;
const QUOTE_LINE = /^\s{0,3}>/;
/** A line of a chat log: "[14:02] marek: …". */
const CHAT_LINE = /^\s{0,3}\[?\d{1,2}:\d{2}(?::\d{2})?\]?\s{1,3}[\p{L}\w .-]{1,30}:\s/u;
const MAIL_HEAD = /^(?:from|to|subject|sent|date|cc|von|betreff|an|de|objet|asunto): \S/i;
const FORWARDED = /^-{2,}\s?(?:forwarded|original|begin|start|weitergeleitet|ursprüngliche)/i;
/** Tags of pages, or of whatever is closed again: <timestamp> and <task id> are what people write for what is to be filled in. */
const TAG =
  /<\/[a-z][\w-]{0,30}>|<(?:html|head|body|div|span|p|a|br|hr|img|h[1-6]|ul|ol|li|dl|dt|dd|table|tbody|thead|tr|td|th|script|style|form|input|button|iframe|meta|link|section|article|nav|header|footer|main|aside|strong|em|b|i|u|code|pre|blockquote|font|center|details|title|svg|figure)(?:\s[^<>]{0,300})?\/?>|<[a-z][\w-]{0,30}\s[^<>]{0,300}=[^<>]{0,300}>/gi;
/** A line that introduces text of someone else; everything after it is theirs. */
const INTRODUCES =
  /\b(?:says?|said|reads?|states?|writes|wrote|according to|pasted?|copied|copy of|quot(?:e|ing)|here(?:'s| is| are)|below is|below|(?:the )?following|this is what|contents? of|text of|found this|got this|summari[sz]e|translate|from (?:the|their|this|a) (?:\w+ ){0,2}(?:page|site|website|docs?|documentation|readme|blog|article|post|wiki|mail|email|ticket|issue|comment|calendar|invite|file|log|output|forum|thread))\b.{0,120}:\s*$/i;
const INTRODUCES_INLINE =
  /\b(?:(?:page|site|website|docs?|documentation|readme|blog|article|post|wiki|mail|email|ticket|issue|comment|invite|invitation|event|file|log|output|forum|thread|tool|bot|vendor|it|he|she|they|someone) (?:says?|said|reads?|states?|wrote|writes|told|tells)|according to (?:the|their|this|that|an?) (?:\w+ ){0,3}(?:page|site|website|docs?|documentation|readme|blog|article|post|wiki|mail|email|ticket|issue|comment|file|log|output|forum|thread))\b[^.!?\n]{0,40}?[:,]\s/i;
/** Short quotations match too, so that text between two of them is not taken for a third. */
const QUOTE = /["“«]([^"“”«»\n]{0,2000})["”»]/g;
const FEWEST_QUOTED = 8;
/** A single tag is a placeholder; several are a page. */
const FEWEST_TAGS = 3;

/**
 * Separates what the author of a message wrote from what they forwarded in it: quoted lines and long quotations, mails with
 * headers, pages with tags, and whatever follows "the page says:". A code block of a user counts as pasted; in feedback of a
 * person or a verifier it shows what they want.
 */
export function splitFirstPartyText(text: string, origin: Origin): FirstPartyText {
  const own: string[] = [];
  const pasted: string[] = [];
  const isPage = (text.match(TAG)?.length ?? 0) >= FEWEST_TAGS;
  let isFenced = false;
  let isOthers = false;
  for (const line of text.split('\n')) {
    const isFence = FENCE.test(line);
    if (isFence) isFenced = !isFenced;
    isOthers ||= FORWARDED.test(line) || MAIL_HEAD.test(line);
    const isPasted =
      isOthers ||
      QUOTE_LINE.test(line) ||
      CHAT_LINE.test(line) ||
      ((isFence || isFenced) && origin === 'user') ||
      (isPage && /[<>]/.test(line));
    if (isPasted) pasted.push(line);
    else {
      const split = splitLine(line, origin);
      own.push(split.own);
      if (split.pasted !== '') pasted.push(split.pasted);
      isOthers = INTRODUCES.test(line);
    }
  }
  return { own: own.join('\n'), pasted: pasted.join('\n') };
}

/** Whether a message forwards prose; logs and code do not count. */
export const forwardsProse = (text: string, origin: Origin): boolean =>
  splitFoldedSentences(foldText(splitFirstPartyText(text, origin).pasted)).some(isProse);

function splitLine(line: string, origin: Origin): FirstPartyText {
  const inline = INTRODUCES_INLINE.exec(line);
  if (inline !== null) {
    const from = inline.index + inline[0].length;
    const rest = line.slice(from);
    if (foldedWords(rest).length >= FEWEST_QUOTED) return { own: line.slice(0, from), pasted: rest };
  }
  // In feedback on a turn, people quote the result that they want.
  if (origin !== 'user') return { own: line, pasted: '' };
  const quotes: string[] = [];
  const own = line.replace(QUOTE, (whole, said: string) => {
    if (foldedWords(said).length < FEWEST_QUOTED) return whole;
    quotes.push(said);
    return ' ';
  });
  return { own, pasted: quotes.join('\n') };
}
