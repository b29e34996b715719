import { findValueAfter } from './named-secret.ts';
import { NO_SPANS, type SecretRule } from './scan-context.ts';

/** Words for a password whose letters or spaces an identifier cannot have. */
export const SPOKEN_NAMES: readonly string[] = [
  'mot de passe',
  'contrase',
  'senha',
  'clave',
  'пароль',
  '密码',
  '密碼',
  'パスワード',
];

/** The value after such a word, with the words that join them in its language. */
export const findSpokenSecret: SecretRule = (page, start, end) => {
  const { text } = page;
  if (/\p{L}/u.test(text.charAt(start - 1)) && text.charCodeAt(start) < 128) return NO_SPANS;
  const rest = /^\p{L}{0,6}/u.exec(text.slice(end, end + 6))?.[0] ?? '';
  // `是` joins name and value; it is no part of the name.
  const joined = rest.search(/[是为為はè]/);
  const nameEnd = end + (joined < 0 ? rest.length : joined);
  return findValueAfter(page, { name: 'password', kind: 'password', nameStart: start }, nameEnd);
};
