const QUOTED =
  /"([^"\n]{1,200})"|`([^`\n]{1,200})`|“([^”\n]{1,200})”|«([^»\n]{1,200})»|(?<![\p{L}\p{N}])'([^'\n]{1,200})'(?![\p{L}\p{N}])/gu;
const FORMAT_WORD = /^(?:Y{2,4}|M{2,4}|D{2}|H{2}|S{2}|(?:YYYY|YY|MM|DD|HH){2,6})$/;
const SIGN = /^[|:=→>+*/\\&~-]{1,3}$/;
const OUTER = /^[("'“«,;:!?]+|[)"'”»,;:!?]+$/g;

/** Words joined by a slash that are no path. */
const EITHER =
  /^(?:and\/or|either\/or|he\/she|his\/her|him\/her|yes\/no|true\/false|on\/off|read\/write|input\/output|n\/a|w\/o?)$/i;

/** Whether a word is a literal: a path, a format, a name in code, a flag, a number with its unit. */
function isLiteral(word: string): boolean {
  if (word.length < 2 || /^\d+$/.test(word)) return false;
  if (/[_/\\#@$%=<>|{}[\]^~*]/.test(word)) return /[\p{L}\p{N}]/u.test(word) && !EITHER.test(word);
  if (/^-{1,2}\p{L}/u.test(word) || /^\.\p{L}/u.test(word)) return true;
  if (/\p{L}[.:]\p{L}/u.test(word) && !/^(?:e\.g|i\.e)$/i.test(word)) return true;
  if (/\p{L}/u.test(word) ? /\p{N}/u.test(word) : /\p{N}[^\p{N}]+\p{N}/u.test(word)) return true;
  if (/^\p{Lu}\p{L}*(?:-\p{Lu}\p{L}*)+$/u.test(word) || FORMAT_WORD.test(word)) return true;
  return /\p{Ll}\p{Lu}/u.test(word) || /^\p{L}+-\p{L}+-\p{L}+:?$/u.test(word) || /^[+]/.test(word);
}

interface Span {
  readonly from: number;
  readonly to: number;
  readonly isQuoted: boolean;
}

/** The positions of literals in a line; neighbours with only punctuation between them are one. */
function literalSpans(text: string): readonly Span[] {
  const quoted: Span[] = [...text.matchAll(QUOTED)].map((match) => ({
    from: match.index,
    to: match.index + match[0].length,
    isQuoted: true,
  }));
  const bare: Span[] = [];
  let isOpen = false;
  let lastSign = -1;
  for (const match of text.matchAll(/\S+/g)) {
    const [word] = match;
    const at = match.index;
    if (quoted.some(({ from, to }) => at < to && at + word.length > from)) {
      isOpen = false;
      continue;
    }
    if (isOpen && SIGN.test(word)) {
      lastSign = at;
      continue;
    }
    const { from, to } = withoutOuter(word, at);
    const last = bare.at(-1);
    const literal = text.slice(from, to);
    if (!isLiteral(literal) && !(isOpen && /^\d+$/.test(literal))) isOpen = false;
    else if (isOpen && last !== undefined && (lastSign > last.to || last.to + 1 === from))
      bare[bare.length - 1] = { ...last, to };
    else {
      bare.push({ from, to, isQuoted: false });
      isOpen = true;
    }
    if (to < at + word.length) isOpen = false;
  }
  return [...quoted, ...bare].sort((a, b) => a.from - b.from);
}

/** Without the punctuation of the sentence around it; a final full stop belongs to the sentence. */
function withoutOuter(word: string, at: number): { readonly from: number; readonly to: number } {
  const lead = /^["'“«(,;:!?]*/.exec(word)?.[0].length ?? 0;
  const bare = word.slice(lead).replace(/\.+$/, '').replace(OUTER, '').replace(/\.+$/, '');
  const closes = word.slice(lead + bare.length).startsWith(')') && bare.includes('(') ? 1 : 0;
  return { from: at + lead, to: at + lead + bare.length + closes };
}

/** The parts of a sentence that must be kept verbatim, without their quotes. */
export const findLiterals = (text: string): readonly string[] =>
  literalSpans(text).map(({ from, to, isQuoted }) =>
    isQuoted ? text.slice(from + 1, to - 1) : text.slice(from, to),
  );
