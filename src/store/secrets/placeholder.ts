import { holdsMark } from './mark.ts';
import { wordShare } from './word-share.ts';

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
const FILLED = /x{5}|X{5}|\*{3}|\.{3}|…|•{2}/;
const OUTER_PUNCTUATION = /^[\s"'`*_:;,.!?()]{0,8}|[\s"'`*_:;,.!?()]{0,8}$/g;

/** A placeholder such as `<your key>`, `***`, `changeme` or `string`, or an existing mark. */
export function isPlaceholder(value: string): boolean {
  const lower = value.toLowerCase();
  if (ANYWHERE.some((word) => isSaid(value, lower, word))) return true;
  if (APART.some((word) => isSaid(value, lower, word) && isApart(lower, word))) return true;
  if (FILLED.test(value) || holdsMark(value)) return true;
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

const VARIABLE = /^\$[A-Za-z_][A-Za-z0-9_]*$|^%[A-Za-z_][A-Za-z0-9_]*%$|^%[-0-9.]{0,5}[a-z]$/;
const TEMPLATE = /\$\{|\{\{|<%|#\{|\$\(|%\(|^\{.*\}$|^<.*>$|^\[.*\]$|^[[\]<>({})},;]/;
const CALL = /^[A-Za-z_$][\w$.:?>[\]-]{0,99}\(/;
const ADDRESS =
  /^(?:[a-z][a-z0-9+.-]{1,20}:\/\/|data:|arn:|urn:|file:|env:|vault:|op:|ssm:|sha\d{1,3}[:-]|md5[:-]|@)/i;
const MEMBER = /^[A-Za-z_$][\w$]{0,99}(?:(?:\?\.|\.|->|::)[A-Za-z_$][\w$]{0,99})+[!?]?$/;
const ELEMENT = /^[A-Za-z_$][\w$.]{0,99}\[/;
const PATH = /^(?:~|\.{1,2})?\/|^[A-Za-z]:[\\/]/;

/** A reference to a value instead of the value: a variable, a template, a call, a member, a URL, a path, a hash. */
export function isReference(value: string): boolean {
  if ([VARIABLE, TEMPLATE, CALL, ADDRESS, ELEMENT].some((pattern) => pattern.test(value))) return true;
  if (MEMBER.test(value)) return !/\d/.test(value) || wordShare(value) >= 0.35;
  return PATH.test(value) && !value.endsWith('=') && wordShare(value) >= 0.5;
}
