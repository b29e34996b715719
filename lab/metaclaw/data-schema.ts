import { z } from 'zod';

const text = z.string({ error: 'must be text in double quotes' });
const filled = text.min(1, 'must not be empty');
/** Becomes a part of a path. */
const plainName = filled.regex(/^\w[\w-]*$/, 'must be a plain name like day01');
const texts = z.record(z.string(), text, { error: 'must be an object of texts' });

/** `all_tests.json`: the days in order. */
export const SUITE_SCHEMA = z.object({
  test: z
    .array(
      z.object({
        id: plainName,
        desc: text.default(''),
        eval: plainName,
        arc: text.optional(),
        preference_tags: z.array(text, { error: 'must be a list of texts' }).default([]),
      }),
      { error: 'must be a list of days' },
    )
    .min(1, 'must hold at least one day')
    .superRefine((days, context) => {
      for (const [index, { id }] of days.entries())
        if (days.findIndex((day) => day.id === id) < index)
          context.addIssue({
            code: 'custom',
            path: [index, 'id'],
            message: `${id} is there twice: each day once`,
          });
    }),
});

/** Nothing of the published data uses it; to leave it out in silence would be another benchmark. */
const update = z
  .array(z.unknown())
  .max(0, 'changes of the workspace between questions are not supported: take them out')
  .optional();

const choice = z.object({
  id: plainName,
  type: z.literal('multi_choice'),
  question: filled,
  feedback: z.object(
    { correct: text, options: texts },
    { error: 'must be an object with correct and options' },
  ),
  eval: z
    .strictObject({
      type: text.optional(),
      options: texts.refine((options) => Object.keys(options).length > 1, 'must hold at least two options'),
      answer: z.array(text, { error: 'must be a list of letters' }).min(1, 'must hold at least one letter'),
    })
    .superRefine(({ options, answer }, context) => {
      const stranger = answer.find((letter) => !Object.hasOwn(options, letter));
      if (stranger !== undefined)
        context.addIssue({
          code: 'custom',
          path: ['answer'],
          message: `${stranger} is none of the options: mend one of them`,
        });
      if (new Set(answer).size < answer.length)
        context.addIssue({
          code: 'custom',
          path: ['answer'],
          message: 'names a letter twice: name each once',
        });
    }),
  update,
});

const files = z.object({
  id: plainName,
  type: z.literal('file_check'),
  question: filled,
  feedback: z.object(
    { correct: text, incorrect: filled },
    { error: 'must be an object with correct and incorrect' },
  ),
  eval: z.strictObject({
    type: text.optional(),
    command: filled,
    expect_exit: z.int({ error: 'must be a whole number' }).min(0).max(255).default(0),
    expect_stdout: text.optional(),
    timeout: z
      .number({ error: 'must be a number of seconds' })
      .positive('must be a number of seconds')
      .max(600)
      .optional(),
  }),
  update,
});

/** `eval/dayNN/questions.json` */
export const QUESTIONS_SCHEMA = z.object({
  rounds: z
    .array(
      z.discriminatedUnion('type', [choice, files], { error: 'must be of type multi_choice or file_check' }),
      {
        error: 'must be a list of questions',
      },
    )
    .min(1, 'must hold at least one question')
    .superRefine((rounds, context) => {
      for (const [index, { id }] of rounds.entries())
        if (rounds.findIndex((round) => round.id === id) < index)
          context.addIssue({
            code: 'custom',
            path: [index, 'id'],
            message: `${id} is there twice: each question once`,
          });
    }),
});

/** By question, `day01/r1`: lines for `sh` that do what it asks. */
export const ORACLE_SCHEMA = z.record(z.string(), z.array(filled).min(1, 'must hold at least one command'), {
  error: 'must be an object of lists of commands',
});

export type DayEntry = z.infer<typeof SUITE_SCHEMA>['test'][number];
export type Round = z.infer<typeof QUESTIONS_SCHEMA>['rounds'][number];
export type ChoiceRound = z.infer<typeof choice>;
export type FilesRound = z.infer<typeof files>;
export type Oracle = z.infer<typeof ORACLE_SCHEMA>;
