import type { CheckedPart, CheckTest } from '../../core/check.ts';
import { findLiterals } from '../../text/literals.ts';
import { topicWords } from '../../text/topic-words.ts';
import {
  absent,
  type CheckSketch,
  either,
  isIn,
  literalPattern,
  type RuleMaterial,
  shapePattern,
  sideOf,
  textOf,
} from './rule-material.ts';

/** A word or phrase of the rule with the pattern that finds it in work. */
interface Phrase {
  readonly text: string;
  readonly pattern: string;
  readonly flags?: 'i';
  /** It stands in quotes or is no ordinary word: it is meant letter by letter. */
  readonly isLiteral: boolean;
  readonly isNegated: boolean;
}

const LONGEST_PHRASE = 4;
const QUOTED = /"([^"\n]+)"|`([^`\n]+)`|“([^”\n]+)”|«\s?([^»\n]+?)\s?»|„([^“\n]+)“/gu;
const PLACE_WORDS: readonly { readonly in: 'first-line' | 'last-line'; readonly named: RegExp }[] = [
  {
    in: 'last-line',
    named:
      /\b(?:end|ends|ending|finish|close|closing|sign|signed|sign-off|last line|bottom|am ende|schluss|à la fin|termina|al final)\b/iu,
  },
  {
    in: 'first-line',
    named:
      /\b(?:start|starts|begin|begins|open|opens|lead|first (?:line|word|thing)|(?:very )?top|en premier|am anfang|beginn\w*|empieza|commence\w*)\b/iu,
  },
];

/** Checks of words that a rule names: one in place of another, one that is forbidden, one that must be there. */
export function draftWords(material: RuleMaterial): readonly CheckSketch[] {
  const phrases = phrasesOf(material);
  const parts = material.corrected === undefined ? [provisionalPart(material)] : material.parts;
  return parts.flatMap((part) => [
    ...replacements(material, part, phrases),
    ...spellings(material, part, phrases),
    ...placed(material, part, phrases),
    ...prohibitions(material, part, phrases),
    ...demands(material, part, phrases),
  ]);
}

/** Without an answer to look at, literals are taken for words of replies. */
const provisionalPart = ({ rule }: RuleMaterial): CheckedPart =>
  /\b(?:source files?|new files?|every file|in the code|functions?)\b/i.test(rule) ? 'files' : 'reply';

function phrasesOf({ rule, words }: RuleMaterial): readonly Phrase[] {
  const negated = [...words.forbidden, ...words.contrasts.map(({ unwanted }) => unwanted)];
  const isNegated = (text: string): boolean => negated.some((passage) => passage.includes(text));
  const literals = [...new Set([...quotedIn(rule), ...findLiterals(rule)])].filter(
    (text) => text.length < 80,
  );
  const phrase = (text: string, isLiteral: boolean): Phrase => ({
    text,
    pattern: isLiteral ? literalPattern(text) : wordPattern(text),
    flags: 'i',
    isLiteral,
    isNegated: isNegated(text),
  });
  const shapes = literals
    .filter((text) => /\d/.test(text) && /[^\d\s]/.test(text))
    .map(
      (text): Phrase => ({ text, pattern: shapePattern(text), isLiteral: true, isNegated: isNegated(text) }),
    );
  return [
    ...shapes,
    ...literals.filter((text) => !/\d/.test(text)).map((text) => phrase(text, true)),
    ...ordinaryPhrases(rule).map((text) => phrase(text, false)),
  ];
}

const quotedIn = (rule: string): readonly string[] =>
  [...rule.matchAll(QUOTED)].map((match) =>
    (match.slice(1).find((group) => group !== undefined) ?? '').trim(),
  );

/** Runs of words without a function word at either end, the longer ones first. */
function ordinaryPhrases(rule: string): readonly string[] {
  const words = rule.split(/[\s"“”«»()]+/u).map((word) => word.replace(/^[.,;:!?'’]+|[.,;:!?'’]+$/gu, ''));
  const isContent = (word: string | undefined): boolean => word !== undefined && topicWords(word).length > 0;
  const phrases: string[] = [];
  for (let length = LONGEST_PHRASE; length > 0; length--)
    for (let at = 0; at + length <= words.length; at++)
      if (isContent(words[at]) && isContent(words[at + length - 1]))
        phrases.push(words.slice(at, at + length).join(' '));
  return [...new Set(phrases)];
}

/** A word in singular and plural. */
const wordPattern = (text: string): string => {
  const bare = /^[a-z]{4,}s$/i.test(text) && !/(?:ss|us|is)$/i.test(text) ? text.slice(0, -1) : text;
  return /[a-z]{3,}$/i.test(bare)
    ? `${literalPattern(bare).replace(/\\b$/, '')}(?:s|es)?\\b`
    : literalPattern(bare);
};

/** The longest phrases of one side: no part of another one. */
const longest = (phrases: readonly Phrase[]): readonly Phrase[] =>
  phrases.filter(
    (one, index) =>
      !phrases.some(
        (other, at) =>
          at !== index &&
          other.text.toLowerCase().includes(one.text.toLowerCase()) &&
          (other.text.length > one.text.length || at < index),
      ),
  );

const quoted = (phrases: readonly Phrase[]): string => phrases.map(({ text }) => `“${text}”`).join(' or ');

const flagsOf = (phrases: readonly Phrase[]): { readonly flags?: 'i' } =>
  phrases.every(({ flags }) => flags === 'i') ? { flags: 'i' } : {};

/** One phrase in place of another. */
function replacements(
  material: RuleMaterial,
  part: CheckedPart,
  phrases: readonly Phrase[],
): readonly CheckSketch[] {
  const hasAnswers = material.corrected !== undefined;
  const unwanted = longest(
    hasAnswers
      ? phrases.filter((one) => sideOf(material, part, one) === 'corrected')
      : phrases.filter(({ isLiteral, isNegated }) => isLiteral && isNegated),
  );
  const wanted = longest(
    hasAnswers
      ? phrases.filter((one) => sideOf(material, part, one) === 'revised' && !one.isNegated)
      : phrases.filter(({ isLiteral, isNegated }) => isLiteral && !isNegated),
  );
  const bad = unwanted.filter(({ isNegated }) => isNegated);
  if (wanted.length === 0 || bad.length === 0) return [];
  const overlaps = wanted.some((good) =>
    bad.some((one) => includesText(good, one) || includesText(one, good)),
  );
  if (overlaps) return [];
  const like = { pattern: either(bad.map(({ pattern }) => pattern)), ...flagsOf(bad) };
  const all = [...wanted, ...bad];
  return [
    {
      looksAt: part,
      about: [
        {
          is: 'pattern',
          pattern: either(all.map(({ pattern }) => pattern)),
          ...flagsOf(all),
          means: quoted(all),
        },
      ],
      holdsWhen: [absent({ ...like, means: quoted(bad) })],
      ...(hasAnswers ? {} : { keeping: wanted[0]?.text ?? '', breaking: bad[0]?.text ?? '' }),
    },
  ];
}

const includesText = (long: Phrase, short: Phrase): boolean =>
  long.text.toLowerCase().includes(short.text.toLowerCase());

/** The same letters with other capitals, or with other blanks: "GitHub", "Kestrel Desk". */
function spellings(
  material: RuleMaterial,
  part: CheckedPart,
  phrases: readonly Phrase[],
): readonly CheckSketch[] {
  const names = phrases.filter(
    ({ text, isNegated }) => !isNegated && /\p{Lu}/u.test(text.slice(1)) && /^[\p{L}\p{N} .-]+$/u.test(text),
  );
  return names.flatMap((name): readonly CheckSketch[] => {
    const others = spellingsOf(name.text, [
      ...phrases.filter(({ isNegated }) => isNegated).map(({ text }) => text),
      ...(textOf(material.corrected, part).match(new RegExp(literalPattern(name.text), 'giu')) ?? []),
    ]);
    const names = phrases.some(({ text, isNegated }) => isNegated && others.includes(text));
    const exact = sideOf(material, part, { pattern: literalPattern(name.text) });
    if (material.corrected === undefined ? !names : exact !== 'revised') return [];
    const pattern = (text: string): string =>
      `(?:^|[^\\w./@-])${escaped(text)}(?:[^\\w./@-]|[.:](?:\\s|$)|$)`;
    return [
      {
        looksAt: part,
        about: [
          {
            is: 'pattern',
            pattern: either([name.text, ...others].map(pattern)),
            flags: 'm',
            means: `“${name.text}”, in any spelling`,
          },
        ],
        holdsWhen: [
          absent({
            pattern: either(others.map(pattern)),
            flags: 'm',
            means: `other spelling than “${name.text}”`,
          }),
        ],
        ...(material.corrected === undefined
          ? {
              keeping: name.text,
              breaking:
                others.find((one) => names && phrases.some(({ text }) => text === one)) ?? others[0] ?? '',
            }
          : {}),
      },
    ];
  });
}

const escaped = (text: string): string => literalPattern(text).replaceAll('\\b', '');

function spellingsOf(name: string, more: readonly string[]): readonly string[] {
  const joined = name.replace(/[ -]/g, '');
  const plain = (text: string): string => text.replace(/[ -]/g, '').toLowerCase();
  const lower = joined.toLowerCase();
  const variants = [
    name.toLowerCase(),
    name.charAt(0).toUpperCase() + name.slice(1).toLowerCase(),
    joined,
    lower,
    lower.charAt(0).toUpperCase() + lower.slice(1),
    ...more.filter((text) => plain(text) === plain(name)),
  ];
  return [...new Set(variants)].filter((variant) => variant !== name);
}

/** A phrase on the first or the last line, or in the subject of a commit. */
function placed(
  material: RuleMaterial,
  part: CheckedPart,
  phrases: readonly Phrase[],
): readonly CheckSketch[] {
  const { rule } = material;
  return PLACE_WORDS.filter(({ named }) => named.test(rule)).flatMap((place) =>
    phrases
      .filter(({ isNegated, isLiteral }) => !isNegated && (isLiteral || material.corrected !== undefined))
      .filter((one) => one.isLiteral || sideOf(material, part, one) === 'revised')
      .slice(0, 3)
      .map((one): CheckSketch => {
        const like = { pattern: one.pattern, ...flagsOf([one]), means: `“${one.text}”` };
        return {
          looksAt: part,
          about: [],
          holdsWhen: [{ is: 'pattern', ...like, in: place.in }],
          isDemand: true,
          ...(one.isLiteral ? { keeping: one.text, breaking: 'something else' } : {}),
        };
      }),
  );
}

function prohibitions(
  material: RuleMaterial,
  part: CheckedPart,
  phrases: readonly Phrase[],
): readonly CheckSketch[] {
  const hasAnswers = material.corrected !== undefined;
  const bad = longest(
    phrases.filter(
      (one) => one.isNegated && (hasAnswers ? sideOf(material, part, one) === 'corrected' : one.isLiteral),
    ),
  );
  // Of words that are no literals only the first after the negation is what it is about.
  const named = bad.filter((one) => one.isLiteral || isObject(material, one));
  if (named.length === 0) return [];
  // All the literals of one list: "delve" and "leverage".
  const listed = phrases.filter((one) => one.isLiteral && one.isNegated && !named.includes(one));
  const all = [...named, ...(named.some(({ isLiteral }) => isLiteral) ? listed : [])];
  const like = { pattern: either(all.map(({ pattern }) => pattern)), ...flagsOf(all), means: quoted(all) };
  const holdsWhen: readonly CheckTest[] = [absent({ ...like, ...codePlace(material, part, all) })];
  return [
    {
      looksAt: part,
      about: [],
      holdsWhen,
      ...(hasAnswers ? {} : { keeping: 'something else', breaking: all[0]?.text ?? '' }),
    },
  ];
}

/** The phrase follows the negation at once: "no pip", "stop saying sorry". */
const isObject = ({ words }: RuleMaterial, { text }: Phrase): boolean =>
  words.forbidden.some((passage) => {
    const at = passage.indexOf(text);
    return at >= 0 && passage.slice(0, at).trim().split(/\s+/).filter(Boolean).length <= 2;
  });

/** A word of code is looked for in code. */
function codePlace(
  { corrected }: RuleMaterial,
  part: CheckedPart,
  phrases: readonly Phrase[],
): { readonly in?: 'code' } {
  if (part !== 'reply' || corrected === undefined) return {};
  const outside = corrected.reply.replace(/```[\s\S]*?```/g, '');
  return phrases.some(({ pattern, flags }) =>
    isIn({ ...corrected, reply: outside }, 'reply', { pattern, flags }),
  )
    ? {}
    : { in: 'code' };
}

/** What must be there, in work that the rule is about. */
function demands(
  material: RuleMaterial,
  part: CheckedPart,
  phrases: readonly Phrase[],
): readonly CheckSketch[] {
  const wanted = phrases.filter(
    (one) =>
      one.isLiteral &&
      !one.isNegated &&
      (material.corrected === undefined || sideOf(material, part, one) === 'revised'),
  );
  return wanted.slice(0, 2).map((one) => ({
    looksAt: part,
    about: [],
    holdsWhen: [{ is: 'pattern', pattern: one.pattern, ...flagsOf([one]), means: `“${one.text}”` }],
    isDemand: true,
    keeping: one.text,
    breaking: 'something else',
  }));
}
