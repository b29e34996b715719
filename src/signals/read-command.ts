import { readShellQuote } from '../text/shell-quote.ts';

/** One program of a shell command, as far as it can be parsed without running it. */
export interface Program {
  /** The program itself: without `sudo`, `npx` or `python -m` before it, and without its folder. */
  readonly name: string;
  readonly args: readonly string[];
  /** The operator between it and the program before it. */
  readonly joint: '' | '&&' | '||' | ';' | '|';
  /** Its output is redirected to a file. */
  readonly writes: boolean;
  /** Its input is a heredoc in the command. */
  readonly heredoc: boolean;
}

const COMMAND_CAP = 8000;
const SHELLS = new Set(['bash', 'sh', 'zsh', 'dash', 'fish']);
/** Programs that run the program after them, with their number of own arguments. */
const WRAPPERS: ReadonlyMap<string, number> = new Map([
  ['sudo', 0],
  ['env', 0],
  ['time', 0],
  ['nice', 0],
  ['nohup', 0],
  ['exec', 0],
  ['xargs', 0],
  ['stdbuf', 0],
  ['timeout', 1],
  ['npx', 0],
  ['bunx', 0],
  ['uvx', 0],
]);
const TWO_WORD_WRAPPERS = new Set([
  'pnpm exec',
  'pnpm dlx',
  'yarn exec',
  'yarn dlx',
  'npm exec',
  'uv run',
  'poetry run',
  'pipenv run',
  'bundle exec',
  'python -m',
  'python3 -m',
]);

/** Parses a shell command into its programs. A subset of the grammar, enough to know what was run. */
export function readCommand(text: string, depth = 0): readonly Program[] {
  return split(text.slice(0, COMMAND_CAP)).flatMap((piece): readonly Program[] => {
    const words = unwrap(piece.words);
    const [first, ...args] = words;
    if (first === undefined) return [];
    const name = first.slice(first.lastIndexOf('/') + 1);
    const inner = SHELLS.has(name) && /^-[a-z]*c$/.test(args[0] ?? '') ? args[1] : undefined;
    if (inner !== undefined && depth < 2) return readCommand(inner, depth + 1);
    return [{ name, args, joint: piece.joint, writes: piece.writes, heredoc: piece.heredoc }];
  });
}

interface Piece {
  readonly words: string[];
  joint: Program['joint'];
  writes: boolean;
  heredoc: boolean;
}

function split(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let piece: Piece = { words: [], joint: '', writes: false, heredoc: false };
  let word = '';
  let isTarget = false;
  let terminator: string | undefined;
  const endWord = () => {
    if (isTarget && word !== '') {
      if (!word.startsWith('/dev/') && !word.startsWith('&')) piece.writes = true;
      isTarget = false;
    } else if (word !== '') piece.words.push(word);
    word = '';
  };
  const endPiece = (joint: Program['joint']) => {
    endWord();
    if (piece.words.length > 0) pieces.push(piece);
    piece = { words: [], joint, writes: false, heredoc: false };
  };
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? '';
    if (char === "'" || char === '"') {
      const quoted = readShellQuote(text, at);
      word += quoted.text;
      at = quoted.end - 1;
    } else if (char === '\\') word += text[++at] ?? '';
    else if (char === ' ' || char === '\t') endWord();
    else if (char === '\n') {
      endPiece(';');
      if (terminator !== undefined) {
        const end = text.indexOf(`\n${terminator}`, at);
        if (end < 0) break;
        at = end + terminator.length;
        terminator = undefined;
      }
    } else if (char === '<' && text[at + 1] === '<') {
      endWord();
      const mark = /^<<-?\s{0,4}['"]?(\w{1,40})['"]?/.exec(text.slice(at, at + 60));
      terminator = mark?.[1];
      piece.heredoc = true;
      at += (mark?.[0].length ?? 2) - 1;
    } else if (char === '>') {
      if (word === '1' || word === '2' || word === '&') word = '';
      endWord();
      if (text[at + 1] === '>') at++;
      isTarget = true;
      if (text[at + 1] === '&') {
        isTarget = false;
        at += 2;
      }
    } else if (char === ';') endPiece(';');
    else if (char === '|') {
      const isOr = text[at + 1] === '|';
      if (isOr) at++;
      endPiece(isOr ? '||' : '|');
    } else if (char === '&') {
      const isAnd = text[at + 1] === '&';
      if (isAnd) at++;
      endPiece(isAnd ? '&&' : ';');
    } else word += char;
  }
  endPiece('');
  return pieces;
}

function unwrap(words: readonly string[]): readonly string[] {
  let rest = words.slice(words.findIndex((word) => !/^\w{1,60}=/.test(word)));
  for (let turn = 0; turn < 6; turn++) {
    const [first = '', second = ''] = rest;
    const skip = TWO_WORD_WRAPPERS.has(`${first} ${second}`) ? 2 : WRAPPERS.has(first) ? 1 : 0;
    if (skip === 0) break;
    let from = skip;
    while (/^(-|\w{1,60}=)/.test(rest[from] ?? '')) from++;
    from += WRAPPERS.get(first) ?? 0;
    if (from >= rest.length) break;
    rest = rest.slice(from);
  }
  return rest;
}
