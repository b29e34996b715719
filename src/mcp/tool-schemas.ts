import { z } from 'zod';
import { EVENT_KINDS } from '../core/adapt.ts';
import { EPISODE_OUTCOMES } from '../core/evidence.ts';
import { LESSON_KINDS, LESSON_STATES } from '../core/lesson.ts';

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
const said = z
  .array(
    z.object({
      at: z.string(),
      session: z.string(),
      turn: z.string(),
      text: z.string(),
      times: z.array(z.object({ words: z.string(), means: z.string() })),
    }),
  )
  .describe(
    'What the user said about it in earlier conversations, when, and which dates words such as "yesterday" meant.',
  );

export const startInput = z.object({ task, ...asker });
export const startOutput = z.object({ episode: z.string(), lessons: z.string(), ids, said });

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
    .enum(EPISODE_OUTCOMES)
    .describe(
      'success: all that was asked for is done. partial: some of it. failure: none of it, or wrongly.',
    ),
  note,
  wait: z
    .boolean()
    .optional()
    .describe('Wait for the lesson that is drawn from it, for two minutes at most.'),
});
export const endOutput = tallyOutput.extend({
  outcome: z.enum(EPISODE_OUTCOMES),
  learns: z.boolean(),
  learned: z
    .object({
      lessons: z.array(z.object({ id: z.string(), name: z.string(), outcome: z.string() })),
      why: z.string().optional(),
    })
    .optional(),
});

export const pullInput = z.object({
  task: task.optional(),
  name: name('The name of a lesson whose line is in the prompt: answers with its whole text.'),
  limit: z.int().min(1).max(20).optional().describe('The maximum number of lessons.'),
  ...asker,
});
export const pullOutput = z.object({ lessons: z.string(), ids, said });

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

export const eventInput = z.object({
  kind: z
    .string()
    .regex(/^[a-z][a-z0-9_-]{0,63}$/, 'a name such as budget_incident')
    .describe(`What happened: ${EVENT_KINDS.join(', ')}, or another name.`),
  agent: name('The agent that it happened to.'),
  runKind: name('The kind of run, such as nightly-build.'),
  session: name('The session, where there is one.'),
  data: z
    .record(z.string().max(64), z.union([z.string().max(LONGEST_NOTE), z.number(), z.boolean()]))
    .optional()
    .describe('What else is known of it: error, repair, task.'),
});
export const eventOutput = z.object({ taken: z.literal(true) });

/** The server's instructions for the model. */
export const SERVER_INSTRUCTIONS = `Instar remembers what worked and what did not, and hands it on to later work.

- At the beginning of a task that takes more than one step: start_episode with the task in the user's words. It answers with lessons from earlier work. Follow them where they fit; what the user says comes first.
- After each try that could have gone otherwise, and after every error: log_attempt with what was done, what came of it, and whether it worked. Failures are worth the most.
- When the task is over: end_episode, once, with the outcome as it really is. A false success helps nobody.
- pull_experiences looks up lessons in the middle of the work, without an episode: those that fit a task, or the whole text of one that a line names.
- give_feedback passes on what the user thinks of the work. It is not for judging your own.

Leave passwords, keys and private data out of everything you report.`;

export const START_DESCRIPTION = `Begins an episode: one task, from its start to its outcome. Call it before the first step of a task that takes several. Answers with the episode's id, which the other calls need, and with the lessons from earlier work that fit the task.`;

export const ATTEMPT_DESCRIPTION = `Reports one try within an episode: what was done, what came of it, whether it worked. Call it after each command, edit or approach that could have gone otherwise, above all when it failed. Give the error itself, not the whole output.`;

export const END_DESCRIPTION = `Ends an episode with its outcome. Call it once, when the task is done, given up or handed back. When an attempt failed and another one worked, one lesson is drawn from the two; an outcome of failure is learned from together with failures like it.`;

export const PULL_DESCRIPTION = `Looks up earlier work: by task the lessons that fit it, as they would be shown, and what the user said about it in earlier conversations, with dates; by name the whole text of one of which you have only the line. Changes nothing. Use it when you are stuck, or before a step of a new kind, or when the user asks what was said or done before. No lessons is an answer too: then nothing that was learned fits.`;

export const LIST_DESCRIPTION = `Lists what has been learned, by name, with its state: proposed (waits for a person), trial (shown and measured), live, retired, rejected. Changes nothing. For the user's questions about what was learned; to get advice for a task use pull_experiences.`;

export const EVENT_DESCRIPTION = `Reports what happened at run time and may call for a change of the system: a budget that ran out, a test that failed and was repaired, two agents in each other's way. Events that other sessions support become proposals; a person decides about their words.`;

export const FEEDBACK_DESCRIPTION = `Passes on what the user thinks of the work: a score from -1 (wrong) over 0 to 1 (right), best with the user's words as a note. Name what it is about by exactly one of episode, turn or session. Only when the user has said so; not to judge your own work.`;
