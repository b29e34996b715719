import { holdsMark } from './mark.ts';
import { wordShare } from './word-share.ts';

/** Words that stand where a secret would stand, and are none. */
const STAND_INS = new Set(
  (
    'string str text number integer int bool boolean object array null none nil undefined unknown any true false yes ' +
    'no on off required optional missing invalid incorrect empty default hidden masked removed secure enabled ' +
    'disabled password passwd passphrase pass pwd secret secrets token tokens apikey api_key api-key key keys value ' +
    'username user bearer basic cookie credential credentials authorization placeholder redacted confirm forgot ' +
    'inherit auto unset n/a tbd test testing foobar random generated encrypted plaintext basestring secretstr optionalstr'
  ).split(' '),
);
/** In one case throughout: chance writes these words too, but not like that. */
const inOneCase = (words: string): string =>
  words
    .split(' ')
    .flatMap((word) => [word, word.toUpperCase(), word.charAt(0).toUpperCase() + word.slice(1)])
    .join('|');
const SAYS_SO = new RegExp(
  [
    inOneCase(
      'example placeholder changeme change-me change_me replace-me replace_me replaceme redacted sanitized',
    ),
    inOneCase(
      'goes-here goes_here key-here key_here token-here token_here not-a-real not_a_real insert-your',
    ),
    `(?:^|[-_ <])(?:${inOneCase('your fake sample dummy replace insert')})[-_ ]`,
    `(?:${inOneCase('yourapi yourkey yourtoken yoursecret yourpassword')})`,
    `[-_ ](?:${inOneCase('here')})$`,
  ].join('|'),
);
const FILLED = /x{5}|\*{3}|\.{3}|…|•{2}/i;
const OUTER_PUNCTUATION = /^[\s"'`*_:;,.!?()]{0,8}|[\s"'`*_:;,.!?()]{0,8}$/g;

/** A documented stand-in such as `<your key>`, `${VAR}`, `***`, `changeme` or `string`, or a mark that is already there. */
export function isPlaceholder(value: string): boolean {
  if (holdsMark(value) || SAYS_SO.test(value) || FILLED.test(value)) return true;
  if (STAND_INS.has(value.replace(OUTER_PUNCTUATION, '').toLowerCase())) return true;
  return longestRepeat(value) * 2 >= value.length;
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

const VARIABLE = /^\$[A-Za-z_][A-Za-z0-9_]*$|^%[A-Za-z_][A-Za-z0-9_]*%$|^%[-0-9.]{0,5}[a-z]$/;
const TEMPLATE = /\$\{|\{\{|<%|#\{|\$\(|%\(|^\{.*\}$|^<.*>$|^\[.*\]$|^[[\]<>({})},;]/;
const CALL = /^[A-Za-z_$][\w$.:?>[\]-]{0,99}\(/;
const ADDRESS =
  /^(?:[a-z][a-z0-9+.-]{1,20}:\/\/|data:|arn:|urn:|file:|env:|vault:|op:|ssm:|sha\d{1,3}[:-]|md5[:-]|@)/i;
const MEMBER = /^[A-Za-z_$][\w$]{0,99}(?:(?:\?\.|\.|->|::)[A-Za-z_$][\w$]{0,99})+[!?]?$/;
const ELEMENT = /^[A-Za-z_$][\w$.]{0,99}\[/;
const PATH = /^(?:~|\.{1,2})?\/|^[A-Za-z]:[\\/]/;

/** It says where a value is, or how to get it: a variable, a template, a call, a member, an address, a path, a hash. */
export function isReference(value: string): boolean {
  if (VARIABLE.test(value) || TEMPLATE.test(value) || CALL.test(value) || ADDRESS.test(value)) return true;
  if (ELEMENT.test(value)) return true;
  if (MEMBER.test(value)) return !/\d/.test(value) || wordShare(value) >= 0.35;
  return PATH.test(value) && !value.endsWith('=') && wordShare(value) >= 0.5;
}
