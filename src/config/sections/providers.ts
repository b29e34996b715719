import { z } from 'zod';
import { asString, isObject } from '../../core/json.ts';
import { WIRE_NAMES } from '../../core/wire.ts';
import { findBaseUrlFault, PLAIN_HTTP_FAULT, sendsKeyInClear } from '../address.ts';
import { parseModelRef } from '../model-ref.ts';

export const PROVIDER_NAME = /^[a-z][a-z0-9-]{0,63}$/;
export const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

const wireSchema = z.enum(['openai', ...WIRE_NAMES]);

/** The name of an environment variable. The error does not repeat the given value: it may be a pasted key. */
export const keyEnvSchema = z
  .string()
  .max(128, 'must be the name of an environment variable, not the key itself')
  .regex(
    VARIABLE_NAME,
    'must be the name of an environment variable, such as OPENAI_API_KEY, not the key itself',
  );

export const baseUrlSchema = z.string().superRefine((text, context) => {
  const fault = findBaseUrlFault(text);
  if (fault) context.addIssue({ code: 'custom', message: fault.what, params: { fix: fault.fix } });
});

/** US dollars for a million tokens. */
export const perMillion = z.number().min(0).max(100_000);

const priceSchema = z.strictObject({
  input: perMillion.describe('US dollars for a million input tokens.'),
  output: perMillion.describe('US dollars for a million output tokens.'),
  cacheRead: perMillion
    .optional()
    .describe('US dollars for a million input tokens that were read from a cache; default: as input.'),
  cacheWrite: perMillion
    .optional()
    .describe('US dollars for a million input tokens that were written to a cache; default: as input.'),
});

const toolCallsSchema = z.enum(['native', 'text']);

const hasKey = (entry: { readonly keyEnv?: unknown; readonly keyFile?: unknown }): boolean =>
  entry.keyEnv !== undefined || entry.keyFile !== undefined;

const providerSchema = z
  .strictObject({
    wire: z
      .union([wireSchema, z.array(wireSchema).min(1)])
      .describe(
        'API format of the provider, one or several. "openai" means openai-chat and openai-responses.',
      ),
    baseUrl: baseUrlSchema.describe('Base URL of its API, including the version: https://api.openai.com/v1'),
    keyEnv: keyEnvSchema
      .optional()
      .describe("Environment variable with the provider's key. Without one, each client uses its own."),
    keyFile: z
      .string()
      .min(1)
      .optional()
      .describe("File with the provider's key, read for each request; relative to Instar's home."),
    models: z
      .array(z.string().min(1).max(256))
      .optional()
      .describe("Models it serves; replaces the provider's own list."),
    toolCalls: z
      .union([toolCallsSchema, z.record(z.string().min(1).max(256), toolCallsSchema)])
      .optional()
      .describe(
        'How its models call tools. "native" (default): by the API. "text": tools are described in the prompt, and calls that the model writes as text (<tool_call>, fenced or bare JSON) are given to the agent as calls; for small local models that do not use the API for it. One for all models, or by the model\'s name: { "qwen2.5-coder:1.5b": "text" }.',
      ),
    concurrency: z
      .int()
      .min(1)
      .max(1000)
      .optional()
      .describe(
        'How many calls of learning and practice it may have at the same time, over all processes that share a store. What agents ask is served without this limit. Default: no limit of its own.',
      ),
    price: z
      .union([priceSchema, z.record(z.string().min(1).max(256), priceSchema)])
      .optional()
      .describe(
        'What its models cost, in US dollars for a million tokens: { "input": 1.75, "output": 14 } for all of them, or by the model\'s name: { "gpt-5.2": { "input": 1.75, "output": 14 } }. Default: 0 on loopback, else the list price of a known model, else unknown; budgets then count tokens alone.',
      ),
  })
  .check(
    // Also when another member is invalid: every problem is reported at once.
    z.refine((entry) => !sendsKeyInClear(asString(entry.baseUrl), hasKey(entry)), {
      when: ({ value }) => isObject(value),
      path: ['baseUrl'],
      error: PLAIN_HTTP_FAULT.what,
      params: { fix: PLAIN_HTTP_FAULT.fix },
    }),
    z.refine((entry) => entry.keyEnv === undefined || entry.keyFile === undefined, {
      when: ({ value }) => isObject(value),
      path: ['keyFile'],
      error: 'cannot be combined with keyEnv',
      params: { fix: 'keep one of the two' },
    }),
  );

const NAME_RULE =
  'names start with a lower-case letter and have up to 64 lower-case letters, digits and hyphens';

/** Names are checked together with the entries: an invalid name must not hide other problems. */
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

const modelRef = z.string().refine((text) => text === 'off' || parseModelRef(text) !== undefined, {
  error: 'must be "provider/model", or "off" for evolver and judge',
  params: { fix: 'such as "openai/gpt-5.2"' },
});

const commandSchema = z.strictObject({
  command: z
    .enum(['claude', 'codex'])
    .describe('A coding agent with its own subscription, run headless, without tools or permissions.'),
});

export const modelsSchema = z.record(
  z.string().min(1, 'an alias needs a name').max(128, 'names have at most 128 characters'),
  z
    .union([modelRef, z.array(modelRef).min(1), commandSchema])
    .describe(
      'What a name stands for: "provider/model", a list that is tried in order, or the program of a subscription. `default` answers requests that name no model; `evolver`, `judge` and `practice` are what learning uses.',
    ),
);
