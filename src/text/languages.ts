const SCRIPTS: readonly (readonly [name: string, letters: RegExp])[] = [
  ['cyrillic', /\p{Script=Cyrillic}/gu],
  ['han', /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu],
  ['hangul', /\p{Script=Hangul}/gu],
  ['arabic', /\p{Script=Arabic}/gu],
  ['hebrew', /\p{Script=Hebrew}/gu],
  ['greek', /\p{Script=Greek}/gu],
  ['devanagari', /\p{Script=Devanagari}/gu],
  ['thai', /\p{Script=Thai}/gu],
];
const FEWEST_LETTERS = 8;

/** Function words that a language has, or uses far more often than others. */
const FUNCTION_WORDS: readonly (readonly [name: string, words: ReadonlySet<string>])[] = Object.entries({
  german:
    'der die das und nicht ist sind ein eine einen mit fur auf von zu dem den des im wird werden muss soll immer vor nach bei auch oder als wenn aus uber nur wie kann',
  french:
    'le la les des une et est sont pas dans pour avec sur au aux du que qui doit toujours jamais avant apres vous votre ce cette il ne chaque sans ou',
  spanish:
    'el la los las una y es son no en para con por del que debe siempre nunca antes despues su sus este esta cada sin al lo se',
  portuguese:
    'o os as uma e sao nao em para com por do da dos das que deve sempre nunca antes depois voce seu sua este esta cada sem ao se',
  italian:
    'il lo gli le una e sono non in per con del della dei che deve sempre mai prima dopo tuo suo questo questa ogni senza si di',
  dutch:
    'de het een en niet is zijn met voor op van naar moet altijd nooit bij ook of als wordt worden uit over dit dat',
  polish: 'w z na nie jest sie ze przed zawsze nigdy nalezy musi aby po oraz kazdy przez jako',
  turkish: 've bir bu icin ile her zaman asla once sonra gerekir olarak daha gibi da de mi',
}).map(([name, words]) => [name, new Set(words.split(' '))]);
const ENGLISH = new Set(
  'the a an and or of to in for with is are be on at by from this that it as not must should before after when you your always never do if all any into'.split(
    ' ',
  ),
);
const FEWEST_WORDS = 4;
/** Not the parts of names such as SKIP_IT. */
const WORDS = /(?<![\p{L}\p{N}_=/.-])[\p{L}']+(?![\p{L}\p{N}_=/-])/gu;

/** The languages and scripts other than English in a normalized text, as far as they can be detected, each with a line in it. */
export function detectLanguages(folded: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const lines = folded.split('\n');
  for (const [name, letters] of SCRIPTS)
    if ((folded.match(letters)?.length ?? 0) >= FEWEST_LETTERS)
      found.set(name, lines.find((line) => line.search(letters) >= 0) ?? '');
  for (const line of lines) {
    const words = line.match(WORDS) ?? [];
    if (words.length < FEWEST_WORDS) continue;
    const english = words.filter((word) => ENGLISH.has(word)).length;
    // Two are enough where no word is English: a line of a program rarely has a function word of any language.
    let best = { name: '', count: english === 0 ? 1 : Math.max(2, english) };
    for (const [name, small] of FUNCTION_WORDS) {
      const count = words.filter((word) => small.has(word)).length;
      if (count > best.count) best = { name, count };
    }
    if (best.name !== '' && !found.has(best.name)) found.set(best.name, line);
  }
  return found;
}

const CODES: Readonly<Record<string, string>> = {
  german: 'de',
  french: 'fr',
  spanish: 'es',
  portuguese: 'pt',
  italian: 'it',
  dutch: 'nl',
  polish: 'pl',
  turkish: 'tr',
  cyrillic: 'ru',
  hangul: 'ko',
  arabic: 'ar',
  hebrew: 'he',
  greek: 'el',
  devanagari: 'hi',
  thai: 'th',
};
/** The languages that `languageOf` tells apart, by their ISO 639-1 codes. */
export const LANGUAGE_CODES: ReadonlySet<string> = new Set(['en', 'ja', 'zh', ...Object.values(CODES)]);
/** Of all words: a text in a language has more function words of it than this. */
const FEWEST_FUNCTION_WORDS = 0.12;

/** The ISO 639-1 code of the language that most of a text is in; undefined where that cannot be told, as in a short text. */
export function languageOf(text: string): string | undefined {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  for (const [name, script] of SCRIPTS)
    if ((text.match(script)?.length ?? 0) > Math.max(FEWEST_LETTERS, letters / 2))
      return name === 'han'
        ? /[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)
          ? 'ja'
          : 'zh'
        : CODES[name];
  const folded = text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  const words = folded.match(/[\p{L}']+/gu) ?? [];
  const share = (small: ReadonlySet<string>): number =>
    words.filter((word) => small.has(word)).length / Math.max(FEWEST_WORDS, words.length);
  const shares = FUNCTION_WORDS.map(([name, small]) => ({ code: CODES[name] ?? '', share: share(small) }));
  const [first, second] = [...shares, { code: 'en', share: share(ENGLISH) }].sort(
    (a, b) => b.share - a.share,
  );
  if (first === undefined || words.length < FEWEST_WORDS) return undefined;
  const isClear = first.share >= FEWEST_FUNCTION_WORDS && first.share > 1.5 * (second?.share ?? 0);
  return isClear ? first.code : undefined;
}
