/*
 * Whether a message asks for what was said or done before, with or without a question mark: "same cache as last time", "the hotel that I
 * stayed at", "as we discussed". Told by grammar, not by topic: a clause in the past that points at something. English, and the basics of
 * German, French and Spanish; in other languages the question mark alone tells.
 */

/** In the scripts that have a mark for questions. */
const QUESTION_MARK = /[?？؟;՞]/u;
const LAST_MARK = /[?？؟][\p{Pe}\p{Pf}"']*\s*$/u;

const PAST_VERB =
  '(?:(?!need|ask|want)[a-z]{2,}ed|told|said|spoke|chosen?|gave|given|sent|went|had|made|did|done|bought|got|took|wrote|saw|found|kept|met|paid|put|set|brought|built|drew|read|ran|spent|thought|knew|came|began|lost)';
/** What was done "just" now is of this conversation. */
const WE_DID = `(?:i|we)(?:'ve|'d| have| had)?(?: (?!just\\b|never\\b)[a-z]+ly| already| once| finally| ended up)? ${PAST_VERB}\\b`;
/** Without "and I changed". */
const CLAUSE_BEGINS =
  '\\b(?:that|which|what|who|where|when|how|as|like|one|ones|(?:the|that|an?|same|this) (?:[a-z-]+ ){1,2}(?:(?:for|of) [a-z]+ )?) ?(?:that |which )?';

/** Asks for it. */
const ASKS = [
  "\\bremind me (?!to\\b)|\\brefresh my memory\\b|\\bi (?:can't|cannot|can not|don't|do not) (?:remember|recall)\\b|\\bi(?:'ve)? (?:forgot|forget|forgotten)\\b|\\btell me again\\b",
  '(?:^|\\bdo you |\\byou )(?:still )?(?:remember|recall) (?:how|what|when|which|who|where|why)\\b|^recall (?:what|the|my|our)\\b',
  "^(?:so |and |hey |ok )?(?:what|which|who|whom|whose|where|when|how)(?:'s|s)?\\b[^.!,:]{0,120}\\b(?:did|was|were|had|have) (?:i|we|my|our|it|the)\\b|^(?:did|had|have|were) (?:i|we)\\b",
  '\\berinner\\w* mich(?! bitte daran\\b| daran\\b)|^(?:was|wie|wo|wann|wer|wem|welche\\w*)\\b[^.!,]{0,120}\\b(?:habe|haben|hatte|hatten|war|hiess) (?:ich|wir|mein\\w*|unser\\w*|noch\\w*)\\b',
  '\\brappelle[sz]?-moi (?!de\\b)|\\brecuerdame (?!que\\b)|^cual era\\b',
];
/** Points at it. */
const POINTS = [
  `${CLAUSE_BEGINS}${WE_DID}`,
  // Words and decisions are of earlier conversations by themselves.
  "\\b(?:i|we)(?:'ve|'d| have| had)?(?: already| once)? (?:(?:told|gave|given|sent|showed|shown) you|mentioned|talked about|discussed|agreed|settled on|decided on|voted for)\\b",
  '\\blast time\\b|\\bthe other day\\b|\\bfrom before(?! the\\b)|\\b(?:as|like) (?:before|usual|always)\\b|\\bthe usual\\b|\\bsame (?:[a-z-]+ ){0,5}?as (?:for|in|with|on|last|before|the other|yesterday)\\b',
  '\\bwie (?:besprochen|vereinbart|ausgemacht|abgesprochen|gesagt|immer|ublich|gehabt|vorher|zuvor|beim letzten|letztes|damals)\\b|\\b(?:beim letzten|letztes) mal\\b',
  // "die Schrift, die wir genommen haben".
  '\\b(?:ich|wir) [^.!]{0,120}?\\b\\w+(?:t|en) (?:habe|haben|hatte|hatten|war|waren)\\b|\\b(?:hatten wir|hatte ich) (?:doch|ja|schon)\\b',
  "\\bcomme (?:convenu|prevu|d'habitude|toujours|avant|la derniere fois|on (?:a|avait)|j'(?:ai|avais)|je t'(?:ai|avais)|nous (?:avons|avions))\\b|\\bla derniere fois\\b",
  "\\b(?:que|dont|quel\\w*|qui|ou|ce) (?:\\w+ )?(?:j'(?:ai|avais)|on (?:a|avait)|nous (?:avons|avions)) \\w+|\\bon (?:a|avait) (?:dit|choisi|decide|convenu|parle)\\b|\\bje t'(?:ai|avais) (?:deja )?(?:dit|parle|donne)\\b",
  '\\bcomo (?:siempre|antes|la (?:ultima|otra) vez|\\w+[ai]mos|te dije)\\b|\\bla (?:ultima|otra) vez\\b|\\b(?:que|cual|donde|quien) (?:\\w+ )?\\w+[ai]mos\\b|\\bte (?:dije|conte|mencione)\\b',
];

const ASKING = new RegExp(ASKS.join('|'));
const POINTING = new RegExp(POINTS.join('|'));
const SENTENCE_END = /(?<=[.!…])\s+|\n+/u;

const fold = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replace(/[‘’]/g, "'")
    .normalize('NFD')
    .replace(/\p{M}+/gu, '');

const isInOne = (text: string, pattern: RegExp): boolean =>
  fold(text)
    .split(SENTENCE_END)
    .some((sentence) => pattern.test(sentence.trim()));

/** Whether a sentence asks something by its mark. */
export const endsAsQuestion = (sentence: string): boolean => LAST_MARK.test(sentence);

/** Whether a typed text, as a whole, asks what was before: "remind me what we picked". */
export const asksBack = (typed: string): boolean => endsAsQuestion(typed) || isInOne(typed, ASKING);

/** Whether a typed text asks something somewhere, or points at what was before: "use the one we picked". */
export const looksBack = (typed: string): boolean =>
  QUESTION_MARK.test(typed) || isInOne(typed, ASKING) || isInOne(typed, POINTING);
