/** One thing that went wrong, before it is made safe to show. */
export interface Finding {
  readonly kind: string;
  readonly file?: string;
  readonly line?: number;
}

/** Reads a text line by line in one pass; one for each way in which tools write about errors. */
export interface LineReader {
  line(text: string): void;
  /** What it found, the most telling first. */
  found(): readonly Finding[];
}

export interface Frame {
  readonly file: string;
  readonly line: number;
}

/** Code that the user did not write: what failed in it was called wrongly from elsewhere. */
const FOREIGN =
  /node_modules\/|site-packages\/|dist-packages\/|\/usr\/lib\/|\/usr\/local\/lib\/|\/lib\/python\d|^node:|^internal\/|^<|^bun:|^ext:|\/pkg\/mod\/|\/go\/src\/|\/rustc\/|\.cargo\/registry|\/vendor\/|\/gems\/|\/lib\/ruby\/|\.pyenv\/|\.nvm\/|\.rbenv\/|webpack-internal:|\/\.venv\/|importlib\/|asyncio\/|threading\.py$/;

/** The runtime itself: its file names tell nobody anything. */
const RUNTIME = /^(?:node|bun|ext):|^<anonymous>$|^internal\//;

/** The frame that went wrong in the user's own code; without any, the deepest that has a file. They go from the deepest outwards. */
export function deepestOwn(frames: readonly Frame[]): Frame | undefined {
  return (
    frames.find(({ file }) => !FOREIGN.test(file.replaceAll('\\', '/'))) ??
    frames.find(({ file }) => !RUNTIME.test(file))
  );
}

/**
 * Reads `file:line` or `file:line:column` at the end of a text, from the right, so that what stands before it costs
 * nothing. `numbers`: how many there have to be.
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
