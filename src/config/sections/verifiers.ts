import path from 'node:path';
import { z } from 'zod';

const text = z.string().min(1).max(2000);
const rightAnswer = z.union([text, z.number()]);
const expected = z.union([rightAnswer, z.array(rightAnswer).min(1).max(100)]);

/** In every kind. */
const domain = z
  .string()
  .min(1)
  .max(200)
  .describe(
    'The domain whose answers it grades; * stands for anything. The first row that fits a domain is used.',
  );

/** The right answer, and where a reply has its own. */
const answer = {
  expected: expected
    .optional()
    .describe('The right answer to every task of the domain, or a list of right answers.'),
  answers: z
    .array(
      z.strictObject({
        task: text.describe('Text that the request contains; case and white space do not matter.'),
        expected: expected.describe('The right answer to this task, or a list of right answers.'),
      }),
    )
    .min(1)
    .max(1000)
    .optional()
    .describe(
      'The right answers to several tasks. An answer that an application reports as an event ({ kind: "expected" }) comes first.',
    ),
  from: z
    .enum(['answer', 'whole'])
    .optional()
    .describe(
      'What is compared: answer (the text in a box or after "answer:", if any) or whole (the whole reply).',
    ),
  field: z
    .string()
    .regex(/^(\/[^/]{1,200}){1,20}$/, 'must be a JSON pointer such as /total/amount')
    .optional()
    .describe("Compares this field of the reply's JSON, named by a JSON pointer such as /total/amount."),
  pattern: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe(
      'Compares what this pattern finds: its first group, or else the whole match; the last match counts.',
    ),
};

const kinds = [
  z.strictObject({
    domain,
    kind: z
      .literal('exact')
      .describe(
        'The answer equals the expected one, apart from white space and case; of a bare number, the number in it.',
      ),
    ...answer,
    isCaseSensitive: z.boolean().optional().describe('Whether upper and lower case differ.'),
    match: z
      .enum(['answer', 'exact'])
      .optional()
      .describe(
        'Whether an expected bare number may stand in a sentence (answer, the default) or not (exact).',
      ),
  }),
  z.strictObject({
    domain,
    kind: z.literal('number').describe('The number in the answer is the expected one; units are ignored.'),
    ...answer,
    tolerance: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe('The largest difference, as a share of the expected number (default: 0.000001).'),
    absoluteTolerance: z
      .number()
      .min(0)
      .optional()
      .describe('The largest difference (default: 0.000000001).'),
  }),
  z.strictObject({
    domain,
    kind: z.literal('regex').describe('The answer matches a pattern.'),
    pattern: z.string().min(1).describe('A regular expression without back references and look-around.'),
    flags: z.string().max(3).optional().describe('Its flags: i, m, s.'),
    match: z
      .enum(['contains', 'whole'])
      .optional()
      .describe('Whether it matches anywhere in the answer (contains) or all of it (whole).'),
  }),
  z.strictObject({
    domain,
    kind: z.literal('schema').describe('The answer is or contains JSON that matches a schema.'),
    schema: z
      .union([z.boolean(), z.record(z.string(), z.unknown())])
      .describe('A JSON Schema: types, enums, objects, arrays, numbers, strings and combinators.'),
  }),
  z.strictObject({
    domain,
    kind: z.literal('rubric').describe('The judge model grades the answer on each criterion (models.judge).'),
    criteria: z
      .array(
        z.strictObject({
          text: text.describe('The criterion, for the model.'),
          weight: z.number().positive().max(1000).optional().describe('Its weight in the mean (default: 1).'),
        }),
      )
      .min(1)
      .max(20)
      .describe('The criteria.'),
  }),
  z.strictObject({
    domain,
    kind: z.literal('module').describe('Your own function.'),
    file: z
      .string()
      .refine((file) => path.isAbsolute(file), 'must be an absolute path')
      .describe('Path of a JavaScript module that exports a function named verify, or a default one.'),
  }),
] as const;

const KINDS: readonly string[] = kinds.map(({ shape }) => shape.kind.value);

/** Kinds that grade attempts of practice; recorded turns give them nothing to grade. */
const NEEDS: Readonly<Record<string, string>> = {
  command: 'it checks the workspace of an attempt, and a recorded turn has none',
  comparative: 'it compares several attempts at one task, and a recorded turn is one',
};

function whyNoKind(kind: unknown): string {
  const missing = typeof kind === 'string' ? NEEDS[kind] : undefined;
  return missing === undefined
    ? `must be one of ${KINDS.join(', ')}`
    : `cannot be "${String(kind)}" here: ${missing}. Move it to the "check" of a practice task (instar practice run --tasks FILE), or use ${KINDS.join(', ')}`;
}

/** A verifier by its kind: an unknown kind and the kinds that cannot grade a recorded turn are refused with the reason. */
export const verifierSchema = z
  .discriminatedUnion('kind', kinds, {
    error: ({ code, input }) =>
      code === 'invalid_union'
        ? whyNoKind(typeof input === 'object' && input !== null && 'kind' in input ? input.kind : undefined)
        : undefined,
  })
  .describe('One verifier.');
