/** Sets of which one is chosen: whoever answers a reply that took one with another name corrects it. */
const CHOICES: readonly (readonly string[])[] = [
  'npm pnpm yarn bun',
  'pip uv poetry conda pipenv',
  'tab tabs space spaces',
  'celsius fahrenheit kelvin',
  'metric imperial',
  'jest vitest mocha ava jasmine',
  'pytest unittest nose',
  'snake_case camelcase kebab-case pascalcase',
  'px rem em',
  'axios fetch got ky undici',
  'iso american us european german british',
  'javascript typescript js ts jsx tsx',
  'mysql postgres postgresql sqlite mariadb mongodb',
  'formal informal casual',
  'light dark',
  'http https',
  'merge rebase squash',
  'kg lb lbs pounds',
  'km miles',
  'eur usd gbp euro euros dollars',
  'monday tuesday wednesday thursday friday saturday sunday',
  'montag dienstag mittwoch donnerstag freitag samstag sonntag',
].map((line) => line.split(' '));
const MOST_WORDS = 4;
const POLITE = /\b(?:please|pls|bitte|svp|por favor|no|nope|not?|use|it's|i said|the)\b/g;

/** "pnpm!!" after a reply that used npm; "8081" after one that named another number. */
export const isOtherChoice = (folded: string, about: string): boolean =>
  folded.length < LONGEST_CHOICE &&
  (isOtherNumber(folded, about) || folded.split(', ').some((clause) => isOther(clause, about)));

const LONGEST_CHOICE = 60;

function isOtherNumber(folded: string, about: string): boolean {
  const number = /^(?:no,? |nope,? |it's )?(\d{2,6})[.!]*$/.exec(folded)?.[1];
  return number !== undefined && /\d{2,}/.test(about) && !about.includes(number);
}

function isOther(clause: string, about: string): boolean {
  const bare = clause
    .replace(POLITE, ' ')
    .replace(/[^\p{L}\p{N}_-]+/gu, ' ')
    .trim();
  const words = bare.split(' ');
  if (bare === '' || words.length > MOST_WORDS) return false;
  const named = new Set(about.split(/[^\p{L}\p{N}_-]+/u));
  return CHOICES.some(
    (choice) =>
      words.some((word) => choice.includes(word) && !named.has(word)) &&
      choice.some((other) => named.has(other)),
  );
}

const LONGEST_FACT = 10;
const FACT =
  /^(?:no,? |hm+,? |well,? |but |actually,? )*(?:(?:the|our|my|her|his|their) ([\p{L}\p{N}_ -]{2,40}?) (?:is|are|starts?|ends?) |it(?:'s| is) |that(?:'s| is) |we(?:'re| are) |([\p{L}_-]{3,20}) means )(?:in |on |at |called |named |only |actually )*([\p{L}\p{N}./:_-]{1,40})/u;
const NUMBER_WORD =
  /^(?:\d[\d.,:/-]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday)$/;

/** "The port is 8081": a value for something that the reply had given another value. */
export function isOtherValue(folded: string, about: string): boolean {
  if (folded.split(' ').length > LONGEST_FACT) return false;
  const fact = FACT.exec(folded);
  if (fact === null) return false;
  const value = (fact[3] ?? '').replace(/[.!,:]+$/, '');
  const thing = fact[1] ?? fact[2];
  if (/^(?:her|his|my|their) name is /.test(folded)) return true;
  const isKnown =
    thing === undefined || thing.split(' ').some((word) => word.length > 2 && about.includes(word));
  if (fact[2] !== undefined) return isKnown;
  const isValue = NUMBER_WORD.test(value) || /[/\d]/.test(value);
  return isKnown && isValue && !about.split(/[\s,;()"]+/).includes(value);
}
