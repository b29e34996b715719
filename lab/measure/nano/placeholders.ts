import { createRandom, type Random } from '../../../src/base/random.ts';
import type { NanoTokenizer } from '../../../train/nano/policy/tokenizer.ts';
import { pick } from '../../suites/workdays/draw.ts';
import { FAMILY_NAMES, GIVEN_NAMES, PROJECTS, TAGS } from '../../suites/workdays/make-world/pools.ts';
import { createValueDraw } from '../../suites/workdays/rules/split-values.ts';

/*
 * Names and amounts of a training sample are placeholders, and pre-training fills in others each time it shows the sample: names cannot be
 * memorised, only copied.
 */

/** Placeholder tokens of words and of figures; the same token is the same word within a sample. */
export const FIRST_WORD_PLACEHOLDER = 60_000;
export const FIRST_FIGURE_PLACEHOLDER = 61_000;
const OPEN_WORDS = 128;
const OPEN_FIGURES = 8;
const POOL_WORDS = 40_000;
const POOL_FIGURES = 4_000;

const stubWord = (at: number): string => `qzx${letter(at >> 3)}${letter(at & 7)}jq`;
const letter = (at: number): string => String.fromCharCode(97 + at);
const stubFigure = (at: number): string => `9090909${at}`;
const AMOUNT = /\b(?:cost|effort|ticket|seats|share)(?: to)? (\d+)\b/g;

/** A word of one spelling, as the tokenizer separates them. */
const SPELT = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g;

interface Placeholders {
  /** These figures stay: they are also written in another way, with zeros in front. */
  keep(figures: Iterable<string>): void;
  /** From here on these words are open too; in lower case. */
  add(words: Iterable<string>): void;
  open(text: string): string;
  nextWord(): string;
}

/** Replaces names and amounts in the texts of one sample by stubs, the same stub for the same value. The first text must be the task. */
export function createPlaceholders(): Placeholders {
  const words = new Map<string, string>();
  const opened = new Set<string>();
  const kept = new Set<string>();
  let figures: Map<string, string> | undefined;
  let used = 0;
  const nextWord = (): string => stubWord(used++ % OPEN_WORDS);
  return {
    nextWord,
    keep: (some) => {
      for (const figure of some) kept.add(figure);
    },
    add: (more) => {
      for (const word of more) opened.add(word);
    },
    open: (text) => {
      figures ??= amountsOf(text, kept);
      return text
        .replace(SPELT, (word) => {
          const name = word.toLowerCase();
          if (!NAMES.has(name) && !opened.has(name)) return word;
          const stub = words.get(name) ?? nextWord();
          words.set(name, stub);
          if (word === name) return stub;
          return word.length > 1 && word === word.toUpperCase()
            ? stub.toUpperCase()
            : stub.charAt(0).toUpperCase() + stub.slice(1);
        })
        .replace(/\d+/g, (figure) => figures?.get(figure) ?? figure);
    },
  };
}

/** Words that a reply has from what was told and from nowhere else: not from the task, and not from the work without rules. */
export function copiedWords(
  replies: readonly string[],
  told: readonly string[],
  known: readonly string[],
): ReadonlySet<string> {
  const wordsIn = (texts: readonly string[]): Set<string> =>
    new Set(texts.flatMap((text) => (text.match(SPELT) ?? []).map((word) => word.toLowerCase())));
  const [common, said] = [wordsIn(known), wordsIn(told)];
  return new Set(
    [...wordsIn(replies)].filter(
      (word) => word.length > 1 && said.has(word) && !common.has(word) && !FIXED.has(word),
    ),
  );
}

/** Words with a meaning of their own in a reply. */
const FIXED: ReadonlySet<string> = new Set(
  `write append cp set done sha sum json jsonl true false null am pm eur usd gbp hours days jan feb mar apr may jun jul aug sep sept oct nov dec
  january february march april june july august september october november december mon tue wed thu fri sat sun monday tuesday wednesday
  thursday friday saturday sunday yyyy mm dd hh ss`.split(/\s+/),
);

/** Figures that occur only as amounts: one that is also a day or an hour is kept. */
function amountsOf(task: string, kept: ReadonlySet<string>): Map<string, string> {
  const all = task.match(/\d+/g) ?? [];
  const amounts = [...task.matchAll(AMOUNT)].map(([, figure = '']) => figure);
  const count = (list: readonly string[], figure: string) => list.filter((one) => one === figure).length;
  const own = [...new Set(amounts)].filter(
    (figure) => !kept.has(figure) && count(all, figure) === count(amounts, figure),
  );
  return new Map(own.slice(0, OPEN_FIGURES).map((figure, at) => [figure, stubFigure(at)]));
}

/** Encodes a text with stubs; each stub becomes its placeholder token. */
export function createPlaceholderEncoder({ encode }: NanoTokenizer): (text: string) => readonly number[] {
  const stubs = [
    ...Array.from(
      { length: OPEN_WORDS },
      (_, at) => [encode(stubWord(at)), FIRST_WORD_PLACEHOLDER + at] as const,
    ),
    ...Array.from(
      { length: OPEN_FIGURES },
      (_, at) => [encode(stubFigure(at)), FIRST_FIGURE_PLACEHOLDER + at] as const,
    ),
  ];
  // All stubs begin alike, and hardly any other word does.
  const [opening] = stubs[0]?.[0] ?? [];
  const [openingFigure] = stubs.at(-1)?.[0] ?? [];
  return (text) => {
    const tokens = encode(text);
    const out: number[] = [];
    for (let at = 0; at < tokens.length; ) {
      const first = tokens[at] ?? 0;
      const stub =
        first === opening || first === openingFigure
          ? stubs.find(([spelling]) => spelling.every((token, place) => tokens[at + place] === token))
          : undefined;
      out.push(stub?.[1] ?? first);
      at += stub?.[0].length ?? 1;
    }
    return out;
  };
}

/**
 * The fillers: words as spelt inside a text, and figures of one to four digits. Every second word is composed of random pieces of the
 * vocabulary: a piece that occurs in no word would not be copied when a name contains it.
 */
export function makeFillers(
  { encode }: NanoTokenizer,
  { starts, insides }: { readonly starts: readonly string[]; readonly insides: readonly string[] },
): Readonly<Record<'words' | 'figures', readonly (readonly number[])[]>> {
  const random = createRandom('placeholders');
  const firsts = starts.filter((piece) => /^[a-z]+$/.test(piece));
  const pieced = (): string => {
    const count = 1 + random.below(3);
    return pick(random, firsts) + Array.from({ length: count }, () => pick(random, insides)).join('');
  };
  const digits = (): number => {
    const luck = random.next();
    return luck < 0.1 ? 1 : luck < 0.4 ? 2 : luck < 0.7 ? 3 : 4;
  };
  return {
    words: Array.from({ length: POOL_WORDS }, (_, at) =>
      encode(allowed(at % 2 === 0 ? () => newWord(random) : pieced, random)),
    ),
    figures: Array.from({ length: POOL_FIGURES }, () => {
      const least = 10 ** (digits() - 1);
      return encode(String(least + random.below(9 * least)));
    }),
  };
}

/** A word that pre-training may see as a value, alone and with the signs that often go with one. */
function allowed(make: () => string, random: Random): string {
  const { made } = createValueDraw(random, 'seen');
  for (;;) {
    const word = made(make);
    const spelt = ['.', '_', '-'].map((sign) => sign + word);
    if (spelt.every((value) => isSeen(value)) && isSeen(`${word.toUpperCase()}-`)) return word;
  }
}

/** Drawing from one value finds none if it is kept back. */
function isSeen(value: string): boolean {
  return SEEN.words([value], 1).length === 1;
}
const SEEN = createValueDraw(createRandom('seen'), 'seen');

/** The names of all worlds, in lower case. */
const NAMES: ReadonlySet<string> = new Set(
  [...GIVEN_NAMES, ...FAMILY_NAMES, ...PROJECTS, ...TAGS].map((name) => name.toLowerCase()),
);
const ONSETS =
  'b c d f g h j k l m n p qu r s t v w x y z br ch cl cr dr fl fr gl gn gr kn ph pl pr sc sh sk sl sn sp st sw th tr wh hy'.split(
    ' ',
  );
const VOWELS = 'a e i o u a e i o ai ea ee ei ie io oo ou y ia uo'.split(' ');
const CODAS = [
  '',
  '',
  '',
  ...'n r l s t m d k x rn st nd lt nt rt rd ck ng ss ll tz ff rl sk lm y h'.split(' '),
];

/** An invented word, as new to a policy as a held-out name. */
export function newWord(random: Random): string {
  const syllables = 1 + random.below(3) + (random.below(3) === 0 ? 0 : 1);
  let word = '';
  for (let at = 0; at < Math.min(syllables, 3); at++)
    word +=
      (at === 0 && random.below(4) === 0 ? '' : (ONSETS[random.below(ONSETS.length)] ?? '')) +
      (VOWELS[random.below(VOWELS.length)] ?? '') +
      (CODAS[random.below(CODAS.length)] ?? '');
  return word.length < 3 ? `${word}na` : word.slice(0, 9);
}

/** Replaces every name of the worlds by an invented word, the same for the same name. */
export function createRenaming(random: Random): (text: string) => string {
  const given = new Map<string, string>();
  return (text) =>
    text.replace(/[A-Za-z]+/g, (word) => {
      const name = word.toLowerCase();
      if (!NAMES.has(name)) return word;
      const other = given.get(name) ?? newWord(random);
      given.set(name, other);
      return word === name ? other : other.charAt(0).toUpperCase() + other.slice(1);
    });
}
