import type { Finding } from './finding.ts';

const MAX_KIND = 56;
const MAX_NAME = 40;
const MAX_WORDS = 6;
/** File names that mean nothing without their folder. */
const GENERIC = /^(?:index|mod|__init__|page|route)\.[a-z]{1,5}$/i;

/**
 * A finding as a line that is safe in a prompt: names and numbers only. Program output is untrusted, so only an
 * identifier, a file name and a line number pass, each too short for a sentence.
 */
export function formatFinding({ kind, file, line }: Finding): string {
  const what = cleanKind(kind);
  const where = file === undefined ? '' : cleanFile(file);
  if (where === '') return what;
  return line === undefined ? `${what} @ ${where}` : `${what} @ ${where}:${Math.trunc(line)}`;
}

function cleanKind(kind: string): string {
  const plain = kind.replace(/[^A-Za-z0-9_.:/#@[\]+ -]/g, '').slice(0, 200);
  return plain.split(' ').map(lastWords).join(' ').slice(0, MAX_KIND).trim() || 'Error';
}

/** `requests.exceptions.ReadTimeout` becomes `ReadTimeout`; a name of many words keeps the last ones. */
function lastWords(word: string): string {
  const name = word.slice(word.lastIndexOf('.') + 1);
  const parts = name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? [];
  return parts.length <= MAX_WORDS ? name : parts.slice(-MAX_WORDS).join('');
}

function cleanFile(file: string): string {
  const parts =
    file
      .replaceAll('\\', '/')
      .split(/[?#]/, 1)[0]
      ?.split('/')
      .filter((part) => part !== '' && part !== '.') ?? [];
  const base = parts.at(-1) ?? '';
  if (/^<\w{1,20}>$/.test(base)) return 'inline';
  const name = shorten(base);
  const folder = parts.at(-2);
  return folder === undefined || !GENERIC.test(base) ? name : `${shorten(folder)}/${name}`;
}

/** A name that is too long keeps its first words and its extension. */
function shorten(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_.-]/g, '');
  const words = plain.match(/[A-Z]?[a-z]+|[A-Z]+|\d+/g) ?? [];
  if (plain.length <= MAX_NAME && words.length <= MAX_WORDS) return plain;
  const dot = plain.lastIndexOf('.');
  const ending = dot > 0 && plain.length - dot <= 6 ? plain.slice(dot) : '';
  return `${words
    .slice(0, 2)
    .join('_')
    .slice(0, MAX_NAME / 2)}~${ending}`;
}
