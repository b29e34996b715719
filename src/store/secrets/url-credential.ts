import { BRACKET, QUOTE, runUntil, SLASH, SPACE } from './char-class.ts';
import { NONE, type Rule } from './page.ts';
import { isPlaceholder, isReference } from './placeholder.ts';
import { isRandom } from './secret-value.ts';

const LONGEST_USERINFO = 512;
const STOPS = SPACE | QUOTE | BRACKET | SLASH;

/** The password in `scheme://user:password@host`, or a user's name that is a token. */
export const findUrlCredential: Rule = ({ text }, _start, end) => {
  const stop = runUntil(text, end, STOPS, end + LONGEST_USERINFO);
  const authority = text.slice(end, stop);
  const at = authority.lastIndexOf('@');
  if (at < 1) return NONE;
  const colon = authority.indexOf(':');
  if (colon < 0 || colon > at) {
    const user = authority.slice(0, at);
    return isRandom(user) && !isReference(user) ? [{ start: end, end: end + at }] : NONE;
  }
  const password = authority.slice(colon + 1, at);
  if (!isTyped(password) || password === authority.slice(0, colon)) return NONE;
  return [{ start: end + colon + 1, end: end + at }];
};

/** The password in `curl -u user:password`. */
export const findCurlUser: Rule = ({ text, floor }, start, end) => {
  const line = text.slice(Math.max(floor, start - 200), start);
  const command = line.lastIndexOf('curl');
  if (command < 0 || line.indexOf('\n', command) >= 0) return NONE;
  const from = `"'`.includes(text.charAt(end) || ' ') ? end + 1 : end;
  const stop = runUntil(text, from, SPACE | QUOTE | BRACKET, from + LONGEST_USERINFO);
  const pair = text.slice(from, stop);
  const colon = pair.indexOf(':');
  const password = pair.slice(colon + 1);
  return colon < 1 || !isTyped(password) ? NONE : [{ start: from + colon + 1, end: stop }];
};

const isTyped = (password: string): boolean =>
  password.length >= 4 && !/^\d{1,5}$/.test(password) && !isPlaceholder(password) && !isReference(password);
