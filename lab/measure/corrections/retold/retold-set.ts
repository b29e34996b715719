import { z } from 'zod';
import { findThanks } from '../../../../src/reader/cues/reaction-phrases.ts';
import { foldWords } from '../../../../src/reader/own-sentences.ts';
import { type CorrectionRow, MalformedRowError, parseCorrectionSet } from '../correction-set.ts';
import { renderStory } from '../render-story.ts';

const RULE = z.strictObject({
  rule: z.string(),
  about: z.string(),
  /** A lesson that teaches the rule has one of these. */
  needed: z.array(z.string()).min(1),
  /** What the user has taken back. */
  gone: z.array(z.string()).optional(),
});
const TOLD = z.strictObject({
  /** Null: words about one answer, praise or a new task, which teach nothing. */
  rule: z.string().nullable(),
  task: z.string(),
  answer: z.string(),
  words: z.string(),
  replaces: z.boolean().optional(),
});
const USER = z.strictObject({ id: z.string(), rules: z.array(RULE).min(1), told: z.array(TOLD).min(1) });

/** One user, the rules that this user wants to be followed, and all that the user said in the order of time. */
export type RetoldUser = z.infer<typeof USER>;

/** Reads a set, a JSON object on each line. Throws a `MalformedRowError` that names the line. */
export function parseRetoldSet(text: string, file: string): readonly RetoldUser[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const where = `${file}, line ${index + 1}`;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      throw new MalformedRowError(`${where}: it is not a JSON object`);
    }
    const { data, error } = USER.safeParse(value);
    if (data === undefined) throw new MalformedRowError(`${where}: ${z.prettifyError(error)}`);
    const known = new Set(data.rules.map(({ rule }) => rule));
    const stranger = data.told.find(({ rule }) => rule !== null && !known.has(rule));
    if (stranger !== undefined)
      throw new MalformedRowError(`${where}: "rules" has no rule "${stranger.rule}"`);
    return [data];
  });
}

/** What the user files as feedback: not praise, and not a question. */
export const filedWords = ({ told }: RetoldUser, nth: number): string | undefined => {
  const words = told[nth]?.words ?? '';
  const isFiled = !findThanks(foldWords(words)) && !/[?？]\s*$/.test(words);
  return isFiled ? words : undefined;
};

const CLIENTS = ['claude-code', 'codex', 'openclaw', 'openai'];

/** Each telling is a session of its own: the task, the answer, and what the user typed then, unless it is filed as feedback. */
export const rowOf = ({ id, told }: RetoldUser, index: number, isFiled: boolean): CorrectionRow => {
  const client = CLIENTS[index % CLIENTS.length] ?? 'openai';
  const sessions = told.map(({ task, answer, words }) => ({
    messages: renderStory(client, [
      { user: task },
      { agent: answer },
      ...(isFiled ? [] : [{ user: words }, { agent: 'Okay.' }]),
    ]),
  }));
  const [row] = parseCorrectionSet(JSON.stringify({ id, client, sessions, must_show: null }));
  if (row === undefined) throw new MalformedRowError(`${id} has no session`);
  return row;
};
