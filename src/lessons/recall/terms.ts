import { stem } from '../../text/stem.ts';

/** English function words: they match every text. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again all also always am an and any are as at be because been before being below between both but
  by can cannot could did do does doing done down during each either else etc ever every few for from further get gets
  getting give given go goes going gone got had has have having he her here hers him his how i if in instead into is it
  its itself just keep kind know let like lot made make makes making many may maybe me might more most much must my need
  needs never no nor not now of off on once one only onto or other our ours out over own per please put rather really
  same say see seem shall she should since so some something sometimes still such take than that the their theirs them
  then there these they thing things this those through to too under until up upon us use used using very via want wants
  was way we well were what when where whether which while who whose why will with within without would yes yet you your
  yours im ive id ill dont doesnt didnt cant wont isnt arent wasnt`.split(/\s+/),
);

/** Function words of other languages, but for those that are words of English too. */
const FOREIGN_STOP_WORDS: ReadonlySet<string> = new Set(
  `der das dem ein eine einen einem einer eines ist sind wird werden wurde hat haben hatte ich du er sie es wir ihr mir mich dir
  dich uns euch und oder aber nicht kein keine auf aus bei mit nach von vor zu zum zur über unter zwischen für durch auch noch nur
  schon sehr wie wo wer wenn dass weil bitte bis als im ins beim vom le la les un une des du de et ou est sont suis être avoir il
  elle nous vous ils je tu ne pas que qui quoi dans sur avec pour par ce cette ces mon ma mes ton ta tes notre votre quel quelle el
  los las una uno unos del al y o es son ser yo ella nosotros ustedes ellos qué cómo cuál quién dónde por para con sin sobre mi tu
  su esta este esto il lo gli uno che di da con per non è sono mio tuo um uma os em na dos das não com eu você het een van en niet`.split(
    /\s+/,
  ),
);

/** The search terms of a text. */
interface Terms {
  /** Stems of words, and of the parts of names. */
  readonly words: readonly string[];
  /** Names kept whole: snake_case, camelCase, paths, versions, error codes, --flags, dates. */
  readonly names: readonly string[];
}

/** The parts of a name are joined by one separator, which matches no other part of the pattern: matching is linear. */
const TOKEN = /-{0,2}[\p{L}\p{N}_$]+(?:['’./:\\@-][\p{L}\p{N}_]+)*(?:\+\+|#)?/gu;
const PART = /\p{Lu}+(?![\p{Ll}])|\p{Lu}?\p{Ll}+|\p{N}+|[\p{Lo}\p{Lm}]+/gu;
/** The fast path for most words. */
const PLAIN = /^[a-z]+$/;
const HAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const LONGEST_NAME = 80;

export function searchTerms(text: string): Terms {
  const words: string[] = [];
  const names: string[] = [];
  for (const raw of text.match(TOKEN) ?? []) {
    if (PLAIN.test(raw)) {
      addPlain(words, raw);
      continue;
    }
    const token = withoutApostrophe(raw);
    if (isName(token) && token.length <= LONGEST_NAME) names.push(token.toLowerCase());
    for (const [part] of token.matchAll(PART)) addWord(words, part.toLowerCase());
  }
  return { words, names };
}

function addWord(words: string[], word: string): void {
  if (HAN.test(word)) words.push(...pairs(word));
  else addPlain(words, word);
}

function addPlain(words: string[], word: string): void {
  if (word.length > 1 && !STOP_WORDS.has(word) && !FOREIGN_STOP_WORDS.has(word)) words.push(stem(word));
}

/** Bigrams, for scripts without spaces. */
function pairs(run: string): readonly string[] {
  const letters = [...run];
  return letters.length === 1 ? letters : letters.slice(1).map((letter, at) => `${letters[at]}${letter}`);
}

/** "don't" is dont, "Alice's" is Alice. */
function withoutApostrophe(token: string): string {
  const at = token.search(/['’]/);
  if (at < 0) return token;
  const rest = token.slice(at + 1);
  return /^(?:t|re|ve|ll|d|m)$/i.test(rest) ? '' : token.slice(0, at);
}

/** More than a plain word: separators, an inner capital, or letters mixed with digits. */
const isName = (token: string): boolean =>
  /[\p{L}\p{N}][_./:\\@-]+[\p{L}\p{N}]/u.test(token) ||
  /^--?[\p{L}]/u.test(token) ||
  /\p{Ll}\p{Lu}/u.test(token) ||
  (/\p{L}/u.test(token) && /\p{N}/u.test(token)) ||
  /(?:\+\+|#)$/.test(token);
