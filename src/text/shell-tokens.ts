export type ShellToken =
  | {
      readonly kind: 'word';
      readonly text: string;
      /** The word with `q` for each quoted or escaped part: what stands in it as it was typed. */
      readonly shape: string;
      /** Its quotations have an end. */
      readonly isClosed: boolean;
    }
  /** `&&`, `||`, `|`, `;`, `&`, a line break, or a redirection such as `>`, `>>`, `2>` and `2>&1`. */
  | { readonly kind: 'sign'; readonly sign: string }
  /** `<<EOF`. Its lines are left out. */
  | { readonly kind: 'heredoc' };

const HEREDOC = /<<-?[ \t]{0,4}(?:['"]?(\w{1,40})['"]?)?/y;
/** A digit or `&` belongs to a redirection where no word stands before it. */
const SIGN = /[12&]?>>?(?:&\d?)?|&&|\|\||[|;&\n]/y;
const SIGN_AFTER_WORD = />>?(?:&\d?)?|&>|&&|\|\||[|;&\n]/y;

/**
 * Splits a shell command into words and signs, in linear time, without running or expanding anything. Every text has tokens: what
 * a caller does not support it refuses itself.
 */
export function readShellTokens(line: string): readonly ShellToken[] {
  const tokens: ShellToken[] = [];
  let word: { text: string; shape: string; isClosed: boolean } | undefined;
  let terminator: string | undefined;
  const add = (text: string, shape: string, isClosed = true): void => {
    word = {
      text: (word?.text ?? '') + text,
      shape: (word?.shape ?? '') + shape,
      isClosed: isClosed && word?.isClosed !== false,
    };
  };
  const endWord = (): void => {
    if (word !== undefined) tokens.push({ kind: 'word', ...word });
    word = undefined;
  };
  for (let at = 0; at < line.length; ) {
    const char = line[at] ?? '';
    const heredoc = matchAt(HEREDOC, line, at);
    const sign = heredoc ?? matchAt(word === undefined ? SIGN : SIGN_AFTER_WORD, line, at);
    if (sign !== undefined) {
      endWord();
      tokens.push(heredoc === undefined ? { kind: 'sign', sign: sign[0] } : { kind: 'heredoc' });
      at += sign[0].length;
      if (heredoc !== undefined) terminator = heredoc[1];
      else if (sign[0] === '\n' && terminator !== undefined) {
        const end = line.indexOf(`\n${terminator}`, at - 1);
        at = end < 0 ? line.length : end + terminator.length + 1;
        terminator = undefined;
      }
    } else if (char === "'" || char === '"') {
      const quoted = readShellQuote(line, at);
      add(quoted.text, 'q', quoted.isClosed);
      at = quoted.end;
    } else if (char === '\\') {
      add(line[at + 1] ?? '', 'q');
      at += 2;
    } else {
      if (/\s/.test(char)) endWord();
      else add(char, char);
      at++;
    }
  }
  endWord();
  return tokens;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

/** A quoted part of a shell line. */
interface ShellQuote {
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
 * a backslash escapes only `$`, a backtick, `"`, `\` and a line break.
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
