import { z } from 'zod';
import { parseModelRef } from '../model-ref.ts';

const modelRef = z.string().refine((text) => parseModelRef(text) !== undefined, {
  error: 'must be "provider/model"',
  params: { mend: 'such as "openai/gpt-5.2"' },
});

const commandSchema = z.strictObject({
  command: z
    .enum(['claude', 'codex'])
    .describe('A command line you already pay for, run headless, without tools and without any permission.'),
});

export const modelsSchema = z.record(
  z.string().min(1, 'an alias needs a name').max(128, 'names have at most 128 characters'),
  z.union([modelRef, z.array(modelRef).min(1), commandSchema]),
);
