import { z } from 'zod';
import { MalformedEntryError, type MemoryEntry } from './memory-set.ts';

/** A message that teaches nothing: a task, a question, a reaction, the state of a thing, pasted text. */
export interface NothingMessage {
  readonly id: string;
  readonly sort: string;
  readonly text: string;
}

const MESSAGE = z.object({ id: z.string().min(1), sort: z.string().min(1), text: z.string().min(1) });

/** Reads a set, a JSON object on each line. Throws a `MalformedEntryError` that names the line. */
export const parseNothingSet = (text: string, file: string): readonly NothingMessage[] =>
  text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const { data, error } = MESSAGE.safeParse(JSON.parse(line));
    if (data === undefined)
      throw new MalformedEntryError(`${file}, line ${index + 1}: ${z.prettifyError(error)}`);
    return [data];
  });

const DAY_MS = 86_400_000;
const FIRST_DAY = Date.UTC(2026, 0, 5, 9);

/** The message as a history of its own. Its lessons are looked at, not what a question would be shown. */
export const entryOf = ({ id, text }: NothingMessage): MemoryEntry => ({
  id,
  kind: 'nothing',
  history: [{ text, at: FIRST_DAY, agent: 'assistant', project: 'work' }],
  question: 'What is next?',
  askedAt: FIRST_DAY + DAY_MS,
  agent: 'assistant',
  project: 'work',
  wanted: [],
  isAbstention: false,
  mustNot: [],
});
