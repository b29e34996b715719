import { nameOtherThings, numberedThings } from '../../text/numbered-things.ts';
import { endsWithAbbreviation, SENTENCE_END, sentencesOf } from '../../text/sentences.ts';
import { stemInflection } from '../../text/stem.ts';
import { topicWords } from '../../text/topic-words.ts';
import { oneLine } from '../../text/visible-text.ts';
import { CHOICE_OF } from '../memory/write/claim-words.ts';

/** What a quote is about, for comparing quotes. Nothing of it is ever shown: a lesson has the quote itself. */
export interface Matter {
  /** In lower case, without punctuation: equal for two quotes of the same words. */
  readonly print: string;
  readonly text: string;
  /** Its terms: whether the quote wants them or rejects them. */
  readonly terms: ReadonlyMap<string, boolean>;
  /** The terms that are no part of a path or file name: those are often the case at hand. */
  readonly frame: ReadonlySet<string>;
  /** How many of them say more than that something was wrong. */
  readonly subjects: number;
  /** Its only number, when it is a plain one: "4 spaces". Dates and ids are examples. */
  readonly figure?: string;
  /** What it is about, where a number tells it from others of its sort: "ledger 2". */
  readonly things: readonly string[];
}

const LONGEST = 2000;

/** Words that say that something is wrong, or point at it, and not what it is. */
const GENERIC: ReadonlySet<string> = new Set(
  (
    'bad wrong wrongly incorrect error errors broken fail fails failed failing failure pass passed crash crashed exit exited code status score process ' +
    'answer output result results try tried work works worked working look looks fix fixed better careful carefully properly correctly instructions instruction ' +
    'read idea like expected expect got happened slow asked ask said told tell mean meant thanks thank perfect great nice good okay ok yes nope nah hey sorry man dude ' +
    'true false verifier judge test tests file line part other right correct last first different side page place stuff back seriously literally obviously ' +
    'actually already wait why again still mistake mistakes issue problem bug please come undo revert redo before ' +
    'falsch schlecht nochmal wieder fehler bitte stimmt richtig geht datei ' +
    'mal incorrecto incorrecta error otra vez archivo favor ' +
    'faux mauvais encore erreur fichier plaît plait ' +
    'errado errada ruim novo arquivo sbagliato ancora ' +
    'неправильно плохо снова опять ошибка файл неверно'
  ).split(' '),
);

/** Verbs and small words that do not tell two matters apart, in the languages that people type most. */
const IDLE: ReadonlySet<string> = new Set(
  (
    'use using used add adding added write writing wrote written put make makes keep create creating want wants need set give change stop stopped avoid quit forget forgot forgotten remember ensure prefer ' +
    'btw wow ok okay thx omg hey hi hm hmm ugh argh sigh news nope yes yeah thanks ' +
    'wrong again still please bad seriously literally obviously actually already wait why just really always never dont doesnt cannot without instead rather must should here there now later future every each everywhere anything project repo repository codebase team house work ' +
    'der die das den dem des ein eine einen einem einer und oder aber nicht kein keine keinen nie niemals immer wir ihr ich du sie es man hier in im auf mit von zu für bei statt anstatt ' +
    'verwende verwenden benutze benutzen nutze nutzen nimm nehmen mach machen soll sollen muss müssen ist sind wird werden bitte doch mal schon hör auf ' +
    'el la los las un una unos unas y o pero no nunca jamás siempre nosotros yo tú aquí en con de del al para por sin que se es son usa usar usamos usas utiliza utilizar hay deja ' +
    'le la les un une des et ou mais ne pas jamais toujours nous vous je tu ici dans avec de du au aux pour sans que on est sont utilise utiliser utilisez utilisons faut arrête ' +
    'o a os as um uma e ou mas não nunca sempre nós eu você aqui em no na com de do da para por sem que se é são use usar usamos pare ' +
    'и или но не нет никогда всегда мы вы я ты здесь в на с из для без что это используй используйте использовать используем надо нужно нельзя перестань'
  ).split(' '),
);

/** What follows is rejected. */
const CONTRAST =
  /\b(?:instead of|rather than|as opposed to|anstatt|anstelle von|statt|au lieu d[eu]|plutôt que|en vez de|en lugar de|em vez de|ao invés de|invece di)\s|(?<![\p{L}])(?:а не|вместо)\s|而不是|ではなく|じゃなく/giu;
/** "Use pnpm not npm": a "not" behind anything but an auxiliary. */
const BARE_NOT =
  /(?<!\b(?:do|does|did|is|are|was|were|be|must|should|shall|can|could|may|might|will|would|has|have|had|need|why|or|and|but|if)) not (?=\p{L})/giu;
const CLAUSE =
  /[.;:!?](?=\s|$)|[。！？；，、,()\n—–]|\s-\s|(?<![\p{L}])(?:but|sondern|aber|mais|pero|sino|mas|ma|но)(?![\p{L}])/iu;
const NOT =
  /(?<![\p{L}])(?:not|never|no|without|avoid|stop|quit|don't|dont|forbidden|nicht|nie|niemals|keine?[nmrs]?|ohne|lass|hör|pas|jamais|sans|arrête[zr]?|nunca|jamás|sin|deja|não|nem|sem|pare|non|mai|senza|не|нет|никогда|без|нельзя|перестань|хватит)(?![\p{L}])|n't(?![\p{L}])|¬|[不别没勿禁]|ない|ません|やめ|するな/iu;
/** "No, we use …" and "no use …" only disagree. */
const DISAGREES =
  /^\s*(?:no+|nope|nah|nein|non|nee|não|нет)[,!.]?\s+(?=(?:we|you|i|it|that|this|the|use|please|wir|nimm|bitte|nous|usa|use|мы)(?![\p{L}]))/iu;
const IDLE_UNSPACED =
  /不要|不能|不许|不准|禁止|必须|应该|使用|我们|这里|一律|总是|永远|不|别|没|勿|请|用|要|ここでは|ではなく|じゃなく|使って|ください|しない|やめて|必ず|を|は|で|に/gu;
const PATH =
  /(?<![\p{L}\p{N}])[\w.-]{0,80}(?:\/[\w.-]{1,80})+|(?<![\p{L}\p{N}])[\w-]{1,80}\.[a-z]{2,5}(?:\.[a-z]{2,5})?(?![\p{L}\p{N}])/gu;
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}]+/gu;

export function readMatter(quote: string): Matter {
  const text = oneLine(quote).slice(0, LONGEST).toLowerCase().replaceAll('’', "'");
  const terms = new Map<string, boolean>();
  for (const clause of text.replace(CONTRAST, ', ¬ ').replace(BARE_NOT, ', ¬ ').split(CLAUSE)) {
    if (clause === undefined) continue;
    const said = clause.replace(DISAGREES, '');
    const isWanted = !NOT.test(said);
    for (const term of termsIn(said)) if (!terms.has(term) || !isWanted) terms.set(term, isWanted);
  }
  const figures = text.match(/\d[\d.,:/-]*/g) ?? [];
  const [figure] = figures;
  return {
    print: (text.match(/[\p{L}\p{N}]+/gu) ?? []).join(' '),
    terms,
    text: quote,
    frame: new Set(termsIn(text.replace(PATH, ' '))),
    subjects: [...terms.keys()].filter((term) => !GENERIC.has(term)).length,
    things: numberedThings(text),
    ...(figures.length === 1 && figure !== undefined && /^\d{1,3}$/.test(figure) ? { figure } : {}),
  };
}

/** A term that says more than that something was wrong. */
export const isTelling = (term: string): boolean => !GENERIC.has(term);

function termsIn(text: string): readonly string[] {
  const spaced = topicWords(text.replace(UNSPACED, ' '))
    .filter((word) => !/\d/.test(word) && !IDLE.has(word))
    .map(stemInflection);
  const pairs = (text.replace(IDLE_UNSPACED, ' ').match(UNSPACED) ?? []).flatMap((run) =>
    run.length === 1 ? [run] : Array.from({ length: run.length - 1 }, (_, at) => run.slice(at, at + 2)),
  );
  return [...spaced, ...pairs];
}

const FEWEST_PAIRS = 4;

/** Whether a quote says more than that something was wrong. */
export function hasSubject(quote: string): boolean {
  const unspaced = quote.match(UNSPACED)?.join('').length ?? 0;
  if (unspaced > FEWEST_PAIRS) return true;
  return topicWords(quote.replace(UNSPACED, ' ')).some(
    (word) => !/^\d+$/.test(word) && !GENERIC.has(word) && !NOT.test(word),
  );
}

const NEAR = 0.5;
const SAME = 0.66;
/** Of texts without blanks, where pairs of characters are compared. */
const SAME_PAIRS = 0.5;

/** Whether two quotes say the same; in doubt they do not. */
export function isSameMatter(a: Matter, b: Matter): boolean {
  if (a.print === b.print) return true;
  const { shared, all, opposed } = compare(a, b);
  if (shared.length === 0 || opposed.length > 0) return false;
  if (isOtherFigure(a, b)) return false;
  if (isSameFrame(a, b)) return true;
  const likeness = shared.length / all;
  const isShort = Math.max(a.terms.size, b.terms.size) <= 2;
  const isUnspaced = shared.every((term) => UNSPACED_TERM.test(term));
  return likeness >= (isUnspaced ? SAME_PAIRS : isShort ? 0.5 : SAME) && (isShort || shared.length > 1);
}

const FEWEST_IN_FRAME = 3;

/** The same words with the name of another file. */
function isSameFrame(a: Matter, b: Matter): boolean {
  if (a.frame.size === a.terms.size || b.frame.size === b.terms.size) return false;
  const shared = [...a.frame].filter((term) => b.frame.has(term)).length;
  return shared >= FEWEST_IN_FRAME && shared >= (a.frame.size + b.frame.size - shared) * 0.8;
}

const UNSPACED_TERM = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}]/u;

/**
 * Whether two sessions spoke of the same thing: at least half of what the shorter quote names. A negation may stand in another
 * clause, so one term with the same sense is enough.
 */
export function isAboutSame(a: Matter, b: Matter): boolean {
  const { shared, opposed } = compare(a, b);
  const told = shared.filter((term) => !GENERIC.has(term)).length;
  const fewest = Math.min(a.terms.size, b.terms.size);
  return told > 1 && told >= fewest * NEAR && opposed.length < shared.length && !isOtherFigure(a, b);
}

/** The same of a saying and the lesson that the work was shown: it was corrected all the same, and neither rejects what the other wants. */
export const isNearMatter = (a: Matter, b: Matter): boolean =>
  isAboutSame(a, b) && compare(a, b).opposed.length === 0;

/** Whether one of two quotes rejects most of what the other wants. */
export function isOpposed(a: Matter, b: Matter): boolean {
  const { shared, opposed } = compare(a, b);
  return opposed.length > 0 && 2 * opposed.length >= shared.length;
}

/** Whether two quotes have a sentence on the same matter. */
export const shareMatter = (a: readonly Matter[], b: readonly Matter[]): boolean =>
  a.some((one) => b.some((other) => isSameMatter(one, other)));

/** Whether a sentence that takes something back names what a quote is about: half of its terms, or its value of a choice. */
export function isNamedIn(sentence: Matter, quote: Matter): boolean {
  const told = [...quote.terms.keys()].filter((term) => !GENERIC.has(term));
  const named = told.filter((term) => sentence.terms.has(term));
  const [only, ...more] = sentence.terms.keys();
  const isChosen = only !== undefined && more.length === 0 && CHOICE_OF.has(only) && quote.terms.has(only);
  return named.length > 0 && (named.length >= told.length * NEAR || isChosen);
}

/** Whether all that a few words name is in a quote. */
export function namesNothingElse(words: Matter, quote: Matter): boolean {
  const named = [...words.terms.keys()].filter((term) => !GENERIC.has(term));
  return named.length > 0 && named.every((term) => quote.terms.has(term));
}

const VERSION = /[\p{L}\d.]*\d[\p{L}\d.]*/gu;

/** Whether a quote wants what a few words name: "tabs", "node 18", "v2". */
export function isWantedIn(words: string, quote: Matter): boolean {
  const said = readMatter(words.split(', ').at(-1) ?? words);
  const versions = said.print.match(VERSION) ?? [];
  if (versions.some((version) => !` ${quote.print} `.includes(` ${version} `))) return false;
  if (said.terms.size === 0) return versions.length > 0;
  return isNamedIn(said, quote) && [...said.terms.keys()].some((term) => quote.terms.get(term) === true);
}

const isOtherFigure = (a: Matter, b: Matter): boolean =>
  (a.figure !== undefined && b.figure !== undefined && a.figure !== b.figure) ||
  nameOtherThings(a.things, b.things);

function compare(a: Matter, b: Matter) {
  const shared = [...a.terms.keys()].filter((term) => b.terms.has(term));
  return {
    shared,
    all: a.terms.size + b.terms.size - shared.length,
    opposed: shared.filter((term) => a.terms.get(term) !== b.terms.get(term)),
  };
}

const MOSTLY = 0.8;
const FEWEST_COVERED = 2;

/** What the first look below can read as it is. */
const PLAIN = /^[\n\t -~]*$/;

/**
 * Whether `coversMatter` may hold, by a look at the letters: a hundred times faster than reading what a text is about, for libraries
 * of thousands of lessons. A stem without its last letter begins every word that has this stem.
 */
export function mayCoverMatter(text: string, { terms }: Matter): boolean {
  if (terms.size === 0 || !PLAIN.test(text)) return true;
  const letters = text.toLowerCase().replaceAll("'", '');
  let missing = terms.size - Math.min(terms.size, Math.max(FEWEST_COVERED, Math.ceil(terms.size * MOSTLY)));
  for (const term of terms.keys()) if (!letters.includes(term.slice(0, -1)) && --missing < 0) return false;
  return true;
}

/** Whether a text by another author has the quote, or nearly all that it is about, and rejects nothing of what it wants. */
export function coversMatter(text: Matter, quote: Matter): boolean {
  if (quote.print !== '' && ` ${text.print} `.includes(` ${quote.print} `)) return true;
  const { shared, opposed } = compare(text, quote);
  return (
    opposed.length === 0 &&
    shared.length >= FEWEST_COVERED &&
    shared.length >= quote.terms.size * MOSTLY &&
    !isOtherFigure(text, quote)
  );
}

/** The leading sentences that fit. A sentence that is too long alone is cut at a word and marked so. */
export function cutQuote(text: string, most: number): string {
  if (text.length <= most) return text;
  let end = 0;
  for (const match of text.slice(0, most).matchAll(SENTENCE_END)) {
    const to = match.index + match[0].length;
    if (!endsWithAbbreviation(text.slice(0, to))) end = to;
  }
  if (end > 0) return text.slice(0, end).trim();
  const word = text.slice(0, most - 2).replace(/\s\S{0,80}$/, '');
  return `${word.trimEnd()} …`;
}

/** The matters of the sentences of a quote that have one. */
export function mattersOf(quote: string): readonly Matter[] {
  const matters = sentencesOf(quote)
    .map(readMatter)
    .filter(({ terms }) => terms.size > 0);
  return matters.length === 0 ? [readMatter(quote)] : matters;
}
