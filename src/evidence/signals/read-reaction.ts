import type { Correction } from '../../core/evidence.ts';
import type { LabelledSpan } from '../../core/reading.ts';
import { DOUBT, findThanks } from '../../reader/cues/reaction-phrases.ts';
import { isSaidForLater } from '../../reader/cues/said-for-later.ts';
import {
  asksForWork,
  isAnswer,
  isGreeting,
  opensTask,
  startsNextTask,
} from '../../reader/cues/sentence-cues.ts';
import { isBareReminder, isOfTheMoment, isRepeated } from '../../reader/cues/standing-phrases.ts';
import { foldAccents, readOwnSentences } from '../../reader/own-sentences.ts';
import { type CueKind, namesCode, type ReadSentence, readSentences } from '../../reader/read-message.ts';
import { separateTypedText } from '../../text/typed-text.ts';
import { digestError } from '../digest/digest-error.ts';
import type { TurnReading } from '../turn-reading.ts';
import { readManner } from './manner.ts';

/**
 * What the user's next message says about the reply. `wrong` without a correction: the message holds a stack trace and no words.
 * A rule is a correction without a complaint: "btw, we never push to main".
 */
export type Reaction =
  | { readonly kind: 'wrong'; readonly correction?: Correction; readonly isRule: boolean }
  | { readonly kind: 'doubted' | 'outage' }
  /** `remarked`: it tells nothing about the reply. What a message states besides counts when another session says it too. */
  | { readonly kind: 'thanked' | 'remarked'; readonly remark: readonly string[] };

const MOST_QUOTES = 3;

/** Reads the user's next message in a main conversation; undefined when it says nothing about the reply. */
export function readReaction({ evidence, said }: TurnReading): Reaction | undefined {
  const message = evidence.next?.user ?? '';
  if (message === '' || evidence.role !== 'main' || evidence.isReported || evidence.reply.length === 0)
    return undefined;
  // Heartbeats and timers repeat themselves; a command of the client has arguments and no opinion.
  if (message === evidence.task || COMMAND.test(message)) return undefined;
  const isRevised = evidence.next?.isRevised === true;
  const { task } = evidence;
  const sentences = readSentences({ message, answer: said, task, isRevised, spans: evidence.next?.spans });
  const context = { answer: said, isRevised, spans: evidence.next?.spans };
  const isBarelySaid =
    sentences
      .map(({ folded }) => folded)
      .join(' ')
      .split(' ').length < MORE_THAN_A_NOD;
  if (isBarelySaid && hasTrace(message)) return withQuotes(sentences, false, context);
  // What a client without tool messages reports in the user's name is nothing that they pasted.
  const hasWrittenResults = evidence.next?.tools.some(({ call }) => call !== undefined) === true;
  const reaction = reactionOf(sentences, context);
  return isUnsaid(reaction) && !hasWrittenResults && showsFailure(message, sentences, said)
    ? { kind: 'wrong', isRule: false }
    : reaction;
}

const isUnsaid = (reaction: Reaction | undefined): boolean =>
  reaction === undefined || reaction.kind === 'remarked';

/** Few words beside the output of a build or a test: more of them are about other work. */
const FEW_WORDS = 8;

/**
 * The person pasted what the result does: a build or a test that fails, with next to no words of their own. Not where the agent asked for
 * it, nor where what they say is the next piece of work.
 */
function showsFailure(message: string, sentences: readonly ReadSentence[], said: string): boolean {
  const words = sentences.flatMap(({ folded }) => folded.split(' ')).length;
  if (words > FEW_WORDS || said.trimEnd().endsWith('?')) return false;
  if (sentences.some(({ folded, sounds }) => sounds === 'thanks' || startsNextTask(folded))) return false;
  const { typed } = separateTypedText(message);
  const pasted = sentences.reduce((rest, { text }) => rest.replace(text, ''), typed);
  return digestError(pasted).length > 0;
}

const COMMAND = /<command-name>/;

const MORE_THAN_A_NOD = 4;

/** A message that is only a stack trace means that the user tried the result. */
const hasTrace = (text: string): boolean =>
  digestError(text).some((line) => /(?:Error|Exception|panic).* @ /.test(line));

interface ReplyContext {
  readonly answer: string;
  /** The answer to the message is the one before it with changes. */
  readonly isRevised: boolean;
  /** What a model read in the message. */
  readonly spans: readonly LabelledSpan[] | undefined;
}

function reactionOf(sentences: readonly ReadSentence[], context: ReplyContext): Reaction | undefined {
  const { answer, isRevised, spans } = context;
  const kinds = sentences.map(({ sounds }) => sounds);
  if (kinds.includes('outage') && !kinds.includes('rule')) return { kind: 'outage' };
  if (kinds.includes('complaint') || kinds.includes('rule')) {
    if (sentences.every(({ folded }) => isBareReminder(folded))) return undefined;
    const quoted = quotedIn(sentences, kinds);
    return withQuotes(
      quoted,
      quoted.some(({ folded }) => kinds[sentences.findIndex((one) => one.folded === folded)] === 'rule'),
      context,
      !kinds.includes('complaint'),
    );
  }
  const words = sentences.map(({ folded }) => folded).join(' ');
  if (DOUBT.test(words)) return { kind: 'doubted' };
  const begun = newWorkIn(sentences, kinds);
  // Of a message that a model read, what it left out is the request.
  const isLeftOut = (named: ReadSentence['kinds']): boolean => spans !== undefined && named.size === 0;
  const remark = sentences
    .filter(
      ({ text, folded, block, kinds: named }, index) =>
        ((kinds[index] === 'other' && (isRevised || !isLeftOut(named))) ||
          (kinds[index] === 'task' && (isRevised || readManner(text) !== undefined))) &&
        block < begun &&
        (isRevised ? isRepeatedChange(text) : isRepeatable(text)) &&
        !isAnswer(folded, answer),
    )
    .slice(0, MOST_QUOTES)
    .map(({ text }) => text);
  if (kinds.includes('thanks') || (spans === undefined && findThanks(words)))
    return { kind: 'thanked', remark };
  return remark.length === 0 ? undefined : { kind: 'remarked', remark };
}

/** The block with which the next piece of work begins: what stands there tells nothing about the reply. */
function newWorkIn(sentences: readonly ReadSentence[], kinds: readonly CueKind[]): number {
  // What stands beside a question is told for its answer.
  const first = sentences.find(
    ({ folded, block }, index) =>
      (/[?？]$/.test(folded) && !isGreeting(folded)) ||
      (block > 0 && (kinds[index] === 'task' || asksForWork(folded))),
  );
  return first?.block ?? Number.POSITIVE_INFINITY;
}

/**
 * The request in a message that follows a reply. People react first, and ask for the next piece of work after a blank line: the request
 * begins with the last paragraph that opens with a task ("now fix …", "can you …"); without one it is the last paragraph.
 */
export function requestAfterReaction(message: string): string {
  const sentences = readOwnSentences(message);
  const [first, last] = [sentences[0]?.block ?? 0, sentences.at(-1)?.block ?? 0];
  if (first === last) return message;
  const begun = sentences.findLast(
    ({ folded }) => startsNextTask(folded) || opensTask(folded) || asksForWork(folded),
  );
  const start = sentences.find(({ block }) => block === (begun?.block ?? last))?.text ?? '';
  return message.slice(Math.max(0, message.lastIndexOf(start))).trim();
}

function withQuotes(
  quoted: readonly ReadSentence[],
  hasRule: boolean,
  { answer, isRevised, spans }: ReplyContext,
  isRule = false,
): Reaction {
  if (quoted.length === 0) return { kind: 'wrong', isRule };
  const isMeant = hasRule || quoted.some(({ folded }) => isRepeated(folded));
  // A rule that changed the answer is about such answers.
  const isSure = spans !== undefined || (hasRule && isRevised);
  const isStanding = isMeant && (isSure || quoted.some((one) => isLikelyRule(one, answer)));
  return { kind: 'wrong', isRule, correction: { quotes: quoted.map(({ text }) => text), isStanding } };
}

/**
 * What the learned reader must give a rule that phrases hear: "always", "again" and "remember" are said of the work at hand as well, most
 * often behind an answer that names code. What has less counts when it is said in another session too.
 */
const LIKELY_RULE = 0.015;
const LIKELY_RULE_AT_WORK = 0.05;

const isLikelyRule = ({ folded, scores }: ReadSentence, answer: string): boolean =>
  isSaidForLater(folded) ||
  scores.rule + scores.preference >= (namesCode(answer) ? LIKELY_RULE_AT_WORK : LIKELY_RULE);

/** A message of this length is quoted as a whole: what it says in passing often is the rule. */
const SHORT_MESSAGE = 400;

const MOST_OF_SHORT = 6;

/** Of so few words none is left out: the last may turn the first around ("Floats for money, great idea. Use integers."). */
const WORDS_OF_ONE_THOUGHT = 14;

/** In the order of the message; the corrections themselves go before what explains them. */
function quotedIn(sentences: readonly ReadSentence[], kinds: readonly CueKind[]): readonly ReadSentence[] {
  const isCore = (index: number): boolean => kinds[index] === 'complaint' || kinds[index] === 'rule';
  const all = sentences.map((_, index) => index);
  const isShort = sentences.reduce((sum, { text }) => sum + text.length, 0) <= SHORT_MESSAGE;
  const most = isShort ? MOST_OF_SHORT : MOST_QUOTES;
  const core = all.filter(isCore).slice(0, most);
  const isOneThought =
    sentences.reduce((sum, { folded }) => sum + folded.split(' ').length, 0) <= WORDS_OF_ONE_THOUGHT;
  // A request beside a rule is the next piece of work; beside a complaint, and behind a rule, it may say what to do about it.
  const isNextWork = (index: number): boolean =>
    !kinds.includes('complaint') &&
    !(isOneThought && index > (core[0] ?? 0)) &&
    (kinds[index] === 'task' || (index < (core[0] ?? 0) && sentences[index]?.kinds.has('task') === true));
  const around = all.filter(
    (index) =>
      !isCore(index) &&
      !isNextWork(index) &&
      (isOneThought || isBesideCore(sentences, core, index)) &&
      (isShort ? isPlainWord(sentences, kinds, index, isOtherWork) : isExplanation(sentences, kinds, index)),
  );
  const kept = [...core, ...around.slice(0, most - core.length)];
  const [first, last] = [Math.min(...kept), Math.max(...kept)];
  // What stands between two sentences of a rule is a part of it. What is too long is quoted from its rule on.
  const rule = core.find((index) => kinds[index] === 'rule');
  const start = last - first < most ? first : (rule ?? first);
  const from = start > 0 && POINTS_BACK.test(sentences[start]?.folded ?? '') ? start - 1 : start;
  return sentences.slice(from, Math.min(last + 1, start + most));
}

/** In the block of a correction, or in the next one where that block has a few words only ("Nope."). */
function isBesideCore(sentences: readonly ReadSentence[], core: readonly number[], index: number): boolean {
  const block = sentences[index]?.block ?? 0;
  const ofBlock = (number: number): readonly ReadSentence[] =>
    sentences.filter((one) => one.block === number);
  const isCoreBlock = (number: number): boolean => core.some((one) => sentences[one]?.block === number);
  const isShort = (number: number): boolean =>
    ofBlock(number).reduce((sum, { folded }) => sum + folded.split(' ').length, 0) <= BARE_CORRECTION;
  return isCoreBlock(block) || (block > 0 && isCoreBlock(block - 1) && isShort(block - 1));
}

/** "Do that everywhere": the sentence before it is the rule. "Where is ctx? We pass it to each function": it names what "it" is. */
const POINTS_BACK =
  /^(?:please |pls |and |so |always |never )*(?:(?:do|keep|apply|follow|use|make) (?:that|this|it|so)|(?:we|i) \S+ (?:it|that|this|them))\b/;

/** Another piece of work, in contrast to a step of the corrected one ("run make gen after that"). */
const isOtherWork = (folded: string): boolean =>
  /^(?:(?:ok|okay|and|so|great|good|please|pls),? )*(?:now|also|next|additionally|then|add|create|implement|build|generate|continue|go on|proceed|translate|explain|show|tell|summari[sz]e|give me|can you|could you)\b/.test(
    folded,
  );

/** No thanks, no greeting, no question, and not the next piece of work. */
const isPlainWord = (
  sentences: readonly ReadSentence[],
  kinds: readonly CueKind[],
  index: number,
  isNext = startsNextTask,
): boolean => {
  const folded = sentences[index]?.folded ?? '';
  return kinds[index] === 'other' || (kinds[index] === 'task' && !isNext(folded));
};

const SHORT_CORRECTION = 6;

const BARE_CORRECTION = 3;

/** What follows a correction of few words ("Nope.") and is no new task, question or thanks says what it is about. */
function isExplanation(
  sentences: readonly ReadSentence[],
  kinds: readonly CueKind[],
  index: number,
): boolean {
  const before = kinds[index - 1];
  if (before !== 'complaint' && before !== 'rule') return false;
  const said = sentences[index - 1]?.folded.split(' ').length ?? 0;
  const folded = sentences[index]?.folded ?? '';
  return isPlainWord(sentences, kinds, index) && said <= SHORT_CORRECTION && !/\?$/.test(folded);
}

/** What is done once when it is asked for: said twice it is no rule for later work. */
const ONE_TIME =
  /\b(?:commit|push|merge|deploy|release|publish|delete|remove|drop|reset|rebase|revert|continue|weiter|mach weiter)\b|(?:提交|推送|删除|继续|続けて|계속)/u;

const MOST_WORDS = 14;
/** A file, an address, an id or a number of a list: it is about the case at hand. */
const OF_A_CASE =
  /[\w.~-]+\/[\w.-]+\/|https?:|@\w|#\d|\.\w{2,4}:\d|\b\d{4,}\b|`|:$|[?？]$|\b(?!need|embed|speed|feed|red\b|bed\b)[a-z]{3,}ed\b|^(?:ok|okay|k|mm+k|hm+|i|or|then)\b/;
const MOST_WORDS_OF_CHANGE = 30;
/** A file, an address or an id: it is about the case at hand, also where it changed an answer. */
const NAMES_A_CASE = /[\w.~-]+\/[\w.-]+\/|https?:|@\w|\.\w{2,4}:\d|\b\d{4,}\b|[?？]$/;
/** In brackets as a whole: said beside the point. */
const ASIDE = /^[([（].*[)\]）][.!]?$/u;
/**
 * Whether a sentence, said after an answer without blame, could hold for other work: then it counts when another session says it
 * too. What is about one case, or is the next task, does not. Real chats are full of both.
 */
export function isRepeatable(sentence: string): boolean {
  const { whole, folded } = foldSentence(sentence);
  return (
    !ASIDE.test(whole) &&
    !ONE_TIME.test(folded) &&
    !OF_A_CASE.test(folded) &&
    !isOfTheMoment(folded) &&
    folded.split(' ').length <= MOST_WORDS &&
    (/\p{L}\S* \S/u.test(folded) || /\p{Lo}{5}/u.test(folded))
  );
}

/**
 * The same for a sentence that changed the answer before it. That it is about such answers is known, so that its words are not looked at
 * as closely: only what names one case, or is done once, is left out.
 */
function isRepeatedChange(sentence: string): boolean {
  const { whole, folded } = foldSentence(sentence);
  return (
    !ASIDE.test(whole) &&
    !ONE_TIME.test(folded) &&
    !NAMES_A_CASE.test(folded) &&
    folded.split(' ').length <= MOST_WORDS_OF_CHANGE &&
    (/\p{L}\S* \S/u.test(folded) || /\p{Lo}{5}/u.test(folded))
  );
}

function foldSentence(sentence: string): { readonly whole: string; readonly folded: string } {
  const whole = foldAccents(sentence).replace(/\s+/g, ' ').trim();
  return { whole, folded: whole.replace(/^[\s("'“‘[{*_>–—-]+/, '') };
}
