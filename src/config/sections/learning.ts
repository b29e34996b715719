import { z } from 'zod';

const usd = (fallback: number) => z.number().min(0).max(100_000).default(fallback);

const pattern = z.string().min(1).max(200);

const domainSchema = z
  .strictObject({
    domain: z
      .string()
      .regex(/^[a-z][a-z0-9_-]{0,63}$/, 'must be a short lower-case name')
      .describe('What the work is called.'),
    agent: pattern.optional().describe('The agent; * stands for anything.'),
    project: pattern.optional().describe("The project's id."),
    runKind: pattern.optional().describe('The kind of run.'),
    keywords: z.array(z.string().min(1).max(64)).max(64).optional().describe('Words, one of which is said.'),
  })
  .describe('All that is given must fit.');

export const librarySchema = z.strictObject({
  topK: z.int().min(0).max(50).default(6).describe('Most lessons shown to a model in one turn.'),
  tokenBudget: z.int().min(0).max(100_000).default(1500).describe('Most tokens those lessons may take.'),
  autonomy: z
    .enum(['manual', 'guarded', 'autonomous'])
    .default('guarded')
    .describe('Who lets a change in: a person; a person and the gates, by kind; the gates alone.'),
  holdout: z
    .number()
    .min(0)
    .max(0.5)
    .default(0.1)
    .describe('Share of sessions that do not see a lesson, to measure what it does.'),
  domains: z
    .array(domainSchema)
    .max(200)
    .default([])
    .describe('How the domain of work is recognised when the caller does not name it.'),
});

/** Which fields a row has depends on its kind: it is checked by who makes the verifier, at the start. */
const verifierSchema = z
  .record(z.string(), z.unknown())
  .describe(
    'One verifier: domain, kind (exact, number, regex, schema, command, rubric …) and what the kind needs.',
  );

export const learnSchema = z.strictObject({
  failures: z.int().min(1).max(100).default(3).describe('Failures that start the skill evolver.'),
  maxNewSkills: z.int().min(0).max(20).default(3).describe('Most new skills from one run of it.'),
  flush: z
    .enum(['strict', 'scoped'])
    .default('strict')
    .describe(
      'Which samples leave the training buffer with a new generation: all older, or those it concerns.',
    ),
  verifiers: z
    .array(verifierSchema)
    .max(200)
    .default([])
    .describe('Who grades the answers of a domain: rows of domain, kind and what the kind needs.'),
  compress: z
    .strictObject({
      overTokens: z
        .int()
        .min(2000)
        .max(100_000)
        .default(6000)
        .describe('System prompts longer than this many tokens are rewritten.'),
    })
    .optional()
    .describe(
      'Rewrites long system prompts to under 2,000 tokens, for sessions that begin later. Off unless given.',
    ),
  budget: z
    .strictObject({ usdPerDay: usd(1).describe('Most money learning may cost a day, in US dollars.') })
    .prefault({})
    .describe('What learning may cost.'),
});

export const practiceSchema = z.strictObject({
  groupSize: z.int().min(2).max(64).default(3).describe('Attempts at each task.'),
  temperature: z.number().min(0).max(2).default(0.7).describe('Sampling temperature of the attempts.'),
  budget: z
    .strictObject({ usd: usd(5).describe('Most money one practice session may cost, in US dollars.') })
    .prefault({})
    .describe('What practice may cost.'),
});
