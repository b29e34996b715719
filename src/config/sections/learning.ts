import { z } from 'zod';

const usd = (fallback: number) => z.number().min(0).max(100_000).default(fallback);

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
});

export const learnSchema = z.strictObject({
  failures: z.int().min(1).max(100).default(3).describe('Failures that start the skill evolver.'),
  maxNewSkills: z.int().min(0).max(20).default(3).describe('Most new skills from one run of it.'),
  flush: z
    .enum(['strict', 'scoped'])
    .default('strict')
    .describe(
      'Which samples leave the training buffer with a new generation: all older, or those it concerns.',
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
