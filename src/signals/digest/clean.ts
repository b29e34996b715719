import type { Finding } from './finding.ts';

const MAX_KIND = 56;
const MAX_NAME = 40;
const MAX_WORDS = 6;
/** Names that say nothing without the folder they stand in. */
const GENERIC = /^(?:index|mod|__init__|page|route)\.[a-z]{1,5}$/i;

/**
 * A finding as a line that can stand before a model as evidence: names and numbers only. What a program printed is
 * written by whoever wrote the program or its input, so nothing of it passes but an identifier, a file's name and a line,
 * each too short to carry a sentence.
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

/** `requests.exceptions.ReadTimeout` is a `ReadTimeout`; of a name made of many words the last ones tell what it is. */
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

/** A name that is nearly a sentence keeps its first words and its ending. */
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
