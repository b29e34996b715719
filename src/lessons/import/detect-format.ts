import { basename } from 'node:path';
import { SKILL_FILE } from '../skill-files/skill-file.ts';
import type { ImportFormat } from './foreign-note.ts';
import { readEntries } from './json-entries.ts';
import { ACE_BULLET } from './read-ace.ts';

/** Characters that are looked at. */
const SEARCHED = 64 * 1024;

/** The format of a file, by what it says rather than by its name; undefined when nothing tells. Folders hold skills. */
export function detectFormat(path: string, text: string): ImportFormat | undefined {
  const name = basename(path).toLowerCase();
  if (name === SKILL_FILE.toLowerCase()) return 'skills';
  const head = text.slice(0, SEARCHED);
  const start = head.trimStart().charAt(0);
  if (start === '{' || start === '[') return detectJson(head);
  if (head.split('\n').some((line) => ACE_BULLET.test(line))) return 'ace';
  if (/\.ya?ml$/.test(name)) return /\binstructions:/.test(head) ? 'youtu' : undefined;
  if (/^---\s*\n/.test(head) && /^(?:name|description):/m.test(head)) return 'skills';
  return /\.(?:md|mdc|markdown|txt)$|^\.(?:cursor|windsurf|cline)rules$/.test(name) ? 'markdown' : undefined;
}

function detectJson(head: string): ImportFormat | undefined {
  for (const { value } of readEntries(head).entries) {
    if (typeof value.memory === 'string') return 'mem0';
    if (typeof value.content === 'string' && ('memory_type' in value || 'memory_id' in value))
      return 'metaclaw';
    if (Object.keys(value).some((key) => /^G\d{1,5}$/.test(key))) return 'youtu';
  }
  return /"G\d{1,5}"\s*:/.test(head) ? 'youtu' : undefined;
}
