import { isInstructionVerb } from '../../text/verbs.ts';
import { foldAccents, type OwnSentence } from '../own-sentences.ts';
import { isOutageSentence } from './outage-words.ts';
import {
  BROKEN_NOW,
  COMPLAINT_ABOUT_THING,
  CORRECTING_CLAUSES,
  CORRECTING_PHRASES,
  FOREIGN_COMPLAINTS,
  findThanks,
  HARMLESS_NO,
  isOtherChoice,
  isOtherValue,
  NO,
} from './reaction-phrases.ts';
import { isRevocation, isRevocationOfLast } from './revocations.ts';
import { isSaidForLater, isStandingInstruction } from './said-for-later.ts';
import {
  isDoneAgain,
  isGeneralStatement,
  isHabit,
  isHouseCustom,
  isOrder,
  isPlainRule,
} from './standing-phrases.ts';

/*
 * What phrases say about a sentence. They hear little of what people say, and some of it wrongly; the learned reader hears more
 * (`read-message`). They stay until it hears rules as well as they do.
 */

/** What a sentence sounds like. */
export type CueKind = 'complaint' | 'rule' | 'outage' | 'thanks' | 'greeting' | 'task' | 'question' | 'other';

/** The cues of a message's sentences after a reply ('' without one), in the order of the message. */
export function readCues(
  sentences: readonly OwnSentence[],
  {
    answer,
    task = '',
    isRevised = false,
  }: { readonly answer: string; readonly task?: string; readonly isRevised?: boolean },
): readonly CueKind[] {
  const [first] = sentences;
  if (first === undefined || NEW_TOPIC.test(first.folded)) return sentences.map(() => 'other');
  const about = foldAccents(`${task.slice(0, ABOUT_CAP)} ${answer.slice(0, ABOUT_CAP)}`);
  return kindsOf(sentences, { answer, about, isRevised });
}

/** The reply that a message reacts to. */
interface ReplyContext {
  readonly answer: string;
  /** The folded text of the task and of the reply. */
  readonly about: string;
  /** The sentence is among the first ones. */
  readonly isNear?: boolean;
  /** The message changed the reply: the answer to it is the reply with changes. */
  readonly isRevised?: boolean;
}

const ABOUT_CAP = 4000;
const LONGEST_QUESTION = 300;
const lastSentence = (text: string): string =>
  text.split(/(?<=[.!?])\s|\n/).findLast((sentence) => sentence !== '') ?? '';

/** The question with which a reply ended, folded; '' without one. */
const questionOf = (reply: string): string =>
  /[?？]$/.test(reply) ? lastSentence(foldAccents(reply.slice(-LONGEST_QUESTION))) : '';

const MORE_THAN_A_NOD = 4;

/**
 * Who reacts to a reply does it before anything else: a message that opens with a task or a question is about that, and only a rule in
 * so many words is heard in the rest of it. A few sentences in, the same holds.
 */
function kindsOf(sentences: readonly OwnSentence[], context: ReplyContext): readonly CueKind[] {
  const kinds: CueKind[] = [];
  for (const { folded } of sentences) {
    const open = kinds.findIndex((kind) => kind !== 'thanks' && kind !== 'greeting');
    const isLate = open >= 0 && (kinds.length - open >= HEARD || OPENS_WORK.has(kinds[open] ?? 'other'));
    const kind = kindOf(folded, open < 0, { ...context, isNear: open < 0 || kinds.length - open < 2 });
    const isRule = isPlainRule(folded) || (kind === 'rule' && isSaidForLater(folded));
    kinds.push(isLate && kind !== 'outage' && !isRule ? 'other' : kind);
  }
  return kinds;
}

const HEARD = 4;
const OPENS_WORK: ReadonlySet<CueKind> = new Set(['task', 'question']);

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

function kindOf(folded: string, isFirst: boolean, context: ReplyContext): CueKind {
  const { answer, about, isNear, isRevised } = context;
  const asked = isAnswer(folded, answer);
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
export function isAnswer(folded: string, reply: string): boolean {
  const question = questionOf(reply);
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

/** "Now …", "also …": the sentence begins the next piece of work. */
export const startsNextTask = (folded: string): boolean => NEXT_TASK.test(folded);
/** "Can you …": it opens with a task. */
export const opensTask = (folded: string): boolean => OPENS_TASK.test(folded);
export const asksForWork = (folded: string): boolean => ASKS_FOR.test(folded);
export const isGreeting = (folded: string): boolean => GREETING.test(folded);
