import type { Correction } from '../../core/evidence.ts';
import { isInstructionVerb } from '../../text/verbs.ts';
import { digestError } from '../digest/digest-error.ts';
import type { TurnReading } from '../turn-reading.ts';
import { FOREIGN_COMPLAINTS, HARMLESS_NO, NO } from './complaint-phrases.ts';
import { isOtherChoice, isOtherValue } from './contradiction.ts';
import {
  BROKEN_NOW,
  COMPLAINT_ABOUT_THING,
  CORRECTING_CLAUSES,
  CORRECTING_PHRASES,
} from './correction-patterns.ts';
import { readManner } from './manner.ts';
import { isOutageSentence } from './outage-words.ts';
import { foldAccents, type OwnSentence, readOwnSentences } from './own-sentences.ts';
import { DOUBT, findThanks } from './praise-phrases.ts';
import { isRepeatable, isRepeatedChange } from './repeatable.ts';
import { isRevocation, isRevocationOfLast } from './revocations.ts';
import {
  isBareReminder,
  isDoneAgain,
  isGeneralStatement,
  isHabit,
  isHouseCustom,
  isOrder,
  isPlainRule,
  isRepeated,
  isStandingInstruction,
} from './standing-phrases.ts';

/**
 * What the user's next message says about the reply. `wrong` without a correction: the message holds a stack trace and no words.
 * A rule is a correction without a complaint: "btw, we never push to main".
 */
export type Reaction =
  | { readonly kind: 'wrong'; readonly correction?: Correction; readonly isRule: boolean }
  | { readonly kind: 'doubted' | 'outage' }
  /** `remarked`: it tells nothing about the reply. What a message states besides counts when another session says it too. */
  | { readonly kind: 'thanked' | 'remarked'; readonly remark: readonly string[] };

/** The reply that a message reacts to. */
interface ReplyContext {
  /** The question with which the reply ended, folded; '' without one. */
  readonly question: string;
  /** The folded text of the task and of the reply. */
  readonly about: string;
  /** The sentence is among the first ones. */
  readonly isNear?: boolean;
  /** The message changed the reply: the answer to it is the reply with changes. */
  readonly isRevised?: boolean;
}

const ABOUT_CAP = 4000;
const MOST_QUOTES = 3;

/** Reads the user's next message in a main conversation; undefined when it says nothing about the reply. */
export function readReaction({ evidence, said }: TurnReading): Reaction | undefined {
  const message = evidence.next?.user ?? '';
  if (message === '' || evidence.role !== 'main' || evidence.isReported || evidence.reply.length === 0)
    return undefined;
  // Heartbeats and timers repeat themselves; a command of the client has arguments and no opinion.
  if (message === evidence.task || COMMAND.test(message)) return undefined;
  const sentences = readOwnSentences(message);
  const isBarelySaid =
    sentences
      .map(({ folded }) => folded)
      .join(' ')
      .split(' ').length < MORE_THAN_A_NOD;
  if (isBarelySaid && hasTrace(message)) return withQuotes(sentences, false);
  const [first] = sentences;
  if (first === undefined || NEW_TOPIC.test(first.folded)) return undefined;
  const about = foldAccents(`${evidence.task.slice(0, ABOUT_CAP)} ${said.slice(0, ABOUT_CAP)}`);
  const question = /[?？]$/.test(said) ? foldAccents(said.slice(-LONGEST_QUESTION)) : '';
  const isRevised = evidence.next?.isRevised === true;
  return reactionOf(sentences, { question: lastSentence(question), about, isRevised });
}

const LONGEST_QUESTION = 300;
const lastSentence = (text: string): string =>
  text.split(/(?<=[.!?])\s|\n/).findLast((sentence) => sentence !== '') ?? '';

const COMMAND = /<command-name>/;
const MORE_THAN_A_NOD = 4;

/** A message that is only a stack trace means that the user tried the result. */
const hasTrace = (text: string): boolean =>
  digestError(text).some((line) => /(?:Error|Exception|panic).* @ /.test(line));

function reactionOf(sentences: readonly OwnSentence[], context: ReplyContext): Reaction | undefined {
  const kinds = kindsOf(sentences, context);
  if (kinds.includes('outage') && !kinds.includes('rule')) return { kind: 'outage' };
  if (kinds.includes('complaint') || kinds.includes('rule')) {
    if (sentences.every(({ folded }) => isBareReminder(folded))) return undefined;
    const quoted = quotedIn(sentences, kinds);
    return withQuotes(
      quoted,
      quoted.some(({ folded }) => kinds[sentences.findIndex((one) => one.folded === folded)] === 'rule'),
      !kinds.includes('complaint'),
    );
  }
  const words = sentences.map(({ folded }) => folded).join(' ');
  if (DOUBT.test(words)) return { kind: 'doubted' };
  const begun = newWorkIn(sentences, kinds);
  const remark = sentences
    .filter(
      ({ text, folded, block }, index) =>
        (kinds[index] === 'other' ||
          (kinds[index] === 'task' && (context.isRevised === true || readManner(text) !== undefined))) &&
        block < begun &&
        (context.isRevised === true ? isRepeatedChange(text) : isRepeatable(text)) &&
        !isAnswer(folded, context.question),
    )
    .slice(0, MOST_QUOTES)
    .map(({ text }) => text);
  if (findThanks(words)) return { kind: 'thanked', remark };
  return remark.length === 0 ? undefined : { kind: 'remarked', remark };
}

/** The block with which the next piece of work begins: what stands there tells nothing about the reply. */
function newWorkIn(sentences: readonly OwnSentence[], kinds: readonly SentenceKind[]): number {
  // What stands beside a question is told for its answer.
  const first = sentences.find(
    ({ folded, block }, index) =>
      (/[?？]$/.test(folded) && !GREETING.test(folded)) ||
      (block > 0 && (kinds[index] === 'task' || ASKS_FOR.test(folded))),
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
    ({ folded }) => NEXT_TASK.test(folded) || OPENS_TASK.test(folded) || ASKS_FOR.test(folded),
  );
  const start = sentences.find(({ block }) => block === (begun?.block ?? last))?.text ?? '';
  return message.slice(Math.max(0, message.lastIndexOf(start))).trim();
}

function withQuotes(quoted: readonly OwnSentence[], hasRule: boolean, isRule = false): Reaction {
  if (quoted.length === 0) return { kind: 'wrong', isRule };
  const isStanding = hasRule || quoted.some(({ folded }) => isRepeated(folded));
  return { kind: 'wrong', isRule, correction: { quotes: quoted.map(({ text }) => text), isStanding } };
}

/** A message of this length is quoted as a whole: what it says in passing often is the rule. */
const SHORT_MESSAGE = 400;
const MOST_OF_SHORT = 6;

/** In the order of the message; the corrections themselves go before what explains them. */
function quotedIn(sentences: readonly OwnSentence[], kinds: readonly SentenceKind[]): readonly OwnSentence[] {
  const isCore = (index: number): boolean => kinds[index] === 'complaint' || kinds[index] === 'rule';
  const all = sentences.map((_, index) => index);
  const isShort = sentences.reduce((sum, { text }) => sum + text.length, 0) <= SHORT_MESSAGE;
  const most = isShort ? MOST_OF_SHORT : MOST_QUOTES;
  const core = all.filter(isCore).slice(0, most);
  const around = all.filter(
    (index) =>
      !isCore(index) &&
      isBesideCore(sentences, core, index) &&
      (isShort ? isPlainWord(sentences, kinds, index, OTHER_WORK) : isExplanation(sentences, kinds, index)),
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
function isBesideCore(sentences: readonly OwnSentence[], core: readonly number[], index: number): boolean {
  const block = sentences[index]?.block ?? 0;
  const ofBlock = (number: number): readonly OwnSentence[] => sentences.filter((one) => one.block === number);
  const isCoreBlock = (number: number): boolean => core.some((one) => sentences[one]?.block === number);
  const isShort = (number: number): boolean =>
    ofBlock(number).reduce((sum, { folded }) => sum + folded.split(' ').length, 0) <= BARE_CORRECTION;
  return isCoreBlock(block) || (block > 0 && isCoreBlock(block - 1) && isShort(block - 1));
}

/** "Do that everywhere": the sentence before it is the rule. */
const POINTS_BACK =
  /^(?:please |pls |and |so |always |never )*(?:do|keep|apply|follow|use|make) (?:that|this|it|so)\b/;

/** Another piece of work, in contrast to a step of the corrected one ("run make gen after that"). */
const OTHER_WORK =
  /^(?:(?:ok|okay|and|so|great|good|please|pls),? )*(?:now|also|next|additionally|then|add|create|implement|build|generate|continue|go on|proceed|translate|explain|show|tell|summari[sz]e|give me|can you|could you)\b/;

/** No thanks, no greeting, no question, and not the next piece of work. */
const isPlainWord = (
  sentences: readonly OwnSentence[],
  kinds: readonly SentenceKind[],
  index: number,
  next = NEXT_TASK,
): boolean => {
  const folded = sentences[index]?.folded ?? '';
  return kinds[index] === 'other' || (kinds[index] === 'task' && !next.test(folded));
};

/**
 * Who reacts to a reply does it before anything else: a message that opens with a task or a question is about that, and only a rule in
 * so many words is heard in the rest of it. A few sentences in, the same holds.
 */
function kindsOf(sentences: readonly OwnSentence[], context: ReplyContext): readonly SentenceKind[] {
  const kinds: SentenceKind[] = [];
  for (const { folded } of sentences) {
    const open = kinds.findIndex((kind) => kind !== 'thanks' && kind !== 'greeting');
    const isLate = open >= 0 && (kinds.length - open >= HEARD || OPENS_WORK.has(kinds[open] ?? 'other'));
    const kind = kindOf(folded, open < 0, { ...context, isNear: open < 0 || kinds.length - open < 2 });
    kinds.push(isLate && kind !== 'outage' && !isPlainRule(folded) ? 'other' : kind);
  }
  return kinds;
}

const HEARD = 4;
const OPENS_WORK: ReadonlySet<SentenceKind> = new Set(['task', 'question']);

type SentenceKind = 'complaint' | 'rule' | 'outage' | 'thanks' | 'greeting' | 'task' | 'question' | 'other';

const SHORT_CORRECTION = 6;
const BARE_CORRECTION = 3;

/** What follows a correction of few words ("Nope.") and is no new task, question or thanks says what it is about. */
function isExplanation(
  sentences: readonly OwnSentence[],
  kinds: readonly SentenceKind[],
  index: number,
): boolean {
  const before = kinds[index - 1];
  if (before !== 'complaint' && before !== 'rule') return false;
  const said = sentences[index - 1]?.folded.split(' ').length ?? 0;
  const folded = sentences[index]?.folded ?? '';
  return isPlainWord(sentences, kinds, index) && said <= SHORT_CORRECTION && !/\?$/.test(folded);
}

const NEW_TOPIC =
  /^(?:next topic|new topic|new task|next task|next[:,]|another (?:thing|topic|question)|separately|unrelated|different topic|on another note|neues thema|nouveau sujet|otro tema)\b/;
/** Begins the next piece of work. */
const NEXT_TASK =
  /^(?:(?:ok|okay|and|so|then|please|pls|great|good),? )*(?:now|also|next|additionally|then|besides|(?:please |pls )?(?:add|create|implement|build|generate|open|commit|push|continue|go on|proceed|run|fix|try|write an?|write the|translate|explain|show|tell|deploy|look at|read|review|consider|check|help me|walk me|compare|investigate|search|find|summari[sz]e|learn about|give me|update)|can (?:you|we)|could (?:you|we)|let's|lets|let me|i want you|i'd like|i would like|we need to|while you(?:'re| are)|jetzt|nun|maintenant|ahora|agora|adesso|ora|nu|teraz|теперь|simdi|接下来|现在|次は|이제|ab)(?:[ ,:]|$)/u;
const OPENS_TASK =
  /^(?:(?:ok|okay|and|so|great|good|yes|sure)[,.]* )*(?:can (?:you|we) (?!please stop)|let's|lets|let me|i want you|i'd like|i would like|we need to|while you(?:'re| are)|help me)\b/;
/** A short request without a verb: "The settings for the mailer, please." */
const ASKS_FOR = /^(?:\S+ ){1,9}\S+,? (?:please|pls)[.!]?$|^(?:\S+ )?(?:please|pls): \S/;
const NEXT_WORD = /^(?:(?:ok|okay|and|so|great|good),? )*(?:now|also|next|additionally|then)\b/;
const MOST_WORDS_OF_CONTRAST = 18;
const ACTUALLY =
  /^actually,? (?!use\b|add|create|also|can|could|let|never ?mind|yes|yeah|that's (?:fine|good|great|ok)|(?:it|this|that) (?:works|is fine|looks)|one more|before|now)/;
/** "spec/, not test/" */
const CONTRAST =
  /(?:^(?:not|nicht|pas|niet) |(?:, | - | – |\()(?:but |und |et |y )?(?:not|nicht|kein|keine|pas|no (?=npm|en|el|la|los|las|un|a|es|con|de|era)|non|nao|niet|nie|не|а не|degil|nahi) ?)(?!thanks|wrong at|a problem|an issue|yet\b|only\b|just\b|sure\b|necessarily\b|bad\b|now\b|really\b|too\b|to\b|that i\b|urgent|need|problem|worries|hay\b|more\b|idea|if\b)[\p{L}\p{N}"'./_-]|\b(?:use|take|do|make it|write|should be|nimm|usa|utilise)\b.{1,40} (?:instead|stattdessen|a la place)\b|\b(?:it's|is|was|use|uses|using) [\p{L}\p{N}.#+_-]{1,30} not [\p{L}\p{N}]|, npm nahi|不要用/u;

function kindOf(folded: string, isFirst: boolean, context: ReplyContext): SentenceKind {
  const { question, about, isNear, isRevised } = context;
  const asked = isAnswer(folded, question);
  if (isOutageSentence(folded)) return 'outage';
  if (isRevised === true && isHouseCustom(folded)) return 'rule';
  const isQuestion = /[?？]$/.test(folded);
  const isTask = NEXT_TASK.test(folded);
  const isInstruction = isInstructionVerb(/^(?:please |pls )?([a-z]+)/.exec(folded)?.[1] ?? '');
  const isTaskLike =
    NEXT_WORD.test(folded) || (isInstruction && WORK.test(folded) && !isStandingInstruction(folded));
  if (!isTaskLike && (isOrder(folded) || isRevocation(folded) || isRevocationOfLast(folded))) return 'rule';
  // Who says that it was said or done before complains, whatever else the sentence is.
  if (isFirst && !isTaskLike && isDoneAgain(folded) && !asked) return 'complaint';
  if (OPENS_TASK.test(folded)) return 'task';
  if (complains(isTask && !NEXT_WORD.test(folded) ? (clausesOf(folded)[0] ?? '') : folded, about, asked)) {
    const isHabitual = !asked && !isQuestion && isHabit(folded);
    return isHabitual ? 'rule' : 'complaint';
  }
  if (isFirst && NO.test(folded) && !HARMLESS_NO.test(folded) && (!asked || /^no+!/.test(folded))) {
    return isHabit(folded) ? 'rule' : 'complaint';
  }
  if (GREETING.test(folded)) return 'greeting';
  if (findThanks(folded)) return 'thanks';
  // "Make it table driven, that's how all our tests look."
  if (isTask || isTaskLike) return hasHabitBehind(folded) ? 'rule' : 'task';
  if (isQuestion) return folded.split(' ').length < MORE_THAN_A_NOD ? 'greeting' : 'question';
  if (asked) return 'other';
  if (isHabit(folded)) return 'rule';
  if (isFirst && folded.split(' ').length <= MOST_WORDS_OF_CONTRAST && ACTUALLY.test(folded))
    return 'complaint';
  const mayContrast = !isInstruction || /^(?:please |pls )?(?:use|take|make|put|call|name)\b/.test(folded);
  if (isNear && mayContrast && folded.split(' ').length <= MOST_WORDS_OF_CONTRAST && CONTRAST.test(folded))
    return 'complaint';
  if (isFirst && !isInstruction && (isOtherValue(folded, about) || isOtherChoice(folded, about)))
    return 'complaint';
  if (
    isFirst &&
    /^(?:please |pls )?(?:do not|don't) (?!worry|bother|forget|mind|know|think|care|have|be\b)\w+/.test(
      folded,
    ) &&
    !/\byet\b/.test(folded)
  )
    return 'complaint';
  if (isInstruction) return 'task';
  return isNear && isGeneralStatement(folded) ? 'rule' : 'other';
}

const hasHabitBehind = (folded: string): boolean =>
  clausesOf(folded)
    .slice(1)
    .some((clause) => !REQUEST.test(clause) && isHabit(clause));

const GREETING =
  /^(?:hi|hello|hey|good (?:morning|evening|afternoon)|hallo|moin|bonjour|hola|ola|ciao|ok|okay|hm+|ah+|oh|well|so)[ ,]?(?:there|again|claude|everyone)?[.!,]*$/;

const YES_OR_NO =
  /^(?:yes|no+|nope|nah|yep|yeah|neither|both|either|none|all|ja|nein|oui|non|si|sim|nao|tak|nie|да|нет|evet|hayir|haan|nahi|はい|いいえ|네|아니|好|不)(?:[^\p{L}]|$)/u;
const CHOICE = / (?:or|oder|ou|o|of|lub|или|veya|ya da|ya) |还是|または|아니면/u;
const OPEN_QUESTION =
  /^(?:and |so )?(?:which|what|where|how|who|when|welche|was|wo|wie|quel|que|cual|como|что|какой|как)/u;
const SHORTEST_SHARED = 4;

/** Whether a sentence answers the question, and is no remark on the reply before it ("Shall I add tests?" "We use pnpm here."). */
function isAnswer(folded: string, question: string): boolean {
  if (question === '') return false;
  const words = folded.split(/[^\p{L}\p{N}_]+/u).filter((word) => word !== '');
  if (YES_OR_NO.test(folded) || words.length <= 3 || OPEN_QUESTION.test(question)) return true;
  if (CHOICE.test(question) && words.length <= 6) return true;
  return words.some((word) => word.length >= SHORTEST_SHARED && question.includes(word));
}

/** Verbs of a piece of work, in contrast to those of a habit: "use", "keep", "run … before". */
const WORK =
  /^(?:please |pls )?(?:write|add|create|make|build|implement|generate|find|show|explain|list|open|move|rename|translate|summari[sz]e|test|document|design|draft|send|book|review)\b/;

const OPENER =
  /^(?:hm+|ok|okay|well|no+|nope|sorry|unfortunately|and|but|so|yes|yeah|ah|oh|ugh|argh|damn|great(?: job)?|nice|perfect|thanks|thank you|actually|sadly|oops|wait|man|hey|hello|then|it seems|i think|i guess|looks like|seems like|please|because|however|come on|seriously|somehow|omg|omfg|dude|bro|my dude|jesus|fucking hell|fuck|shit|wow|brilliant|bravo)\b[,.!? ]*/;
const MOST_OPENERS = 5;
/** A clause that is a request: it is about future work, not about the reply. */
const REQUEST =
  /^(?:please|can|could|would|will|let|let's|add|make|write|show|tell|find|explain|check|what|which|who|where|when|is|are|does|do|did|how|give|create|run|translate|describe|if|update|change|use|handle|fix|remove|rename|implement|keep|set|move|build|generate|look|summari[sz]e|another|there is a|there's a|in which|where|so that|continue|now (?:add|make|write|continue|do|create|translate))\b/;

function complains(folded: string, about: string, asked: boolean): boolean {
  if (ASKS.test(folded) || AGREES.test(folded)) return false;
  if (BROKEN_NOW.test(folded)) return true;
  const clauses = clausesOf(folded);
  if (clauses.some(isCorrecting) || clauses.some((clause) => isAboutThis(clause, about))) return true;
  const words = folded.split(' ').length;
  if (words <= MOST_WORDS_OF_BUT && COMPLAINT_AFTER_BUT.test(folded) && BUT_OF_PRAISE.test(folded))
    return true;
  return !asked && FOREIGN_COMPLAINTS.some((pattern) => pattern.test(folded));
}

/** A question about the matter, not about what the agent did. */
const AGREES =
  /^(?:yes|yep|yup|yeah|sure|y|k|sounds good|agreed|correct)\b(?!,? (?:but|no\b|and still|restarted)).{0,60}$/;
const ASKS =
  /^(?:or |and |so |hm+,? )*(?:is|are|does|do|can|will|what|how|where|when|which|who|could|would|should) (?!you\b|told|often|many times).{0,200}\?$/;

const MOST_WORDS_OF_BUT = 30;
/** A "but" after something good, or at the start. */
const BUT_OF_PRAISE =
  /^(?:but|however|aber|pero|mais|mas|ma|maar|ale|но|ama|lekin)\b|\b(?:work(?:s|ed|ing)?|builds?|runs?|compiles?|completes?|pass(?:es)?|good|great|nice|fine|ok|okay|thanks|thank you|thx|close|almost|better|perfect|yes|yeah|yep|yup|cool|sure|danke|super|gut|passt|funktioniert|lauft|merci|bien|bon|marche|parfait|gracias|funciona|perfecto|obrigad[oa]|grazie|bedankt|dzieki|спасибо|хорошо)\b.{0,120}(?:\b(?:but|however|except|aber|pero|mais|mas|ma|maar|ale|но|ama|lekin)\b)|但是|不过|可是|けど|하지만/u;
/** Thanks followed by a complaint: the part after the "but" counts. */
const COMPLAINT_AFTER_BUT =
  /(?:\b(?:but(?! rather than)|however|except|aber|pero|mais|mas|ma|maar|ale|но|ama|lekin)\b|但是|不过|可是|けど|하지만).{0,120}(?:n't\b|\b(?:not|still|wrong|fail|fails|crash|crashes|broken|errors?|missing|instead|has to|must|only|again|nicht|kein|fehler|falsch|fehlt|noch|sigue|falta|mal|pas|toujours|erreur|manque|never|nothing|nichts|dropped|low|high|off|no longer|cannot)\b|\d{3} not found|too (?!\w* ?please)|没|不|错)/u;

/** "The chart is empty" is a complaint after a turn about a chart, and a new task after any other. */
function isAboutThis(clause: string, about: string): boolean {
  const thing = COMPLAINT_ABOUT_THING.exec(withoutOpeners(clause))?.[1]?.trim().split(' ') ?? [];
  return thing.some((word) => word.length > 3 && about.includes(word));
}

function isCorrecting(whole: string): boolean {
  const clause = withoutOpeners(whole);
  if (CORRECTING_CLAUSES.some((pattern) => pattern.test(clause))) return true;
  return (
    clause.length <= LONGEST_CLAUSE &&
    !REQUEST.test(clause) &&
    CORRECTING_PHRASES.some((pattern) => pattern.test(whole))
  );
}

const LONGEST_CLAUSE = 140;

const clausesOf = (folded: string): readonly string[] =>
  folded
    .split(/[.!?;]+(?= |$)|, | (?:but|because|and|so|since|however|although) |\) | - | – /)
    .map((clause) => clause.trim())
    .filter((clause) => clause !== '');

function withoutOpeners(clause: string): string {
  let rest = clause;
  for (let turn = 0; turn < MOST_OPENERS; turn++) {
    const next = rest.replace(OPENER, '');
    if (next === '' || next === rest) break;
    rest = next;
  }
  return rest;
}
