import { z } from 'zod';
import { LESSON_PLACE_SETTINGS } from '../../core/lesson.ts';
import { verifierSchema } from './verifiers.ts';

const usd = (fallback: number) => z.number().min(0).max(100_000).default(fallback);

/** Beside 1 for the task. */
const weight = z.number().min(0).max(10).default(0);

const pattern = z.string().min(1).max(200);

const domainSchema = z
  .strictObject({
    domain: z
      .string()
      .regex(/^[a-z][a-z0-9_-]{0,63}$/, 'must be a short lower-case name')
      .describe('Name of the domain.'),
    agent: pattern.optional().describe('Name of the agent; * matches anything.'),
    project: pattern.optional().describe("The name of the project's folder, or its id; * matches anything."),
    runKind: pattern.optional().describe('The kind of run.'),
    keywords: z
      .array(z.string().min(1).max(64))
      .max(64)
      .optional()
      .describe('Keywords, at least one of which occurs in the request.'),
  })
  .describe('A rule that assigns a domain; all given fields must match.');

export const librarySchema = z.strictObject({
  topK: z
    .int()
    .min(0)
    .max(50)
    .default(6)
    .describe(
      'Maximum number of lessons shown with their whole text, besides the rules that people told; 0 shows no lessons at all.',
    ),
  tokenBudget: z
    .int()
    .min(0)
    .max(100_000)
    .default(1500)
    .describe(
      'Tokens that lessons with their whole text may add to a prompt. Rules that people told share half of it; those beyond stand by a line each. Lines of lessons that only may fit add at most 40 % of it, and quotations of earlier words 60 %. A model whose name tells a context of less than 12,000 tokens gets an eighth of that context at most.',
    ),
  place: z
    .enum(LESSON_PLACE_SETTINGS)
    .default('auto')
    .describe(
      "Where lessons stand in a prompt: system (in the system prompt, under headings), message (in the user's words, at the end of the user's message, without a list of further lessons), or auto: message for models whose name says nine billion parameters or fewer, which follow lessons better there (with 1.5 billion, 23 % of rules against 5 %), system for all others. A conversation keeps the place it began with.",
    ),
  autonomy: z
    .enum(['manual', 'guarded', 'autonomous'])
    .default('guarded')
    .describe(
      'Who approves changes: manual (a person; your own words are your approval), guarded (a person or the gate, by kind), autonomous (the gate).',
    ),
  shareAgents: z
    .boolean()
    .optional()
    .describe(
      'What you tell one of your own agents holds for the others, in the same project. Asked by instar connect for the second client; unset or false: each agent keeps to what it was told itself.',
    ),
  domains: z
    .array(domainSchema)
    .max(200)
    .default([])
    .describe('Rules that find the domain of a request when the caller does not name it.'),
});

export const learnSchema = z.strictObject({
  failures: z
    .int()
    .min(1)
    .max(100)
    .default(3)
    .describe(
      'Failures that are collected before a model writes skills from them: 1 learns at once and asks most often.',
    ),
  maxNewSkills: z
    .int()
    .min(0)
    .max(20)
    .default(3)
    .describe('New skills that one such run may add; 0 adds none.'),
  flush: z
    .enum(['strict', 'scoped'])
    .default('strict')
    .describe(
      'Which samples a new generation removes from the training buffer: strict (all older ones) or scoped (those it affects).',
    ),
  verifiers: z
    .array(verifierSchema)
    .max(200)
    .default([])
    .describe('Verifiers that grade the answers of a domain.'),
  compress: z
    .boolean()
    .default(false)
    .describe('Rewrites system prompts of more than 6,000 tokens to under 2,000, for later sessions.'),
  identity: z
    .strictObject({
      reward: z
        .strictObject({
          identity: weight.describe(
            'Weight (β) of how far the answer keeps the core and guarded lines of the identity, according to models.judge.',
          ),
          efficiency: weight.describe(
            'Weight (γ) of how few tokens the attempt used against the median of its group, as far as the task was done.',
          ),
        })
        .prefault({})
        .describe(
          'What rewards of attempts in practice are made of, also for weights that train on them: the weighted mean of the parts, where the reward of the task itself counts 1.',
        ),
    })
    .prefault({})
    .describe('How far who an agent is, and what it uses, count in practice.'),
  budget: z
    .strictObject({
      usdPerDay: usd(1).describe(
        "Maximum cost of learning per day, in US dollars, by the price in the provider's entry or the list price. 0 allows only models that cost nothing.",
      ),
      tokensPerDay: z
        .int()
        .min(0)
        .max(10_000_000_000)
        .default(500_000)
        .describe(
          'Maximum tokens of learning per day, input and output, whatever they cost. The only limit for a model whose price is unknown.',
        ),
    })
    .prefault({})
    .describe(
      'Limits on model calls for learning. A call is made only when its input and its longest reply fit into what is left of the day.',
    ),
});

const practiceAgent = z.enum(['model', 'claude-code', 'codex', 'opencode', 'pi', 'openclaw']);

export const practiceSchema = z.strictObject({
  groupSize: z
    .int()
    .min(2)
    .max(64)
    .default(3)
    .describe(
      'Attempts at each task of practice: more of them find more differences to learn from, and cost more.',
    ),
  temperature: z
    .number()
    .min(0)
    .max(2)
    .default(0.7)
    .describe('How much attempts at a task differ: 0 repeats one answer, 1 varies it widely.'),
  scheduled: z
    .enum(['off', 'free', 'on'])
    .default('free')
    .describe(
      'Whether practice begins by itself in quiet hours. "free": only where the models that it uses cost nothing. "off": only when you ask for it (instar practice run).',
    ),
  agent: z
    .union([practiceAgent, z.array(practiceAgent).min(1).max(6)])
    .default('model')
    .describe(
      'Who attempts the tasks: "model" (models.practice, else models.default; by itself or with tools in a confined folder), a program that works by itself in the same confinement ("claude-code", "codex", "opencode", "pi", "openclaw"), or a list of them. Of a list, each task has one: attempts of different agents are never compared with each other.',
    ),
  tasks: z
    .array(z.string().min(1).max(4096))
    .max(100)
    .default([])
    .describe('Files with tasks, one JSON object a line: prompt, and what an attempt is graded by.'),
  budget: z
    .strictObject({
      usd: usd(5).describe('Maximum cost of one practice session, in US dollars.'),
      tokens: z
        .int()
        .min(0)
        .max(10_000_000_000)
        .default(2_000_000)
        .describe('Maximum tokens of one practice session, of attempts and of learning from them.'),
    })
    .prefault({})
    .describe(
      'Limits of one practice session. An attempt or a call that could pass one of them is not made.',
    ),
});
