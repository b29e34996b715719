import { stemInflection } from '../../../text/stem.ts';

/** Values that exclude each other. Words of one value are joined by `|`. */
const CHOICES: readonly (readonly string[])[] = [
  ['tab|tabs|tabulator', 'space|spaces|leerzeichen|espacio|espacios|espace|espaces'],
  ['npm', 'pnpm', 'yarn', 'bun'],
  ['pip', 'poetry', 'uv', 'pipenv', 'conda'],
  ['jest', 'vitest', 'mocha', 'jasmine'],
  ['pytest', 'unittest'],
  ['json', 'yaml', 'toml'],
  ['single', 'double'],
  [
    'english|englisch|ingles|anglais',
    'german|deutsch|aleman|allemand',
    'french|franzosisch|frances|francais',
    'spanish|spanisch|espanol|espagnol',
    'italian|italienisch|italiano|italien',
    'dutch',
    'japanese',
    'portuguese',
  ],
  [
    'upper|uppercase|mayusculas|majuscules|grossbuchstaben',
    'lower|lowercase|minusculas|minuscules|kleinbuchstaben',
  ],
  [
    'euro|euros|eur',
    'dollar|dollars|dolares|usd',
    'pound|pounds|gbp',
    'franc|francs|chf',
    'dkk',
    'sek',
    'nok',
    'yen|jpy',
  ],
  ['brief|briefly|short|concise|terse', 'detail|detailed|long|verbose|elaborate'],
  ['formal|formally|formell', 'informal|informally|casual|casually|informell'],
  ['tutoyer|duzen|tutear', 'vouvoyer|siezen'],
  ['light|hell', 'dark|dunkel'],
  ['metric', 'imperial'],
  ['merge', 'rebase', 'squash'],
  ['camelcase', 'snake_case', 'kebab-case', 'pascalcase'],
  ['ascending|asc', 'descending|desc'],
  ['inch|inches', 'centimetre|centimeter|cm'],
  ['celsius', 'fahrenheit'],
];

export const CHOICE_OF: ReadonlyMap<string, { readonly list: number; readonly value: string }> = new Map(
  CHOICES.flatMap((values, list) =>
    values.flatMap((words) =>
      words
        .split('|')
        .map((word) => [stemInflection(word), { list, value: words.split('|')[0] ?? word }] as const),
    ),
  ),
);

/** Without inflection and double letters: people type both "alphabetically" and "alphabeticaly". */
export const termOf = (word: string): string => stemInflection(word).replace(/(\p{L})\1/gu, '$1');

/** Number words; "one" counts only before a noun. */
export const NUMBER_WORDS: ReadonlyMap<string, string> = new Map(
  [
    'one',
    'two zwei deux dos',
    'three drei trois tres',
    'four vier quatre cuatro',
    'five funf cinq cinco',
    'six sechs seis',
    'seven sieben sept siete',
    'eight acht huit ocho',
    'nine neun neuf nueve',
    'ten zehn dix diez',
    'eleven elf onze once',
    'twelve zwolf douze doce',
  ].flatMap((words, nth) => words.split(' ').map((word) => [word, String(nth + 1)] as const)),
);

/** Function words, idle verbs, and words about time and politeness, in the languages that people type most. Folded. */
const STOP: ReadonlySet<string> = new Set(
  `a an the and or but so if as at by for from in into of off on onto to up with without about after before over under than then
  i me my mine we us our ours you your yours he she it its they them their this that these those here there who which what when where
  is are was were be been being am do does did done has have had will would shall should can could may might must mustn't need needs let lets
  not no nor never ever always allways now again also too either only just very really please pls thanks ok okay yes yeah any anymore more
  use uses used using make makes made get gets got give gives keep keeps put puts set go goes want wants take takes call called named like likes
  run runs open opens close closes start starts end ends begin begins listen listens work works come comes write writes send sends happen stay
  stays sit sits stand stands belong belongs mean means
  all every each some both other another same new old one ones thing things way mr ms mrs dr longer instead rather remember note said
  decided moved changed switched today tomorrow future forward everything everywhere everyone else anything mind
  s t d ll ve re m dont im ive its
  der die das den dem des ein eine einen einem einer und oder aber nicht kein keine keinen nie niemals immer wir ihr ich du sie es man hier
  im auf mit von zu zum zur fur bei statt anstatt ab jetzt sofort nun mehr ist sind wird werden war sein haben hat hatte soll sollen muss
  mussen bitte auch noch schon nur so wie als dass unser unsere mein meine dein gibt heisst heissen lautet verwende verwenden benutze benutzen
  nutze nutzen nimm nehmen mach machen umgestiegen
  le la les l un une des du de d et ou mais ne pas plus jamais toujours nous vous je tu il elle on ils ici dans avec au aux pour sans que qui
  est sont sera etre avoir ai as ont notre nos mon ma mes ton ta tes ce cette ces en sur par maintenant desormais dorenavant partir aussi
  utilise utiliser utilisez utilisons
  el los las uno unos unas y o pero si nunca jamas siempre nosotros yo aqui con del al para por sin se es son ser estar esta estan mi mis tu
  nuestro nuestra ahora ya tambien usa usar usamos usas utiliza utilizar hay vez lugar adelante lo`.split(
    /\s+/,
  ),
);

export const isStopWord = (word: string): boolean =>
  STOP.has(word) || STOP.has(stemInflection(word)) || (word.length < 2 && !/\d/.test(word));
