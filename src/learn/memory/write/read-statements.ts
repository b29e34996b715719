import type { LabelledSpan } from '../../../core/reading.ts';
import { isSaidForLater, quotesText } from '../../../reader/cues/said-for-later.ts';
import { isGeneralStatement, isHabit, isOrder } from '../../../reader/cues/standing-phrases.ts';
import { foldAccents, foldWords } from '../../../reader/own-sentences.ts';
import {
  namesCode,
  readSentences,
  type ReadSentence as SentenceReading,
} from '../../../reader/read-message.ts';
import { carriesOutsideText } from '../../../text/typed-text.ts';
import { standsInEveryTask } from '../../rule-reach.ts';
import { readClaim, type SentenceClaim } from './claim.ts';
import {
  ASIDE,
  ASKS,
  CUSTOM_VERBS,
  EVERY_TIME,
  GENERAL,
  IS_NOW,
  isCaseWord,
  MOVES_IT,
  OBLIGES,
  OF_MOMENT,
  ONE_THING,
  OPENERS,
  OVER,
  POINTS_BACK,
  REMINDS,
  REPORTS,
  SPEAKER,
  STATES,
  termOf,
  WANTS_WORK,
  WHEN_THEN,
  WORK_VERBS,
} from './claim-words.ts';
import { readForgetRequests } from './forget-requests.ts';

/**
 * A sentence in which a person says what holds: about their world, tools, people, preferences, decisions or rules. `forget`: it only
 * takes something back.
 */
export interface Statement {
  /** Letter by letter as in the message; with the sentence before it where it points back to that. */
  readonly quote: string;
  readonly kind: 'fact' | 'rule' | 'forget';
  /** It says what became of something that it does not name ("we moved it to Friday"): of use beside what names it. */
  readonly isUpdate?: true;
}

export const MOST_OF_MESSAGE = 3;
const MOST_WORDS = 40;
const FEWEST_WORDS = 3;
/** As long as a description shows whole: a cut could take a negation away. */
const LONGEST_QUOTE = 230;
const MANY_SENTENCES = 4;

/**
 * The statements of a message: no questions, no requests for the task at hand, nothing pasted or quoted, nothing hypothetical and nothing
 * for this once. In a message with a task, with pasted text or with many sentences only what is personal ("we", "our", "my") or a clear
 * rule counts. In doubt it is none. `answer`: what the agent had said before it; `spans`: what a model read in it,
 * in place of the phrases.
 */
export function readStatements(
  message: string,
  answer = '',
  spans?: readonly LabelledSpan[],
): readonly Statement[] {
  const sentences = readSentences({ message, answer, spans });
  const read = sentences.map((sentence) => readSentence(sentence));
  const isCautious =
    carriesOutsideText(message) ||
    /^\s{0,3}(?:```|~~~)/m.test(message) ||
    sentences.length > MANY_SENTENCES ||
    read.some(({ isWork, isQuestion }) => isWork || isQuestion);
  const isBesideQuestion = isOnlyBesideQuestion(read) && !carriesOutsideText(message);
  const found: Statement[] = [];
  for (const [nth, one] of read.entries()) {
    const said = kindOf(one, isCautious) ?? (isBesideQuestion && isPlainFact(one) ? 'fact' : undefined);
    const kind = spans === undefined ? heardKind(one, said, answer) : namedKind(one);
    const before = read[nth - 1];
    const last = found.at(-1);
    if (before !== undefined && last?.quote.endsWith(before.text) === true && IS_EXCEPTION.test(one.said)) {
      const quote = joined(message, last.quote, one.text);
      if (quote !== undefined && quote.length <= LONGEST_QUOTE) {
        found.splice(-1, 1, { ...last, quote });
        continue;
      }
    }
    const mayUpdate = kind === undefined || before === undefined;
    if (mayUpdate && isUpdate(one) && (spans !== undefined || isLikely(one, 'fact', answer))) {
      found.push({ quote: one.text, kind: 'fact', isUpdate: true });
      continue;
    }
    if (kind === undefined) continue;
    const quote =
      POINTS_BACK.test(one.folded) && before !== undefined && before.block === one.block
        ? joined(message, before.text, one.text)
        : one.text;
    if (quote === undefined || quote.length > LONGEST_QUOTE) continue;
    if (quote !== one.text && (before?.isQuestion === true || before?.isWork === true)) continue;
    if (quote !== one.text && found.at(-1)?.quote === before?.text) found.pop();
    found.push({ quote, kind });
  }
  return found.slice(0, MOST_OF_MESSAGE);
}

/** It narrows what was said before it: without that it says nothing, and that says too much. */
const IS_EXCEPTION =
  /^(?:(?:but|and) )?(?:except|excluding|unless|apart from|other than|with the exception|only|not (?:for|in|on|when|if|the)|ausser|ausgenommen|nur|nicht (?:bei|fur|im|in|wenn)|sauf|excepte|hormis|excepto|salvo|menos)\b/;

const LONGEST_UPDATE = 12;

const isUpdate = ({ said, words, isQuestion, isWork, claim }: ReadSentence): boolean =>
  words <= LONGEST_UPDATE &&
  !isQuestion &&
  !isWork &&
  (MOVES_IT.test(said) || IS_NOW.test(said)) &&
  claim.values.length > 0 &&
  !HYPOTHETICAL.test(said);

/** A question points back to what stands beside it: then that tells what the question needs. */
const IS_ABOUT_IT = /\b(?:it|its|that|this|these|those|them|mean|means)\b/;

/** One fact and one question of its own: "The gate code is 4711. When does the shop open?" */
const isOnlyBesideQuestion = (read: readonly ReadSentence[]): boolean =>
  read.length === 2 &&
  read.filter(({ isQuestion }) => isQuestion).length === 1 &&
  read.every(({ isWork, isQuestion, folded }) => !isWork && !(isQuestion && IS_ABOUT_IT.test(folded)));

/** "The gate code is 4711": the one thing of its name, and its value. */
const isPlainFact = (one: ReadSentence): boolean => {
  const { isDefinite, subject, values } = one.claim;
  const isNamed = isDefinite && (subject?.size ?? 0) > 1 && values.length > 0;
  return isNamed && !one.kinds.has('task') && kindOf(one, false) === 'fact';
};

/** What stands between two neighbouring sentences stays as it is. */
function joined(message: string, first: string, second: string): string | undefined {
  const from = message.indexOf(first);
  const at = from < 0 ? -1 : message.indexOf(second, from + first.length);
  const between = at < 0 ? undefined : message.slice(from + first.length, at);
  return between !== undefined && /^[^\S\n]*$/.test(between)
    ? message.slice(from, at + second.length)
    : undefined;
}

/** What a model said that a sentence is. */
function namedKind({ kinds }: SentenceReading): Statement['kind'] | undefined {
  if (kinds.has('rule')) return 'rule';
  if (kinds.has('fact') || kinds.has('preference')) return 'fact';
  return kinds.has('revocation') ? 'forget' : undefined;
}

/** People wonder and thank in the words of rules ("It must have been great", "thanks for always having my back"). */
const LIKELY_RULE = 0.007;
/**
 * Behind an answer that names code: the learned reader's least share of fact, rule and taste together. Most of what people tell an agent at
 * work is about that work and is worded like what holds ("we broke the interface", "no visual change at all").
 */
const LIKELY_AT_WORK = 0.1;

const isLikely = ({ said, scores }: ReadSentence, kind: Statement['kind'], answer: string): boolean =>
  isSaidForLater(said) ||
  ((kind !== 'rule' || scores.rule >= LIKELY_RULE) &&
    (!namesCode(answer) || scores.fact + scores.rule + scores.preference >= LIKELY_AT_WORK));

/** What the phrases say, where the learned reader does not contradict it; it hears tastes and facts that they miss. */
function heardKind(
  one: ReadSentence,
  said: Statement['kind'] | undefined,
  answer: string,
): Statement['kind'] | undefined {
  if (said === 'forget' || (said !== undefined && isLikely(one, said, answer))) return said;
  // How somebody wants to be answered holds in every task; what they like holds where it fits.
  if (one.kinds.has('preference') && one.kinds.has('rule') && standsInEveryTask(one.text)) return 'rule';
  return one.kinds.has('preference') || one.kinds.has('fact') ? 'fact' : undefined;
}

interface ReadSentence extends SentenceReading {
  /** Without what it opens with and what it adds beside the point. */
  readonly said: string;
  readonly words: number;
  readonly isQuestion: boolean;
  readonly isWork: boolean;
  readonly claim: SentenceClaim;
}

function readSentence(sentence: SentenceReading): ReadSentence {
  const spoken = foldWords(sentence.text.replace(SPEAKER, ''));
  const said = spoken.replace(OPENERS, '').replace(ASIDE, '').trim() || spoken;
  const isRule = isMeantForAll(said) || WHEN_THEN.test(said);
  const isQuestion = !isRule ? ASKS.test(said) : /[?？]\W*$/.test(said);
  const [first = ''] =
    /^[\p{L}'-]+/u.exec(said.replace(/^(?:(?:please|pls|bitte|now|then|next|just|and) )+/, '')) ?? [];
  const isCustom = CUSTOM_VERBS.test(said) && / (?:all|every|any) /.test(said);
  const isOrdered = WORK_VERBS.has(first) && !isCustom && !isNounUse(said, first);
  const isForLater = (isSaidForLater(said) || EVERY_TIME.test(said)) && !quotesText(said);
  const isWork = isOrdered ? !isForLater : !isRule && (WANTS_WORK.test(spoken) || endsInWork(said));
  return {
    ...sentence,
    said,
    words: said.split(' ').length,
    isQuestion,
    isWork,
    claim: readClaim(sentence.text),
  };
}

const isMeantForAll = (said: string): boolean => GENERAL.test(said) || isSaidForLater(said);

/** "Temperature is in column 3, plot it": the sentence tells what its task needs. */
const endsInWork = (said: string): boolean =>
  said
    .split(/[,;] |\. /)
    .slice(1)
    .some((clause) => {
      const [first = ''] =
        /^[\p{L}'-]+/u.exec(clause.replace(/^(?:(?:and|so|then|please|now|just) )+/, '')) ?? [];
      return (
        (WORK_VERBS.has(first) && !CUSTOM_VERBS.test(clause)) ||
        /^(?:but )?you (?:\w+ed|wrote|made|put|set|gave|took|said)\b/.test(clause)
      );
    });

/** "Deploys need …" begins with a noun, "test databases are …" as well. */
const isNounUse = (said: string, first: string): boolean =>
  new RegExp(`^${first} \\w+s (?:are|need|run|go|live|must|have)\\b`).test(said);

const PERSONAL =
  /^(?:i|we|my|our|mein\w*|unser\w*|ich|wir|mon|ma|mes|notre|nos|je|nous|on|mi|mis|nuestr[oa]s?|yo|nosotros)\b|\b(?:our|in this (?:repo|repository|project|team|codebase|company)|bei uns|chez nous|with us)\b/;

function kindOf(one: ReadSentence, isCautious: boolean): Statement['kind'] | undefined {
  const { said, folded, words, isQuestion, isWork, claim } = one;
  if (isQuestion || words > MOST_WORDS || REPORTS.test(folded) || HYPOTHETICAL.test(said)) return undefined;
  const forgets = readForgetRequests(one.text).length > 0;
  if (forgets && !isWork && (!isCautious || /\b(?:said|told|rule|regel|dit|dije|regla)\b/.test(folded)))
    return isStated(one, isCautious) === undefined || isOnlyForgetting(said) ? 'forget' : 'rule';
  if (
    isWork ||
    (words < FEWEST_WORDS && !I_AM.test(said) && !FOREIGN_SELF.test(said)) ||
    claim.wanted.size + claim.rejected.length === 0
  )
    return undefined;
  return isStated(one, isCautious);
}

const isOnlyForgetting = (said: string): boolean =>
  /^(?:please |pls |you can )?(?:forget|disregard|scratch|scrap|ignore|vergiss|oublie|olvida)\S*\b[^,;]*[.!]?$/.test(
    said,
  );

const HYPOTHETICAL =
  /^(?:if|suppose|imagine|assume|assuming|let's say|say|what if|falls|angenommen|supposons|imagine|supongamos|imagina)\b(?! you\b| we\b)|\b(?:would be nice|would have|should have|could have|if (?:i|it|that|this|only)\b|never ?mind|(?:understand|know|see|wonder|idea|remember) why|for example|e\.g\.|just kidding|jk|lol)\b/;

/** It is said to be told: "also: …", "…, I was wrong". */
const TELLS =
  /^(?:also|correction|update|fyi|btw|by the way)[,:] |, (?:i was wrong|remember (?:that|this)|my mistake)[.!]?$/;

function isStated(one: ReadSentence, isCautious: boolean): 'fact' | 'rule' | undefined {
  const { said } = one;
  const isPersonal = PERSONAL.test(said) || TELLS.test(foldAccents(one.text));
  if (REMINDS.test(foldAccents(one.text)) && said.split(' ').length > FEWEST_WORDS) return 'rule';
  if (NO_RULE.test(said)) return undefined;
  if (isRule(one, isCautious, isPersonal)) return 'rule';
  if (isCautious && !isPersonal) return undefined;
  return isFact(one) ? 'fact' : undefined;
}

/** "It never works", "I have never seen that", "the function always returns 0". */
const NO_RULE =
  /^(?:(?:it|it's|this|that|that's|there|they|he|she|he's|you|nothing|everything|something) |(?:the|c'est|ca) (?:\S+ ){0,3}?)(?:(?!must|should|has|have|is|are)\S+ )?(?:always|never)\b|\b(?:i|we)(?:'ve| have)? never (?:seen|heard|used|tried|knew|understood|had|got|been|thought|noticed|saw|did)\b|\b(?:always|never) (?:works?|fails?|returns?|happens?|shows?|gets?|crashes|hangs|ends? up|seems?|has been|was|were|went|had|did|thought|wanted|raining)\b|^(?:never mind|forever|c'est|ca)\b|\bwhen i was\b|\bi always (?:forget|get|have|mix|confuse|struggle|end)\b|\b(?:wants?|has|needs?) (?:it|this|that|them)\b|\b(?:always|never) \w+ed (?:an?|the)\b/;
/** "We switched last night, always use pnpm": the order holds, whenever the switch was. */
const ORDERS = /(?:^|[,;:] )(?:please |pls )?(?:always|never)\b/;
const ELLIPTIC_WORDS = 20;

function isRule(one: ReadSentence, isCautious: boolean, isPersonal: boolean): boolean {
  const { said, words } = one;
  if (OF_MOMENT.test(said) && !ORDERS.test(said)) return false;
  const isClear = isMeantForAll(said);
  if (isCautious) return isClear && (isOrder(said) || (isPersonal && isHabit(said)));
  if (WHEN_THEN.test(said) && !/\b(?:i|it)\b/.test(said.slice(0, said.search(/[,:]/)))) return true;
  if (isClear && words <= ELLIPTIC_WORDS) return true;
  if (OBLIGES.test(said)) return !POINTS_BACK.test(said) && !(/^the\b/.test(said) && isOfCase(one.claim));
  if (words <= ELLIPTIC_WORDS && CUSTOMS.some((pattern) => pattern.test(said))) return true;
  if (CUSTOM_VERBS.test(said) && words <= ELLIPTIC_WORDS) return !ONE_THING.test(said) && isForSorts(said);
  return isOrder(said) || isHabit(said) || isGeneralStatement(said) || (isPersonal && OVER.test(said));
}

/** Customs without a word such as "always". */
const CUSTOMS: readonly RegExp[] = [
  /^(?:please |pls )?(?:call|address) me (?!when|if|back|later|at\b)\S/,
  /^no (?!need|problem|idea|rush|worries|errors?|changes?|luck|matter|more\b|one\b|way\b)[\w-]+(?: [\w-]+)? (?:on|in|for|at|before|after|without|during|here) \S/,
  /^(?:our |all |new |the )?(?:[\w-]+ ){0,2}[\w-]+s (?:start|begin|end) with \S/,
  /^(?:our |all )?[\w-]+s run (?:with|on|in|under|via|through) \S/,
  /^(?:our |all |new )?(?:[\w-]+ )?(?!users|people|customers)[\w-]+s (?:need|require) (?!to\b|an? (?:way|button|page|field|column|new)\b)\S+(?: \S+){0,4}$/,
  /^(?:our |all |the )?(?:[\w-]+ ){0,2}[\w-]+s are (?:always |now |only )?(?:stored|kept|named|written|saved|served|addressed|sent|signed|tagged|reviewed|approved|hosted|paid|due|billed|archived|deployed|published|built) (?:in|on|at|by|with|as|to|for|after|under|like|from|via)\b/,
  /^an? (?:[\w-]+ ){1,3}(?:needs|requires|costs) (?:at least |exactly )?(?:\d|one|two|three|four|five|six)/,
  /^only (?!the (?:first|second|last)|change|touch|edit)\S+(?: \S+){0,2} (?:may|can|is allowed to|are allowed to) \S/,
  /^the [^,]{2,40} (?:is|are) [^,]{2,30}, (?:so )?(?:don't|do not|never) (?:ever )?(?:touch|change|edit|use|delete|rename|move|push|call|run|write)\b/,
  /^(?:for|in|on|with|bei|fur|pour|dans|para|en) (?!this|that|these|those|now|the\b|example|it\b|my\b|all\b)[\p{L}-]+(?:s|en|n|er)?(?: [\p{L}-]+)?,? (?:please |pls )?(?:use|prefer|avoid|write|put|keep|answer|name|verwende|nutze|nimm|benutze|utilise|usa) \S/u,
];

/** "For summaries", "in js", "like feature/ID-name", "npm": the order names what it is for, or a tool alone. */
const isForSorts = (said: string): boolean =>
  / (?:for|in|as|like|with|fur|in|als|pour|dans|comme|para|en|como) (?!this\b|that\b|the\b|it\b|an?\b|my\b|now\b)\S/.test(
    said,
  ) ||
  /^(?:use|verwende|utilise|usa) [\w.-]+(?: v?\d[\d.]*)?[.!]?$/.test(said) ||
  / (?:all|every|any|alle|jede\w*|tous|toutes|todos|todas) /.test(said);

const isOfCase = ({ subject }: SentenceClaim): boolean =>
  subject !== undefined && subject.size > 0 && [...subject].every(isCaseWord);

/** The error message, the first row. */
const isCaseName = (name: string): boolean => {
  const { wanted } = readClaim(name);
  return wanted.size > 0 && [...wanted].every(isCaseWord);
};

const I_AM =
  /^i(?:'m| am) (?:(?!bit\b|little\b)an? (?!bit|little|lot)[\w-]+|allergic|vegetarian|vegan|based|called|from|responsible|left-handed|colou?r-?blind|the \w+ (?:of|for|at)|in charge|on the \w+ team|in the \w+ team|\d+ years|no longer|not (?:an?|allowed))\b/;
const I_DO =
  /^i (?:(?:always|never|usually|only|mostly|normally|no longer|don't|do not) )?(?:prefer|like|use|work|live|speak|write|read|drink|eat|drive|own|manage|lead|maintain|review|study|teach|play|run|moved|switched|changed|renamed|replaced|stopped|quit)\b(?! (?:to (?:know|see|have|get|add|make|do)|that\b|this\b|it\b|how\b|the (?:idea|way|look|second|first|new|old)\b))/;
const WE_DO =
  /^we(?:'re| are)? (?!need|want|get|got|see|saw|think|guess|have to|have|was|were|will|would|could|can|can't|cannot|should|might|may|tried|try|did|didn't|just|also|had|wonder|hope|mean|meant|asked|said|told|found|noticed|never \w+ed|ran|added|removed|fixed|know|don't (?:know|see|think|want|need|understand|get|have|care)|do not (?:know|see|think|want|need|understand|get|have)|going|getting|seeing|trying|working|looking|having|not sure|done|good|almost|ready|close|talk\w*|discuss\w*|forgot|lost|missed|made|wrote|built|pushed|merged|deployed|shipped|released|started)\b(?:[a-z']+)\b/;
const FOREIGN_SELF =
  /^(?:ich (?!brauche|habe|hatte|sehe|bekomme|denke|glaube|will|mochte|kann|muss|war|bin (?!allergisch|vegetarier|vegan)|verstehe|weiss|suche|versuche|meine|wurde|soll|sollte|finde|frage|warte)[a-z]{3,}e\b|wir (?!brauchen|haben|sollten|mussen|konnen|wollen|sehen|bekommen|waren|hatten|sollen|konnten|wissen|versuchen|warten|werden)[a-z]{3,}en\b|je (?:prefere|travaille|parle|vis|habite|utilise|mange|bois)\b|nous (?!avons|devons|pouvons|voulons|allons|sommes (?!a|en|une))[a-z]{2,}ons\b|on (?!a\b|peut|doit|va\b|dirait|est en|voit|devrait|pourrait|veut|fait quoi)[a-z']{3,}e\b|(?:prefiero|trabajo|vivo|hablo|uso)\b|(?!necesitamos|tenemos|queremos|vamos|podemos|debemos|vemos|estamos)[a-z]{3,}(?:amos|emos)\b) \S/;
/** Of a person by name. */
const PERSON_DOES =
  /^[a-z][a-z'-]{1,20} (?:(?:only |always |never )?(?:takes care of|handles|owns|reviews|approves|manages|leads|prefers|likes|accepts|pays|speaks|signs|works (?:on|from|in|at)|lives in|is (?:now )?(?:our|my|responsible|in charge|the \w+(?: \w+)? (?:of|for|at)|on the|no longer)))\b/;
const VERB =
  "(?:is|are|has|have|runs?|go(?:es)?|lives?|starts?|ends?|begins?|closes?|opens?|needs?|must|uses?|gets?|belongs?|comes?|expires?|costs?|listens?|wants?|prefers?|pays?|likes|expects?|meets?|works?|only works|handles?|owns?|reviews?|approves?|signs?|speaks?|takes?|moved|changed|switched|stays?|sits?|stands?|allows?|accepts?|supports?|requires?|keeps?|ist|sind|hat|heisst|lauft|liegt|liegen|steht|gehort|braucht|kostet|beginnt|endet|lautet|bezahlt|zahlt|mag|gehen|geht|kommen|kommt|stehen|laufen|will|bevorzugt|schliesst|offnet|vont|va|paie|paye|veut|prefere|ferme|ouvre|utilise|van|paga|pagan|quiere|prefiere|cierra|abre|est|sont|s'appelle|commence|coute|se trouve|es|son|esta|estan|tiene|se llama|cuesta|empieza|vive)";
const POSSESSED = new RegExp(
  `^(?:my|our|mein\\w*|unser\\w*|mon|ma|mes|notre|nos|mi|mis|nuestr[oa]s?) (?:[^\\s,;:]+ ){1,7}?${VERB} (\\S.*)$`,
);
const DEFINED = new RegExp(
  `^(?:for (?:this|our|the) [\\w-]+,? |at [\\w-]+,? |in [\\w-]+,? )?(?:the|der|die|das|le|la|les|el|los|las|l'\\S+) ?((?:[^\\s,;:]+ ){1,7}?)${VERB} (?:now |always |only |jetzt |maintenant |ahora )?(\\S.*)$`,
);
const BARE = new RegExp(
  `^((?:all |every |each |new )?[\\p{L}][\\p{L}-]+(?: (?:of|for|in|with|to|from|at|on) \\S+(?: \\S+)?| \\S+)?) ${VERB} (?:now )?(\\S.*)$`,
  'u',
);
const TOPICAL =
  /^(?!errors?|steps|requirements|changes|fixes|notes?|todo|questions?|tasks?|issues|problems|results|logs|outputs?|options|examples|files)([\p{L}-]+s): (?=\S)/u;

/** "Max upload size: 50 MB", "default currency: CHF". */
const SETTING =
  /^(?!error|note|step|question|update|task|example|output|result|todo|fix|wip|re\b|subject|title|status|expected|actual|file|path|url|input|line|row|test|bug|issue|case|context|from|to\b|date|hint|reply|warning|info|debug)[\p{L}-]+(?: [\p{L}-]+){0,2}: \S+(?: \S+){0,4}$/u;
const NAMED =
  /^(?:the|der|die|das|le|la|el) (?:\S+ ){1,5}?(?:(?:is|are) (?:now )?(?:called|named)|heisst|heissen|s'appelle|se llama)(?: jetzt| nun)? \S/;
const MOVED =
  /^(?:the |our )?(?:[\w-]+ ){1,4}(?:has |have )?(?:moved|changed|switched|was renamed|is renamed)\b/;

function isFact({ said, text, claim, words }: ReadSentence): boolean {
  if (/^there (?:is|are) no\b.*\b(?:any ?more|no longer)\b/.test(said)) return true;
  if (
    OF_MOMENT.test(said) ||
    POINTS_BACK.test(said) ||
    /^(?:here|there(?! is no\b| are no\b)|yes|no|thanks?|good|nice|great)\b/.test(said)
  )
    return false;
  if (
    I_AM.test(said) ||
    I_DO.test(said) ||
    FOREIGN_SELF.test(said) ||
    (PERSON_DOES.test(said) && /^\p{Lu}\p{Ll}/u.test(text.replace(SPEAKER, ''))) ||
    said.split(/[,;:] (?=we\b)/).some((clause) => WE_DO.test(clause))
  )
    return true;
  const hasValue = claim.values.length > 0;
  const role = ROLE.exec(said)?.[1];
  if (role !== undefined && /^\p{Lu}\p{Ll}/u.test(text.replace(SPEAKER, ''))) return !isCaseName(role);
  // "Petra left, the release manager is Jonas."
  const core = said.split(/[,;] (?=(?:the|our|my)\b)/).at(-1) ?? said;
  const possessed = (POSSESSED.exec(said) ?? POSSESSED.exec(core))?.[1];
  if (possessed !== undefined) return !STATES.test(possessed) && !isOfCase(claim);
  if (NAMED.test(said) && !isOfCase(claim)) return true;
  if (MOVED.test(said) && !PRONOUNS.test(said)) return hasValue;
  const topic = TOPICAL.exec(said)?.[1];
  if (SETTING.test(said) && hasValue) return true;
  if (topic !== undefined) return words <= 10 && !isCaseWord(termOf(topic));
  const [, thing = '', defined] = DEFINED.exec(said) ?? DEFINED.exec(core) ?? [];
  if (defined !== undefined) {
    if (
      /\b(?:runs?|hosted|deployed) (?:on|to) \S/.test(core) &&
      claim.values.some(({ sort }) => sort === 'name')
    )
      return true;
    return (
      !STATES.test(defined) &&
      !isCaseName(thing) &&
      (hasValue || isQualified(core, claim) || isPlainName(claim))
    );
  }
  const bare = BARE.exec(said);
  return (
    bare !== null &&
    isNamedSubject(text, bare[1] ?? '') &&
    !STATES.test(bare[2] ?? '') &&
    !isCaseName(bare[1] ?? '') &&
    hasValue
  );
}

/** "The default branch is main": a word that says no state. */
const isPlainName = ({ subject, predicate, isDefinite }: SentenceClaim): boolean => {
  const [word = ''] = predicate ?? [];
  return (
    isDefinite &&
    (subject?.size ?? 0) > 1 &&
    predicate?.size === 1 &&
    !/(?:ed|ing|ly|able|ible|ous|ful|less|ish|y|t|nt)$/.test(word)
  );
};

/** "Jonas is the release manager now." */
const ROLE = /^[a-z'-]{2,20} is (?:now )?the ([a-z][a-z -]{3,40}?)(?: now)?[.!]?$/;

/** "The login for demos is guest", "the wifi password of the office is in the blue binder". */
const isQualified = (said: string, { subject = new Set() }: SentenceClaim): boolean =>
  subject.size > 1 &&
  /^\S+ (?:\S+ ){1,4}(?:of|for|at|from|fur|von|de|du|para) \S+/.test(said) &&
  said.split(' ').length <= 16;

const PRONOUNS =
  /^(?:it|this|that|you|he|she|they|who|what|nothing|everything|something|one|please|now|then|i|we|there|here|let|if|when|after|before|for|in|at|on|with|to|of|an?|once|wow|and|but|so|never|always)\b/;

/** A plural ("backups"), a name ("Ingrid"), or a word alone ("staging"). */
const isNamedSubject = (text: string, subject: string): boolean =>
  !PRONOUNS.test(subject) && (/s\b/.test(subject) || /^\p{Lu}/u.test(text) || !subject.includes(' '));
