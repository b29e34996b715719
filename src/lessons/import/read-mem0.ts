import { asArray, asObject, asString, type JsonObject } from '../../core/json.ts';
import type { ForeignNote, LineRemark, ReadNotes } from './foreign-note.ts';
import { readEntries } from './json-entries.ts';

/**
 * An export of mem0: what `get_all` answers, as a list, under `results`, or as JSON Lines. Memories of several users in one
 * file wait for a person: which of them this library serves is not in the file.
 */
export const readMem0: ReadNotes = (text) => {
  const { entries, faults } = readEntries(text);
  const users = new Set(entries.map(({ value }) => userOf(value)).filter((user) => user !== undefined));
  const notes: ForeignNote[] = [];
  const broken: LineRemark[] = [...faults];
  for (const { line, value } of entries) {
    const words = asString(value.memory) ?? asString(value.text);
    if (words === undefined || words.trim() === '') {
      broken.push({ line, why: 'has no text under "memory"' });
      continue;
    }
    const user = userOf(value);
    const day = (asString(value.updated_at) ?? asString(value.created_at))?.slice(0, 10);
    const id = asString(value.id);
    const expiresAt = readTime(value.expiration_date);
    notes.push({
      line,
      content: words.trim(),
      origin: [user === undefined ? undefined : `user ${user}`, day].filter(Boolean).join(', '),
      ...(id === undefined ? {} : { ref: `mem0:${id}` }),
      tags: [
        ...readWords(value.categories),
        ...readWords(asObject(value.metadata).category),
        ...readWords(asObject(value.metadata).tags),
      ],
      ...(expiresAt === undefined ? {} : { expiresAt }),
      ...(users.size > 1
        ? {
            doubts: [
              `the file has memories of ${users.size} users; this one is of ${user ?? 'none of them'}`,
            ],
          }
        : {}),
    });
  }
  return { notes, faults: broken, leftOut: [] };
};

const userOf = (value: JsonObject): string | undefined => asString(value.user_id) ?? asString(value.userId);

/** A word, or a list of words. */
export const readWords = (value: unknown): readonly string[] =>
  (typeof value === 'string' ? [value] : asArray(value)).flatMap((word) => asString(word)?.trim() || []);

/** A date as other programs write it; undefined for none. */
export function readTime(value: unknown): number | undefined {
  const time = Date.parse(asString(value) ?? '');
  return Number.isFinite(time) ? time : undefined;
}
