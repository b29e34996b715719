import { readShellTokens } from './shell-tokens.ts';

/** One program of a shell command, as far as it can be parsed without running it. */
export interface Program {
  /** The program itself: without `sudo`, `npx` or `python -m` before it, and without its folder. */
  readonly name: string;
  readonly args: readonly string[];
  /** All words as they were typed, with what runs it. */
  readonly typed: readonly string[];
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
    const { words: typed, joint, writes, heredoc } = piece;
    return [{ name, args, typed, joint, writes, heredoc }];
  });
}

interface Piece {
  readonly words: string[];
  joint: Program['joint'];
  writes: boolean;
  heredoc: boolean;
}

const JOINTS: Readonly<Record<string, Program['joint']>> = {
  '&&': '&&',
  '||': '||',
  '|': '|',
  ';': ';',
  '&': ';',
  '\n': ';',
};

function split(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let piece: Piece = { words: [], joint: '', writes: false, heredoc: false };
  let isTarget = false;
  const endPiece = (joint: Program['joint']): void => {
    if (piece.words.length > 0) pieces.push(piece);
    piece = { words: [], joint, writes: false, heredoc: false };
    isTarget = false;
  };
  for (const token of readShellTokens(text)) {
    if (token.kind === 'heredoc') piece.heredoc = true;
    else if (token.kind === 'sign') {
      const joint = JOINTS[token.sign];
      if (joint !== undefined) endPiece(joint);
      else isTarget = !token.sign.includes('>&');
    } else if (isTarget) {
      if (!token.text.startsWith('/dev/')) piece.writes = true;
      isTarget = false;
    } else if (token.text !== '') piece.words.push(token.text);
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
