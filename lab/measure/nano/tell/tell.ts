import type { Random } from '../../../../src/base/random.ts';
import { fill, gapsIn, pick } from '../../../suites/workdays/draw.ts';
import { expand, type Grammar } from './expand.ts';
import { ASIDES, MOODS } from './moods.ts';
import type { Noun } from './nouns.ts';
import type { Clauses } from './value-clauses.ts';

/** One thing that a rule asks for, with the values of its gaps. */
export interface Demand {
  readonly clauses: Clauses;
  /** `as` is said as it is; a text is a value and may be quoted. */
  readonly words: Readonly<Record<string, string | { readonly as: string }>>;
}

/** A rule as far as words go. */
export interface Meaning {
  readonly demands: readonly Demand[];
  noun?(random: Random): Noun;
  /** How a value comes and how the rule wants it; `plain` only where the one becomes the other. */
  readonly plain?: string;
  readonly example?: string;
  /** The clauses say only a part of it: the example has to be there. */
  readonly mustShow?: boolean;
  /** The example says it all. */
  readonly isShownWhole?: boolean;
}

/** What somebody said, and whether it shows an example: only then may its other words be unreadable. */
export interface ToldRule {
  readonly text: string;
  readonly isShown: boolean;
}

/** Gaps whose values a reader copies; the others are plain words. */
const COPIED = new Set(
  'left right mark sign old separator suffix key value from to line file under time author state example plain shown format folder ending'.split(
    ' ',
  ),
);
const ALWAYS_QUOTED = new Set(['line']);
const ASIDE = 0.25;
const TRIES = 12;

/** The rule in a sentence that hardly anybody has said before. At most about as long as asked for, in characters. */
export function tell(meaning: Meaning, random: Random, longest = 180): ToldRule {
  let shortest: ToldRule | undefined;
  for (let tries = 0; tries < TRIES; tries++) {
    const told = tellOnce(meaning, random, tries < 3);
    if (told === undefined) continue;
    if (told.text.length <= longest) return told;
    if (shortest === undefined || told.text.length < shortest.text.length) shortest = told;
  }
  if (shortest === undefined) throw new Error('no sentence of the grammar fits this rule');
  return shortest;
}

function tellOnce(meaning: Meaning, random: Random, mayStray: boolean): ToldRule | undefined {
  const { plain, mustShow = false, isShownWhole = false } = meaning;
  const example = meaning.example === plain ? undefined : meaning.example;
  const quote = drawQuotes(random);
  const noun = meaning.noun?.(random) ?? { one: 'file', many: 'files' };
  const grammar = { ...MOODS, ...nounGrammar(noun), imp: ['{imp}'], clause: ['{clause}'], np: ['{np}'] };
  const [start, isShown] = drawPlan(random, {
    mustShow,
    isShownWhole,
    hasExample: !!example,
    hasPlain: !!plain,
  });
  const said = (form: keyof Clauses): string =>
    meaning.demands
      .map((demand, at) => sayDemand(demand, form, at === 0 ? noun : undefined, quote, random))
      .join(form === 'np' ? ' and ' : pick(random, [' and ', ' and ', ', then ', ' and also ', ', and ']));
  const sentence = finishQuestion(finishNouns(expand(start, grammar, random), noun));
  const words: Record<string, string> = {};
  for (const gap of gapsIn(sentence)) {
    if (gap === 'imp' || gap === 'np') words[gap] = said(gap);
    else if (gap === 'clause') words[gap] = said('s');
    else if (gap === 'plain' && plain) words[gap] = quote(plain);
    else if (gap === 'example' && example) words[gap] = quote(example);
    else return undefined;
  }
  const text = fill(sentence, words);
  // A value that comes first stays as it is spelt.
  const isFixed = valuesOf(meaning).some((value) => text.startsWith(value));
  return { text: dressed(text, { isFixed, isAsked: sentence.endsWith('?'), mayStray }, random), isShown };
}

const valuesOf = ({ demands, plain = '', example = '' }: Meaning): readonly string[] =>
  [
    plain,
    example,
    ...demands.flatMap(({ words }) =>
      Object.entries(words).flatMap(([name, word]) =>
        typeof word === 'string' && COPIED.has(name) ? [word] : [],
      ),
    ),
  ].filter(Boolean);

interface Possible {
  readonly mustShow: boolean;
  readonly isShownWhole: boolean;
  readonly hasExample: boolean;
  readonly hasPlain: boolean;
}

/** The start of the sentence in the grammar, and whether it shows the example. About half show none. */
function drawPlan(
  random: Random,
  { mustShow, isShownWhole, hasExample, hasPlain }: Possible,
): readonly [string, boolean] {
  const luck = random.next();
  if (!hasExample || (!mustShow && luck < 0.44)) return ['@core', false];
  if (!mustShow && hasPlain && luck < 0.52) return ['@against', false];
  if (luck < 0.62) return ['@core@example', true];
  if (luck < 0.72) return [hasPlain ? '@core@turned' : '@core@example', true];
  if (luck < 0.82 || !isShownWhole) return ['@ledBy', true];
  return [luck < 0.9 || !hasPlain ? '@shown' : '@contrast', true];
}

function sayDemand(
  { clauses, words }: Demand,
  form: keyof Clauses,
  noun: Noun | undefined,
  quote: (value: string, isAlways?: boolean) => string,
  random: Random,
): string {
  const grammar = noun === undefined ? AGAIN : nounGrammar(noun);
  const text = finishNouns(expand(pick(random, clauses[form]), grammar, random), noun ?? IT);
  const filled = Object.fromEntries(
    Object.entries(words).map(([name, value]) => [
      name,
      typeof value === 'object' ? value.as : COPIED.has(name) ? quote(value, ALWAYS_QUOTED.has(name)) : value,
    ]),
  );
  return fill(text, filled);
}

const IT: Noun = { one: 'value', many: 'values' };
/** The noun was named already. */
const AGAIN: Grammar = {
  n: ['it', 'it', 'the {noun}'],
  n1: ['it'],
  s: ['it', 'it', 'the {noun}'],
  p: ['they'],
};

const nounGrammar = ({ one, many }: Noun): Grammar =>
  one === many
    ? {
        n: ['[the|all|our|] {nouns}'],
        n1: ['the {nouns}'],
        s: ['[the|our|] list of {nouns}'],
        p: ['[the|all|our|] {nouns}'],
      }
    : {
        n: ['[the|each|every|any|a] {noun}', '[the|each|every|any|a] {noun}', '[all|our|the|] {nouns}'],
        n1: ['[the|each|every|any|a] {noun}'],
        s: ['[the|each|every|any|a|our] {noun}'],
        p: ['[all|our|the|] {nouns}'],
      };

/** With the nouns in it, one space between words, and the right article. */
const finishNouns = (text: string, { one, many }: Noun): string =>
  text
    .replaceAll('{nouns}', many)
    .replaceAll('{noun}', one)
    .replace(/\s+/g, ' ')
    .replace(/ (?=[.,;:?!](?:\s|$))|(?<=\() /g, '')
    .trim()
    .replace(/\b([Aa]) (?=[aeio])/g, '$1n ');

/** An example behind a question stands inside it, or in a sentence of its own. */
function finishQuestion(text: string): string {
  const [, asked, rest] = /^(.*?)\?(.+)$/.exec(text) ?? [];
  if (asked === undefined || rest === undefined) return text;
  return rest.startsWith('.') ? `${asked}?${rest.slice(1)}` : `${asked}${rest}?`;
}

/** Quotation marks of one speaker: some use none, but nobody leaves a sign bare that could be part of the sentence. */
function drawQuotes(random: Random): (value: string, isAlways?: boolean) => string {
  const sign = pick(random, ['"', '"', '"', '`', "'", '', '', '']);
  const other = pick(random, ['"', '`', '"']);
  return (value, isAlways = false) => {
    if (value.includes('"')) return value;
    const isOpen = value === '' || /^[\s.,;:!?()-]|[\s.,;:!?()-]$/.test(value);
    const used = sign === '' && (isOpen || isAlways) ? other : sign;
    return value.includes(used) && used !== '' ? `"${value}"` : `${used}${value}${used}`;
  };
}

/** With its first letter and its end, and at times with a sentence beside it. */
function dressed(
  text: string,
  { isFixed, isAsked, mayStray }: Readonly<Record<'isFixed' | 'isAsked' | 'mayStray', boolean>>,
  random: Random,
): string {
  const luck = random.next();
  const isCareless = luck < 0.12;
  const end = isAsked ? '' : isCareless && random.next() < 0.6 ? '' : luck > 0.95 ? '!' : '.';
  const whole = `${isCareless || isFixed ? text : text.charAt(0).toUpperCase() + text.slice(1)}${end}`;
  if (!mayStray || end === '' || random.next() >= ASIDE) return whole;
  const side = random.next() < 0.6 ? 'before' : 'after';
  const aside = expand(`@${side}`, ASIDES, random).replace(/ \./g, '.');
  return side === 'before' ? `${aside} ${whole}` : `${whole} ${aside}`;
}
