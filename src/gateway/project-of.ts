import { createHash } from 'node:crypto';
import type { Project } from '../core/fact.ts';
import { asString, parseJson } from '../core/json.ts';
import type { Span } from '../wire/scan.ts';
import { findIn, toNeedle } from './body-places.ts';
import { headerText } from './caller-text.ts';
import type { ClientName } from './client-of.ts';
import type { Clues } from './clues.ts';

/** The caller's project: from its header, else from what the client tells the model. The path itself is not kept. */
export function projectOf(clues: Clues): Project | undefined {
  const { headers, codex } = clues;
  const stated = headerText(headers, 'x-instar-project') ?? statedFolder(clues) ?? codex?.workspace;
  return stated === undefined ? undefined : toProject(stated);
}

interface Mark {
  /** The text before the path. */
  readonly words: Buffer;
  /** The character that ends the path, if not the end of the line. */
  readonly close?: string;
}

/** "Primary working directory: ", "Current working directory: " and the like. */
const PLAIN: Mark = { words: toNeedle('orking directory: ') };
const TITLE: Mark = { words: toNeedle('orking Directory: ') };
const TAG: Mark = { words: toNeedle('<cwd>'), close: '<' };
const BRACKET: Mark = { words: toNeedle('orking Directory ('), close: ')' };

/** How each client writes it; an unknown client may write it in any of these ways. */
const MARKS: Readonly<Record<ClientName, readonly Mark[]>> = {
  'claude-code': [PLAIN],
  codex: [TAG],
  opencode: [PLAIN],
  pi: [PLAIN],
  openclaw: [PLAIN],
  cline: [TITLE, BRACKET],
};
const ALL_MARKS = [PLAIN, TITLE, TAG, BRACKET];
const LONGEST_PATH = 4096;
/** The words may occur in prose before they occur before a path. */
const MOST_SEARCHES = 4;

function statedFolder({ places, client }: Clues): string | undefined {
  const opening = places.opening();
  // A client's own text precedes its users' text; an unknown client's conversation is searched less far.
  const instructions = places.instructions();
  const spans = [instructions, client === undefined && opening ? near(opening) : opening];
  for (const span of spans) {
    if (span === undefined) continue;
    for (const { words, close } of client === undefined ? ALL_MARKS : MARKS[client]) {
      let at = findIn(places.bytes, span, words);
      for (let search = 0; search < MOST_SEARCHES && at >= 0; search++) {
        const path = readPath(places.bytes, at + words.length, close);
        if (path !== undefined) return path;
        at = findIn(places.bytes, [at + words.length, span[1]], words);
      }
    }
  }
  return undefined;
}

const NEAR_BYTES = 32 * 1024;
const near = ([start, end]: Span): Span => [start, Math.min(end, start + NEAR_BYTES)];

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** n, r and t: escapes that do not occur in a path. */
const BREAKS = new Set([0x6e, 0x72, 0x74]);

/** The path that starts at `start` inside a JSON string and ends with the line, the string or `close`. */
function readPath(bytes: Buffer, start: number, close: string | undefined): string | undefined {
  const last = Math.min(bytes.length, start + LONGEST_PATH);
  const closing = close?.charCodeAt(0);
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

/** The folder's name. A home folder is named after its user, so it is labelled `home`. */
function labelOf(path: string): string {
  if (/^(\/root|~|(\/home|\/Users|[A-Za-z]:[\\/]Users)[\\/][^\\/]+)$/.test(path)) return 'home';
  const name = path.split(/[\\/]/).findLast((segment) => segment !== '') ?? path;
  const shown = name.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '�');
  return [...shown].slice(0, 64).join('');
}
