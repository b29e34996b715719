/** One error, before it is made safe to show. */
export interface ErrorFinding {
  readonly kind: string;
  readonly file?: string;
  readonly line?: number;
}

/** Reads a text line by line in one pass; one reader per error format. */
export interface LineReader {
  line(text: string): void;
  /** Most specific first. */
  found(): readonly ErrorFinding[];
}

export interface Frame {
  readonly file: string;
  readonly line: number;
}

/** Library code: an error in it was caused by its caller. */
const FOREIGN =
  /node_modules\/|site-packages\/|dist-packages\/|^\/usr\/(?:lib|include|share|libexec)\/|\/usr\/lib\/|\/usr\/local\/lib\/|\/lib\/python\d|^node:|^internal\/|^<|^bun:|^ext:|^dart:|^package:(?:flutter|matcher|test)|\/pkg\/mod\/|\/go\/src\/|\/rustc\/|\.cargo\/registry|(?:^|\/)vendor\/|\/gems\/|\/lib\/ruby\/|\.pyenv\/|\.nvm\/|\.rbenv\/|webpack-internal:|\/\.venv\/|importlib\/|asyncio\/|threading\.py$|^\.{0,2}\/?(?:\.\.\/)*(?:sysdeps|libraries|csu)\/|libsanitizer\/|(?:^|\/)(?:react-dom|vue|angular)[\w.]{0,40}\.js$|\/deps\/|^Swift\//;

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

const MAX_KIND = 56;
const MAX_NAME = 40;
const MAX_WORDS = 6;
/** File names that mean nothing without their folder. */
const GENERIC = /^(?:index|mod|__init__|page|route)\.[a-z]{1,5}$/i;

/**
 * A finding as a line that is safe in a prompt: names and numbers only. Program output is untrusted, so only an
 * identifier, a file name and a line number pass, each too short for a sentence.
 */
export function formatFinding({ kind, file, line }: ErrorFinding): string {
  const what = cleanKind(kind);
  const where = file === undefined ? '' : cleanFile(file);
  if (where === '') return what;
  return line === undefined ? `${what} @ ${where}` : `${what} @ ${where}:${Math.trunc(line)}`;
}

function cleanKind(kind: string): string {
  const plain = kind
    .replace(/[^A-Za-z0-9_.:/#@[\]+= '-]/g, '')
    .replace(/(?<![A-Za-z])'|'(?![A-Za-z])/g, '')
    .slice(0, 200);
  return plain.split(' ').map(lastWords).join(' ').slice(0, MAX_KIND).trim() || 'Error';
}

/** `requests.exceptions.ReadTimeout` becomes `ReadTimeout`; a name of many words keeps the last ones. */
function lastWords(word: string): string {
  const name = word.replace(/^(?:[a-z_]\w{0,60}\.){1,12}(?=[A-Za-z])/, '');
  const parts = name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? [];
  return parts.length <= MAX_WORDS ? name : parts.slice(-MAX_WORDS).join('');
}

function cleanFile(file: string): string {
  const parts =
    file
      .replaceAll('\\', '/')
      .split(/[?#]/, 1)[0]
      ?.split('/')
      .filter((part) => part !== '' && part !== '.') ?? [];
  const base = parts.at(-1) ?? '';
  if (/^<\w{1,20}>$/.test(base)) return 'inline';
  const name = shorten(base);
  const folder = parts.at(-2);
  return folder === undefined || !GENERIC.test(base) ? name : `${shorten(folder)}/${name}`;
}

/** A name that is too long keeps its first words and its extension. */
function shorten(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_.-]/g, '');
  const words = plain.match(/[A-Z]?[a-z]+|[A-Z]+|\d+/g) ?? [];
  if (plain.length <= MAX_NAME && words.length <= MAX_WORDS) return plain;
  const dot = plain.lastIndexOf('.');
  const ending = dot > 0 && plain.length - dot <= 6 ? plain.slice(dot) : '';
  return `${words
    .slice(0, 2)
    .join('_')
    .slice(0, MAX_NAME / 2)}~${ending}`;
}
