import type { EmbeddingModel } from '../../../src/core/recall.ts';
import type { HistoryMessage, MemoryEntry } from './memory-set.ts';
import { openPlayedHome, type PlayedHome, type TypedTurn } from './played-home.ts';

/** `first`: each message opens its session. `later`: it follows a small task and its answer. */
export type SaidWhen = 'first' | 'later';

/** What the fresh session's prompt gains, and what the library held. */
export interface PlayedEntry {
  readonly block: string;
  /** A line for each lesson: its state and its description. */
  readonly lessons: readonly string[];
  /** How many of them are notes of what was stated; the others were learned from words after an answer. */
  readonly notes: number;
  /** What compared the question with the lessons; `none` without lessons. */
  readonly engine: string;
}

/** Plays a history through recording, learning without a model, and recall. */
export async function playMemory(
  entry: MemoryEntry,
  embed: EmbeddingModel,
  said: SaidWhen,
): Promise<PlayedEntry> {
  const home = await openPlayedHome(embed, entry.history[0]?.at ?? 0);
  try {
    for (const [nth, message] of entry.history.entries()) {
      const { at, agent, project } = message;
      await home.play({
        session: `${entry.id} ${nth}`,
        at,
        agent,
        project,
        turns: turnsOf(message, nth, said),
      });
    }
    const { id, question, askedAt, agent, project } = entry;
    await home.settle(askedAt);
    const notes = home.noteCount();
    const asked = { session: `${id} fresh`, text: question, at: askedAt, agent, project };
    const { block, engine } = await home.ask(asked);
    return { block, engine, lessons: describeLessons(home), notes };
  } finally {
    await home.close();
  }
}

const describeLessons = ({ lessons }: PlayedHome): readonly string[] =>
  lessons.library.lessons().map(({ state, reason, text }) => {
    const because = reason === undefined ? '' : `: ${reason}`;
    return `(${state}${because}) ${text.name}: ${text.description}`;
  });

/** Small tasks that teach nothing, with an answer each. */
const OPENINGS = [
  ['Give me a short summary of the open points.', 'Three points are open; the first one is the longest.'],
  ['What is next on the list?', 'Next is the small cleanup from yesterday.'],
  ['Draft the status line for today.', 'Done: "On track, two items left."'],
  ['Look over the text from this morning.', 'I read it and changed one sentence.'],
] as const;
const ACKNOWLEDGED = 'Okay.';

function turnsOf({ text }: HistoryMessage, nth: number, said: SaidWhen): readonly TypedTurn[] {
  const words = { role: 'user', content: text } as const;
  if (said === 'first') return [{ request: [words], reply: ACKNOWLEDGED }];
  const [task = '', answer = ''] = OPENINGS[nth % OPENINGS.length] ?? [];
  const opening = { role: 'user', content: task } as const;
  return [
    { request: [opening], reply: answer },
    { request: [opening, { role: 'assistant', content: answer }, words], reply: ACKNOWLEDGED },
  ];
}
