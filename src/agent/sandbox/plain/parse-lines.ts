import { readShellTokens, type ShellToken } from '../../../text/shell-tokens.ts';
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

/** Signs with a meaning in a real shell that is not supported here: rejected instead of taken literally. */
const UNKNOWN = /^#|[$`*?~()<{}[\]]/;
/** An array index inside of a word, `tickets[0]`, for `set`: not a wildcard. */
const INDEX = /(?<=.)\[\d{1,9}\]/g;
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
  const tokens = readShellTokens(lines);
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index];
    if (token === undefined) continue;
    if (token.kind === 'heredoc') throw unsupported('<');
    if (token.kind === 'word') words.push(wordOf(token));
    else if (token.sign === '|') endCommand();
    else if (token.sign === '>' || token.sign === '>>') {
      const file = tokens[++index];
      if (file?.kind !== 'word') throw new SandboxError(`a file is missing after ${token.sign}`);
      into = { file: wordOf(file), isAppended: token.sign === '>>' };
    } else {
      const next = AFTER[token.sign];
      if (next === undefined) throw unsupported(token.sign);
      const isBlank = words.length === 0 && commands.length === 0 && into === undefined;
      if (isBlank && next === 'always') continue;
      endCommand();
      pipes.push({ after, commands });
      commands = [];
      after = next;
    }
  }
  const isOpen = words.length > 0 || commands.length > 0 || into !== undefined;
  if (isOpen || after !== 'always') {
    endCommand();
    pipes.push({ after, commands });
  }
  return pipes;
}

const unsupported = (sign: string): SandboxError =>
  new SandboxError(`${sign} is not supported: put it in single quotes`);

function wordOf({ text, shape, isClosed }: Extract<ShellToken, { kind: 'word' }>): string {
  if (!isClosed) throw new SandboxError('a quote is not closed');
  const sign = UNKNOWN.exec(shape.replace(INDEX, ''))?.[0];
  if (sign !== undefined) throw unsupported(sign);
  return text;
}
