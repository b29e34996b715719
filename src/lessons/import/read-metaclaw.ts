import { asNumber, asString, type JsonObject } from '../../core/json.ts';
import type { ForeignNote, LineRemark, ReadNotes } from './foreign-note.ts';
import { readEntries } from './json-entries.ts';
import { readTime, readWords } from './read-mem0.ts';

/** What its extraction writes before the rest of a sentence, after a "never" or "don't" that it has dropped. */
const EXTRACTED = /^(?:Workflow guidance|User preference): /;

/**
 * An export of MetaClaw's memory: `memory export` (JSON Lines) or `memory export-json`. Superseded and archived memories are
 * left out. Its YAML and CSV exports cut and change the texts, so that they are not read.
 */
export const readMetaclaw: ReadNotes = (text) => {
  const { entries, faults } = readEntries(text);
  const notes: ForeignNote[] = [];
  const broken: LineRemark[] = [...faults];
  const leftOut: LineRemark[] = [];
  for (const { line, value } of entries) {
    const words = asString(value.content)?.trim() ?? '';
    const status = asString(value.status) ?? 'active';
    if (words === '') broken.push({ line, why: 'has no text under "content"' });
    else if (status !== 'active') leftOut.push({ line, why: `is ${status} in MetaClaw` });
    else notes.push(noteOf(line, words, value));
  }
  return { notes, faults: broken, leftOut };
};

function noteOf(line: number, content: string, value: JsonObject): ForeignNote {
  const type = asString(value.memory_type);
  const id = asString(value.memory_id);
  const day = (asString(value.updated_at) ?? asString(value.created_at))?.slice(0, 10);
  const expiresAt = readTime(value.expires_at);
  const { importance, confidence } = value;
  return {
    line,
    content,
    ...(type === undefined ? {} : { heading: type.replaceAll('_', ' ') }),
    ...(day === undefined ? {} : { origin: day }),
    ...(id === undefined ? {} : { ref: `metaclaw:${id}` }),
    tags: [...readWords(value.tags), ...readWords(value.topics)],
    ...shareOf('importance', importance),
    ...shareOf('confidence', confidence),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(EXTRACTED.test(content)
      ? {
          doubts: [
            'MetaClaw’s extraction drops a "never" or "don’t" at the start: compare it with what was said',
          ],
        }
      : {}),
  };
}

function shareOf(field: 'importance' | 'confidence', value: unknown): Partial<ForeignNote> {
  const number = asNumber(value);
  return number === undefined ? {} : { [field]: Math.min(1, Math.max(0, number)) };
}
