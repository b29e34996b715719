import { z } from 'zod';
import { LESSON_KINDS, LESSON_STATES } from '../core/lesson.ts';
import { OUTCOMES } from './episode-desk.ts';

const LONGEST_TASK = 8000;
const LONGEST_REPORT = 200_000;
const LONGEST_NOTE = 4000;

const name = (about: string) => z.string().trim().min(1).max(128).optional().describe(about);
const id = (about: string) => z.string().trim().min(1).max(128).describe(about);
const task = z
  .string()
  .trim()
  .min(1, 'State the task.')
  .max(LONGEST_TASK, `Use at most ${LONGEST_TASK} characters.`)
  .describe("The task, in the user's words.");
const note = z
  .string()
  .max(LONGEST_NOTE, `Use at most ${LONGEST_NOTE} characters.`)
  .optional()
  .describe('The reason, in a sentence or two.');
const asker = {
  agent: name('The name under which this agent learns; lessons of other agents are not shown to it.'),
  project: name('The project or repository that the task belongs to.'),
  domain: name('The field of the task, such as "coding" or "mail".'),
};
const report = (about: string) => z.string().max(LONGEST_REPORT).describe(about);
const ids = z.array(z.string());
const count = z.int().min(0);

export const startInput = z.object({ task, ...asker });
export const startOutput = z.object({ episode: z.string(), lessons: z.string(), ids });

export const attemptInput = z.object({
  episode: id('The id that start_episode answered with.'),
  action: report('What was done: the command, the edit, the approach.').min(1, 'State what was done.'),
  result: report('What came of it: the error or the result, without the rest of the output.'),
  ok: z.boolean().describe('Whether it worked.'),
});
export const tallyOutput = z.object({ episode: z.string(), attempts: count, failed: count });

export const endInput = z.object({
  episode: id('The id that start_episode answered with.'),
  outcome: z
    .enum(OUTCOMES)
    .describe(
      'success: all that was asked for is done. partial: some of it. failure: none of it, or wrongly.',
    ),
  note,
});
export const endOutput = tallyOutput.extend({ outcome: z.enum(OUTCOMES), learns: z.boolean() });

export const pullInput = z.object({
  task,
  limit: z.int().min(1).max(20).optional().describe('The maximum number of lessons.'),
  ...asker,
});
export const pullOutput = z.object({ lessons: z.string(), ids });

export const listInput = z.object({
  state: z.enum(LESSON_STATES).optional().describe('Only those in this state.'),
  kind: z.enum(LESSON_KINDS).optional().describe('Only those of this kind.'),
});
export const listOutput = z.object({
  lessons: z.array(
    z.object({
      id: z.string(),
      kind: z.enum(LESSON_KINDS),
      name: z.string(),
      description: z.string(),
      state: z.enum(LESSON_STATES),
      revision: z.int(),
    }),
  ),
  total: count,
});

export const feedbackInput = z.object({
  episode: id('An episode.').optional(),
  turn: id('A turn, as the x-instar-turn header named it.').optional(),
  session: id('A session.').optional(),
  score: z.number().min(-1).max(1).describe('-1: wrong; 0: neither; 1: right.'),
  note,
});
export const feedbackOutput = z.object({ taken: z.literal(true) });
