import { z } from 'zod';
import { parseModelRef } from '../model-ref.ts';

const tierSchema = z.string().refine((text) => parseModelRef(text) !== undefined, {
  error: 'must be "provider/model"',
  params: {
    fix: 'write the name of a provider, a slash and the name of its model, such as "openai/gpt-5.2"',
  },
});

export const routerSchema = z
  .strictObject({
    cheap: tierSchema.describe('The model for requests that it answers as well: "provider/model".'),
    strong: tierSchema.describe('The model for all other requests: "provider/model".'),
    for: z
      .enum(['auto', 'all'])
      .default('auto')
      .describe(
        'Which requests: "auto" for those that name the model "instar/auto", "all" also for those that name one of the two models.',
      ),
    usdPerDay: z
      .number()
      .min(0)
      .max(1_000_000)
      .optional()
      .describe(
        'US dollars a day that served requests should cost at most. The nearer they come, the more often the cheap model is chosen; nothing is refused.',
      ),
  })
  .refine(({ cheap, strong }) => cheap !== strong, {
    path: ['cheap'],
    error: 'is the same model as router.strong: there is nothing to choose',
    params: { fix: 'name two models, or remove "router"' },
  });
