import { BLANK, BRACKET, COLON, QUOTE, runEnd, runUntil, SLASH, SPACE } from './char-class.ts';
import { NONE, type Rule } from './page.ts';
import { isPlaceholder, isReference } from './placeholder.ts';
import { isRandom, isSecretValue } from './secret-value.ts';

const LONGEST_USERINFO = 512;
const STOPS = SPACE | QUOTE | BRACKET | SLASH;

/** The password in `scheme://user:password@host`, or a user name that is a token. */
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

const COMMAND_REACH = 400;

/** The password in `curl -u user:password`, however it is quoted; the user name if it is alone. */
export const findCurlUser: Rule = ({ text, floor }, start, end) => {
  const before = text.slice(Math.max(floor, start - COMMAND_REACH), start);
  const command = before.lastIndexOf('curl');
  if (command < 0 || /[^\\]\n/.test(before.slice(command))) return NONE;
  const from = runEnd(text, end, BLANK | QUOTE, end + 4);
  const colon = runUntil(text, from, SPACE | QUOTE | COLON, from + LONGEST_USERINFO);
  if (text.charAt(colon) !== ':') return NONE;
  const secret = runEnd(text, colon + 1, QUOTE, colon + 2);
  const stop = runUntil(text, secret, SPACE | QUOTE | BRACKET, secret + LONGEST_USERINFO);
  if (isTyped(text.slice(secret, stop))) return [{ start: secret, end: stop }];
  const user = text.slice(from, colon);
  return stop === secret && isSecretValue(user, 'password', 'plain') ? [{ start: from, end: colon }] : NONE;
};

const isTyped = (password: string): boolean =>
  password.length >= 4 && !/^\d{1,5}$/.test(password) && !isPlaceholder(password) && !isReference(password);
