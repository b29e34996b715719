import { createHash } from 'node:crypto';
import type { Project } from '../core/fact.ts';
import { asString, parseJson } from '../core/json.ts';
import type { Span } from '../wire/scan.ts';
import { findIn } from './body-places.ts';
import { headerText } from './caller-text.ts';
import type { Clues } from './clues.ts';

/** Where the caller works: what its header says, else what the client tells the model. Its path is not kept. */
export function projectOf(clues: Clues): Project | undefined {
  const { headers, codex } = clues;
  const stated = headerText(headers, 'x-instar-project') ?? statedFolder(clues) ?? codex?.workspace;
  return stated === undefined ? undefined : toProject(stated);
}

/**
 * The words before a path. Claude Code, OpenCode, pi and OpenClaw write the first in their ways ("Primary working
 * directory: ", "Working directory: "), Cline the second, Codex the third.
 */
const MARKS: readonly { readonly words: string; readonly close: '' | ')' | '<' }[] = [
  { words: 'orking directory: ', close: '' },
  { words: 'orking Directory: ', close: '' },
  { words: '<cwd>', close: '<' },
  { words: 'orking Directory (', close: ')' },
];
const LONGEST_PATH = 4096;

function statedFolder({ places, client }: Clues): string | undefined {
  const opening = places.opening();
  // A client that says where it is says so in front of what users write; what is unknown gets a shorter look.
  const spans = [...places.leading(), ...(opening ? [client === undefined ? near(opening) : opening] : [])];
  for (const span of spans) {
    for (const { words, close } of MARKS) {
      const at = findIn(places.bytes, span, words);
      const path = at < 0 ? undefined : readPath(places.bytes, at + words.length, close);
      if (path !== undefined) return path;
    }
  }
  return undefined;
}

const NEAR_BYTES = 32 * 1024;
const near = ([start, end]: Span): Span => [start, Math.min(end, start + NEAR_BYTES)];

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** n, r and t: escapes that no path has. */
const BREAKS = new Set([0x6e, 0x72, 0x74]);

/** The path that starts here inside a JSON string and ends with its line, the string or `close`. */
function readPath(bytes: Buffer, start: number, close: string): string | undefined {
  const last = Math.min(bytes.length, start + LONGEST_PATH);
  const closing = close === '' ? -1 : close.charCodeAt(0);
  let end = start;
  for (; end < last; end++) {
    const byte = bytes[end];
    if (byte === QUOTE || byte === closing) break;
    if (byte !== BACKSLASH) continue;
    if (BREAKS.has(bytes[end + 1] ?? 0)) break;
    end++;
  }
  if (end >= last) return undefined;
  const path = asString(parseJson(`"${bytes.toString('utf8', start, end)}"`))?.trim();
  return path !== undefined && /^([/~]|[A-Za-z]:[\\/]|\\\\)/.test(path) ? path : undefined;
}

function toProject(path: string): Project {
  const plain = path.length > 1 ? path.replace(/(?<=[^:\\/])[\\/]+$/, '') : path;
  const id = createHash('sha256').update(plain).digest('hex').slice(0, 12);
  return { id, label: labelOf(plain) };
}

/** The folder's name. A home folder's name is its owner's, so that one is called what it is. */
function labelOf(path: string): string {
  if (/^(\/root|~|(\/home|\/Users|[A-Za-z]:[\\/]Users)[\\/][^\\/]+)$/.test(path)) return 'home';
  const name = path.split(/[\\/]/).findLast((segment) => segment !== '') ?? path;
  const shown = name.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '�');
  return [...shown].slice(0, 64).join('');
}
