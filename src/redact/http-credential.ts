import {
  ALNUM,
  BASE64,
  BLANK,
  BRACKET,
  BREAK,
  CLOSER,
  COLON,
  charClassAt,
  DASH,
  DOT,
  isEdge,
  QUOTE_MARK,
  runEnd,
  runUntil,
  SLASH,
  SPACE,
  TOKEN,
} from './char-class.ts';
import { NO_SPANS, type ScanContext, type SecretRule, type SecretSpan } from './scan-context.ts';
import {
  isPlaceholder,
  isRandom,
  isReference,
  isSecretValue,
  isTypedSecret,
  SAMPLE,
} from './secret-value.ts';
import { wordLikeness } from './word-likeness.ts';

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
export const findBearer: SecretRule = ({ text, floor }, start, end) => {
  if (!isEdge(text, start, ALNUM | DASH, floor)) return NO_SPANS;
  const at = afterBlanks(text, end);
  return at === end ? NO_SPANS : one(credentialWord(text, at, true));
};

/** `Basic` and the base64 of two parts with a colon between them. */
export const findBasic: SecretRule = ({ text, floor }, start, end) => {
  if (!isEdge(text, start, ALNUM | DASH, floor)) return NO_SPANS;
  const at = afterBlanks(text, end);
  const stop = runEnd(text, at, BASE64, at + SAMPLE * 4);
  const isWhole = (charClassAt(text, stop) & (TOKEN | DOT)) === 0;
  if (at === end || stop - at < 8 || stop - at >= SAMPLE * 4 || !isWhole) return NO_SPANS;
  const pair = Buffer.from(text.slice(at, stop), 'base64').toString('utf8');
  return /^[\x20-\x21\x23-\x7a|}~]*:[\x20-\x7e]{3,}$/.test(pair) ? [{ start: at, end: stop }] : NO_SPANS;
};

/** The credentials in the value of an `Authorization` header that begins at `at`; the scheme stays. */
export function authorizationIn({ text }: ScanContext, at: number): readonly SecretSpan[] {
  const schemeEnd = runEnd(text, at, TOKEN, at + 24);
  const scheme = text.slice(at, schemeEnd).toLowerCase();
  const from = afterBlanks(text, schemeEnd);
  if (from === schemeEnd) return one(credentialWord(text, at, true));
  if (ONE_WORD.has(scheme)) return one(credentialWord(text, from, false));
  return WITH_PARAMETERS.has(scheme) ? proofsIn(text, from) : NO_SPANS;
}

/** In `Digest username="…", response="…"` and similar: the parameters that prove knowledge of the secret. */
function proofsIn(text: string, from: number): readonly SecretSpan[] {
  const line = text.slice(from, runUntil(text, from, BREAK, from + LONGEST_PARAMETERS));
  const spans: SecretSpan[] = [];
  for (const match of line.matchAll(
    /\b(?:response|signature|mac|oauth_signature|sig|hash)=[\\]{0,3}["']?/gi,
  )) {
    const start = from + match.index + match[0].length;
    const end = runUntil(text, start, SPACE | QUOTE_MARK | BRACKET | CLOSER, start + SAMPLE);
    const value = text.slice(start, end);
    if (value.length >= 8 && !isPlaceholder(value) && !isReference(value)) spans.push({ start, end });
  }
  return spans;
}

/** The pairs of a `Cookie` header that begin at `at`; for `Set-Cookie` the value of its one pair. */
export function cookiesIn(
  { text }: ScanContext,
  at: number,
  quote: string | undefined,
  onlyFirst: boolean,
): readonly SecretSpan[] {
  let from = at;
  let first: SecretSpan | undefined;
  let isSecret = false;
  for (let pairs = 0; pairs < 8; pairs++) {
    const nameEnd = runEnd(text, from, TOKEN | DOT, from + 64);
    if (nameEnd === from || text.charAt(nameEnd) !== '=') break;
    const stop = runUntil(text, nameEnd + 1, SPACE | QUOTE_MARK | BRACKET | CLOSER, nameEnd + 1 + SAMPLE);
    const value = text.slice(nameEnd + 1, stop);
    first ??= { start: nameEnd + 1, end: valueEnd(text, stop) };
    isSecret ||= isRandom(value) || isSecretValue(value, 'password', 'plain');
    if (text.charAt(stop) !== ';' || onlyFirst) break;
    from = afterBlanks(text, stop + 1);
  }
  if (!isSecret || !first) return NO_SPANS;
  return [onlyFirst ? first : { start: at, end: lineEnd(text, at, quote) }];
}

const one = (span: SecretSpan | undefined): readonly SecretSpan[] => (span ? [span] : NO_SPANS);

const afterBlanks = (text: string, from: number): number => {
  const at = runEnd(text, from, BLANK, from + 8);
  return text.startsWith('%20', at) ? at + 3 : at;
};

const valueEnd = (text: string, from: number): number =>
  runUntil(text, from, SPACE | QUOTE_MARK | BRACKET | CLOSER, text.length);

/** One word of credentials. In prose (`careful`) it must look like a key; after the scheme in a header it need not. */
function credentialWord(text: string, at: number, careful: boolean): SecretSpan | undefined {
  const sampleEnd = runUntil(text, at, SPACE | QUOTE_MARK | BRACKET | CLOSER, at + SAMPLE);
  const word = text.slice(at, sampleEnd);
  const end = sampleEnd - at < SAMPLE ? trimmedEnd(text, at, sampleEnd) : valueEnd(text, sampleEnd);
  if (word.length < 8 || isPlaceholder(word) || isReference(word)) return undefined;
  const looksMade = isRandom(word) || (/\d/.test(word) && /[a-z]/i.test(word) && wordLikeness(word) < 0.6);
  if (!looksMade && (careful || wordLikeness(word) >= 0.6)) return undefined;
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
    const stop = runUntil(text, at, BREAK | QUOTE_MARK | BRACKET, text.length);
    const character = text.charAt(stop);
    const goesOn =
      (character === '\\' && !/[nrt"'`\\]/.test(text.charAt(stop + 1))) ||
      (quote === '"' && /['`<>]/.test(character));
    if (!goesOn || stop >= text.length) return stop;
    at = stop + 1;
  }
}

const LONGEST_USERINFO = 512;
const STOPS = SPACE | QUOTE_MARK | BRACKET | SLASH;

/** The password in `scheme://user:password@host`, or a user name that is a token. */
export const findUrlCredential: SecretRule = ({ text }, _start, end) => {
  const stop = runUntil(text, end, STOPS, end + LONGEST_USERINFO);
  const authority = text.slice(end, stop);
  const at = authority.lastIndexOf('@');
  if (at < 1) return NO_SPANS;
  const colon = authority.indexOf(':');
  if (colon < 0 || colon > at) {
    const user = authority.slice(0, at);
    return isRandom(user) && !isReference(user) ? [{ start: end, end: end + at }] : NO_SPANS;
  }
  const password = authority.slice(colon + 1, at);
  // A password may begin like an option of a command (-x7EE…): here it cannot be one.
  const isSecret = isTypedSecret(password) || (isRandom(password) && !isReference(password));
  if (!isSecret || password === authority.slice(0, colon)) return NO_SPANS;
  return [{ start: end + colon + 1, end: end + at }];
};

const COMMAND_REACH = 400;

/** The password in `curl -u user:password`, however it is quoted; the user name if it is alone. */
export const findCurlUser: SecretRule = ({ text, floor }, start, end) => {
  const before = text.slice(Math.max(floor, start - COMMAND_REACH), start);
  const command = before.lastIndexOf('curl');
  if (command < 0 || /[^\\]\n/.test(before.slice(command))) return NO_SPANS;
  const from = runEnd(text, end, BLANK | QUOTE_MARK, end + 4);
  const colon = runUntil(text, from, SPACE | QUOTE_MARK | COLON, from + LONGEST_USERINFO);
  if (text.charAt(colon) !== ':') return NO_SPANS;
  const secret = runEnd(text, colon + 1, QUOTE_MARK, colon + 2);
  const stop = runUntil(text, secret, SPACE | QUOTE_MARK | BRACKET, secret + LONGEST_USERINFO);
  if (isTypedSecret(text.slice(secret, stop))) return [{ start: secret, end: stop }];
  const user = text.slice(from, colon);
  return stop === secret && isSecretValue(user, 'password', 'plain')
    ? [{ start: from, end: colon }]
    : NO_SPANS;
};
