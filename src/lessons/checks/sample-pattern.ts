/** A character for every class that people write. */
const CHARACTERS = [...'aA1 -_.,:;!?"\'`/\\|(){}[]<>#*+=@$%&~^\n\täéÉ€£°–—…•→“”„«»✅🚀😀☀Яяあア中한عאΩगก'];
/** `\b`, `^` and `$` need a neighbour of one kind or the other. */
const AROUND: readonly (readonly [before: string, after: string])[] = [
  ['', ''],
  [' ', ' '],
  ['a', 'a'],
  ['\n', '\n'],
  ['a', ''],
  ['', 'a'],
];

/**
 * A few short texts of which a pattern that matches anything at all should match one. The pattern is known to be a valid one.
 */
export function sampleTexts(source: string): readonly string[] {
  const shortest = readAlternatives({ source, at: 0, takes: 'first' });
  const longest = readAlternatives({ source, at: 0, takes: 'last' });
  return [shortest, longest].flatMap((text) => AROUND.map(([before, after]) => before + text + after));
}

interface Cursor {
  readonly source: string;
  at: number;
  /** Which alternative; the last one also takes what may be left out. */
  readonly takes: 'first' | 'last';
}

function readAlternatives(cursor: Cursor): string {
  const alternatives = [''];
  while (cursor.at < cursor.source.length && cursor.source[cursor.at] !== ')') {
    if (cursor.source[cursor.at] === '|') {
      cursor.at++;
      alternatives.push('');
    } else alternatives.push((alternatives.pop() ?? '') + readRepeated(cursor));
  }
  cursor.at++;
  return (cursor.takes === 'first' ? alternatives[0] : alternatives.at(-1)) ?? '';
}

function readRepeated(cursor: Cursor): string {
  const text = readAtom(cursor);
  const quantifier = /^(?:[*+?]|\{(\d+)(?:,\d*)?\})\??/.exec(cursor.source.slice(cursor.at));
  if (quantifier === null) return text;
  cursor.at += quantifier[0].length;
  const least = quantifier[1] === undefined ? (quantifier[0].startsWith('+') ? 1 : 0) : Number(quantifier[1]);
  return text.repeat(Math.min(1000, cursor.takes === 'last' ? Math.max(1, least) : least));
}

const ATOM =
  /^(?:\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|[\s\S])/u;

function readAtom(cursor: Cursor): string {
  const rest = cursor.source.slice(cursor.at);
  const group = /^\((?:\?(?::|<\w+>))?/.exec(rest);
  if (group !== null) {
    cursor.at += group[0].length;
    return readAlternatives(cursor);
  }
  const atom = ATOM.exec(rest)?.[0] ?? '';
  cursor.at += Math.max(1, atom.length);
  if (/^(?:[\^$]|\\[bB])$/.test(atom)) return '';
  const one = new RegExp(`^(?:${atom})$`, 'u');
  const codePoint = /^\\(?:u\{?|x)([\da-fA-F]+)\}?$/.exec(atom)?.[1];
  if (codePoint !== undefined) return String.fromCodePoint(Number.parseInt(codePoint, 16));
  if (/^[^\\[.]/u.test(atom)) return atom;
  // A blank stands between words.
  if (cursor.takes === 'last' && one.test(' ')) return ' ';
  return CHARACTERS.find((character) => one.test(character)) ?? classMember(atom);
}

/** A character that a class names. */
const classMember = (atom: string): string =>
  [...atom.replace(/^\[\^?/, '')].find((one) => one !== '\\') ?? '';
