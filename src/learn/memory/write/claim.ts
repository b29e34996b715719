import { createLruMap } from '../../../base/lru-map.ts';
import { foldAccents } from '../../../reader/own-sentences.ts';
import { stemInflection } from '../../../text/stem.ts';
import { ASIDE, CHOICE_OF, isStopWord, NUMBER_WORDS, OPENERS, SPEAKER, termOf } from './claim-words.ts';

/** The sort of a value: two values of one sort may exclude each other. `choice:N` is one of a closed list (see `CHOICES`). */
type ValueSort = 'time' | 'number' | 'day' | 'code' | 'name' | `choice:${number}`;

export interface ClaimValue {
  /** Folded. */
  readonly text: string;
  readonly sort: ValueSort;
  /** The stem of the word behind a number: days, MB. */
  readonly unit?: string;
}

/** What a sentence says, for comparing sentences. Nothing of it is ever shown: a note has the sentence itself. */
export interface SentenceClaim {
  /** Its words in lower case, without punctuation. */
  readonly print: string;
  /** What it wants or states: stems and values. */
  readonly wanted: ReadonlySet<string>;
  /** What it rejects, by clause: "instead of npm", "no longer to billing@". */
  readonly rejected: readonly ReadonlySet<string>[];
  /** Of what it wants: the stems that are no values. */
  readonly frame: ReadonlySet<string>;
  readonly values: readonly ClaimValue[];
  /** Of a sentence "X is Y", or "X: Y": what X and Y are about. */
  readonly subject?: ReadonlySet<string>;
  readonly predicate?: ReadonlySet<string>;
  /** Who does it: "Anna reviews the frontend". */
  readonly holder?: string;
  /** "The", "my", "our": there is one of it. */
  readonly isDefinite: boolean;
  /** "Also", "too", "either": it adds, and replaces nothing. */
  readonly isAdded: boolean;
}

const LONGEST = 600;
const TOKEN =
  /--?\p{L}[\p{L}\p{N}-]*|#[\p{L}\p{N}]{2,}|[\p{L}\p{N}](?:[\p{L}\p{N}_]|[._/:@+'’-](?=[\p{L}\p{N}]))*(?:[+#]{1,2}|\/)?/gu;
const ADDS =
  /\b(?:also|too|either|as well|in addition|additionally|besides|auch|ebenfalls|ausserdem|aussi|egalement|en plus|tambien|ademas|tampoco)\b/;
const DEFINITE =
  /^(?:for [^,]{2,40},? |at [^,]{2,30},? |in [^,]{2,30},? )?(?:the|my|our|der|die|das|mein\w*|unser\w*|le|la|l'|mon|ma|notre|el|mi|nuestr[oa])\b/;
/** The verb between a subject and its value. */
const COPULA =
  /\s(?:is|are|was|were|'s|has to be|have to be|must be|should be|shall be|ist|sind|heisst|lautet|est|sont|s'appelle|es|son|se llama|esta)(?: now| always| jetzt| nun| immer| maintenant| toujours| ahora| siempre)?(?: called| named| at| on| genannt)?\s/;
/** Done by one person: who is named later has taken it over. */
const HOLDS =
  /^[a-z'-]{2,20} (?:now )?(?:reviews|handles|owns|approves|takes care of|manages|leads|runs|maintains|is responsible for|is in charge of|is (?:now )?(?:the|our|my) \S)/;
const TOPIC = /^([\p{L}][\p{L}\p{N} -]{1,30}): (?=\S)/u;

/** What follows is rejected, up to the end of its clause. */
const REJECTS =
  /(?<![\p{L}\p{N}])(?:instead of|rather than|as opposed to|no longer|not any ?more|not(?! only\b| just\b| sure\b)|never(?! mind\b)|no(?! matter\b| one\b| idea\b)|without|stop(?:ped)?(?: using)?|don't|dont|doesn't|isn't|aren't|won't|mustn't|shouldn't|cannot|can't|avoid|drop(?:ped)?|(?<=\b(?:switched|moved|migrated|changed|went|away)\b.{0,30}\s)from(?! now\b)|nicht(?: mehr)?(?! nur\b)|nie(?:mals)?|keine?[nmrs]?|(?:an)?statt|ohne|pas(?! seulement\b)|jamais|au lieu d[eu]|plutot que|sans|n'\S+ plus|ne \S+ plus|nunca|jamas|en vez de|en lugar de|ya no|sin|nao|nem|sem|senza|не|никогда|нельзя|без|вместо|no)(?![\p{L}\p{N}])|不[要能许准]|别|勿|禁止|ない|ません|やめ|するな/gu;
/** What stands before it is over. */
const IS_OVER =
  /^(.{2,60}?)\s(?:is|are|was|were|has|have|gibt es|ist|sind|n'est|n'existe|existe)\s?(?:been |now |officially )?(?:gone|dead|history|over|out|off|switched off|turned off|shut down|retired|dropped|deprecated|obsolete|left|quit|on leave|on holiday|away|no longer (?:used|valid|there|needed)|nicht mehr|weg|plus|ya)\b/;
const CLAUSE_END = /[,;:.!?()](?=\s|$)|\s[–—-]\s|\s(?:but|sondern|aber|mais|pero|sino|and|und|et|y)\s/gu;

const MOST_KNOWN = 5_000;
const known = createLruMap<string, SentenceClaim>(MOST_KNOWN);

/** Reads a sentence; each once. */
export function readClaim(sentence: string): SentenceClaim {
  const before = known.get(sentence);
  if (before !== undefined) return before;
  const claim = claimOf(sentence);
  known.set(sentence, claim);
  return claim;
}

function claimOf(sentence: string): SentenceClaim {
  const text = sentence
    .slice(0, LONGEST)
    .replaceAll('’', "'")
    .replace(/[\s\u00a0]+/g, ' ')
    .trim();
  const said = withoutFrame(text);
  const folded = foldAccents(said);
  const isGerman = /\b(?:der|die|das|ist|und|wir|nicht|fur|ein|eine|im|immer|ab)\b/.test(folded);
  const tokens = tokensOf(said, isGerman);
  const spans = rejectedSpans(folded);
  const rejected = spans
    .map(([from, to]) => new Set(tokens.filter(({ at }) => at >= from && at < to).map(({ term }) => term)))
    .filter((one) => one.size > 0);
  const isRejected = (at: number): boolean => spans.some(([from, to]) => at >= from && at < to);
  const kept = tokens.filter(({ at }) => !isRejected(at));
  const values = uniqueValues(kept.flatMap(({ value }) => value ?? []));
  const parts = partsOf(folded);
  const termsIn = (from: number, to: number): ReadonlySet<string> =>
    new Set(kept.filter(({ at }) => at >= from && at < to).map(({ term }) => term));
  return {
    print: (foldAccents(text).match(/[\p{L}\p{N}]+/gu) ?? []).join(' '),
    wanted: new Set(kept.map(({ term }) => term)),
    rejected,
    frame: new Set(kept.filter(({ value }) => value === undefined).map(({ term }) => term)),
    values,
    ...(parts === undefined
      ? {}
      : { subject: termsIn(parts.start, parts.to), predicate: termsIn(parts.from, parts.end) }),
    ...(HOLDS.test(folded) && tokens[0] !== undefined ? { holder: tokens[0].term } : {}),
    isDefinite: DEFINITE.test(folded),
    isAdded: ADDS.test(folded),
  };
}

/** Without who speaks, how the sentence opens and what it adds beside the point. */
function withoutFrame(text: string): string {
  const said = text.replace(SPEAKER, '').replace(/\s*\([^()]{0,60}\)/g, '');
  const opener = OPENERS.exec(foldAccents(said))?.[0].length ?? 0;
  const rest = said.slice(opener);
  const aside = ASIDE.exec(foldAccents(rest));
  const open = aside === null ? rest : rest.slice(0, aside.index);
  return open.trim() === '' ? text : open;
}

/** Where the subject ends, and where the predicate begins and ends. */
function partsOf(
  folded: string,
): { readonly start: number; readonly to: number; readonly from: number; readonly end: number } | undefined {
  const topic = TOPIC.exec(folded);
  const copula = COPULA.exec(folded);
  const found = copula ?? topic;
  if (found === null) return undefined;
  // "Brand refresh: primary buttons are blue": the topic is the occasion, and not what the sentence is about.
  const topical = copula !== null && topic !== null && topic[0].length < copula.index ? topic[0].length : 0;
  // "Petra left, the manager is Jonas": the subject begins behind the comma, unless that ends a condition.
  const comma =
    copula === null || /^(?:for|in|at|on|bei|fur|im|pour|chez|dans|para|en) /.test(folded)
      ? -1
      : folded.lastIndexOf(', ', copula.index);
  const start = Math.max(topical, comma + 1);
  const to = copula === null ? (topic?.[1]?.length ?? 0) : copula.index;
  const from = found.index + found[0].length;
  const stop = folded.slice(from).search(/[,;.](?=\s|$)/);
  return { start, to, from, end: stop < 0 ? folded.length : from + stop };
}

function rejectedSpans(folded: string): readonly (readonly [number, number])[] {
  const spans: (readonly [number, number])[] = [];
  const ends = [...folded.matchAll(CLAUSE_END)].map(({ index }) => index);
  for (const match of folded.matchAll(REJECTS)) {
    const from = match.index + match[0].length;
    const end = ends.find((one) => one > from) ?? folded.length;
    const to = match[0] === 'from' ? folded.indexOf(' to ', from) : -1;
    spans.push([from, to > 0 && to < end ? to : end]);
    // "We use npm no longer", "das nutzen wir nicht mehr": the negation stands at the end.
    const isLast = /^(?:\s(?:any ?more|mehr))?\W*$/.test(folded.slice(from, spans.at(-1)?.[1]));
    if (isLast) spans.push([ends.findLast((end) => end < match.index) ?? 0, match.index]);
  }
  for (const clause of clausesOf(folded)) {
    const over = IS_OVER.exec(clause.text) ?? /^(\S+) (?:left|quit|retired)\b/.exec(clause.text);
    if (over !== null) spans.push([clause.at, clause.at + (over[1]?.length ?? 0)]);
  }
  return spans;
}

const clausesOf = (folded: string): readonly { readonly text: string; readonly at: number }[] => {
  const cuts = [0, ...[...folded.matchAll(CLAUSE_END)].map(({ index, 0: { length } }) => index + length)];
  return cuts.map((at, nth) => {
    const raw = folded.slice(at, cuts[nth + 1] ?? folded.length);
    const lead = raw.length - raw.trimStart().length;
    return { text: raw.trim(), at: at + lead };
  });
};

interface ClaimToken {
  readonly term: string;
  readonly at: number;
  readonly value?: ClaimValue;
}

function tokensOf(text: string, isGerman: boolean): readonly ClaimToken[] {
  const found = [...text.matchAll(TOKEN)];
  return found.flatMap(({ 0: raw, index: from }, nth): readonly ClaimToken[] => {
    // Places are those of the folded text: ß is two letters there.
    const index = foldAccents(text.slice(0, from)).length;
    const word = foldAccents(raw).replace(/'s?$|(?<=\p{L})\.$/gu, '');
    const next = foldAccents(found[nth + 1]?.[0] ?? '');
    const number = NUMBER_WORDS.get(word);
    if (number !== undefined && (word !== 'one' || /^\p{L}{3}/u.test(next)))
      return [{ term: number, at: index, value: numberOf(number, next) }];
    if (isStopWord(word) && !/^\p{Lu}{2,}$/u.test(raw)) return [];
    const sort = sortOf(raw, word, nth === 0, isGerman);
    // "A copy, here boards/iris.json": an example.
    if (sort === 'code' && EXAMPLE.test(foldAccents(found[nth - 1]?.[0] ?? ''))) return [];
    // "Tickets begin with XY-": a form of names, which XY-7 keeps to.
    const isForm = /^[-_](?![\p{L}\p{N}])/u.test(text.slice(from + raw.length));
    if (sort === undefined || isForm) return [{ term: termOf(word), at: index }];
    if (
      sort === 'number' &&
      /^(?:at|um|las|a)$/.test(foldAccents(found[nth - 1]?.[0] ?? '')) &&
      /^(?:\d|1\d|2[0-4])$/.test(word)
    )
      return [{ term: word, at: index, value: { text: word, sort: 'time' } }];
    if (sort === 'number') return [{ term: word, at: index, value: numberOf(word, next) }];
    const named = sort.startsWith('choice')
      ? (CHOICE_OF.get(stemInflection(word))?.value ?? word)
      : sort === 'code'
        ? word
        : termOf(word);
    return [{ term: named, at: index, value: { text: named, sort } }];
  });
}

const EXAMPLE = /^(?:here|example|e\.g|instance|hier|z\.b|exemple|ejemplo)$/;

const numberOf = (text: string, next: string): ClaimValue => {
  const unit = stemInflection(next);
  return { text, sort: 'number', ...(unit === '' || isStopWord(next) ? {} : { unit }) };
};

const DAYS =
  /^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|montags?|dienstags?|mittwochs?|donnerstags?|freitags?|samstags?|sonntags?|january|february|march|april|may|june|july|august|september|october|november|december|januar|februar|marz|juni|juli|oktober|dezember|janvier|fevrier|avril|juin|juillet|septembre|octobre|novembre|decembre|enero|febrero|marzo|abril|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miercoles|jueves|viernes|sabado|domingo)$/;

function sortOf(raw: string, word: string, isFirst: boolean, isGerman: boolean): ValueSort | undefined {
  const choice = CHOICE_OF.get(stemInflection(word));
  if (choice !== undefined) return `choice:${choice.list}`;
  if (/^\d{1,2}[:.h]\d{2}$|^\d{1,2}(?:am|pm|h|uhr)$/.test(word)) return 'time';
  if (/^\d+(?:[.,]\d+)*%?$/.test(word)) return 'number';
  if (DAYS.test(word)) return 'day';
  if (/^--?\p{L}|^#|[._/:@+#]|\d|\p{Ll}-\p{Ll}/u.test(word)) return 'code';
  if (/\p{Ll}\p{Lu}|^\p{Lu}{2,}/u.test(raw)) return 'name';
  return !isFirst && !isGerman && /^\p{Lu}\p{Ll}/u.test(raw) ? 'name' : undefined;
}

const uniqueValues = (values: readonly ClaimValue[]): readonly ClaimValue[] => [
  ...new Map(values.map((value) => [`${value.sort} ${value.text}`, value])).values(),
];
