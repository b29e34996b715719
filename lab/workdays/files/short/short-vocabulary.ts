import { MONTH_NAMES } from '../../../../src/text/calendar-names.ts';
import { GIVEN_NAMES, PROJECTS } from '../../make-world/pools.ts';
import { FOLDER_WORDS } from '../folders.ts';
import { type BySplit, nameWords } from '../scene.ts';
import {
  APPEND,
  BOARD_FILE,
  CREATE,
  DOCUMENTS,
  KEYS,
  LOG_FILE,
  STATES,
  UNITS,
  UPDATE,
} from './short-words.ts';

/** Commands, and what rules of either house have one write. */
const WRITTEN = `write append cp set done sha256sum wrote the of and set added a line on DONE log bak meta created_at author status
  pending in_progress _comment Internal not for customers checksums txt OPS T t`;

/** Every word of a short task and of its solution, once: runs of letters as they are written. Figures are left to digits. */
export function shortVocabulary(): readonly string[] {
  const phrasings = [CREATE, UPDATE, APPEND].flatMap((one: BySplit) => Object.values(one).flat());
  const texts = [
    ...phrasings.map((phrasing) => phrasing.replaceAll(/\{\w+\}/g, ' ')),
    ...MONTH_NAMES,
    ...DOCUMENTS.map(([type]) => type),
    ...KEYS,
    ...STATES,
    ...Object.values(UNITS),
    ...FOLDER_WORDS,
    ...GIVEN_NAMES,
    ...PROJECTS.flatMap((project) => nameWords(project)),
    ...[BOARD_FILE, LOG_FILE, 'to', 'at', 'from', WRITTEN],
  ];
  return [...new Set(texts.flatMap(lettersIn))].sort();
}

/** Runs of letters. */
export const lettersIn = (text: string): readonly string[] => text.match(/[A-Za-z]+/g) ?? [];
