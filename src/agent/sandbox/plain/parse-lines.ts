import { readShellQuote } from '../../../text/shell-quote.ts';
import { SandboxError } from '../workspace-limits.ts';

/** One command of a pipeline: its words, and the file that its output goes to. */
export interface PlainCommand {
  readonly words: readonly string[];
  readonly into?: { readonly file: string; readonly isAppended: boolean };
}

/** Commands joined by `|`, and under which exit status of the previous pipeline they run. */
export interface Pipe {
  readonly after: 'always' | 'success' | 'failure';
  readonly commands: readonly PlainCommand[];
}

type Token = { readonly word: string } | { readonly sign: string };

const SIGNS = ['&&', '||', '>>', '>', '|', ';', '\n'];
/** Signs with a meaning in a real shell that is not supported here: rejected instead of taken literally. */
const UNKNOWN = '$`*?~()&<{}[]!';
/** An array index inside of a word, `tickets[0]`, for `set`: not a wildcard. */
const INDEX = /^\[\d{1,9}\]/;
const AFTER: Readonly<Record<string, Pipe['after']>> = {
  '&&': 'success',
  '||': 'failure',
  ';': 'always',
  '\n': 'always',
};

/** Lines of the plain shell: words with quotes, `>` `>>` `|` `&&` `||` `;`. Throws a SandboxError for anything else. */
export function parseLines(lines: string): readonly Pipe[] {
  const pipes: Pipe[] = [];
  let after: Pipe['after'] = 'always';
  let commands: PlainCommand[] = [];
  let words: string[] = [];
  let into: PlainCommand['into'];
  const endCommand = (): void => {
    if (words.length === 0) throw new SandboxError('a command is missing');
    commands.push({ words, ...(into === undefined ? {} : { into }) });
    words = [];
    into = undefined;
  };
  const tokens = tokensOf(lines);
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index];
    if (token === undefined) continue;
    if ('word' in token) words.push(token.word);
    else if (token.sign === '|') endCommand();
    else if (token.sign === '>' || token.sign === '>>') {
      const file = tokens[++index];
      if (file === undefined || !('word' in file))
        throw new SandboxError(`a file is missing after ${token.sign}`);
      into = { file: file.word, isAppended: token.sign === '>>' };
    } else {
      const isBlank = words.length === 0 && commands.length === 0 && into === undefined;
      if (isBlank && AFTER[token.sign] === 'always') continue;
      endCommand();
      pipes.push({ after, commands });
      commands = [];
      after = AFTER[token.sign] ?? 'always';
    }
  }
  const isOpen = words.length > 0 || commands.length > 0 || into !== undefined;
  if (isOpen || after !== 'always') {
    endCommand();
    pipes.push({ after, commands });
  }
  return pipes;
}

function tokensOf(lines: string): readonly Token[] {
  const tokens: Token[] = [];
  let word: string | undefined;
  const endWord = (): void => {
    if (word !== undefined) tokens.push({ word });
    word = undefined;
  };
  for (let at = 0; at < lines.length; ) {
    const char = lines[at] ?? '';
    const sign = SIGNS.find((one) => lines.startsWith(one, at));
    if (sign !== undefined) {
      endWord();
      tokens.push({ sign });
      at += sign.length;
    } else if (char === '\\') {
      word = (word ?? '') + (lines[at + 1] ?? '');
      at += 2;
    } else if (char === "'" || char === '"') {
      const quoted = readShellQuote(lines, at);
      if (!quoted.isClosed) throw new SandboxError(`a ${char} is not closed`);
      word = (word ?? '') + quoted.text;
      at = quoted.end;
    } else if (/\s/.test(char)) {
      endWord();
      at++;
    } else if (word !== undefined && INDEX.test(lines.slice(at, at + 11))) {
      const end = lines.indexOf(']', at) + 1;
      word += lines.slice(at, end);
      at = end;
    } else {
      if (isUnknown(char, word)) throw new SandboxError(`${char} is not supported: put it in single quotes`);
      word = (word ?? '') + char;
      at++;
    }
  }
  endWord();
  return tokens;
}

/** `!` is a word in `test ! -e x`, and `#` inside of a word is a letter. */
const isUnknown = (char: string, word: string | undefined): boolean =>
  (UNKNOWN.includes(char) && char !== '!') || (char === '#' && word === undefined);
