/** Lines are cut here: longer ones are data (a bundle, a blob), not messages. */
const LINE_CAP = 500;
/** How much of a text is searched for its first or last lines. */
const END_CAP = 100_000;

/** The text without its middle when it is too long: errors are at the start or at the end. */
export const bothEnds = (text: string, cap: number): string =>
  text.length <= cap ? text : `${text.slice(0, cap / 2)}\n${text.slice(-cap / 2)}`;

/** Calls `visit` with each non-empty line, cut to a bounded length, until it returns false. */
export function eachLine(text: string, visit: (line: string) => boolean | undefined): void {
  let from = 0;
  while (from <= text.length) {
    const found = text.indexOf('\n', from);
    const to = found < 0 ? text.length : found;
    if (to > from && visit(cut(text, from, to)) === false) return;
    from = to + 1;
  }
}

/** The first non-blank lines. */
export function headLines(text: string, count: number): readonly string[] {
  const lines: string[] = [];
  eachLine(text.slice(0, END_CAP), (line) => {
    if (line.trim() !== '') lines.push(line);
    return lines.length < count;
  });
  return lines;
}

/** The last non-blank lines, in their order. */
export function tailLines(text: string, count: number): readonly string[] {
  const lines: string[] = [];
  const start = Math.max(0, text.length - END_CAP);
  let to = text.length;
  while (to >= start && lines.length < count) {
    const from = to === 0 ? 0 : text.lastIndexOf('\n', to - 1) + 1;
    const line = cut(text, from, to);
    if (line.trim() !== '') lines.push(line);
    to = from - 1;
  }
  return lines.reverse();
}

function cut(text: string, from: number, to: number): string {
  const end = to > from && text.charCodeAt(to - 1) === 13 ? to - 1 : to;
  return withoutColour(text.slice(from, Math.min(end, from + LINE_CAP)));
}

/** Test runners and compilers write colour codes even when the output is not a terminal. */
function withoutColour(line: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what is looked for
  return line.includes('\u001b') ? line.replace(/\u001b\[[0-9;]{0,16}[A-Za-z]/g, '') : line;
}
