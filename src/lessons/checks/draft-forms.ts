import type { CheckedPart, CheckTest, LengthUnit, TestPlace } from '../../core/check.ts';
import {
  FORM_FAMILIES,
  FORM_FEATURES,
  type FormFamily,
  type FormFeature,
  type FormStyle,
} from './answer-forms.ts';
import {
  absent,
  type CheckSketch,
  cameUp,
  either,
  isIn,
  notAskedFor,
  ownVoice,
  type PatternTest,
  partText,
  type RuleMaterial,
  sideOf,
} from './rule-material.ts';

/** Checks of the form of an answer: dates, emoji, length, language, JSON. */
export function draftForms(material: RuleMaterial): readonly CheckSketch[] {
  const parts: readonly CheckedPart[] = material.corrected === undefined ? ['reply'] : material.parts;
  return [
    ...draftLength(material).map((sketch) => withForbidden(material, sketch)),
    ...draftJson(material),
    ...parts.flatMap((part) => [
      ...FORM_FAMILIES.filter(({ named }) => named.test(material.rule)).flatMap((family) =>
        draftFamily(material, part, family),
      ),
      ...draftFeatures(material, part),
    ]),
    ...draftLanguage(material),
  ];
}

/** One style of a thing that has several. The rule names it, or the two answers show it. */
function draftFamily(
  material: RuleMaterial,
  part: CheckedPart,
  { styles, any, place, isConverted }: FormFamily,
): readonly CheckSketch[] {
  const wanted = wantedStyle(material, part, styles);
  if (wanted === undefined) return [];
  const others = styles.filter((style) => style !== wanted);
  const one = any ?? {
    pattern: either(styles.map(({ pattern }) => pattern)),
    means: `${wanted.means} or another form`,
  };
  const like = ({ pattern, flags, means }: FormStyle): PatternTest => ({
    pattern,
    ...(flags === undefined ? {} : { flags }),
    ...(place === undefined ? {} : { in: place }),
    means,
  });
  const flags = styles
    .map((style) => style.flags ?? '')
    .join('')
    .includes('m')
    ? 'm'
    : styles.some((style) => style.flags === 'i')
      ? 'i'
      : undefined;
  return [
    {
      looksAt: place === undefined ? part : 'work',
      about: [
        { is: 'pattern', ...like({ ...one, ...(flags === undefined ? {} : { flags }) }) },
        ...(isConverted === true
          ? others.flatMap(({ named, means }) =>
              named === undefined ? [] : notAskedFor(material, named.source, means),
            )
          : []),
      ],
      holdsWhen: others.map((style) => absent(like(style))),
      ...(place === undefined ? styleExamples(wanted, others) : {}),
    },
  ];
}

/** "date like 2026-11-18": what it means ends with an example. */
function styleExamples(
  wanted: FormStyle,
  others: readonly FormStyle[],
): { readonly keeping?: string; readonly breaking?: string } {
  const [keeping, breaking] = [wanted, others[0]].map((style) => style?.means.split(' like ')[1]);
  return keeping === undefined || breaking === undefined ? {} : { keeping, breaking };
}

function wantedStyle(
  material: RuleMaterial,
  part: CheckedPart,
  styles: readonly FormStyle[],
): FormStyle | undefined {
  const { corrected, revised, rule, words } = material;
  const named = styles.filter((style) => style.named?.test(rule));
  const [asked] = named.filter((style) => !words.forbidden.some((passage) => style.named?.test(passage)));
  if (corrected === undefined) return asked;
  // What was wrong with the answer is only known from the words.
  if (revised === undefined)
    return styles.some((style) => style !== asked && isIn(corrected, part, style)) ? asked : undefined;
  const come = styles.filter((style) => sideOf(material, part, style) === 'revised');
  const isGone = styles.some((style) => sideOf(material, part, style) === 'corrected');
  const wanted = come.length === 1 ? come[0] : named.find((style) => come.includes(style));
  return isGone ? wanted : undefined;
}

/** A feature that the rule names, and what the rule and the answers say about it. */
interface NamedFeature {
  readonly feature: FormFeature;
  readonly word: string;
  readonly isForbidden: boolean;
  readonly side: 'corrected' | 'revised' | undefined;
}

function namedFeatures(material: RuleMaterial, part: CheckedPart): readonly NamedFeature[] {
  const { rule, words } = material;
  return FORM_FEATURES.flatMap((feature): readonly NamedFeature[] => {
    const word = feature.named.exec(rule)?.[0];
    if (word === undefined || (feature.place === 'subject' && !COMMIT.test(rule))) return [];
    const passages = words.forbidden.filter((passage) => feature.named.test(passage));
    if (feature.about === undefined && passages.some((passage) => isNarrower(passage, feature))) return [];
    const isForbidden = passages.length > 0;
    const side = feature.place === 'last-line' ? 'revised' : sideOf(material, part, feature);
    return [{ feature, word, isForbidden, side }];
  });
}

const FILLERS = new Set(
  'need have keep always constantly ever a an the any more so such many much these those this your my our all use using used with put add adding write writing send sending give giving make making answer answering reply replying include including insert show in of or and nor no not at be me us it that to de des du les la le un una los las el mehr so bitte please pls end ending start starting'.split(
    ' ',
  ),
);
const NARROWS =
  /^\s*(?:that|which|with|without|longer|than|to|about|from|over|of|where|like|for|per|after|before|between|mit|que|qui|at (?!all))\b/iu;

/** Any other word would make it a part of something: "no all caps headlines". */
const AFTER_FEATURE =
  /^(?:\W*$|\W*[^\p{L}\s]|\s*(?:please|pls|here|anymore|any more|ever|either|again|at all|or|and|nor|thanks|thx|in|ok|okay|bitte|mehr|when|as|because|since|anywhere|whatsoever|dans|en)\b)/iu;

/** "no banner comments", "no tables with more than three columns": not all of them are meant. */
function isNarrower(passage: string, { named }: FormFeature): boolean {
  const match = named.exec(passage);
  if (match === null) return false;
  const others = FORM_FEATURES.map((feature) => feature.named.exec(passage)?.[0] ?? '');
  const before = others
    .filter((word) => word !== '')
    .reduce((text, word) => text.replace(word, ' '), passage.slice(0, match.index))
    .toLowerCase();
  const after = passage.slice(match.index + match[0].length);
  return (
    before.split(/[^\p{L}'’-]+/u).some((word) => word !== '' && !FILLERS.has(word)) ||
    NARROWS.test(after) ||
    !AFTER_FEATURE.test(after)
  );
}

/** Things that are to be there, or not to be there. With two answers these tell which, else the words do. */
function draftFeatures(material: RuleMaterial, part: CheckedPart): readonly CheckSketch[] {
  const named = namedFeatures(material, part);
  const { corrected, revised } = material;
  // The test on the two answers tells whether a wrong form is there.
  const wrong = named.filter(({ feature }) => feature.about !== undefined);
  const plain = named.filter(({ feature }) => feature.about === undefined);
  const unwanted = plain.filter(({ feature, isForbidden, side }) =>
    corrected === undefined
      ? isForbidden
      : side === 'corrected' || (isForbidden && !isIn(revised, part, feature)),
  );
  const shown = unwanted.filter(({ side }) => corrected === undefined || side === 'corrected');
  // One word may name two features: of semicolons in prose and in code the answers show which.
  const listed = unwanted.filter((one) => !shown.some((other) => other.word === one.word));
  const demanded = plain.filter(({ isForbidden, side }) => side === 'revised' && !isForbidden);
  return [
    ...wrong.flatMap((one) => forbid(material, [one])),
    ...(shown.length > 0 ? forbid(material, [...shown, ...listed]) : []),
    ...demanded.map(
      ({ feature }): CheckSketch => ({
        looksAt: part,
        about: [],
        holdsWhen: [{ is: 'pattern', ...testOf(feature) }],
        isDemand: true,
      }),
    ),
  ];
}

const testOf = ({ pattern, flags, place, means }: FormFeature): PatternTest => ({
  pattern,
  ...(flags === undefined ? {} : { flags }),
  ...(place === undefined ? {} : { in: place }),
  means,
});

/** All that the rule forbids is one check. */
function forbid(material: RuleMaterial, named: readonly NamedFeature[]): readonly CheckSketch[] {
  const [first] = named.map(({ feature }) => feature);
  const { about, examples, looksAt = 'work' } = first ?? {};
  const unwanted = named.map(({ feature }) => testOf(feature));
  const own = named.some(({ feature }) => feature.isOwnVoice === true) ? ownVoice(material) : [];
  const asked =
    about === undefined
      ? notAskedFor(
          material,
          either(named.map(({ feature }) => feature.named.source)),
          named.map(({ word }) => `“${word}”`).join(' or '),
        )
      : [];
  const subjects: readonly CheckTest[] =
    about === undefined ? cameUp(unwanted) : [{ is: 'pattern', ...about }];
  return subjects.map((subject) => ({
    looksAt,
    about: [subject, ...own, ...asked],
    holdsWhen: unwanted.map(absent),
    covers: named.map(({ word }) => word),
    ...(examples === undefined ? {} : { keeping: examples[0], breaking: examples[1] }),
  }));
}

const COMMIT = /\bcommits?\b|\bsubject/i;
const NUMBER_WORDS: Readonly<Record<string, number>> = {
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  ein: 1,
  einen: 1,
  zwei: 2,
  drei: 3,
  vier: 4,
  fünf: 5,
  deux: 2,
  trois: 3,
  quatre: 4,
  cinq: 5,
  dos: 2,
  tres: 3,
  cuatro: 4,
  cinco: 5,
};
const UNITS: readonly (readonly [unit: LengthUnit, named: string])[] = [
  ['words', 'words?|wörter|worte|mots|palabras'],
  ['sentences', 'sentences?|sätze|satz|phrases|frases'],
  ['lines', 'lines?|zeilen|lignes|líneas'],
  ['paragraphs', 'paragraphs?|absätze|paragraphes|párrafos'],
  ['bullets', 'bullets?(?: points?)?|points|items|stichpunkte|puces|viñetas'],
  ['characters', 'characters?|chars?|zeichen|caractères|caracteres'],
];
const AT_MOST =
  'at most|max(?:imum)?(?: of)?|no (?:more|longer) than|not longer than|shorter than|not more than|never more than|up to|under|below|fewer than|less than|within|limit(?:ed)?(?: to)?|keep (?:it|them|\\w+)(?: \\w+){0,3} (?:to|under|below|within)|höchstens|maximal|au plus|maximum|máximo|como máximo';
/** What a limit does not hold for cannot be told from an answer. */
/** A text inside an answer: what surrounds it is not limited. */
const PIECE =
  /\b(?:titles?|headlines?|headings?|names?|captions?|slogans?|taglines?|sms|tweets?|bios?|labels?|buttons?|functions?|methods?|class(?:es)?|files?|columns?|variables?|summar(?:y|ies)|abstracts?|paragraphs? of|each|every (?!answer|reply|response|message))\b/iu;
const EXCEPTION = /\b(?:except|unless|but not|can be|may be|as long as|außer|sauf|excepto|salvo)\b/iu;

/** "at most three sentences", "max five bullets", "under 50 characters". */
function draftLength({ rule, parts, corrected }: RuleMaterial): readonly CheckSketch[] {
  if (EXCEPTION.test(rule) || (PIECE.test(rule) && !COMMIT.test(rule))) return [];
  return UNITS.flatMap(([unit, named]): readonly CheckSketch[] => {
    const number = `(\\d{1,4}|${Object.keys(NUMBER_WORDS).join('|')})`;
    const limit = new RegExp(`\\b(${AT_MOST})\\s+${number}[ -](?:short |brief )?(?:${named})\\b`, 'iu').exec(
      rule,
    );
    const limitAfter = new RegExp(
      `\\b${number}[ -](?:short |brief )?(?:${named})\\s*,?\\s*(?:max(?:imum)?|tops|at (?:the )?most|or (?:less|fewer)|no more|höchstens|maximal)\\b`,
      'iu',
    ).exec(rule);
    const exact = new RegExp(
      `\\b(?:exactly|in|genau)\\s+${number}[ -](?:short |brief )?(?:${named})\\b`,
      'iu',
    ).exec(rule);
    const digits = limit?.[2] ?? limitAfter?.[1] ?? exact?.[1];
    if (digits === undefined) return [];
    const count = NUMBER_WORDS[digits.toLowerCase()] ?? Number(digits);
    const isBelow = /^(?:under|below|fewer|less|shorter)/i.test(limit?.[1] ?? '');
    const max = isBelow ? count - 1 : count;
    const isCommit = COMMIT.test(rule);
    const place: { readonly in?: TestPlace } = isCommit ? { in: 'subject' } : {};
    const about: readonly CheckTest[] =
      unit === 'bullets'
        ? [{ is: 'pattern', pattern: '^\\s*(?:[-*•+]|\\d{1,2}[.)])\\s+\\S', flags: 'm', means: 'a list' }]
        : [];
    const holds = {
      is: 'length',
      unit,
      max,
      ...((limit ?? limitAfter) === null ? { min: count } : {}),
      ...place,
    } as const;
    const looksAt =
      isCommit && (corrected === undefined || parts.includes('commands')) ? 'commands' : 'reply';
    const isBounded = about.length > 0 || isCommit;
    const covers = [(limit ?? limitAfter ?? exact)?.[0] ?? ''];
    return [
      { looksAt, about, holdsWhen: [holds], covers, ...(isBounded ? {} : { isDemand: true as const }) },
    ];
  });
}

/** "imperative and under 50 characters": what the same rule says about the form of the same text. */
function withForbidden(material: RuleMaterial, sketch: CheckSketch): CheckSketch {
  const part = sketch.looksAt;
  const isSubject = COMMIT.test(material.rule);
  const others = namedFeatures(material, part).filter(
    ({ feature, isForbidden }) =>
      (isSubject && feature.place === 'subject') || (isForbidden && !isIn(material.revised, part, feature)),
  );
  return {
    ...sketch,
    holdsWhen: [
      ...sketch.holdsWhen,
      ...others.map(({ feature }) => absent({ ...testOf(feature), ...(isSubject ? { in: 'subject' } : {}) })),
    ],
    covers: [...(sketch.covers ?? []), ...others.map(({ word }) => word)],
  };
}

/** "JSON only", with the fields that the rule quotes. */
function draftJson(material: RuleMaterial): readonly CheckSketch[] {
  const { rule } = material;
  if (!/\bjson\b/i.test(rule) || EXCEPTION.test(rule)) return [];
  const fields = [
    ...rule.matchAll(
      /["`“](\w+)["`”]\s*(?:field|key|property|Feld|champ|campo)|(?:field|key|property|Feld|champ|campo)s?\s+(?:called\s+|named\s+)?["`“](\w+)["`”]/giu,
    ),
  ];
  const pointers = fields.flatMap((match) => match[1] ?? match[2] ?? []);
  const holdsWhen: readonly CheckTest[] = [
    { is: 'json' },
    ...pointers.map((name): CheckTest => ({ is: 'json', pointer: `/${name}` })),
  ];
  return [{ looksAt: 'reply', about: [], holdsWhen, isDemand: true }];
}

const LANGUAGES: readonly (readonly [code: string, named: RegExp])[] = [
  ['en', /\b(?:in|auf|en|to) (?:plain |simple )?(?:english|englisch|anglais|inglés)\b/iu],
  ['de', /\b(?:in|auf|en|to) (?:german|deutsch|allemand|alemán)\b/iu],
  ['fr', /\b(?:in|auf|en|to) (?:french|französisch|français|francés)(?:\b|$|\s)/iu],
  ['es', /\b(?:in|auf|en|to) (?:spanish|spanisch|espagnol|español)\b/iu],
  ['it', /\b(?:in|auf|en|to) (?:italian|italienisch|italien|italiano)\b/iu],
  ['pt', /\b(?:in|auf|en|to) (?:portuguese|portugiesisch|portugais|portugués)\b/iu],
  ['nl', /\b(?:in|auf|en|to) (?:dutch|niederländisch|néerlandais|neerlandés)\b/iu],
];

const OTHER_LANGUAGE =
  'translat|übersetz|tradu|english|englisch|anglais|inglés|german|deutsch|allemand|alemán|french|französ|français|francés|spanish|spanisch|espagnol|español|italian|portug|dutch';

/** The language that the rule names first. */
function draftLanguage(material: RuleMaterial): readonly CheckSketch[] {
  const [first] = LANGUAGES.flatMap(([code, named]) => {
    const at = named.exec(material.rule)?.index;
    return at === undefined ? [] : [{ code, at }];
  }).sort((a, b) => a.at - b.at);
  if (first === undefined || partText(material.corrected, 'reply') === '') return [];
  // A text for somebody else may be wanted in another language.
  const about: readonly CheckTest[] = [
    {
      is: 'pattern',
      // A list of names or numbers is in no language.
      pattern: '(?:\\p{L}*\\p{Ll}{2}\\p{L}*[^\\p{L}]+){6}',
      in: 'prose',
      means: 'a sentence',
    },
    {
      is: 'pattern',
      pattern: OTHER_LANGUAGE,
      flags: 'i',
      in: 'request',
      max: 0,
      means: 'name of a language',
    },
  ];
  return [
    {
      looksAt: 'reply',
      about,
      holdsWhen: [{ is: 'language', language: first.code, in: 'prose' }],
    },
  ];
}
