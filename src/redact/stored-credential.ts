import {
  ALNUM,
  BASE64,
  charClassAt,
  DIGIT,
  HEX,
  isEdge,
  LOWER,
  runEnd,
  runStart,
  TOKEN,
  WORD,
} from './char-class.ts';
import { NO_SPANS, type SecretRule, type SecretSpan } from './scan-context.ts';
import { isPlausibleKey, isRandom, isSpokenPassword, isTypedSecret } from './secret-value.ts';

/** The secret after an access key id, as in the CSV file that AWS offers for download. */
export const findAwsPair: SecretRule = ({ text, floor }, start) => {
  if (!isEdge(text, start, ALNUM, floor)) return NO_SPANS;
  const idEnd = start + 20;
  const gap = /^["'\\]{0,3}\s{0,4}[,;:|\t\n ]\s{0,4}["'\\]{0,3}/.exec(text.slice(idEnd, idEnd + 16))?.[0];
  if (gap === undefined) return NO_SPANS;
  const from = idEnd + gap.length;
  const end = runEnd(text, from, BASE64, from + 48);
  return end - from === 40 && isPlausibleKey(text.slice(from, end)) ? [{ start: from, end }] : NO_SPANS;
};

/** The lines after `Private-Lines: N` in a PuTTY key file. */
export const findPuttyKey: SecretRule = ({ text }, _start, end) => {
  const rest = text.slice(end, end + 8192);
  const lines =
    /^\s*\d{1,3}(?:\r?\n|\\r?\\n|\\n)([A-Za-z0-9+/=\s\\rn]*?)(?=Private-|[^A-Za-z0-9+/=\s\\]|$)/d.exec(rest);
  const place = lines?.indices?.[1];
  if (place === undefined || place[1] - place[0] < 24) return NO_SPANS;
  // Without the last line break, escaped or not.
  const body = rest.slice(place[0], place[1]).replace(/(?:\s|\\+[rn]?)+$/, '');
  return [{ start: end + place[0], end: end + place[0] + body.length }];
};

/** `host:port:database:user:password`, a line of a `.pgpass` file; the trigger is the port. */
export const findPgpassLine: SecretRule = ({ text, floor }, start) => {
  const from = Math.max(floor, start - 100);
  const lead = /[^\s:"'`]{1,100}$/.exec(text.slice(from, start))?.[0];
  if (lead === undefined) return NO_SPANS;
  const line = text.slice(start - lead.length, start + 260);
  const found = /^[^\s:]+:(?:\d+|\*):[^\s:/]{1,64}:[^\s:/]{1,64}:([^\s"'`\\]{4,128})(?=$|[\s"'`\\])/d.exec(
    line,
  );
  const place = found?.indices?.[1];
  if (place === undefined || !isTypedSecret(found?.[1] ?? '')) return NO_SPANS;
  const at = start - lead.length;
  return [{ start: at + place[0], end: at + place[1] }];
};

/** A line of a cookie file of `curl` and browsers: seven columns with tabs between them, the value last. */
export const findCookieLine: SecretRule = ({ text }, _start, end) => {
  if (!/^(?:\t|\\t)/.test(text.slice(end, end + 2))) return NO_SPANS;
  const found = /^(?:\t|\\t)\d{1,12}(?:\t|\\t)[^\t\n\\]{1,64}(?:\t|\\t)([^\s"'\\]{12,1000})/d.exec(
    text.slice(end, end + 1100),
  );
  const place = found?.indices?.[1];
  return place !== undefined && isRandom(found?.[1] ?? '')
    ? [{ start: end + place[0], end: end + place[1] }]
    : NO_SPANS;
};

/** A stored password hash, as in `.htpasswd`, `/etc/shadow` and tables of users: it can be attacked offline. */
export const findPasswordHash: SecretRule = ({ text, floor }, start, end) => {
  if (!isEdge(text, start, WORD, floor)) return NO_SPANS;
  const body = /^[A-Za-z0-9./$=,+]{24,200}/.exec(text.slice(end, end + 200))?.[0];
  if (body === undefined || !/\d/.test(body) || !/[a-z]/.test(body) || !/[A-Z]/.test(body)) return NO_SPANS;
  return [{ start, end: end + body.length }];
};

const CODE =
  /(?<![\w-])(?:[a-z0-9]{4,8}(?:-[a-z0-9]{4,8}){1,3}|\d{4} \d{4}|\d{8,10}|[a-z0-9]{8,10})(?![\w-])/gi;

/** One-time codes that replace a second factor: at least two of one shape after the words that announce them. */
export const findRecoveryCodes: SecretRule = ({ text }, _start, end) => {
  if (!/\d/.test(text.slice(end, end + 40))) return NO_SPANS;
  const found = [...text.slice(end, end + 600).matchAll(CODE)].map((match) => ({
    code: match[0],
    start: end + match.index,
  }));
  const shapeOf = (code: string): string => code.replace(/[a-z0-9]/gi, 'x');
  const first = found.find(({ code }) => /\d/.test(code));
  if (first === undefined || first.start - end > 60) return NO_SPANS;
  const spans: SecretSpan[] = [];
  for (const { code, start } of found) {
    if (shapeOf(code) !== shapeOf(first.code)) continue;
    // They follow each other closely: a number further on belongs to something else.
    if (spans.length > 0 && start - (spans.at(-1)?.end ?? 0) > 24) break;
    spans.push({ start, end: start + code.length });
  }
  return spans.length >= 2 ? spans : NO_SPANS;
};

/** `credentials: ada / password`, `login: ada:password`. */
export const findCredentialPair: SecretRule = ({ text }, start, end) => {
  if (!isEdge(text, start, WORD, 0)) return NO_SPANS;
  const found =
    /^s?(?!\w)(?:\s+(?:are|is|sind|lauten))?\s{0,2}[:=]?\s{0,2}["'`]?[\w.@+-]{2,60}["'`]?\s?[/|:]\s?["'`]?([^\s"'`,;\\]{6,100})/d.exec(
      text.slice(end, end + 240),
    );
  const place = found?.indices?.[1];
  return place !== undefined && isSpokenPassword(found?.[1] ?? '')
    ? [{ start: end + place[0], end: end + place[1] }]
    : NO_SPANS;
};

/** Keys without a prefix of their own: a characteristic end or middle, and fixed lengths around it. */
export const findMailchimpKey: SecretRule = ({ text, floor }, start, end) => {
  if ((charClassAt(text, end) & DIGIT) === 0) return NO_SPANS;
  const from = runStart(text, start, DIGIT | HEX, Math.max(floor, start - 33));
  const stop = runEnd(text, end, DIGIT, end + 2);
  return start - from === 32 && (charClassAt(text, stop) & WORD) === 0
    ? [{ start: from, end: stop }]
    : NO_SPANS;
};

export const findAirtableToken: SecretRule = ({ text, floor }, start, end) => {
  if (text.charCodeAt(end + 14) !== 0x2e || !isEdge(text, start, TOKEN, floor)) return NO_SPANS;
  const stop = runEnd(text, end + 15, HEX, end + 80);
  return runEnd(text, end, ALNUM, end + 14) === end + 14 && stop - end - 15 === 64
    ? [{ start, end: stop }]
    : NO_SPANS;
};

export const findAsanaToken: SecretRule = ({ text, floor }, start) => {
  const colon = runEnd(text, start + 2, DIGIT, start + 20);
  if (text.charCodeAt(colon) !== 0x3a || colon - start < 14 || !isEdge(text, start, WORD, floor))
    return NO_SPANS;
  const stop = runEnd(text, colon + 1, HEX, colon + 40);
  return stop - colon - 1 === 32 ? [{ start, end: stop }] : NO_SPANS;
};

export const findTerraformToken: SecretRule = ({ text, floor }, start, end) => {
  const from = runStart(text, start, ALNUM, Math.max(floor, start - 15));
  const stop = runEnd(text, end, TOKEN, end + 80);
  const isKey = start - from === 14 && stop - end >= 60 && isPlausibleKey(text.slice(end, stop));
  return isKey ? [{ start: from, end: stop }] : NO_SPANS;
};

export const findBraintreeToken: SecretRule = ({ text }, start, end) => {
  const middle = runEnd(text, end, LOWER | DIGIT, end + 20);
  const stop = runEnd(text, middle + 1, HEX, middle + 34);
  return text.charAt(middle) === '$' && stop - middle >= 32 ? [{ start, end: stop }] : NO_SPANS;
};
