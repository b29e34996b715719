import { z } from 'zod';
import { asString, isObject } from '../../core/json.ts';
import { WIRE_NAMES } from '../../core/wire.ts';
import { findBaseUrlFault, PLAIN_HTTP_FAULT, sendsKeyInClear } from '../address.ts';
import { parseModelRef } from '../model-ref.ts';

export const PROVIDER_NAME = /^[a-z][a-z0-9-]{0,63}$/;
export const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

const wireSchema = z.enum(['openai', ...WIRE_NAMES]);

/** The name of a variable, never its value. The error does not repeat what was given: it may be a pasted key. */
export const keyEnvSchema = z
  .string()
  .max(128, 'must be the name of an environment variable, not the key itself')
  .regex(
    VARIABLE_NAME,
    'must be the name of an environment variable, such as OPENAI_API_KEY, not the key itself',
  );

export const baseUrlSchema = z.string().superRefine((text, context) => {
  const fault = findBaseUrlFault(text);
  if (fault) context.addIssue({ code: 'custom', message: fault.what, params: { mend: fault.mend } });
});

const hasKey = (entry: { readonly keyEnv?: unknown; readonly keyFile?: unknown }): boolean =>
  entry.keyEnv !== undefined || entry.keyFile !== undefined;

const providerSchema = z
  .strictObject({
    wire: z
      .union([wireSchema, z.array(wireSchema).min(1)])
      .describe(
        'What the provider speaks: one wire or several. "openai" means openai-chat and openai-responses.',
      ),
    baseUrl: baseUrlSchema.describe('Where its API starts, version included: https://api.openai.com/v1'),
    keyEnv: keyEnvSchema
      .optional()
      .describe(
        "Variable that holds the provider's key. Without a key the caller's own credentials pass through.",
      ),
    keyFile: z
      .string()
      .min(1)
      .optional()
      .describe("File that holds the provider's key, read anew for each request; relative to Instar's home."),
    models: z
      .array(z.string().min(1).max(256))
      .optional()
      .describe('Models it serves, when the list it gives itself should not be asked for.'),
  })
  .check(
    // Also when another member is wrong: every problem is told at once.
    z.refine((entry) => !sendsKeyInClear(asString(entry.baseUrl), hasKey(entry)), {
      when: ({ value }) => isObject(value),
      path: ['baseUrl'],
      error: PLAIN_HTTP_FAULT.what,
      params: { mend: PLAIN_HTTP_FAULT.mend },
    }),
    z.refine((entry) => entry.keyEnv === undefined || entry.keyFile === undefined, {
      when: ({ value }) => isObject(value),
      path: ['keyFile'],
      error: 'is given beside keyEnv',
      params: { mend: 'keep one of the two' },
    }),
  );

const NAME_RULE =
  'names start with a lower-case letter and hold up to 64 lower-case letters, digits and hyphens';

/** Names are checked beside the entries, not before them: a bad name must not hide what else is wrong. */
export const providersSchema = z
  .record(z.string(), providerSchema)
  .superRefine(
    (entries, context) => {
      for (const name of Object.keys(entries).filter((one) => !PROVIDER_NAME.test(one))) {
        context.addIssue({ code: 'custom', message: NAME_RULE, path: [name] });
      }
    },
    { when: ({ value }) => isObject(value) },
  )
  .meta({ propertyNames: { type: 'string', pattern: PROVIDER_NAME.source } });

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
