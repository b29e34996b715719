/** A quoted part of a shell line. */
export interface ShellQuote {
  /** What it stands for. */
  readonly text: string;
  /** The index behind its closing quote; the length of the line when there is none. */
  readonly end: number;
  readonly isClosed: boolean;
  /** Where a shell would expand a variable or run a command inside double quotes. */
  readonly expansionAt?: number;
}

const EXPANDS = /[\w({@*#?$!-]/;

/**
 * Reads the quotation that begins at `at`, by the rules of POSIX: single quotes take everything literally; inside double quotes
 * a backslash escapes only `$`, a backtick, `"`, `\` and a line break. The grammar around quotations is the caller's: the
 * plain shell, the reader of recorded commands and the checker's line know different parts of the shell.
 */
export function readShellQuote(line: string, at: number): ShellQuote {
  const quote = line[at] ?? '';
  let text = '';
  let expansionAt: number | undefined;
  for (let index = at + 1; index < line.length; index++) {
    const char = line[index] ?? '';
    const next = line[index + 1] ?? '';
    if (char === quote)
      return { text, end: index + 1, isClosed: true, ...(expansionAt === undefined ? {} : { expansionAt }) };
    if (quote === '"' && char === '\\' && next !== '' && '$`"\\\n'.includes(next)) {
      if (next !== '\n') text += next;
      index++;
      continue;
    }
    if (quote === '"' && (char === '`' || (char === '$' && EXPANDS.test(next)))) expansionAt ??= index;
    text += char;
  }
  return {
    text,
    end: line.length,
    isClosed: false,
    ...(expansionAt === undefined ? {} : { expansionAt }),
  };
}
