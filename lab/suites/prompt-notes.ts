import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Raw feedback in a file that is always in the prompt: what people do who have no lessons. */
interface PromptNotes {
  /** For the end of a system prompt; empty while there are no notes. */
  section(): string;
  /** Feedback on a wrong answer. It is in the section from the next day on. */
  add(feedback: string): void;
  /** Adds what was said since the last call to the file. */
  endDay(): void;
}

/** In characters, without the heading. The newest notes are kept. */
export const NOTES_LIMIT = 6_000;
const HEADING = '## Notes\nWhat the user said about earlier work, newest last.';

/** The file holds one note a line. The same words are noted once, at the place where they were said last. */
export function openPromptNotes(file: string): PromptNotes {
  let kept: readonly string[] = existsSync(file)
    ? readFileSync(file, 'utf8').split('\n').filter(Boolean)
    : [];
  let today: string[] = [];
  return {
    section: () => (kept.length === 0 ? '' : `${HEADING}\n${kept.map((note) => `- ${note}`).join('\n')}`),
    add: (feedback) => {
      today.push(...feedback.split('\n').map((line) => line.trim()));
    },
    endDay: () => {
      kept = newest([...kept, ...today.filter((line) => line !== '')]);
      today = [];
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(file, kept.join('\n'), { mode: 0o600 });
    },
  };
}

function newest(notes: readonly string[]): readonly string[] {
  const once = [...new Set(notes.toReversed())];
  let length = 0;
  const fitting = once.findIndex((note) => {
    length += note.length + '- \n'.length;
    return length > NOTES_LIMIT;
  });
  return (fitting < 0 ? once : once.slice(0, fitting)).toReversed();
}
