import { createHash } from 'node:crypto';
import { principalOfSession } from '../../core/principal.ts';
import type { RecollectQuery } from '../../core/recollection.ts';
import { searchTerms } from '../../lessons/recall/terms.ts';

/** Of one message: who writes more has pasted something. */
const MOST_WORDS = 400;

/** A code for each search term of a text, repeated ones included. Two terms share a code about once in four thousand million pairs. */
export function wordCodes(text: string): Uint32Array {
  const { words, names } = searchTerms(text);
  return Uint32Array.from([...words, ...names].slice(0, MOST_WORDS), codeOf);
}

/** FNV-1a, with its bits mixed once more: neighbouring words would have neighbouring codes. */
function codeOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at++) {
    hash ^= word.charCodeAt(at);
    hash = Math.imul(hash, 0x01000193);
  }
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

export const packCodes = ({ buffer, byteOffset, byteLength }: Uint32Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64');

export function unpackCodes(packed: string): Uint32Array {
  const bytes = Uint8Array.from(Buffer.from(packed, 'base64'));
  return new Uint32Array(bytes.buffer, 0, bytes.byteLength >> 2);
}

type Asker = Pick<RecollectQuery, 'session' | 'agent' | 'project'>;

/** Whose words these are. What one person said to one agent about one project is nobody else's. */
export const ownerOf = ({ session, agent, project = '' }: Asker): string =>
  createHash('sha256')
    .update([principalOfSession(session) ?? '', agent, project].join('\n'))
    .digest('base64url')
    .slice(0, 12);
