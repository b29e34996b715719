import { charClassOf, DIGIT, LETTER, LOWER, SPACE, UPPER } from './char-class.ts';
import { hasMark } from './scan-context.ts';
import type { NameKind } from './secret-name.ts';
import { meanCamelHump, wordLikeness } from './word-likeness.ts';

/** Only this many characters of a value are examined. */
export const SAMPLE = 128;

/**
 * How a value is connected to its name. `quoted`: `name: "value"`. `bound`: only an assignment between them, as in an env
 * file, a flag or a tag. `env`: the same, with a name in capitals at the start of the line. `line`: the value is the rest of
 * the line. `plain`: in an expression. `loose`: it only follows the name. `listed`: it follows the name as in a list.
 */
export type ValueContext = 'quoted' | 'bound' | 'env' | 'line' | 'plain' | 'loose' | 'listed';

interface Look {
  readonly length: number;
  readonly lower: number;
  readonly upper: number;
  readonly digits: number;
  /** The number of adjacent letter-digit pairs. */
  readonly seams: number;
  readonly symbols: number;
  readonly spaces: number;
}

function lookAt(value: string): Look {
  let lower = 0;
  let upper = 0;
  let digits = 0;
  let seams = 0;
  let spaces = 0;
  let last = 0;
  for (let i = 0; i < value.length; i++) {
    const bits = charClassOf(value.charCodeAt(i));
    if (bits & LOWER) lower++;
    else if (bits & UPPER) upper++;
    else if (bits & SPACE) spaces++;
    else if (bits & DIGIT) digits++;
    if ((bits & DIGIT && last & LETTER) || (bits & LETTER && last & DIGIT)) seams++;
    last = bits;
  }
  const symbols = value.length - lower - upper - digits - spaces;
  return { length: value.length, lower, upper, digits, seams, symbols, spaces };
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const CONSTANT = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;
const NUMERIC = /^[-+\d.,:_/TZ]*$|^0x[\da-f_]{1,16}$/i;

/** At least 20 characters of mixed classes with high entropy that do not look like words. */
export function isRandom(value: string): boolean {
  const sample = value.slice(0, SAMPLE);
  if (sample.length < 20 || NUMERIC.test(sample)) return false;
  const look = lookAt(sample);
  const classes = Number(look.lower > 0) + Number(look.upper > 0) + Number(look.digits > 0);
  if (classes < 2 || look.spaces > 0 || look.symbols * 3 > look.length) return false;
  return entropyBits(sample) >= 2.5 && !isWordy(sample, look.seams);
}

/** Words and names rarely alternate between letters and digits; random strings do. */
function isWordy(sample: string, seams: number): boolean {
  if (seams >= 4) return false;
  const share = wordLikeness(sample);
  if (sample.length < LONG) return share >= 0.6;
  // A long random string also contains some words, but short ones, and not throughout.
  return share >= 0.75 && meanCamelHump(sample) >= 3.2;
}

const LONG = 24;

/** Whether the text after a provider's prefix can be a key: neither a placeholder nor words joined by dashes. */
export function isPlausibleKey(body: string): boolean {
  const sample = body.slice(0, SAMPLE);
  const parts = sample.split(/[-_.]/);
  return !isPlaceholder(sample) && (parts.length < 2 || !parts.every(isWordOrNumber));
}

const isWordOrNumber = (part: string): boolean =>
  part.length <= 2 ||
  /^\d{1,8}$/.test(part) ||
  (wordLikeness(part) >= 0.75 && (part.length <= 16 || (!/\d/.test(part) && meanCamelHump(part) >= 4)));

const NAMES_A_SECRET = /passw|secret|token|credential|(?:api|access|private)[-_ ]?key/i;

/** Algorithms, encodings and measures: words with digits that people write after "the password is". */
const TECHNICAL =
  /^(?:(?:hmac|scram|pbkdf2|rsa|ecdsa)?-?sha-?\d+|md[45]|utf-?\d+|base\d+(?:url)?|oauth\d?|argon2\w*|pbkdf2|bcrypt\w*|scrypt\w*|pkcs-?#?\d+|x\.?509\w*|rsa-?\d+|aes-?\d*|ed25519|x25519|curve25519|ipv[46]|[23]fa|mfa|i18n|l10n|k8s|es\d+|python\d|sqlite\d|win\d+|ntlmv\d|rot13|(?:big)?u?int\d+(?:array|_t)?|float\d+(?:array)?|v\d+|\d+(?:bit|byte|char|character|digit|day|hour|minute|second|month|year|time|attempt|word|letter|symbol)?s?)$/i;
const isTechnical = (word: string): boolean => word === '' || TECHNICAL.test(word) || /^[a-z]+$/i.test(word);

/**
 * A password that a sentence, a log line or a command gives away: letters with digits or signs, neither a name of a variable
 * nor an algorithm. Words without digits are not recognised here: "the password is incorrect".
 */
export function isSpokenPassword(value: string): boolean {
  const sample = value.slice(0, SAMPLE);
  if (sample.length < 8 || isPlaceholder(sample) || isReference(sample) || sample.includes('(')) return false;
  const look = lookAt(sample);
  if (look.spaces > 0 || look.digits === 0 || look.lower + look.upper === 0) return false;
  if (NUMERIC.test(sample) || UUID.test(sample) || CONSTANT.test(sample) || NAMES_A_SECRET.test(sample))
    return false;
  // snake_case, camelCase1, file.names2, paths, times, versions.
  if (sample.includes('_') && sample === sample.toLowerCase()) return false;
  if (/[/\\:]|^[a-z]+(?:[A-Z][a-z]+)+\d?$|\.[a-z]{1,5}$|^\W|^[vV]?\d+\./.test(sample)) return false;
  return !sample.split(/[-+,.]/).every(isTechnical);
}

/** A word in the place of a password, where only a password can be. */
export const isTypedSecret = (password: string): boolean =>
  password.length >= 4 &&
  !/^\d{1,5}$/.test(password) &&
  !password.startsWith('-') &&
  !isPlaceholder(password) &&
  !isReference(password);

/** Whether the value after the name of a secret is one. */
export function isSecretValue(value: string, given: NameKind, setting: ValueContext): boolean {
  const kind = given === 'phrase' && !isPhrase(value.slice(0, SAMPLE)) ? 'password' : given;
  if (value.length < (kind === 'password' ? 6 : 8)) return false;
  const sample = value.slice(0, SAMPLE);
  if (isPlaceholder(sample) || isReference(sample)) return false;
  if (kind === 'spoken') return setting !== 'listed' && isSpokenPassword(sample);
  if (kind === 'phrase' && isPhrase(sample)) return true;
  const isLoose = setting === 'loose' || setting === 'listed';
  if (isLoose && CONSTANT.test(sample)) return false;
  if (isRandom(sample)) return (!isLoose && kind !== 'weak') || !UUID.test(sample);
  if (kind === 'weak') return false;
  const look = lookAt(sample);
  if (look.spaces > 0) return false;
  const letters = look.lower + look.upper;
  if (isLoose)
    return (
      kind === 'password' &&
      look.length >= 8 &&
      (isStrongMix(sample, look) || (setting === 'loose' && isSpokenPassword(sample)))
    );
  const tied = setting === 'quoted' || setting === 'bound' || setting === 'env';
  if (NUMERIC.test(sample)) return kind === 'password' && tied;
  const wordy = isWordy(sample, look.seams);
  const mixed = letters > 0 && look.digits > 0;
  if (kind === 'password') {
    if (wordy && NAMES_A_SECRET.test(sample) && !look.digits) return false;
    return (
      tied ||
      (setting === 'line'
        ? mixed || isStrongMix(sample, look)
        : (mixed && !wordy) || isSpokenPassword(sample))
    );
  }
  if (setting === 'plain') return look.length >= 12 && look.seams > 1 && !wordy;
  return (mixed && !wordy) || (setting === 'env' && letters === look.length && letters >= 12);
}

/** Letters, digits, and a symbol that occurs neither in identifiers nor in file names. */
const isStrongMix = (sample: string, look: Look): boolean =>
  look.lower > 0 && look.digits > 0 && /[^\w\s./:-]/.test(sample);

/** Words in sequence, as wallets and password managers generate them: in lower case, or with a number at the end. */
const isPhrase = (sample: string): boolean =>
  /^[a-z]{3,12}(?:[ -][a-z]{3,12}){3,23}$/.test(sample) ||
  /^[A-Za-z]{3,12}(?:-[A-Za-z]{3,12}){1,8}-\d{1,6}$/.test(sample);

const SPOKEN_PHRASE =
  /^[A-Za-z]{3,12}(?:[ -][A-Za-z]{3,12}){3,23}(?=[ \t]*(?:$|[\r\n"'`\\])|[.,;!](?:\s|$|["'`\\]))/;
const FUNCTION_WORD =
  /^(?:the|for|and|but|are|was|has|had|not|with|your|from|this|that|when|must|should|will|can|you|its|all|any|into|then|than|each|only|before|after)$/i;
/** The lengths of the phrases that wallets generate. */
const WALLET_LENGTHS = new Set([12, 15, 18, 21, 24]);

/**
 * The length of the phrase that a text begins with, up to the end of the line or sentence; 0 for a sentence about phrases.
 * After a verb ("the passphrase is …") a sentence is more likely, so that only a wallet's number of words counts.
 */
export function spokenPhraseLength(text: string, tells: boolean): number {
  const phrase = SPOKEN_PHRASE.exec(text)?.[0] ?? '';
  const words = phrase.split(/[ -]/);
  if (phrase === '' || NAMES_A_SECRET.test(phrase) || isPlaceholder(phrase)) return 0;
  if (tells && !WALLET_LENGTHS.has(words.length)) return 0;
  return words.filter((word) => FUNCTION_WORD.test(word)).length * 5 >= words.length ? 0 : phrase.length;
}

const counts = new Uint16Array(128);

/** The Shannon entropy of a short text, in bits per character; all non-ASCII characters count as one. */
function entropyBits(text: string): number {
  counts.fill(0);
  for (let i = 0; i < text.length; i++) {
    const code = Math.min(127, text.charCodeAt(i));
    counts[code] = (counts[code] ?? 0) + 1;
  }
  let bits = 0;
  for (const count of counts) {
    if (count > 0) bits -= (count / text.length) * Math.log2(count / text.length);
  }
  return bits;
}

/** Words in the place of a secret that are not secrets. */
const STAND_INS = new Set(
  (
    'string str text number integer int bool boolean object array null none nil undefined unknown any true false yes ' +
    'no on off required optional missing invalid incorrect empty default hidden masked removed secure enabled ' +
    'disabled password passwd passphrase pass pwd secret secrets token tokens apikey api_key api-key key keys value ' +
    'username user bearer basic cookie credential credentials authorization placeholder redacted confirm forgot ' +
    'inherit auto unset n/a tbd test testing foobar random generated encrypted plaintext basestring secretstr optionalstr'
  ).split(' '),
);
/** Words that mark a placeholder anywhere; below, words that do so only between separators. */
const ANYWHERE =
  'example placeholder changeme replaceme redacted sanitized yourapi yourkey yourtoken yoursecret yourpassword'.split(
    ' ',
  );
const APART = 'your fake sample dummy replace insert change here'.split(' ');
/** In one case throughout: a random key mixes cases. */
const FILLED = /x{5}|X{5}|#{5}|\*{3}|\.{3}|…|•{2}/;
const OUTER_PUNCTUATION = /^[\s"'`*_:;,.!?()]{0,8}|[\s"'`*_:;,.!?()]{0,8}$/g;

/** A placeholder such as `<your key>`, `***`, `changeme` or `string`, or an existing mark. */
export function isPlaceholder(value: string): boolean {
  const lower = value.toLowerCase();
  if (ANYWHERE.some((word) => isSaid(value, lower, word))) return true;
  if (APART.some((word) => isSaid(value, lower, word) && isApart(lower, word))) return true;
  if (FILLED.test(value) || hasMark(value)) return true;
  if (STAND_INS.has(lower.replace(OUTER_PUNCTUATION, ''))) return true;
  return longestRepeat(value) * 2 >= value.length;
}

/** These words occur in random keys too, but not in one case throughout. */
function isSaid(value: string, lower: string, word: string): boolean {
  const start = lower.indexOf(word);
  if (start < 0) return false;
  const said = value.slice(start, start + word.length);
  return said === word.toUpperCase() || said.slice(1) === word.slice(1);
}

function isApart(lower: string, word: string): boolean {
  const start = lower.indexOf(word);
  return '-_ <[({'.includes(lower.charAt(start - 1)) && '-_ >])}'.includes(lower.charAt(start + word.length));
}

function longestRepeat(value: string): number {
  let longest = 0;
  let length = 0;
  for (let i = 0; i < value.length; i++) {
    length = i > 0 && value.charCodeAt(i) === value.charCodeAt(i - 1) ? length + 1 : 1;
    if (length > longest) longest = length;
  }
  return longest;
}

const VARIABLE =
  /^\$[A-Za-z_][A-Za-z0-9_]*(?:\/\$?[\w.-]*)*$|^%[A-Za-z_][A-Za-z0-9_]*%$|^%[-0-9.]{0,5}[a-z]$/;
const TEMPLATE = /\$\{|\{\{|<%|#\{|\$\(|%\(|^\{.*\}$|^<.*>$|^\[.*\]$|^[[\]<>({})},;]/;
const CALL = /^[A-Za-z_$][\w$.:?>[\]-]{0,99}\(/;
const ADDRESS =
  /^(?:[a-z][a-z0-9+.-]{1,20}:\/\/|data:|arn:|urn:|file:|env:|vault:|op:|ssm:|sha\d{1,3}[:-]|md5[:-]|@)/i;
/** Rules for a form's field: `required|confirmed|min:8`. */
const RULES = /^[a-z_]{3,30}(?::[\w,]{1,30})?(?:\|[a-z_]{3,30}(?::[\w,]{1,30})?)+$/;
const MEMBER = /^[A-Za-z_$][\w$]{0,99}(?:(?:\?\.|\.|->|::)[A-Za-z_$][\w$]{0,99})+[!?]?$/;
const ELEMENT = /^[A-Za-z_$][\w$.]{0,99}\[/;
const PATH = /^(?:~|\.{1,2})?\/|^[A-Za-z]:[\\/]/;

/** A reference to a value instead of the value: a variable, a template, a call, a member, a URL, a path, a hash. */
export function isReference(value: string): boolean {
  if ([VARIABLE, TEMPLATE, CALL, ADDRESS, ELEMENT, RULES].some((pattern) => pattern.test(value))) return true;
  if (MEMBER.test(value)) return !/\d/.test(value) || wordLikeness(value) >= 0.35;
  return PATH.test(value) && !value.endsWith('=') && wordLikeness(value) >= 0.5;
}
