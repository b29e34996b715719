import type { CheckedPart, CheckedWork, CheckTest } from '../../core/check.ts';
import { findLiterals } from '../../text/literals.ts';
import { topicWords } from '../../text/topic-words.ts';
import {
  absent,
  type CheckSketch,
  cameUp,
  either,
  hasCome,
  isIn,
  literalPattern,
  notAskedFor,
  ownVoice,
  type PatternTest,
  partText,
  type RuleMaterial,
  shapePattern,
  sideOf,
} from './rule-material.ts';
import { isDocument } from './run-check.ts';

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
const LONGEST_LITERAL = 80;
const QUOTED =
  /"([^"\n]+)"|`([^`\n]+)`|“([^”\n]+)”|«\s?([^»\n]+?)\s?»|„([^“\n]+)“|(?<![\p{L}\p{N}])'([^'\n]+)'(?![\p{L}\p{N}])/gu;
const AMOUNT = /[€$£]\s?\d[\d.,]*\d|\d[\d.,]*\s?[€$£]/gu;
/** A function by its name in code. */
const CALL = /\b[A-Za-z_][\w.]*\(\)/gu;
/** A line in brackets that is no remark: it has a sign of a format. */
const BRACKETED = /\(([^()\n]{0,40}\S[:=@#<>][^()\n]{1,40})\)/gu;
/** Names that stand for any name. */
const PLACEHOLDER = /\b(?:foo|bar|xyz|something)\b|\.\.\./iu;
const PLACE_WORDS: readonly { readonly in: 'first-line' | 'last-line'; readonly named: RegExp }[] = [
  {
    in: 'last-line',
    named:
      /\b(?:end|ends|ending|finish|finishing|close|closing|sign|signed|sign-off|last line|bottom|am ende|schluss|à la fin|termina|al final)\b/iu,
  },
  {
    in: 'first-line',
    named:
      /\b(?:start|starts|starting|begin|begins|beginning|open|opens|opening|lead|first (?:line|word|thing)|(?:very )?top|en premier|am anfang|beginn\w*|empieza|commence\w*)\b/iu,
  },
];

/** Checks of words that a rule names: one in place of another, one that is forbidden, one that must be there. */
export function draftWords(material: RuleMaterial): readonly CheckSketch[] {
  const phrases = phrasesOf(material);
  const parts: readonly CheckedPart[] =
    material.corrected === undefined ? [provisionalPart(material)] : material.parts;
  return [
    ...spellings(material, phrases),
    ...replacements(material, phrases),
    ...parts.flatMap((part) => placed(material, part, phrases)),
    ...prohibitions(material, phrases),
    ...parts.flatMap((part) => demands(material, part, phrases)),
  ];
}

/** Without an answer to look at, literals are taken for words of replies. */
const provisionalPart = ({ rule }: RuleMaterial): CheckedPart =>
  SOURCE_FILES.test(rule) ? 'files' : 'reply';

const SOURCE_FILES = /\b(?:source|code) files?\b/iu;
const SOURCE_PATH = '\\.(?:c|h|cc|cpp|hpp|cs|go|java|js|jsx|kt|mjs|php|py|rb|rs|scala|sh|swift|ts|tsx|vue)$';

/** "if I read the word X once more": behind these words a quotation is the word itself, and the answers tell that it was wrong. */
const COMPLAINT =
  /\b(?:(?:hear|read|see|hate|can['’]t stand|dislike|lesen|hören|lire|leer) (?:the |das |le |la )?(?:words?|phrases?|terms?|wort|wörter|mots?|palabras?)?|you (?:wrote|said|used|keep (?:saying|writing|using))|overus\w+|tired of|sick of|banned) ?(?:the words? |the phrases? )?["'`“«][^.!?\n]*/iu;

function phrasesOf({ rule, words, corrected }: RuleMaterial): readonly Phrase[] {
  const negated = [...words.forbidden, ...words.contrasts.map(({ unwanted }) => unwanted)];
  const plain = (text: string): string => text.replace(/[.,;:!?](?=\s|$)/g, '');
  const isNegated = (text: string): boolean =>
    negated.some((passage) => plain(passage).includes(plain(text)));
  const complains = corrected === undefined ? [] : quotedIn(COMPLAINT.exec(rule)?.[0] ?? '');
  const literals = [...new Set([...quotedIn(rule), ...findLiterals(rule)])].filter(
    (text) => text.length < LONGEST_LITERAL && !PLACEHOLDER.test(text),
  );
  const phrase = (text: string, isLiteral: boolean): Phrase => ({
    text,
    pattern: text.endsWith('()')
      ? literalPattern(text.slice(0, -2)).replace(/\\b$/, '\\s*\\(')
      : isLiteral && !/^\p{Ll}+$/u.test(text)
        ? literalPattern(text)
        : wordPattern(text),
    flags: 'i',
    isLiteral,
    isNegated: isNegated(text) || (isLiteral && complains.includes(text)),
  });
  const shapes = literals
    .filter(isShape)
    .map(
      (text): Phrase => ({ text, pattern: shapePattern(text), isLiteral: true, isNegated: isNegated(text) }),
    );
  return [
    ...shapes,
    ...literals.filter((text) => !isShape(text)).map((text) => phrase(text, true)),
    ...ordinaryPhrases(rule).map((text) => phrase(text, false)),
  ];
}

/** An example of many: `MSKU1234567`, `12,50 €`. */
const isShape = (text: string): boolean => /\d/.test(text) && /[^\d\s.]/.test(text);

const quotedIn = (rule: string): readonly string[] => [
  ...(rule.match(AMOUNT) ?? []),
  ...(rule.match(CALL) ?? []),
  ...[...rule.matchAll(QUOTED), ...rule.matchAll(BRACKETED)].map((match) =>
    (match.slice(1).find((group) => group !== undefined) ?? '').trim(),
  ),
];

/** Runs of words without a function word at either end, the longer ones first. */
function ordinaryPhrases(rule: string): readonly string[] {
  const words = rule.split(/[\s"“”«»()]+/u).map((word) => word.replace(/^[.,;:!?'’]+|[.,;:!?'’]+$/gu, ''));
  const isContent = (word: string | undefined): boolean => word !== undefined && topicWords(word).length > 0;
  const phrases: string[] = [];
  for (let length = LONGEST_PHRASE; length > 0; length--)
    for (let at = 0; at + length <= words.length; at++)
      if (isContent(words[at]) && isContent(words[at + length - 1]))
        phrases.push(words.slice(at, at + length).join(' '));
  return [...new Set(phrases)].filter((text) => /\p{L}/u.test(text));
}

/** A word with its inflections: "leverage" is also "leveraging", "customers" also "customer". */
function wordPattern(text: string): string {
  if (!/^[a-zA-Z]{4,}$/.test(text)) return literalPattern(text);
  const bare = /(?:ss|us|is)$/i.test(text) ? text : text.replace(/s$/i, '');
  const base = bare.replace(/e$/i, '');
  return `${literalPattern(base).replace(/\\b$/, '')}(?:e|es|s|ed|ing)?\\b`;
}

/** The longest phrases of one side: no part of another one. */
const longest = (phrases: readonly Phrase[]): readonly Phrase[] =>
  phrases.filter(
    (one, index) =>
      !phrases.some(
        (other, at) =>
          at !== index && includesText(other, one) && (other.text.length > one.text.length || at < index),
      ),
  );

const includesText = (long: Phrase, short: Phrase): boolean =>
  long.text.toLowerCase().includes(short.text.toLowerCase());

const quoted = (phrases: readonly Phrase[]): string => phrases.map(({ text }) => `“${text}”`).join(' or ');

const flagsOf = (phrases: readonly Phrase[]): { readonly flags?: 'i' } =>
  phrases.every(({ flags }) => flags === 'i') ? { flags: 'i' } : {};

const anyOf = (phrases: readonly Phrase[]): Omit<CheckTest & { is: 'pattern' }, 'is'> => ({
  pattern: either(phrases.map(({ pattern }) => pattern)),
  ...flagsOf(phrases),
  means: quoted(phrases),
});

/** One phrase in place of another. */
function replacements(material: RuleMaterial, phrases: readonly Phrase[]): readonly CheckSketch[] {
  const hasAnswers = material.corrected !== undefined;
  const isOn = (one: Phrase, side: 'corrected' | 'revised'): boolean =>
    hasAnswers ? sideOf(material, 'work', one) === side : one.isLiteral;
  const named = longest(
    phrases.filter(
      (one) => one.isNegated && (one.isLiteral || isObject(material, one)) && isOn(one, 'corrected'),
    ),
  );
  const wanted = longest(phrases.filter((one) => !one.isNegated && isOn(one, 'revised')));
  if (wanted.length === 0 || named.length === 0) return [];
  const unwanted = withListed(material, phrases, named);
  const overlaps = wanted.some((good) =>
    unwanted.some((bad) => includesText(good, bad) || includesText(bad, good)),
  );
  if (overlaps) return [];
  const place = textPlace(material, unwanted);
  return [
    {
      looksAt: 'work',
      about: [
        { is: 'pattern', ...anyOf([...wanted, ...unwanted]), ...place },
        ...(place.in === 'code' ? codeLanguage(material) : []),
        ...notAskedFor(material, anyOf(unwanted).pattern, quoted(unwanted)),
      ],
      holdsWhen: [absent({ ...anyOf(unwanted), ...place })],
      covers: [...wanted, ...unwanted].map(({ text }) => text),
      ...(hasAnswers ? {} : { keeping: wanted[0]?.text ?? '', breaking: unwanted[0]?.text ?? '' }),
    },
  ];
}

/** What the rule forbids in one breath with it: "delve" and "leverage", "not customers, not clients". */
function withListed(
  material: RuleMaterial,
  phrases: readonly Phrase[],
  named: readonly Phrase[],
): readonly Phrase[] {
  const isQuoted = named.some(({ isLiteral }) => isLiteral);
  const others = phrases.filter(
    (one) =>
      one.isNegated &&
      !named.some((other) => includesText(other, one) || includesText(one, other)) &&
      (isQuoted ? one.isLiteral : !one.isLiteral && isObject(material, one)),
  );
  return [...named, ...others];
}

/** The same letters with other capitals, or with other blanks: "GitHub", "Kestrel Desk". */
function spellings(material: RuleMaterial, phrases: readonly Phrase[]): readonly CheckSketch[] {
  const isProvisional = material.corrected === undefined;
  const names = phrases.filter(
    ({ text, isNegated }) => !isNegated && /\p{Lu}/u.test(text.slice(1)) && /^[\p{L}\p{N} .-]+$/u.test(text),
  );
  return names.flatMap(({ text: name }): readonly CheckSketch[] => {
    const written = partText(material.corrected, 'work').match(new RegExp(literalPattern(name), 'giu')) ?? [];
    const others = spellingsOf(name, [
      ...phrases.filter(({ isNegated }) => isNegated).map(({ text }) => text),
      ...written,
    ]);
    const mentioned = phrases.find(({ text, isNegated }) => isNegated && others.includes(text))?.text;
    const isChanged = sideOf(material, 'work', { pattern: literalPattern(name) }) === 'revised';
    if (isProvisional ? mentioned === undefined : !isChanged || written.length === 0) return [];
    // In an address or a path it is spelled as that wants it.
    const pattern = (spelling: string): string =>
      `(?:^|[^\\w./@-])${literalPattern(spelling).replaceAll('\\b', '')}(?:[^\\w./@-]|[.:](?:\\s|$)|$)`;
    const any = { pattern: either([name, ...others].map(pattern)), flags: 'm' };
    const wrong = { pattern: either(others.map(pattern)), flags: 'm' };
    return [
      {
        looksAt: 'work',
        about: [{ is: 'pattern', ...any, means: `“${name}”, in any spelling` }],
        holdsWhen: [absent({ ...wrong, means: `other spelling than “${name}”` })],
        ...(mentioned === undefined ? {} : { keeping: name, breaking: mentioned }),
      },
    ];
  });
}

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
    name.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2'),
    ...more.filter((text) => plain(text) === plain(name)),
  ];
  return [...new Set(variants)].filter((variant) => variant !== name);
}

const COMMIT = /\bcommits?\b/iu;

/** A phrase on the first or the last line. */
function placed(
  material: RuleMaterial,
  part: CheckedPart,
  phrases: readonly Phrase[],
): readonly CheckSketch[] {
  const { rule } = material;
  // Of commands only the message of a commit has lines.
  if (part === 'commands' && !COMMIT.test(rule)) return [];
  const isWanted = (one: Phrase): boolean =>
    !one.isNegated &&
    !isAlternative(rule, one.text) &&
    hasCome(material, part, one, isQuotedIn(rule, one.text));
  return PLACE_WORDS.filter(({ named }) => named.test(rule)).flatMap((place) =>
    phrases
      .filter(isWanted)
      .slice(0, 3)
      .map(
        (one): CheckSketch => ({
          looksAt: part,
          about: sourceOnly(material, part),
          holdsWhen: [{ is: 'pattern', ...anyOf([one]), in: part === 'commands' ? 'subject' : place.in }],
          isDemand: true,
          ...(one.isLiteral ? { keeping: one.text, breaking: 'something else' } : {}),
        }),
      ),
  );
}

/** "source files": by their name. */
const sourceOnly = ({ rule }: RuleMaterial, part: CheckedPart): readonly CheckTest[] =>
  part === 'files' && SOURCE_FILES.test(rule)
    ? [{ is: 'pattern', pattern: SOURCE_PATH, in: 'path', means: 'the name of a source file' }]
    : [];

function prohibitions(material: RuleMaterial, phrases: readonly Phrase[]): readonly CheckSketch[] {
  const hasAnswers = material.corrected !== undefined;
  const bad = longest(
    phrases.filter(
      (one) => one.isNegated && (hasAnswers ? sideOf(material, 'work', one) === 'corrected' : one.isLiteral),
    ),
  );
  const named = bad.filter((one) => one.isLiteral || isObject(material, one));
  if (named.length === 0) return [];
  const all = withListed(material, phrases, named);
  // "Acme Pay", never "Acme" alone: the short form stands in the long one.
  if (all.some((one) => phrases.some((other) => isNamePart(one, other)))) return [];
  const covers = all.map(({ text }) => text);
  const examples = hasAnswers ? {} : { keeping: 'else '.repeat(20), breaking: all[0]?.text ?? '' };
  const place = forbiddenPlace(material);
  const { pattern, ...like } = anyOf(all);
  const unwanted: PatternTest =
    place === undefined
      ? { ...like, pattern, ...textPlace(material, all) }
      : { ...like, pattern: place === 'first-line' ? `^[^\\p{L}\\p{N}]*(?:${pattern})` : pattern, in: place };
  const isOwn =
    place !== undefined || material.words.isEveryAnswer || /\bcall(?:s|ing)? me\b/iu.test(material.rule);
  return cameUp([unwanted]).map((subject) => ({
    looksAt: place === undefined ? 'work' : 'reply',
    about: [
      subject,
      ...(isOwn ? ownVoice(material) : []),
      ...(unwanted.in === 'code' ? codeLanguage(material) : []),
      ...notAskedFor(material, pattern, quoted(all)),
    ],
    holdsWhen: [absent(unwanted)],
    covers,
    ...examples,
  }));
}

const isNamePart = (short: Phrase, long: Phrase): boolean =>
  !long.isNegated &&
  long.text.length > short.text.length &&
  includesText(long, short) &&
  (long.isLiteral || long.text.split(' ').every((word) => /^\p{Lu}/u.test(word)));

/** "stop opening with X": only there. */
const forbiddenPlace = ({ words }: RuleMaterial): 'first-line' | 'last-line' | undefined =>
  PLACE_WORDS.find(({ named }) => words.forbidden.some((passage) => named.test(passage.replace(QUOTED, ' '))))
    ?.in;

const LANGUAGES_OF_CODE: readonly (readonly [named: RegExp, marks: string])[] = [
  [/\b(?:typescript|ts)\b/iu, 'ts|tsx|mts|cts|typescript'],
  [/\b(?:javascript|js)\b/iu, 'js|jsx|mjs|cjs|javascript'],
  [/\bpython\b/iu, 'py|pyi|python|python3'],
  [/\bsql\b/iu, 'sql|psql|postgres|postgresql|mysql'],
  [/\b(?:bash|shell|sh)\b/iu, 'sh|bash|zsh|shell'],
  [/\bcss\b/iu, 'css|scss|sass|less'],
  [/\bhtml\b/iu, 'html|htm'],
  [/\b(?:golang|go)\b/u, 'go|golang'],
  [/\brust\b/iu, 'rs|rust'],
  [/\bjava\b/iu, 'java'],
  [/\b(?:yaml|yml)\b/iu, 'yml|yaml'],
];

/** "in the typescript": blocks and files of the language that the rule names, where the corrected answer says its language. */
function codeLanguage({ rule, corrected }: RuleMaterial): readonly CheckTest[] {
  const marks = LANGUAGES_OF_CODE.filter(([named]) => named.test(rule)).map(([, one]) => one);
  const pattern = `(?:\`\`\`|~~~|^\\.)\\s*(?:${marks.join('|')})\\b`;
  const signs = [
    corrected?.reply ?? '',
    ...(corrected?.files ?? []).map(({ path }) => path.slice(path.lastIndexOf('.'))),
  ];
  if (marks.length === 0 || !signs.some((sign) => new RegExp(pattern, 'u').test(sign))) return [];
  return [{ is: 'pattern', pattern, in: 'fences', flags: 'm', means: 'the language that the rule names' }];
}

const BEFORE_OBJECT =
  /^(?:(?:please|pls|always|just|only|we|they['’]re|it['’]s|these are|prefer|calls? (?:me|it)|calling (?:me|it)|call|say|saying|use|using|write|writing|the|a|an|any|more|word|term|phrase|with|mit)\s+)+/iu;

const bareObject = (passage: string): string =>
  passage
    .trim()
    .replace(BEFORE_OBJECT, '')
    .replace(/[.,;:]/g, '')
    .trim()
    .toLowerCase();

/** The phrase is all that the negation is about: "no pip", "stop using the word synergy". */
const isObject = ({ words }: RuleMaterial, { text }: Phrase): boolean =>
  [
    ...words.forbidden.filter((passage) => isName(text) || ABOUT_WORDS.test(passage)),
    ...words.contrasts.map(({ unwanted }) => unwanted),
  ].some((passage) => bareObject(passage) === text.toLowerCase());

const isName = (text: string): boolean => /^\p{Lu}/u.test(text);

/** The words of a rule that is about a word, not about a thing. */
const ABOUT_WORDS =
  /^(?:ever |to |me )*(?:say|saying|write|writing|call|calls|calling|spell|spelling|using the|use the|the (?:word|term|phrase)|word|term|phrase|sag|sagen|schreib|schreiben|dis|dire|écris|écrire|digas|decir|escribas)\b/iu;

/** A word of code is looked for in code, and a word of prose in prose: a table may well be called customers. */
function textPlace(
  { corrected }: RuleMaterial,
  phrases: readonly Phrase[],
): { readonly in?: 'code' | 'prose' } {
  if (corrected === undefined) return {};
  const isInPart = (work: CheckedWork): boolean => phrases.some((one) => isIn(work, 'work', one));
  const blocks = /```[\s\S]*?```/g;
  const documents = corrected.files.filter(({ path }) => isDocument(path));
  const text = [corrected.reply, ...documents.map((file) => file.text)].join('\n\n');
  const prose = text.replace(blocks, '');
  const code = (text.match(blocks) ?? []).join('\n');
  const sources = corrected.files.filter(({ path }) => !isDocument(path));
  if (!isInPart({ ...corrected, reply: prose, files: [], commands: [] })) return { in: 'code' };
  return isInPart({ ...corrected, reply: code, files: sources }) ? {} : { in: 'prose' };
}

const ASKS_FOR =
  /\b(?:always|include|add|use|write|say|sign|signed|put|give|mention|call it|need|needs|must|has to|have to|immer|toujours|siempre|mets|pon)\b/iu;
/** A check sees that something is there once, not that it is there every time. */
const EVERY = /\bwith (?:every|each)\b|\b(?:every|each|any) \p{L}+ (?:gets|needs|has|must|should)\b/iu;

/** What must be there, in work that the rule is about. */
function demands(
  material: RuleMaterial,
  part: CheckedPart,
  phrases: readonly Phrase[],
): readonly CheckSketch[] {
  const { rule, corrected, words } = material;
  // Of commands it is one that must have it; which one, its program tells.
  if (EVERY.test(rule) || part === 'commands') return [];
  if (corrected === undefined && (!ASKS_FOR.test(rule) || words.forbidden.length > 0)) return [];
  const wanted = phrases.filter(
    (one) =>
      one.isLiteral &&
      !one.isNegated &&
      !one.text.startsWith('-') &&
      !isAlternative(rule, one.text) &&
      hasCome(material, part, one, isQuotedIn(rule, one.text)),
  );
  return wanted.slice(0, 2).map((one) => ({
    looksAt: part,
    about: sourceOnly(material, part),
    holdsWhen: [{ is: 'pattern', ...anyOf([one]) }],
    isDemand: true,
    keeping: one.text,
    breaking: 'something else',
  }));
}

/** "feat/ or fix/": the other one would do as well. */
const isAlternative = (rule: string, text: string): boolean => {
  const [before = '', after = ''] = rule.split(text);
  return /\b(?:or|oder|ou)\W*$/iu.test(before) || /^\W*(?:or|oder|ou)\b/iu.test(after);
};

const isQuotedIn = (rule: string, text: string): boolean => quotedIn(rule).includes(text);
