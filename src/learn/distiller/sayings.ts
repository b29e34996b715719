import type { FailureCase } from '../../core/learn.ts';
import { isBareReminder } from '../../reader/cues/standing-phrases.ts';
import { foldAccents } from '../../reader/own-sentences.ts';
import { splitPastedText } from '../../text/pasted-text.ts';
import { sentencesOf } from '../../text/sentences.ts';
import { oneLine, visibleText } from '../../text/visible-text.ts';
import { type RuleWords, readRuleWords } from '../compare-words.ts';
import { cutQuote, hasSubject, type Matter, readMatter } from './matter.ts';

/** Something that a person or a check said about a failure, in its own words. */
export interface Saying extends RuleWords {
  /** Letter by letter, without invisible characters. A long one is cut at the end of a sentence. */
  readonly quote: string;
  readonly speaker: Speaker;
  readonly matter: Matter;
  readonly failure: FailureCase;
  /** Meant for later work too: once is enough. Otherwise it counts when it was said in two sessions. */
  readonly isStanding: boolean;
  /** It names nothing beyond the case at hand: only the same words in another session make it more. */
  readonly isCase?: true;
  /** Stated without blame: only the same words in another session make it more. */
  readonly isRemark?: true;
}

export type Speaker = 'user' | 'check';

const LONGEST_TEXT = 8000;
const LONGEST_QUOTE = 600;
const MOST_PIECES = 24;
const SHORT_NOTE = 160;
const FEW_WORDS = 5;

/**
 * What was said: feedback of people and verifiers, words to Instar in the chat, and corrections of the agent in the chat. Never
 * what tools, pages or the agent said.
 */
export function readSayings(failure: FailureCase): readonly Saying[] {
  const { passages, appraisal } = failure;
  const found = new Map<string, Saying>();
  const caseTexts = textsOfCase(failure);
  const add = (quote: string, speaker: Speaker, isStanding: boolean, more: SayingMarks = {}): void => {
    const matter = readMatter(quote);
    if (
      SCORE_ALONE.test(quote) ||
      isBareReminder(foldAccents(oneLine(quote))) ||
      found.get(matter.print)?.isStanding
    )
      return;
    const said = { ...readRuleWords(quote, caseTexts), speaker, matter, failure, isStanding };
    found.set(matter.print, { ...said, ...more });
  };
  const hear = (text: string, speaker: Speaker): void => {
    const { own, pasted } = splitPastedText(text, 'own');
    const isTheirs = speaker === 'user' && pasted !== '' && own.trim() !== '' && QUOTED_LINE.test(text);
    const isWhole = speaker === 'user' && !isTheirs && isOneThought(text);
    // A mail that the note quotes is not what its writer says.
    const pieces = isWhole ? [visibleText(text).trim()] : piecesOf(isTheirs ? own : text);
    for (const quote of pieces) {
      // What names only its own case says nothing to anybody else, however often such things are said.
      if (!hasSubject(quote) || isOfOptions(quote) || namesOnlyCase(quote, caseTexts)) continue;
      const isCase = isSingleCase(quote);
      add(quote, speaker, !isCase, isCase ? { isCase } : {});
    }
  };
  // What was said of an answer that was right is no correction.
  const told =
    appraisal.verdict === 'success'
      ? []
      : passages.filter(
          ({ origin, isFeedback }) => origin === 'person' || origin === 'verifier' || isFeedback === true,
        );
  for (const { origin, text } of told) hear(text, origin === 'verifier' ? 'check' : 'user');
  for (const { source, score, reason } of appraisal.signals)
    if ((source === 'person' || source === 'verifier') && score < 0.5)
      hear(reason, source === 'verifier' ? 'check' : 'user');
  // The sentences of one message belong together: one of them is the rule, another says what was wrong.
  const { correction, remark = [] } = appraisal;
  const { quotes, isStanding } = correction ?? { quotes: remark, isStanding: false };
  const isToldToo = (quote: string): boolean => told.some(({ text }) => text.includes(quote));
  const unheard = quotes.some(isToldToo) ? [] : quotes;
  const said = cutQuote(visibleText(joinQuotes(unheard, failure)).trim(), LONGEST_QUOTE);
  if (isStanding ? MORE_THAN_A_WORD.test(said) : hasSubject(said))
    add(said, 'user', isStanding, correction === undefined ? { isRemark: true } : {});
  return [...found.values()];
}

const QUOTED_LINE = /^\s{0,3}>/m;
const CASE_CHARACTERS = 4_000;
const MOST_PASSAGES = 12;

type SayingMarks = Pick<Saying, 'isCase' | 'isRemark'>;

/** What was asked and done: a value that stands there is no news. */
const textsOfCase = ({ task, passages }: FailureCase): readonly string[] => [
  task.slice(0, CASE_CHARACTERS),
  ...passages
    .filter(({ origin }) => origin === 'assistant' || origin === 'tool')
    .slice(-MOST_PASSAGES)
    .map(({ text }) => text.slice(0, CASE_CHARACTERS)),
];

/** Sentences that stand in one line of the message stay in one line. */
const joinQuotes = (quotes: readonly string[], { passages }: FailureCase): string =>
  quotes.slice(1).reduce((said, quote) => {
    const last = `${said.slice(said.lastIndexOf('\n') + 1)} ${quote}`;
    return `${said}${passages.some(({ text }) => text.includes(last)) ? ' ' : '\n'}${quote}`;
  }, quotes[0] ?? '');

const MORE_THAN_A_WORD = /\p{L}\S{0,100}\s+\S|\p{Lo}{3}/u;

/** The reason that appraisal writes for a score: nobody's words. */
const SCORE_ALONE = /^\w+ gave -?[\d.e-]+$/;

const ITEM = /^\s{0,12}(?:[-*+•–]\s|\d{1,2}[.)]\s|\[[ xX]\]|[✗✘❌✓✔✅☐☑])/u;
const DONE = /^\s{0,12}(?:[-*+•–]\s{0,4})?(?:\[[xX]\]|[✓✔✅☑]|PASS(?:ED)?\b|OK:)/u;
const FENCE = /^\s{0,3}(?:```|~~~)/;
/** Lines that programs print around what they check. */
const NOISE =
  /^\s*(?:at \S+ ?\(|at \S+:\d+|File "|Traceback|\^+\s*$|[-=_*]{3,}\s*$|\d+ (?:tests? )?(?:passed|failed)|(?:exit|return|status) code\b|score\b.{0,20}$|segmentation fault)/i;

/** A short note in which a line asks, or has a few words only, is quoted as a whole: one of its lines may turn another around. */
function isOneThought(text: string): boolean {
  const lines = text.trim().split('\n');
  return (
    text.length <= SHORT_NOTE &&
    lines.some((line) => /[?？]\s*$/.test(line) || line.trim().split(/\s+/).length <= FEW_WORDS) &&
    !lines.some((line) => [ITEM, FENCE, NOISE, DONE].some((pattern) => pattern.test(line)))
  );
}

/** The parts that its author set apart: paragraphs, lines and list items, an item with the line above its list. */
function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  let heading = '';
  let open: string[] = [];
  let isCode = false;
  const close = (): void => {
    const piece = open.join('\n').trim();
    if (piece !== '') pieces.push(cutQuote(piece, LONGEST_QUOTE));
    open = [];
  };
  for (const line of visibleText(text.slice(0, LONGEST_TEXT)).split('\n')) {
    if (isCode || FENCE.test(line)) {
      // A block of code belongs to the words before it.
      if (!isCode && open.length === 0 && heading !== '') open = [heading];
      open.push(line.trimEnd());
      if (FENCE.test(line)) isCode = !isCode;
      continue;
    }
    close();
    if (line.trim() === '') continue;
    const isItem = ITEM.test(line);
    if (!isItem) heading = '';
    if (NOISE.test(line) || DONE.test(line)) continue;
    if (!isItem && line.trimEnd().endsWith(':')) heading = line.trim();
    else open = isItem && heading !== '' ? [heading, line.trim()] : [line.trim()];
  }
  if (open.length === 0 && pieces.length === 0 && heading !== '') open = [heading];
  close();
  return pieces.slice(0, MOST_PIECES);
}

/**
 * Feedback about one piece of work ("B is right", "the total should be 4,120 EUR", "look again"): of no use for other work.
 * What is taken for it by mistake is learned when it is said again.
 */
const SINGLE_CASE: readonly RegExp[] = [
  // The value of one thing.
  /^(?:[Ii]t|[Tt]hat|[Tt]he [\w ]{2,40}) (?:should(?: have)? be(?:en)?|must be|has to be|is|was) (?:\d[\d.,:/-]*(?=$|[\s.])|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|[A-Z][a-z]+ [A-Z][a-z]+)/,
  // One ticket, one order.
  /^(?!.*\b(?:must|should|has to|have to|needs?)\b).*(?:\b(?:ticket|issue|order|invoice|case|patient|version|room|row) (?:no\. ?)?#?\d|(?<![\w"'`])(?:[A-Z]{1,5}-\d{2,}|[a-z]\d{4})\b)/i,
  // Do this again.
  /^(?:have|take) an?(?:other)? (?:closer )?look\b|\b(?:this|that) (?:one|time)\b|^(?:this|that|it) (?:is|does|did|was) not?\b|^the (?:figures|numbers|sums?) (?:do|does) not\b/i,
];
const GENERAL =
  /\b(?:always|never|every|each|all|any|whenever|from now on|in future|going forward|we)\b|\b(?:immer|nie|niemals|jede[rsnm]?|siempre|nunca|cada|toujours|jamais|chaque|sempre)\b/i;

/** An option of a question, or what a document says: also where the sentence speaks of all of something. */
const OF_QUESTION =
  /(?:^|\b(?:[Nn]ot|taken?|chose|pick(?:ed)?|ticked|only|and|or|out|missed|[Oo]ption|[Aa]nswer|letter|answer is|answer was) )[A-H](?:$|[,.;:()]|\s\(|\s(?:is|are|was|would|should|belongs|as well|too|because|holds|and|or|in|contradicts)\b)/;
const OF_DOCUMENT =
  /^(?:from|in|according to|as per) (?:[\w./-]{1,80}\.\w{1,5}|the \w{1,20})[:,] (?!(?:always|never|use|put|do|we|you)\b)|\b(?:says?|states?|see|reads? in|gives|otherwise in) [\w./-]{1,60}\.(?:md|txt|pdf|docx?|json|csv)\b|^the (?:invoice|memo|contract|lease|log|minutes|ticket|report) (?:says|states|gives|reads)\b/i;

const LITERAL =
  /"[^"\n]{1,80}"|“[^”\n]{1,80}”|`[^`\n]{1,80}`|[\w.+-]{0,40}\/[\w./+-]{1,80}|[\w.+:-]{0,40}\d[\w.+:%/-]{0,40}/gu;
const MEANT_FOR_ALL = /\b(?:must|should|needs?|has to|have to|always|never|every|each|all|any|we|our|us)\b/i;

/** Feedback that names nothing but what its task and its answer named: "I saw 89 as seats, I had said 20". */
function namesOnlyCase(quote: string, caseTexts: readonly string[]): boolean {
  const named = (quote.match(LITERAL) ?? []).map((one) => one.replace(/^["“`]|["”`]$|[.,;:]+$/g, ''));
  return (
    named.length > 0 &&
    !MEANT_FOR_ALL.test(quote) &&
    named.every((one) => caseTexts.some((text) => text.includes(one)))
  );
}

/** "Not quite. A is right. B is wrong." */
const isOfOptions = (quote: string): boolean => {
  const sentences = sentencesOf(quote);
  const others = sentences.filter((sentence) => !OF_QUESTION.test(sentence));
  return (
    others.length < sentences.length && others.every((sentence) => sentence.split(/\s+/).length < FEW_WORDS)
  );
};

/** What is named as an example does not make a rule a single case. */
const EXAMPLE =
  /,?\s(?:for example|for instance|e\.g\.|such as|like|so|z\.\s?B\.|par exemple|por ejemplo)\s.*$/is;

function isSingleCase(quote: string): boolean {
  const said = quote.replace(EXAMPLE, '');
  if (OF_QUESTION.test(said) || OF_DOCUMENT.test(said)) return true;
  return SINGLE_CASE.some((pattern) => pattern.test(said)) && !GENERAL.test(said);
}
