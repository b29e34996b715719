import type { Lesson, LessonText } from '../core/lesson.ts';
import { plural } from '../text/phrases.ts';
import { sentencesOf } from '../text/sentences.ts';
import { truncateEnd } from '../text/truncate.ts';
import { isInstructionVerb } from '../text/verbs.ts';
import { oneLine } from '../text/visible-text.ts';

/*
 * A lesson's title: its rule as a person would say it aloud. What cannot be rearranged safely stays as it was said. A title leaves out
 * greetings and frames ("no, we always …"), and never a negation.
 */

const LONGEST_TITLE = 70;
const LONGEST_NAME = 48;

type Titled = Pick<LessonText, 'name' | 'description' | 'content'> & Partial<Pick<LessonText, 'evidence'>>;
/** Learners of lessons whose names a person chose. */
const NAMED_BY_PEOPLE: ReadonlySet<string | undefined> = new Set(['import', 'person', 'file']);

/** "Use ISO dates in shipping reports" for the rule "No, we always use ISO dates in shipping reports." */
export function titleOf({ text }: { readonly text: Titled }): string {
  const description = oneLine(text.description);
  const isNamed = NAMED_BY_PEOPLE.has(text.evidence?.learner);
  const worded = isSituation(description) ? (isNamed ? '' : firstRule(text) || description) : description;
  const title = titleOfRule(quotedRule(text) ?? worded);
  return title === '' ? sayName(text.name) : title;
}

/** A name as words, for a lesson of which nothing else is left. */
export const sayName = (name: string): string => capitalised(name.replaceAll('-', ' '));

/** The title of a lesson, or of a draft that was refused and of which only the name is left. */
export const titleOfNamed = (lesson: Pick<Lesson, 'text'> | undefined, name: string): string =>
  lesson === undefined ? sayName(name) : titleOf(lesson);

/** What a lesson is called, for programs and for people. */
export const namesOf = (lesson: Pick<Lesson, 'text'> | undefined): { name: string; title: string } =>
  lesson === undefined ? { name: '', title: '' } : { name: lesson.text.name, title: titleOf(lesson) };

/** What two lessons are called, for programs and for people. */
export const pairNames = (a: Lesson, b: Lesson) => ({
  names: [a.text.name, b.text.name],
  titles: [titleOf(a), titleOf(b)],
});

/** What a lesson quotes as its rule; undefined for one that was worded by a model, a file or this program. */
export const quotedRule = ({ description }: Pick<LessonText, 'description'>): string | undefined =>
  /^"(.+)"$/s.exec(description.trim())?.[1];

/** The title of a rule, from the words in which it was said. */
export const titleOfRule = (rule: string): string =>
  shorten(sayPlainly(ruleSentence(rule)).replaceAll('`', ''), LONGEST_TITLE);

/**
 * A file name from a rule's title. Undefined when none of its words can be written in Latin letters; where some cannot, it only says what
 * the rule is about, since a "not" may be among them.
 */
export function slugOfRule(rule: string): string | undefined {
  const title = shorten(sayPlainly(ruleSentence(rule)), LONGEST_NAME);
  const bare = title.replace(REFUSAL_START, '');
  const plain = bare
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/ß/g, 'ss')
    .replace(/['’]/g, '')
    .toLowerCase();
  const words = plain.match(/[\p{L}\p{N}]+/gu) ?? [];
  const latin = words.filter((word) => /^[a-z0-9]{1,24}$/.test(word));
  while (latin.length > 2 && TAIL_WORD.test(latin.at(-1) ?? '')) latin.pop();
  const slug = latin.join('-');
  if (slug.replaceAll('-', '').length < 2) return undefined;
  const isWhole =
    bare === title &&
    /^[a-z]/.test(slug) &&
    slug.length <= LONGEST_NAME &&
    words.every((word) => /^[a-z0-9]+$/.test(word));
  return isWhole ? slug : `about-${cutAtWord(latin.join(' '), LONGEST_NAME).replaceAll(' ', '-')}`;
}

/** Without an object a name should not end with one of these. */
const TAIL_WORD = /^(?:a|an|the|in|on|at|to|of|for|and|or|with|by|from|as|is|are|that|which|my|our|your)$/;

/**
 * The name of a lesson where a model reads it. A name of earlier versions may say the opposite of the rule that it quotes ("no-pnpm" for
 * "no, we use pnpm here"): such a lesson goes by its title.
 */
export function promptName(text: Titled): string {
  const isNegated = text.name.split('-').some((word) => SLUG_NEGATION.test(word));
  if (!isNegated || quotedRule(text) === undefined) return text.name;
  const title = titleOf({ text });
  // Names are listed with commas between them.
  return negationsIn(title).length === 0 ? title.replaceAll(',', '') : text.name;
}

const SLUG_NEGATION = /^(?:no|not|never|dont|nicht|nie|kein\w{0,2}|nunca|jamais|pas|nao|non)$/;

const NEGATION =
  /(?<![\p{L}\p{N}])(?:no|not|never|none|nothing|nobody|neither|nor|without|cannot|\p{L}+n['’]t|(?:do|does|did|ca|wo|is|are|should|must)nt|nicht|nichts|nie|niemals|kein(?:e[mnrs]?)?|ohne|ne|pas|jamais|sans|aucune?|rien|nunca|jam[aá]s|sin|ning[uú]n[ao]?|nada|tampoco|não|nem|sem|non|mai|senza|nessun[ao]?|не|нет|без|никогда|нельзя)(?![\p{L}\p{N}])|(?<![\p{L}\p{N}])n['’](?=\p{L})|[不没別别勿無无未非禁]|ない|ません|ずに|않|말고|마세요|지 마/giu;

/** The words of a text that negate, in order and in lower case. */
export const negationsIn = (text: string): readonly string[] =>
  [...text.matchAll(NEGATION)].map(([word]) => word.toLowerCase().replaceAll('’', "'"));

/** A description that only says when a lesson is needed. */
const SITUATION =
  /^(?:use (?:this |it )?)?(?:when|whenever|before|after|if|while|for|during|on|in|as soon as|wenn|bevor|nachdem|falls|beim|für|quand|lorsque|avant|si|pour|cuando|antes|al|para|quando|se)\b/i;

export const isSituation = (description: string): boolean => SITUATION.test(description);

/** Characters of a text that are searched for its first rule. */
const SEARCHED = 2000;
const SHORTEST_RULE = 20;

/** The first sentence of a lesson's content that is no heading and announces no list. */
export function firstRule({ content }: Pick<LessonText, 'content'>): string {
  const lines = content
    .slice(0, SEARCHED)
    .split('\n')
    .filter((line) => !/^\s*(?:#|```|~~~|---)/.test(line))
    .map((line) => line.split(/\s/).filter(Boolean).join(' '))
    .map((line) => line.replace(/^(?:[-*•>]|\d{1,3}[.)])\s/, ''))
    .filter((line) => line !== '');
  const line = lines.find((one) => !one.endsWith(':')) ?? lines[0] ?? '';
  for (let at = line.search(/[.!?。！？]/); at >= 0 && at < line.length; at++) {
    const isEnd = /[.!?。！？]/.test(line.charAt(at)) && /^(?:\s|$)/.test(line.slice(at + 1, at + 2));
    if (isEnd && at + 1 >= SHORTEST_RULE) return line.slice(0, at + 1);
  }
  return line;
}

const wordsIn = (text: string): readonly string[] => text.match(/[\p{L}\p{N}][\p{L}\p{N}'’.@/_-]*/gu) ?? [];

/** The sentence that holds the rule: one that orders something before one that tells something, and before a question. */
function ruleSentence(rule: string): string {
  const sentences = sentencesOf(rule.replace(/^[>#*\s-]+/, '')).map(oneLine);
  const whole = sentences.filter((one) => wordsIn(withoutInterjections(one)).length > 1);
  const chosen = whole.find(isDirective) ?? whole.find((one) => !one.endsWith('?')) ?? whole[0];
  if (chosen === undefined) return oneLine(rule);
  const at = sentences.indexOf(chosen);
  // "Use npm? Never." and "You used npm. Never do that." are one statement each.
  const next = sentences[at + 1] ?? '';
  const isAnswered = wordsIn(next).length <= 2 && negationsIn(next).length > 0;
  const from = at > 0 && whole[0] !== chosen && REFERS_BACK.test(chosen) ? at - 1 : at;
  return sentences.slice(from, isAnswered ? at + 2 : at + 1).join(' ');
}

const REFERS_BACK =
  /(?<![\p{L}])(?:that|this|it|them|those|these|das|dies|es|eso|esto|ça|cela)(?!\s+(?:repo|project|team|branch|file|folder|\w+base)\b)(?![\p{L}])/iu;

function isDirective(sentence: string): boolean {
  const plain = withoutInterjections(sentence);
  const [first = ''] = wordsIn(plain);
  return (
    !sentence.endsWith('?') &&
    (isInstructionVerb(first) ||
      /^(?:we|wir|on|nous)\b|\b(?:always|never|must|should|do not|don['’]?t|from now on|only|immer|niemals|nie|nur|toujours|jamais|siempre|nunca)\b/i.test(
        plain,
      ))
  );
}

const REFUSALS = 'no+|nope|nah|nein|nee|non|não';
const CALLS =
  'actually|sorry|hey|hi|hello|ok|okay|well|hm+|ugh|argh|oh|oops|wait|listen|look|yes|yeah|right|wrong|again|once again|wow|thx|great|good|nice|cool|perfect|thanks|thank you|also|btw|by the way|fyi|reminder|rule|stop|ach|also bitte|äh|doch|ja|danke|hallo|oye|vale|sí|bueno|mira|gracias|oui|bon|alors|écoute|merci|attends';
const PAUSE = '(?:\\s*[,;:!….]+(?=\\s)|\\s+[-–—]+|\\s*—)\\s*';
const INTERJECTION = new RegExp(
  `^(?:(${REFUSALS})|(?:${CALLS}))(?:[\\s,]+(?:${REFUSALS}|${CALLS}))*${PAUSE}`,
  'iu',
);
/** A refusal before a pause that was left standing, since it may be the rule's own "no". */
const REFUSAL_START = new RegExp(`^(?:${REFUSALS})${PAUSE}`, 'iu');

/** Words that begin a clause or stand in one: what follows a "no," is then whole without it. */
const CLAUSE_START =
  /^(?:we|you|i|it|they|he|she|that|this|these|those|there|let['’]?s|please|always|never|don['’]?t|do|not|no|only|just|when|if|from now on|everyone|wir|ich|du|ihr|sie|man|es|das|bitte|immer|nie|nicht|kein\w*|nur|wenn|on|nous|tu|vous|il|elle|je|ça|c['’]|toujours|jamais|ne|n['’]|nosotros|aquí|siempre|nunca|se)(?![\p{L}\p{N}])/iu;
const CLAUSE_VERB =
  /(?<![\p{L}])(?:is|are|was|were|has|have|must|should|shall|can|will|would|needs?|goes|go|uses?|means|ist|sind|soll(?:en)?|muss|müssen|nehmen|nutzen|verwende[nt]?|benutz(?:e|en|t)|schreib(?:e|en|t)|nimm|est|sont|doit|doivent|faut|utilise[rz]?|usamos|usa|utiliza(?:mos)?|debe[ns]?|hay|son|va|van|escrib(?:e|imos))(?![\p{L}])/iu;

const isClause = (text: string): boolean =>
  wordsIn(text).length > 1 &&
  (CLAUSE_START.test(text) ||
    CLAUSE_VERB.test(text) ||
    negationsIn(text).length > 0 ||
    isInstructionVerb(wordsIn(text)[0] ?? ''));

const POLITE = /^(?:please|pls|kindly|bitte|por favor|s['’]il (?:te|vous) pla[iî]t)[,:]?\s+/iu;
const JOINED = /^(?:but|and|so|then|aber|und|mais|pero)\s+/iu;

/** Without what only calls for attention before the rule, as far as the rest says the same without it. */
function withoutInterjections(sentence: string): string {
  let rest = sentence.trim();
  for (let more = true; more; ) {
    const [start, refusal] = INTERJECTION.exec(rest) ?? [];
    const after = start === undefined ? rest : rest.slice(start.length);
    const isWhole = refusal === undefined ? wordsIn(after).length > 1 : isClause(after);
    const next = (start !== undefined && isWhole ? after : rest).replace(POLITE, '').replace(JOINED, '');
    more = next !== rest && next !== '';
    if (more) rest = next;
  }
  return rest;
}

const FRAME =
  /^(?:(?:from now on|going forward|in future|as of (?:now|today)|a partir de ahora|à partir de maintenant|dorénavant|désormais),?\s+|(?:ab (?:jetzt|sofort)|in zukunft|künftig)[,:]\s+|(?:remember|note|keep in mind)(?: that|[:,])\s+|(?:(?:as|like) )?i (?:said|told you)(?: before| already)?[,:]\s+|(?:btw|fyi)\s+)/iu;
/** What the words before an order's verb may be; they are left out. What follows is checked to be an order. */
const ORDER_FRAME =
  /^(?:i(?:['’]d| would)? (?:want|need|expect|like|told|asked) you to|(?:you|we) (?:must|should|shall|have to|need to|ought to|are to)|(?:can|could|would|will) you(?: please)?|let['’]?s|remember to|we(?: always)?)\s+/iu;
const CLOSING =
  /(?:[\s,;–-]+(?:from now on|going forward|in future|bitte|por favor|ab jetzt|ab sofort|a partir de ahora|désormais|dorénavant)|(?<!\b(?:say|says|write|add|use|with|without|word|and|or|of|a|the))[\s,;]+(?:please|pls)|[,;–-]\s*(?:in the future|thanks|thank you|ok(?:ay)?|danke|gracias|merci|s['’]il (?:te|vous) pla[iî]t))[\s.!?…]*$/iu;
const HEDGE = /\b(?:but|although|though|however|used to|at the moment|until now|so far)\b/i;

/** The order in a sentence that frames one ("I want you to …", "we always …"); undefined where it is not certain to be one. */
function orderIn(sentence: string): string | undefined {
  const frame = ORDER_FRAME.exec(sentence)?.[0];
  if (frame === undefined || HEDGE.test(sentence)) return undefined;
  const isAsked = /^(?:can|could|would|will)\b/i.test(frame);
  if (sentence.endsWith('?') && !isAsked) return undefined;
  const order = sentence.slice(frame.length).replace(/\s*\?$/, '');
  const [, verb = '', object = ''] =
    /^(?:(?:always|never|only|please|do not|don['’]?t)\s+)*([a-z]+)\b\s*(\S*)/i.exec(order) ?? [];
  const isProgress = /^(?:be|keep|start|go)$/i.test(verb) && /ing\b/i.test(object);
  return isInstructionVerb(verb) && !/^(?:have|let)$/i.test(verb) && !isProgress ? order : undefined;
}

/** A sentence as a title says it, in full length. */
function sayPlainly(sentence: string): string {
  let rest = withoutInterjections(sentence);
  for (let more = true; more; ) {
    const framed = rest.replace(FRAME, '');
    const next = withoutInterjections(orderIn(framed) ?? framed);
    more = next !== rest && wordsIn(next).length > 1;
    if (more) rest = next;
  }
  for (let more = true; more; ) {
    const next = rest.replace(CLOSING, '');
    more = next !== rest && wordsIn(next).length > 1;
    if (more) rest = next;
  }
  return capitalised(rest.replace(/(?<=[^.])[\s.!,;…。！]+$/u, '').replace(/\*\*/g, ''));
}

/** A name of letters without a vowel (npm) is no word. */
const capitalised = (text: string): string => {
  const [first = ''] = /^\p{Ll}+/u.exec(text) ?? [];
  const isWord =
    (/[aeiouyà-ÿ]/.test(first) || /^\p{Ll}['’]/u.test(text)) &&
    !/^[\p{L}\p{N}]*[\p{Lu}\d_./@-]\p{L}/u.test(text);
  return isWord || /^[^\p{ASCII}]/u.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
};

/** About `most` characters, cut between words. Negations stay: the middle is left out where the end has one, or nothing is. */
function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  const count = negationsIn(text).length;
  const head = cutAtWord(text, most - 2);
  if (negationsIn(head).length === count) return `${head} …`;
  const last = [...text.matchAll(NEGATION)].at(-1)?.index ?? 0;
  const share = Math.floor(most / 2) - 2;
  const from = Math.max(0, text.slice(0, last).search(/\S+\s+$|\S+$/u));
  const cut = `${cutAtWord(text, share)} … ${cutAtWord(text.slice(from), share)}`;
  return negationsIn(cut).length === count ? cut : text;
}

/** Without a blank in reach, between characters. */
function cutAtWord(text: string, most: number): string {
  if (text.length <= most) return text;
  const blank = text.slice(0, most + 1).search(/\s+\S*$/u);
  const cut = text.slice(0, blank > most / 2 ? blank : most).replace(/[\ud800-\udbff]$/, '');
  return cut.replace(/[\s,;:–—-]+$/u, '');
}

const LONGEST_ORIGIN = 200;

/** Where a lesson comes from: the words that it rests on, or how often something went wrong. */
export function originOf({ text }: Pick<Lesson, 'text'>): string {
  const { evidence, content, scope } = text;
  const [, line] = /^(The (?:user|check) said: ".+")/m.exec(content) ?? [];
  const quoted = quotedRule(text);
  const isCheck = quoted === undefined ? line?.startsWith('The check') : content.startsWith('A check');
  const words = quoted ?? /"(.+)"$/.exec(line ?? '')?.[1];
  if (words !== undefined) return quoteWords(isCheck === true ? 'A check' : 'You', words);
  if (evidence.learner === 'person') return 'Written by you';
  if (evidence.learner === 'import') return 'Imported';
  if (evidence.learner === 'file') return 'A file in the skills folder';
  if (text.overlay !== undefined) return `Learned from ${plural(text.overlay.from?.matches ?? 0, 'event')}`;
  const what =
    evidence.learner === 'practice' ? 'attempt' : evidence.learner === 'evolver' ? 'failure' : 'turn';
  const whose = scope.agent === undefined ? '' : ` of ${scope.agent}`;
  return `Learned from ${plural(evidence.turns.length, what)}${whose}`;
}

/** `You said: "no, we use pnpm here"`. */
export const quoteWords = (who: string, words: string): string =>
  `${who} said: "${truncateEnd(oneLine(words), LONGEST_ORIGIN)}"`;
