/** A text that a person sent, divided by whose words its parts are. */
export interface PastedText {
  /** What the person says themselves; a block of others leaves an empty line. */
  readonly own: string;
  /** What they quoted, pasted or forwarded: a mail, a log, a page, a ticket, a chat. */
  readonly pasted: string;
}

/** Whose code blocks and quotations in a line are: in feedback they show the result that is wanted. */
type QuotationsAre = 'own' | 'pasted';

const FENCE = /^\s{0,3}(?:```|~~~)/;
const QUOTE_LINE = /^\s{0,3}>/;
/** A line of nothing but signs that sets a block apart. */
const DELIMITER = /^\s{0,3}("""|'''|-{3,}|={3,}|\*{3,}|_{3,}|~{3,}|#{3,}|<{3,}|>{3,})\s*$/;
/** "^ what should I answer?": the person speaks of what stands above. */
const POINTS_UP = /^\s{0,3}(?:\^+|↑|☝️?)\s*\S/;
/** From such a line on, everything is another message. Where that ends cannot be told. */
const MESSAGE_HEAD =
  /^\s{0,3}(?:(?:from|subject|sent|von|betreff|gesendet|de|objet|envoyé|asunto|enviado): \S|[-_*=\s]{0,12}(?:begin |start of )?(?:forwarded|original|weitergeleitete?|ursprüngliche) (?:message|mail|e-?mail|nachricht)\b|[-_*=\s]{0,12}(?:mensaje (?:original|reenviado)|message (?:transféré|d'origine))\b)/i;
/** "On Tuesday, Kim wrote:". */
const WROTE =
  /^\s{0,3}(?!.*\b(?:i|we|ich|wir|j'ai|yo) (?:wrote|schrieb|écrit|escrib)).{0,160}\b(?:wrote|schrieb|a écrit|escribió)\s?:\s*$/i;
/** A short line with a comma at its end and a blank line behind it begins a letter; at the top of a message it is the person's own greeting. */
const SALUTATION = /^\s{0,3}\p{L}[^.!?:;\n]{0,60}[,，]\s*$/u;
/** "Priya Nair  10:12 AM", "[10:12] Priya Nair", "priya — Today at 10:12", "priya @pn · 2h", "priya commented 2 hours ago": what follows up to a blank line is hers. */
const STAMPED_NAME =
  /^\s{0,3}(?:[\p{Lu}@][\p{L}\w.'-]{0,30}(?:(?: [\p{L}.'-]{1,30}){0,3}[\s,–—-]{1,6}(?:\p{L}{2,12} \p{L}{2,12} )?[[(]?\d{1,2}[:.]\d{2}(?:\s?[ap]m)?[\])]?|(?: @?[\p{L}\w.'-]{1,30}){0,3}\s?[·•|]\s?\d{1,3} ?(?:m|h|d|w|min)|(?: [\p{L}.'-]{1,30}){0,3} \d{1,3} (?:minute|hour|day|week|month|year)s? ago(?<=(?:commented|wrote|posted|replied|answered|asked|reported) .{1,20}))|[[(]\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s?[ap]m)?[\])]\s+[\p{Lu}@][\p{L}\w.'-]{0,30}(?: [\p{L}.'-]{1,30}){0,3})\s*$/iu;
/** The parties of a conversation with a model, as its transcripts name them. */
const ROLE_LABEL = /^\s{0,3}[*_#[(<]{0,3}(?:assistant|system|human)[\])>*_]{0,3}\s?[:：]/i;
const HEADING = /^#{1,6} \S/;
/** "[14:02] marek: …", "marek 14:02: …". */
const CHAT_STAMP =
  /^\s{0,3}(?:[[(]?\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?: ?[ap]m)?[\])]?,?\s{1,3}<?@?[\p{L}\w .-]{1,30}>?\s?[:>–-]\s|<?@?[\p{L}\w .-]{1,30}>?,?\s[[(]?\d{1,2}:\d{2}(?: ?[ap]m)?[\])]?\s?:\s?\S)/iu;
/** "Anna: …". A label that comes again is a speaker. */
const SPEAKER = /^\s{0,3}([\p{Lu}@][\p{L}\w.-]{1,24}(?: \p{Lu}[\p{L}.-]{0,20})?)\s?:\s+\S/u;
const FEWEST_SPOKEN = 3;
/** Labels that people put before their own lines. */
const OWN_LABEL =
  /^(?:notes?|rules?|steps?|todo|example|tip|fix|bug|also|warning|important|task|goal|wichtig|regel)$/i;
/** Fields of a ticket or an issue, one or several in a line. */
const FIELD =
  /(?:^|\|)\s{0,6}[*_]{0,2}(?:ticket|issue|reporter|reported by|opened by|assignee|priority|severity|status|labels?|component|description|comments?(?: \(\d+\))?|created|updated|melder|priorität|beschreibung)[*_]{0,2}\s{0,3}:/gim;
const FEWEST_FIELDS = 2;
/** What a client writes for a file that was sent along: its name is not the person's either. */
const ATTACHMENT =
  /^\s{0,3}[[(<](?:attach(?:ed|ment)s?|files?|images?|documents?|photos?|voice|audio|video|links?|upload(?:ed)?|anhang|datei|pièce jointe|adjunto)\b[^\n]{0,400}[\])>]\s*$/i;
const PAGE_TAG =
  /<\/[a-z][\w-]{0,30}>|<(?:html|head|body|div|span|p|a|br|hr|img|h[1-6]|ul|ol|li|dl|dt|dd|table|tbody|thead|tr|td|th|script|style|form|input|button|iframe|meta|link|section|article|nav|header|footer|main|aside|strong|em|b|i|u|code|pre|blockquote|font|center|details|title|svg|figure)(?:\s[^<>]{0,300})?\/?>|<[a-z][\w-]{0,30}\s[^<>]{0,300}=[^<>]{0,300}>/gi;
/** A single tag is a placeholder; several are a page. */
const FEWEST_TAGS = 3;

const TEXT_WORDS =
  'page|site|website|docs?|documentation|readme|blog|article|post|wiki|guide|manual|mail|e-?mail|message|letter|text|paragraph|note|ticket|issue|review|comment|invite|invitation|event|file|log|output|error|trace|forum|thread|chat|tool|bot|vendor|snippet|transcript|answer|reply|announcement|policy';
const SAYS =
  'says|said|(?:they|people|docs|customers|users) (?:say|write)|reads|states|stated|writes|wrote|told|tells|sent|sends|replied|replies|answered|claims?|claimed|insists?|insisted|suggests?|suggested|recommends?|recommended|found|reported|commented|posted|messaged|left|pasted|shared|forwarded|mailed|texted|prints?|printed|schreibt|schrieb|sagt|sagte|meint|meinte|schickte|dit|écrit|a (?:dit|écrit|envoyé)|dice|dijo|escribió|escribe|envió|mandó';
/** The words behind a colon are those of the one it names, unless that is the speaker. */
const SAYS_THIS = new RegExp(
  `(?:(?<!\\b(?:i|we|i've|i have|we've|ich|wir|je|j'ai|nous|yo|as i|like i)\\s(?:already |just |have |hab |habe )?)\\b(?:${SAYS}|according to|laut|selon|según)|(?<!\\b(?:like|as|do|use|try|write|want|in|for|is|was) )\\bthis)\\b(?:(?!\\b(?:but|and|so|i|we|aber|wir|mais|pero)\\b)[^.!?:\\n]){0,60}[:：](?:\\s+|$)|\\b(?:according to|laut|selon|según)\\s[^.!?:,\\n]{1,60},\\s+`,
  'iu',
);
/** The same at the end of a line without a colon: "The readme says", "our vendor sent these instructions", "here is what I found". */
const HANDS_OVER = new RegExp(
  `(?:(?<!\\b(?:i|we|i've|i have|we've|ich|wir|je|j'ai|nous|yo)\\s(?:already |just |have |hab |habe )?)\\b(?:${SAYS})(?<!found|left)(?: (?:us|me|uns|mir))?(?: (?:this|these|the following)\\b[^.!?:,\\n]{0,40})?|^\\s{0,3}here(?:'s| is) what\\b[^.!?:\\n]{1,60})\\s*$`,
  'iu',
);
/** A line that ends with a colon and speaks of a text: what follows is that text. */
const INTRODUCES = new RegExp(
  `\\b(?:paste|copied|copy of|quot(?:e|ing)|here(?:'s| is| are)|below|following|(?:look at|read|check|see|review|explain) (?:this|these|that|it)|contents? of|got|received|came in|incoming|summari[sz]e|translate|rewrite|rephrase|paraphrase|proofread|shorten|übersetz\\w*|fasse|traduis\\w*|résume\\w*|traduce|resume|${TEXT_WORDS})\\b[^\\n]{0,120}[:：]\\s*$`,
  'iu',
);
/** The line introduces the speaker's own rules, or the form of what they want. */
const OWN_WISH =
  /\b(?:from now on|always|never|(?:my|our) (?:rules?|preferences?|conventions?|style|format|standards?|wish(?:es)?|order|way|process)|i want|we want|must|should|has to|have to|needs? to|use|write it|put|make it|like this|this (?:way|format|form|order)|as follows|ab jetzt|immer|soll|muss|désormais|siempre)\b/i;
/** Work on a text that stands below: everything behind the next blank line is that text. "You summarise …" tells what was done. */
const WORKS_ON_TEXT =
  /(?<!^\s{0,3}you (?:\w{2,8} )?)\b(?:summari[sz]e|sum (?:this|it|that) up|tl;?dr|translate|proofread|rewrite|rephrase|paraphrase|reword|shorten|(?:check|fix|correct) the (?:spelling|grammar|tone|wording|typos?)|(?:draft|write|suggest)(?: me)? an? (?:answer|reply|response)|(?:answer|reply to|respond to) (?:this|it|that|him|her|them)|what (?:does|do|did) (?:he|she|they|this|it)\b.{0,40}\b(?:want|mean|say)|what do you (?:think|make) (?:about|of) (?:this|it|that|the)|is (?:this|it|that) (?:right|true|plausible|serious|legit|spam|phishing)|übersetze?|fass\w* .{0,30}zusammen|korrigier\w*|formulier\w* .{0,30}um|traduis|résume|corrige|traduce|resume)\b/i;
const CLOSING: Readonly<Record<string, string>> = {
  '"': '"',
  '“': '”',
  '«': '»',
  '„': '“”',
  '‹': '›',
  '「': '」',
  '『': '』',
};
/** Short quotations match too, so that text between two of them is not taken for a third. */
const QUOTATION =
  /["“«„‹「『]([^"“”«»„‹›「」『』\n]{0,2000})["“”»›」』]|(?<=^|[\s:(,])['‘](?=\S)((?:[^'’\n]|['’](?=\p{L})){1,2000})['’](?=$|[\s.,;:!?)])/gu;
const FEWEST_QUOTED = 8;
const LONGEST_QUOTED_BLOCK = 80;

/**
 * Divides a text by what its structure says: what stands inside a delimited block, behind the head of a mail or behind an introduction of
 * somebody else's words is not the speaker's. Where a block has no end that can be told, it extends to the end of the text. Linear in the text.
 */
export function splitPastedText(text: string, quotations: QuotationsAre = 'pasted'): PastedText {
  const lines = text.split('\n');
  const own: string[] = [];
  const pasted: string[] = [];
  const take = (from: number, to: number): void => {
    for (const line of lines.slice(from, to)) pasted.push(line);
    own.push('');
  };
  const isSpoken = speakersIn(lines);
  const isPage = (text.match(PAGE_TAG)?.length ?? 0) >= FEWEST_TAGS;
  const isTicket = (text.match(FIELD)?.length ?? 0) >= FEWEST_FIELDS;
  let isBegun = false;
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? '';
    const end = blockEnd(lines, at, quotations, { isBegun, isTicket });
    if (end !== undefined) {
      take(at, end);
      at = end;
      continue;
    }
    const isOthers =
      QUOTE_LINE.test(line) ||
      ROLE_LABEL.test(line) ||
      CHAT_STAMP.test(line) ||
      ATTACHMENT.test(line) ||
      isSpoken(line) ||
      (isPage && /[<>]/.test(line));
    if (isOthers) take(at, at + 1);
    else {
      const split = splitLine(line, quotations);
      own.push(split.own);
      if (split.pasted !== '') pasted.push(split.pasted);
      isBegun ||= line.trim() !== '';
    }
    at++;
  }
  return { own: own.join('\n'), pasted: pasted.join('\n') };
}

/** Where the block of somebody else that begins with this line ends; undefined when none begins. */
function blockEnd(
  lines: readonly string[],
  at: number,
  quotations: QuotationsAre,
  { isBegun, isTicket }: { readonly isBegun: boolean; readonly isTicket: boolean },
): number | undefined {
  const line = lines[at] ?? '';
  if (FENCE.test(line))
    return quotations === 'own' ? undefined : closing(lines, at, (one) => FENCE.test(one));
  const mark = markOf(line);
  const isUnderline =
    mark === '===' &&
    (lines[at - 1] ?? '').trim() !== '' &&
    !lines.slice(at + 1).some((one) => markOf(one) === mark);
  if (mark !== undefined && isBegun && !isUnderline) {
    const other = mark === '<<<' ? '>>>' : mark;
    return closing(lines, at, (one) => markOf(one) === other);
  }
  if (WROTE.test(line)) {
    const next = lines.slice(at + 1).find((one) => one.trim() !== '') ?? '';
    return QUOTE_LINE.test(next) ? at + 1 : pointerAfter(lines, at);
  }
  if (STAMPED_NAME.test(line)) return blankAfter(lines, at);
  const isBlankNext = at + 1 < lines.length && (lines[at + 1] ?? '').trim() === '';
  const isForeign = MESSAGE_HEAD.test(line) || (isBegun && isBlankNext && SALUTATION.test(line));
  const isField = isTicket && new RegExp(FIELD, 'i').test(line);
  if (isForeign || isField) return pointerAfter(lines, at);
  return quotedBlock(lines, at) ?? (isBegun ? introducedEnd(lines, at) : undefined);
}

const markOf = (line: string): string | undefined => DELIMITER.exec(line)?.[1]?.slice(0, 3);

/** Behind the line that closes the block; an open one extends to the end. */
function closing(lines: readonly string[], at: number, isClosing: (line: string) => boolean): number {
  const end = lines.findIndex((line, index) => index > at && isClosing(line));
  return end < 0 ? lines.length : end + 1;
}

/** The line in which the person speaks again of what stands above it, or the end. */
function pointerAfter(lines: readonly string[], at: number): number {
  const end = lines.findIndex((line, index) => index > at && POINTS_UP.test(line));
  return end < 0 ? lines.length : end;
}

function blankAfter(lines: readonly string[], at: number): number {
  const end = lines.findIndex((line, index) => index > at && line.trim() === '');
  return end < 0 ? lines.length : end;
}

/** A quotation of several lines ends where its mark closes at the end of a line. */
function quotedBlock(lines: readonly string[], at: number): number | undefined {
  const start = (lines[at] ?? '').trimStart();
  const marks = CLOSING[start[0] ?? ''];
  if (marks === undefined || [...marks].some((mark) => start.indexOf(mark, 1) > 0)) return undefined;
  const isEnd = (line: string): boolean =>
    [...marks].some((mark) =>
      line
        .trimEnd()
        .replace(/[.,;]$/, '')
        .endsWith(mark),
    );
  const end = lines.slice(at + 1, at + LONGEST_QUOTED_BLOCK).findIndex(isEnd);
  return end < 0 ? undefined : at + 1 + end + 1;
}

/** What was introduced by the line before, up to the end or to a word about it. */
function introducedEnd(lines: readonly string[], at: number): number | undefined {
  const line = lines[at] ?? '';
  if (line.trim() === '') return undefined;
  const before = lines.slice(0, at).findLastIndex((one) => one.trim() !== '');
  const head = lines[before] ?? '';
  const isList = /^\s{0,6}(?:[-*•]|\d{1,2}[.)])\s/.test(line);
  const isCarrier = /[:：]\s*$/.test(head);
  const isIntroduced =
    isCarrier && (SAYS_THIS.test(head) || (!OWN_WISH.test(head) && (!isList || INTRODUCES.test(head))));
  const isApart = before < at - 1 || (/^\s{0,3}[\p{Lu}[("“«]/u.test(line) && !/,\s*$/.test(head));
  const isHandedOver = (isApart || isList) && HANDS_OVER.test(head) && !OWN_WISH.test(head);
  const isDocument = HEADING.test(line) && /[?？]\s*$/.test(head);
  return isIntroduced || isHandedOver || isDocument || (isApart && WORKS_ON_TEXT.test(head))
    ? pointerAfter(lines, at)
    : undefined;
}

/** Whether a line is one of a conversation: several lines have a label, and one of the labels comes again. */
function speakersIn(lines: readonly string[]): (line: string) => boolean {
  const labels = lines.flatMap((line) => labelOf(line) ?? []);
  const isChat = labels.length >= FEWEST_SPOKEN && new Set(labels).size < labels.length;
  return (line) => isChat && labelOf(line) !== undefined;
}

function labelOf(line: string): string | undefined {
  const label = SPEAKER.exec(line)?.[1];
  return label === undefined || OWN_LABEL.test(label) ? undefined : label;
}

/** The own part of a line: without the words behind "he wrote: …", and without long quotations. */
function splitLine(line: string, quotations: QuotationsAre): PastedText {
  const said = SAYS_THIS.exec(line);
  const from = said === null ? line.length : said.index + said[0].length;
  const behind = line.slice(from);
  // A quotation right behind the introduction is all that is introduced.
  const quoted = /^(?:["“«„][^"“”«»„\n]{0,2000}["“”»]|'(?:[^'\n]|'(?=\p{L})){1,2000}'(?!\p{L}))/u.exec(
    behind,
  )?.[0];
  const theirs = quoted ?? behind;
  const rest = behind.slice(theirs.length);
  const found = theirs.trim() === '' ? [] : [theirs];
  if (quotations === 'own')
    return { own: `${line.slice(0, from)} ${rest}`.trimEnd(), pasted: found.join('\n') };
  const own = `${line.slice(0, from)}${quoted === undefined ? '' : ' '}${rest}`.replace(
    QUOTATION,
    (whole, double?: string, single?: string) => {
      const words = double ?? single ?? '';
      if (wordsIn(words) < FEWEST_QUOTED) return whole;
      found.push(words);
      return ' ';
    },
  );
  return { own, pasted: found.join('\n') };
}

const wordsIn = (text: string): number =>
  text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
