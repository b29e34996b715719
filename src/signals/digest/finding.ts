/** One error, before it is made safe to show. */
export interface Finding {
  readonly kind: string;
  readonly file?: string;
  readonly line?: number;
}

/** Reads a text line by line in one pass; one reader per error format. */
export interface LineReader {
  line(text: string): void;
  /** Most specific first. */
  found(): readonly Finding[];
}

export interface Frame {
  readonly file: string;
  readonly line: number;
}

/** Library code: an error in it was caused by its caller. */
const FOREIGN =
  /node_modules\/|site-packages\/|dist-packages\/|\/usr\/lib\/|\/usr\/local\/lib\/|\/lib\/python\d|^node:|^internal\/|^<|^bun:|^ext:|\/pkg\/mod\/|\/go\/src\/|\/rustc\/|\.cargo\/registry|\/vendor\/|\/gems\/|\/lib\/ruby\/|\.pyenv\/|\.nvm\/|\.rbenv\/|webpack-internal:|\/\.venv\/|importlib\/|asyncio\/|threading\.py$/;

/** Frames of the runtime itself, whose file names mean nothing. */
const RUNTIME = /^(?:node|bun|ext):|^<anonymous>$|^internal\//;

/** The deepest frame in the user's own code, else the deepest with a file. `frames` are ordered from the deepest outwards. */
export function deepestOwn(frames: readonly Frame[]): Frame | undefined {
  return (
    frames.find(({ file }) => !FOREIGN.test(file.replaceAll('\\', '/'))) ??
    frames.find(({ file }) => !RUNTIME.test(file))
  );
}

/**
 * Reads `file:line` or `file:line:column` at the end of a text, from the right, so that the text before it costs
 * nothing. `numbers`: how many are required.
 */
export function readPlace(text: string, numbers: 1 | 2): Frame | undefined {
  const numbersRead: number[] = [];
  let end = text.length;
  while (end > 0 && (text[end - 1] === ')' || text[end - 1] === ':' || text[end - 1] === ' ')) end--;
  for (let read = 0; read < numbers; read++) {
    let from = end;
    while (from > 0 && isDigit(text.charCodeAt(from - 1))) from--;
    if (from === end || end - from > 7 || text[from - 1] !== ':') return undefined;
    numbersRead.unshift(Number(text.slice(from, end)));
    end = from - 1;
  }
  const start =
    Math.max(text.lastIndexOf('(', end), text.lastIndexOf(' ', end), text.lastIndexOf("'", end)) + 1;
  const file = text.slice(start, end).replace(/^file:\/\//, '');
  const [line] = numbersRead;
  return file === '' || line === undefined ? undefined : { file, line };
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57;
