import {
  ALNUM,
  BASE64,
  BLANK,
  BRACKET,
  BREAK,
  CLOSER,
  classAt,
  DASH,
  DOT,
  isEdge,
  QUOTE,
  runEnd,
  runUntil,
  SPACE,
  TOKEN,
} from './char-class.ts';
import { NONE, type Page, type Rule, type Span } from './page.ts';
import { isPlaceholder, isReference } from './placeholder.ts';
import { isRandom, isSecretValue, SAMPLE } from './secret-value.ts';
import { wordShare } from './word-share.ts';

const LONGEST_PARAMETERS = 1024;
/** Schemes with one word of credentials; below, those with parameters. */
const ONE_WORD = new Set([
  'bearer',
  'basic',
  'token',
  'apikey',
  'api-key',
  'key',
  'jwt',
  'dpop',
  'negotiate',
  'ntlm',
  'bot',
  'genie-key',
]);
const WITH_PARAMETERS = new Set(['digest', 'hawk', 'oauth', 'signature', 'aws4-hmac-sha256', 'hmac']);

/** `Bearer` and a token, anywhere in a text. */
export const findBearer: Rule = ({ text, floor }, start, end) => {
  if (!isEdge(text, start, ALNUM | DASH, floor)) return NONE;
  const at = afterBlanks(text, end);
  return at === end ? NONE : one(credentialWord(text, at, true));
};

/** `Basic` and the base64 of two parts with a colon between them. */
export const findBasic: Rule = ({ text, floor }, start, end) => {
  if (!isEdge(text, start, ALNUM | DASH, floor)) return NONE;
  const at = afterBlanks(text, end);
  const stop = runEnd(text, at, BASE64, at + SAMPLE * 4);
  const isWhole = (classAt(text, stop) & (TOKEN | DOT)) === 0;
  if (at === end || stop - at < 8 || stop - at >= SAMPLE * 4 || !isWhole) return NONE;
  const pair = Buffer.from(text.slice(at, stop), 'base64').toString('utf8');
  return /^[\x20-\x21\x23-\x7a|}~]*:[\x20-\x7e]{3,}$/.test(pair) ? [{ start: at, end: stop }] : NONE;
};

/** The credentials in the value of an `Authorization` header that begins at `at`; the scheme stays. */
export function authorizationIn({ text }: Page, at: number): readonly Span[] {
  const schemeEnd = runEnd(text, at, TOKEN, at + 24);
  const scheme = text.slice(at, schemeEnd).toLowerCase();
  const from = afterBlanks(text, schemeEnd);
  if (from === schemeEnd) return one(credentialWord(text, at, true));
  if (ONE_WORD.has(scheme)) return one(credentialWord(text, from, false));
  return WITH_PARAMETERS.has(scheme) ? proofsIn(text, from) : NONE;
}

/** In `Digest username="…", response="…"` and similar: the parameters that prove knowledge of the secret. */
function proofsIn(text: string, from: number): readonly Span[] {
  const line = text.slice(from, runUntil(text, from, BREAK, from + LONGEST_PARAMETERS));
  const spans: Span[] = [];
  for (const match of line.matchAll(
    /\b(?:response|signature|mac|oauth_signature|sig|hash)=[\\]{0,3}["']?/gi,
  )) {
    const start = from + match.index + match[0].length;
    const end = runUntil(text, start, SPACE | QUOTE | BRACKET | CLOSER, start + SAMPLE);
    const value = text.slice(start, end);
    if (value.length >= 8 && !isPlaceholder(value) && !isReference(value)) spans.push({ start, end });
  }
  return spans;
}

/** The pairs of a `Cookie` header that begin at `at`; for `Set-Cookie` the value of its one pair. */
export function cookiesIn(
  { text }: Page,
  at: number,
  quote: string | undefined,
  onlyFirst: boolean,
): readonly Span[] {
  let from = at;
  let first: Span | undefined;
  let isSecret = false;
  for (let pairs = 0; pairs < 8; pairs++) {
    const nameEnd = runEnd(text, from, TOKEN | DOT, from + 64);
    if (nameEnd === from || text.charAt(nameEnd) !== '=') break;
    const stop = runUntil(text, nameEnd + 1, SPACE | QUOTE | BRACKET | CLOSER, nameEnd + 1 + SAMPLE);
    const value = text.slice(nameEnd + 1, stop);
    first ??= { start: nameEnd + 1, end: valueEnd(text, stop) };
    isSecret ||= isRandom(value) || isSecretValue(value, 'password', 'plain');
    if (text.charAt(stop) !== ';' || onlyFirst) break;
    from = afterBlanks(text, stop + 1);
  }
  if (!isSecret || !first) return NONE;
  return [onlyFirst ? first : { start: at, end: lineEnd(text, at, quote) }];
}

const one = (span: Span | undefined): readonly Span[] => (span ? [span] : NONE);

const afterBlanks = (text: string, from: number): number => {
  const at = runEnd(text, from, BLANK, from + 8);
  return text.startsWith('%20', at) ? at + 3 : at;
};

const valueEnd = (text: string, from: number): number =>
  runUntil(text, from, SPACE | QUOTE | BRACKET | CLOSER, text.length);

/** One word of credentials. In prose (`careful`) it must look like a key; after the scheme in a header it need not. */
function credentialWord(text: string, at: number, careful: boolean): Span | undefined {
  const sampleEnd = runUntil(text, at, SPACE | QUOTE | BRACKET | CLOSER, at + SAMPLE);
  const word = text.slice(at, sampleEnd);
  const end = sampleEnd - at < SAMPLE ? trimmedEnd(text, at, sampleEnd) : valueEnd(text, sampleEnd);
  if (word.length < 8 || isPlaceholder(word) || isReference(word)) return undefined;
  const looksMade = isRandom(word) || (/\d/.test(word) && /[a-z]/i.test(word) && wordShare(word) < 0.6);
  if (!looksMade && (careful || wordShare(word) >= 0.6)) return undefined;
  return careful && word.length < 12 ? undefined : { start: at, end };
}

function trimmedEnd(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && '.:!?*'.includes(text.charAt(at - 1))) at--;
  return at;
}

/** The end of the line or of the enclosing string, also if either is escaped. */
function lineEnd(text: string, from: number, quote: string | undefined): number {
  let at = from;
  for (;;) {
    const stop = runUntil(text, at, BREAK | QUOTE | BRACKET, text.length);
    const character = text.charAt(stop);
    const goesOn =
      (character === '\\' && !/[nrt"'`\\]/.test(text.charAt(stop + 1))) ||
      (quote === '"' && /['`<>]/.test(character));
    if (!goesOn || stop >= text.length) return stop;
    at = stop + 1;
  }
}
