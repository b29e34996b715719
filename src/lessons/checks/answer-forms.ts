import type { CheckTest } from '../../core/check.ts';

/*
 * Forms that rules are about and that a pattern can see. A family is one thing that can be written in several ways (a date); a feature
 * is something that is there or not (an emoji). `named` finds the words of a rule that point at it.
 */

export interface FormStyle {
  /** For people: "a date like 2026-11-18". */
  readonly means: string;
  readonly pattern: string;
  /** Words of a rule that ask for this style by its name. */
  readonly named?: RegExp;
  readonly flags?: string;
}

export interface FormFamily {
  readonly named: RegExp;
  /** People ask for one style in another: "5 miles in km". */
  readonly isConverted?: true;
  /** Any of its styles, where their patterns together are too large for one. */
  readonly any?: FormStyle;
  readonly styles: readonly FormStyle[];
  readonly place?: 'code' | 'prose';
}

const MONTH =
  '(?:Jan(?:uary|uar)?|Feb(?:ruary|ruar)?|Mar(?:ch)?|März|Apr(?:il)?|May|Mai|June?|Juni|July?|Juli|Aug(?:ust)?|Sept?(?:ember)?|O[ck]t(?:ober)?|Nov(?:ember)?|De[cz](?:ember)?)';
const MONTH_IN_SENTENCE =
  '(?:janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)';
const UNIT_END = '(?:[^\\p{L}\\p{N}]|$)';
const AMOUNT = '\\d[\\d.,\\u00a0 ]*';

export const FORM_FAMILIES: readonly FormFamily[] = [
  {
    named:
      /\b(?:dates?|iso|yyyy|datum|daten|fechas?)\b|\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}[./]\d{1,2}[./]\d{4}\b/i,
    any: {
      means: 'date in any form',
      pattern:
        '\\b\\d{4}-\\d{2}-\\d{2}\\b|\\b\\d{1,2}[./]\\s?\\d{1,2}[./]\\d{2,4}\\b|\\b\\d{1,2}(?:st|nd|rd|th|er|\\.)?\\s+(?:of\\s+|de\\s+)?(?:Jan|Feb|Mar|Mär|Apr|Ma[iy]|Jun|Jul|Aug|Sep|O[ck]t|Nov|De[cz]|janv|févr|avr|jui|août|déc|ene|abr|ago|dic)|\\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\\w*\\.?\\s+\\d{1,2}\\b',
    },
    styles: [
      {
        means: 'date like 2026-11-18',
        pattern: '\\b\\d{4}-\\d{2}-\\d{2}\\b',
        named: /\biso\b|yyyy-mm-dd|\b\d{4}-\d{2}-\d{2}\b/i,
      },
      {
        means: 'date like 18.11.2026',
        pattern: '\\b\\d{1,2}\\.\\s?\\d{1,2}\\.\\s?\\d{4}\\b|\\b[0-3]\\d\\.[01]\\d\\.\\d{2}\\b',
        named: /dd\.mm\.|\b\d{1,2}\.\d{1,2}\.\d{2,4}\b/i,
      },
      {
        means: 'date like 11/18/2026',
        pattern: '\\b\\d{1,2}/\\d{1,2}/\\d{2,4}\\b',
        named: /(?:mm\/dd|dd\/mm)\/|\b\d{1,2}\/\d{1,2}\/\d{2,4}\b/i,
      },
      {
        means: 'date like November 18',
        pattern: `\\b${MONTH}\\.?\\s+\\d{1,2}(?:st|nd|rd|th)?\\b`,
        named: new RegExp(`\\b${MONTH}\\.? \\d{1,2}\\b`),
      },
      {
        means: 'date like 18 November',
        pattern: `\\b\\d{1,2}(?:st|nd|rd|th|\\.)?\\s+(?:of\\s+)?${MONTH}\\b`,
        named: new RegExp(`\\b\\d{1,2}\\.? (?:of )?${MONTH}\\b`),
      },
      {
        means: 'date like 18 novembre',
        pattern: `\\b(?:\\d{1,2}|1er)\\s+(?:de\\s+)?${MONTH_IN_SENTENCE}\\b`,
        named: new RegExp(`\\b(?:\\d{1,2}|1er) (?:de )?${MONTH_IN_SENTENCE}\\b`),
      },
    ],
  },
  {
    named:
      /\b(?:24|12)[ -]?(?:h|hours?|hrs?|stunden|heures|horas)\b|\b(?:am ?\/ ?pm|a\.m\.|p\.m\.|uhrzeit(?:en)?|heures?|military time)\b|\btimes? (?:like|as|in)\b/i,
    styles: [
      {
        means: 'time like 3:30 pm',
        pattern: '\\b\\d{1,2}(?:[:.]\\d{2})?\\s?[ap]\\.?m\\b',
        flags: 'i',
        named: /\b12[ -]?h/i,
      },
      {
        means: 'time like 15:30',
        pattern:
          '\\b(?:[01]?\\d|2[0-3])[:h][0-5]\\d(?:[^\\d\\s%]|\\s[^aApP]|$)|\\b\\d{1,2}\\.[0-5]\\d\\s?Uhr\\b',
        named: /\b24[ -]?h|military time/i,
      },
    ],
  },
  {
    isConverted: true,
    named:
      /\b(?:metric|imperial|si units?|kilomet(?:er|re)s?|kilos?|km|kg|celsius|fahrenheit|miles|pounds|feet|inches|metrisch|litres?|liters?)\b/i,
    styles: [
      {
        means: 'imperial unit',
        pattern: `\\b${AMOUNT}\\s?-?(?:miles?|mi|feet|foot|ft|inch(?:es)?|yards?|pounds?|lbs?|ounces?|oz|gallons?|gal|°\\s?F|degrees? F(?:ahrenheit)?|mph|Fahrenheit)${UNIT_END}`,
        named: /\b(?:imperial|fahrenheit|miles|pounds|feet|inches)\b/i,
      },
      {
        means: 'metric unit',
        pattern: `\\b${AMOUNT}\\s?-?(?:km|kilomet(?:er|re)s?|m|met(?:er|re)s?|cm|centimet(?:er|re)s?|mm|kg|kilos?|kilograms?|g|grams?|l|lit(?:er|re)s?|ml|°\\s?C|degrees? C(?:elsius)?|km/h|Celsius)${UNIT_END}`,
        named: /\b(?:metric|si units?|kilomet(?:er|re)s?|kilos?|km|kg|celsius|metrisch|litres?|liters?)\b/i,
      },
    ],
  },
  {
    named: /\b(?:quotes?|quotation marks?|anführungszeichen|guillemets|comillas)\b/i,
    place: 'code',
    styles: [
      {
        means: 'string in double quotes',
        // Three quotes are a block of text.
        pattern: '(?:^|[^"])"[^"\'\\n]+"(?:[^"]|$)',
        named: /\bdouble[- ]quotes?|double quotation/i,
      },
      {
        means: 'string in single quotes',
        pattern: "(?:^|[^'\\w])'[^'\"\\n]+'(?:[^'\\w]|$)",
        named: /\bsingle[- ]quotes?|single quotation/i,
      },
    ],
  },
  {
    named: /\b(?:indent(?:ation|ed|s)?|tabs?|spaces?|einrück\w*)\b/i,
    place: 'code',
    styles: [
      { means: 'line that begins with a tab', pattern: '^\\t+\\S', flags: 'm', named: /\btabs\b/i },
      { means: 'line that begins with spaces', pattern: '^ {2,}[^\\s*]', flags: 'm', named: /\bspaces\b/i },
    ],
  },
  {
    named: /\b(?:british|american|uk|us) (?:english|spelling)|\bspelling\b/i,
    place: 'prose',
    styles: [
      {
        means: 'American spelling',
        pattern:
          '\\b(?:colors?|flavors?|favorites?|behaviors?|honor\\w*|labor|neighbors?|centers?|theaters?|meters|catalogs?|analyz\\w+|organiz\\w+|realiz\\w+|recogniz\\w+|optimiz\\w+|summariz\\w+|customiz\\w+|apologiz\\w+|traveling|canceled|gray|defense|fulfill)\\b',
        flags: 'i',
        named: /\bamerican|\bus (?:english|spelling)/i,
      },
      {
        means: 'British spelling',
        pattern:
          '\\b(?:colours?|flavours?|favourites?|behaviours?|honour\\w*|labour|neighbours?|centres?|theatres?|metres|catalogues?|analys(?:e|ed|es|ing)|organis\\w+|realis(?:e|ed|es|ing|ation)|recognis\\w+|optimis(?:e|ed|es|ing|ation)|summaris\\w+|customis\\w+|apologis\\w+|travelling|cancelled|grey|defence|fulfil)\\b',
        flags: 'i',
        named: /\bbritish|\buk (?:english|spelling)/i,
      },
    ],
  },
];

export interface FormFeature extends FormStyle {
  readonly named: RegExp;
  readonly place?: 'code' | 'fences' | 'prose' | 'last-line' | 'subject';
  readonly looksAt?: 'commands' | 'work';
  /** The feature is a way to get something wrong: what there must be for it to be asked at all. */
  readonly about?: Omit<CheckTest & { readonly is: 'pattern' }, 'is'>;
  /** It is about how the agent speaks, not about texts that it is asked to write for others. */
  readonly isOwnVoice?: true;
  /** A text that has not got it, and one that has. */
  readonly examples?: readonly [keeping: string, breaking: string];
}

export const FORM_FEATURES: readonly FormFeature[] = [
  {
    means: 'emoji',
    examples: ['Done.', 'Done 🎉'],
    named: /\bemojis?\b|\bemoticons?\b|\bsmileys?\b/i,
    pattern:
      '[\\u{1F300}-\\u{1FAFF}\\u{2600}-\\u{26FF}\\u{2705}\\u{2728}\\u{2764}\\u{274C}\\u{2B50}\\u{1F1E6}-\\u{1F1FF}]',
  },
  {
    means: 'exclamation mark',
    examples: ['Done.', 'Done!'],
    named:
      /\bexclamation (?:marks?|points?)\b|\bausrufezeichen\b|\bpoints? d['’]exclamation\b|\bsignos? de exclamación\b/i,
    pattern: '!(?:[^\\[=]|$)',
    place: 'prose',
  },
  {
    means: 'long dash',
    examples: ['Done, at last', 'Done — at last'],
    named:
      /\b(?:em|long|en)[- ]?dash(?:es)?\b|—|\bgedankenstrich\w*\b|\btirets? (?:long|cadratin)s?\b|\brayas?\b/i,
    pattern: '—|\\s–\\s',
    place: 'prose',
  },
  { means: 'semicolon', named: /\bsemicolons?\b|\bstrichpunkt\w*\b/i, pattern: ';', place: 'prose' },
  {
    means: 'semicolon at the end of a line',
    named: /\bsemicolons?\b/i,
    pattern: ';\\s*$',
    flags: 'm',
    place: 'code',
  },
  {
    means: 'table',
    named: /\btables?\b|\btabellen?\b|\btableaux?\b|\btablas?\b/i,
    pattern: '^\\s*\\|.*\\|\\s*$',
    flags: 'm',
  },
  {
    means: 'bullet',
    named: /\bbullet(?:s|ed)?\b|\bbullet[- ]points?\b|\b(?:stichpunkte?|aufzählung(?:en)?|puces|viñetas)\b/i,
    pattern: '^\\s*[-*•+]\\s+\\S',
    flags: 'm',
  },
  {
    means: 'numbered item',
    named: /\bnumbered\b|\bnumber (?:the|your|each) (?:steps|items|points)\b|\bnummerier\w*\b/i,
    pattern: '^\\s*\\d{1,2}[.)]\\s+\\S',
    flags: 'm',
  },
  {
    means: 'heading',
    named: /\bhead(?:ing|er|line)s?\b|\büberschriften?\b/i,
    pattern: '^#{1,6}\\s+\\S',
    flags: 'm',
    place: 'prose',
  },
  {
    means: 'passage in bold',
    named: /\bbold(?:face|ed)?\b|\bfett(?:druck|gedruckt)?\b/i,
    pattern: '\\*\\*[^*\\n]+\\*\\*',
  },
  {
    means: 'mark of markdown',
    named: /\bmarkdown\b|\bplain text\b/i,
    pattern: '^#{1,6}\\s+\\S|\\*\\*[^*\\n]+\\*\\*|^\\s*[-*]\\s+\\S|`[^`\\n]+`',
    flags: 'm',
  },
  { means: 'code block', named: /\bcode[- ]?(?:blocks?|fences?)\b|\bfenced\b/i, pattern: '^```', flags: 'm' },
  { means: 'link', named: /\b(?:links?|urls?)\b/i, pattern: 'https?://\\S+' },
  {
    means: 'question mark at the end',
    named: /\bquestions?\b|\bfrage\b|\bpregunta\b/i,
    pattern: '\\?[\\s*_)”"]*$',
    place: 'last-line',
  },
  {
    means: 'apology',
    isOwnVoice: true,
    named: /\bapolog\w+|\bsorry\b|\bentschuldig\w+|\bexcus\w+/i,
    pattern:
      '\\bsorry\\b|\\bapolog(?:y|ies|i[sz]e|i[sz]ed|i[sz]ing)\\b|\\bEntschuldigung\\b|\\btut mir leid\\b|\\bdésolée?\\b|\\blo siento\\b',
    flags: 'i',
  },
  {
    means: 'contraction',
    named: /\bcontractions?\b/i,
    pattern:
      "\\b(?:[A-Za-z]+n['’]t|(?:I|you|we|they|he|she|it|that|there|who|what|let)['’](?:m|re|ve|ll|s|d))\\b",
    flags: 'i',
    place: 'prose',
  },
  {
    means: 'word in capitals',
    named: /\ball[- ]?caps\b|\bshout(?:ing)?\b/i,
    // One word alone may be an abbreviation.
    pattern: '\\b\\p{Lu}{2,}\\s+\\p{Lu}{3,}\\b',
    place: 'prose',
  },
  { means: 'ellipsis', named: /\bellips[ei]s\b|\bdot dot dot\b/i, pattern: '\\.\\.\\.|…', place: 'prose' },
  { means: 'hashtag', named: /\bhashtags?\b/i, pattern: '(?:^|\\s)#\\p{L}\\w*' },
  { means: 'percent sign', named: /\bpercent sign\b|%/i, pattern: '%', place: 'prose' },
  {
    means: 'parenthesis',
    named: /\bparenthes[ei]s\b|\bbrackets\b|\bklammern\b/i,
    pattern: '\\([^)\\n]+\\)',
    place: 'prose',
  },
  {
    means: 'comment',
    named: /\bcomments?\b/i,
    pattern: '^\\s*(?://|#\\s|/\\*)|\\s//\\s',
    flags: 'm',
    place: 'code',
  },
  {
    means: 'code fence without a language',
    named:
      /\b(?:language|lang)\b.*\b(?:fences?|code[- ]?blocks?)\b|\b(?:fences?|code[- ]?blocks?)\b.*\b(?:language|lang)\b|\bsyntax highlight/i,
    pattern: '^(?:```|~~~)\\s*$',
    flags: 'm',
    place: 'fences',
    about: { pattern: '^(?:```|~~~)', flags: 'm', in: 'fences', means: 'a code block' },
    examples: ['```ts\nlet a;\n```', '```\nlet a;\n```'],
  },
  {
    means: 'subject that is not in the imperative',
    named: /\bimperative\b/i,
    pattern:
      '^(?:[\\w()/.!-]+:\\s+)?(?:\\p{L}{2,}[^e\\W]ed|\\p{L}{3,}ing|(?:using|made|wrote|built|(?:add|allow|bump|change|clean|convert|correct|create|delete|disable|drop|enable|ensure|handle|implement|improve|introduce|make|merge|move|prevent|refactor|remove|rename|replace|revert|show|support|update|use|write)s|fixes))\\b',
    flags: 'i',
    place: 'subject',
    about: { pattern: '\\p{L}', in: 'subject', means: 'a letter' },
    examples: ['git commit -m "Fix it"', 'git commit -m "Fixed it"'],
    looksAt: 'commands',
  },
  {
    means: 'full stop at the end',
    named: /\b(?:periods?|full stops?|trailing dots?|punkt)\b/i,
    pattern: '\\.\\s*$',
    place: 'subject',
    about: { pattern: '\\p{L}', in: 'subject', means: 'a letter' },
    examples: ['git commit -m "Fix it"', 'git commit -m "Fix it."'],
    looksAt: 'commands',
  },
  {
    means: 'Python function without type hints',
    named: /\btype[- ]?(?:hints?|annotations?)\b|\btyped\b/i,
    // Without a type of the result, of a first parameter other than self and cls, or of a later one.
    pattern:
      '^\\s*(?:async )?def \\w+\\([^)]*\\)\\s*:|^\\s*(?:async )?def \\w+\\((?:[abd-rt-z]\\w*|[cs])\\s*[,=)]|^\\s*(?:async )?def \\w+\\([^)]*,\\s*[a-z]\\w*\\s*[,=)]',
    examples: [
      '```python\ndef add(a: int) -> int:\n    return a\n```',
      '```python\ndef add(a):\n    return a\n```',
    ],
    flags: 'm',
    place: 'code',
    about: { pattern: '^\\s*(?:async )?def \\w+\\(', flags: 'm', in: 'code', means: 'a Python function' },
  },
  {
    means: 'SQL keyword in small letters',
    examples: ['```sql\nSELECT a FROM b;\n```', '```sql\nselect a from b;\n```'],
    named: /\bsql\b.*\b(?:capitals?|upper[- ]?case|caps)\b|\b(?:capitals?|upper[- ]?case|caps)\b.*\bsql\b/i,
    pattern:
      '\\b(?:select|from|where|insert into|update|delete from|left join|inner join|join|group by|order by|having)\\b\\s',
    place: 'code',
    about: {
      pattern: '\\b(?:select\\b[^;]*\\bfrom|insert\\s+into|delete\\s+from|create\\s+table)\\b',
      flags: 'is',
      in: 'code',
      means: 'SQL',
    },
  },
];
