import { classOf, DIGIT, LETTER, LOWER, SPACE, UPPER } from './char-class.ts';
import { entropyBits } from './entropy.ts';
import { isPlaceholder, isReference } from './placeholder.ts';
import type { NameKind } from './secret-name.ts';
import { meanHump, wordShare } from './word-share.ts';

/** Only this many characters of a value are examined. */
export const SAMPLE = 128;

/**
 * How a value is connected to its name. `quoted`: `name: "value"`. `bound`: only an assignment between them, as in an env
 * file, a flag or a tag. `env`: the same, with a name in capitals at the start of the line. `line`: the value is the rest of
 * the line. `plain`: in an expression. `loose`: it only follows the name.
 */
export type Setting = 'quoted' | 'bound' | 'env' | 'line' | 'plain' | 'loose';

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
    const bits = classOf(value.charCodeAt(i));
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
  const share = wordShare(sample);
  if (sample.length < LONG) return share >= 0.6;
  // A long random string also contains some words, but short ones, and not throughout.
  return share >= 0.75 && meanHump(sample) >= 3.2;
}

const LONG = 24;

/** Whether the text after a provider's prefix can be a key: neither a placeholder nor words joined by dashes. */
export function isCredible(body: string): boolean {
  const sample = body.slice(0, SAMPLE);
  const parts = sample.split(/[-_.]/);
  return !isPlaceholder(sample) && (parts.length < 2 || !parts.every(isWordOrNumber));
}

const isWordOrNumber = (part: string): boolean =>
  part.length <= 2 || /^\d{1,8}$/.test(part) || (part.length <= 16 && wordShare(part) >= 0.75);

const NAMES_A_SECRET = /passw|secret|token|credential|(?:api|access|private)[-_ ]?key/i;

/** Whether the value after the name of a secret is one. */
export function isSecretValue(value: string, kind: NameKind, setting: Setting): boolean {
  if (value.length < (kind === 'password' ? 6 : 8)) return false;
  const sample = value.slice(0, SAMPLE);
  if (isPlaceholder(sample) || isReference(sample)) return false;
  if (kind === 'phrase' && isPhrase(sample)) return true;
  const isLoose = setting === 'loose';
  if (isLoose && CONSTANT.test(sample)) return false;
  if (isRandom(sample)) return (!isLoose && kind !== 'weak') || !UUID.test(sample);
  if (kind === 'weak') return false;
  const look = lookAt(sample);
  if (look.spaces > 0) return false;
  const letters = look.lower + look.upper;
  if (isLoose) return kind === 'password' && look.length >= 8 && isStrongMix(sample, look);
  const tied = setting === 'quoted' || setting === 'bound' || setting === 'env';
  if (NUMERIC.test(sample)) return kind === 'password' && tied;
  const wordy = isWordy(sample, look.seams);
  const mixed = letters > 0 && look.digits > 0;
  if (kind === 'password') {
    if (wordy && NAMES_A_SECRET.test(sample) && !look.digits) return false;
    return tied || (setting === 'line' ? mixed || isStrongMix(sample, look) : mixed && !wordy);
  }
  if (setting === 'plain') return look.length >= 12 && look.seams > 1 && !wordy;
  return (mixed && !wordy) || (setting === 'env' && letters === look.length && letters >= 12);
}

/** Letters, digits, and a symbol that occurs neither in identifiers nor in file names. */
const isStrongMix = (sample: string, look: Look): boolean =>
  look.lower > 0 && look.digits > 0 && /[^\w\s./:-]/.test(sample);

/** Lower-case words in sequence, as wallets and password managers generate them. */
const isPhrase = (sample: string): boolean => /^[a-z]{3,12}(?:[ -][a-z]{3,12}){3,23}$/.test(sample);
