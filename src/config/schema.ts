import { z } from 'zod';
import { asObject, type JsonObject } from '../core/json.ts';
import { gatewaySchema } from './sections/gateway.ts';
import { learnSchema, librarySchema, practiceSchema } from './sections/learning.ts';
import { modelsSchema, providersSchema } from './sections/providers.ts';
import { scheduleSchema, trainSchema } from './sections/slow-work.ts';

const storeSchema = z.strictObject({
  url: z
    .string()
    .regex(/^(sqlite|postgres(ql)?:\/\/\S+)$/, 'must be "sqlite" or a postgres:// URL')
    .default('sqlite')
    .describe('Where facts are kept: a file in the home, or a PostgreSQL server.'),
  keepDays: z
    .int()
    .min(0)
    .max(36_500)
    .default(180)
    .describe('Sessions whose last turn is older are erased; 0 keeps them for ever.'),
  snapshots: z.int().min(0).max(365).default(3).describe('Daily copies of the store to keep; 0 makes none.'),
});

const logSchema = z.strictObject({
  format: z
    .enum(['auto', 'pretty', 'json'])
    .default('auto')
    .describe('Lines for people, JSON lines, or what suits where they go.'),
  level: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('Least level written.'),
});

/** Everything a person may set, each with its default. Unknown keys are errors at every level. */
export const configSchema = z
  .strictObject({
    $schema: z.string().optional().describe('Where editors find the JSON Schema of this file.'),
    gateway: gatewaySchema.prefault({}).describe('The port agents talk to.'),
    providers: providersSchema
      .default({})
      .describe(
        'Where models are, by a name of your choice. Without any, the variables people already have.',
      ),
    models: modelsSchema
      .default({})
      .describe('Names for models: "provider/model", a list (first choice, then fallbacks), or a command.'),
    library: librarySchema.prefault({}).describe('How lessons reach a model.'),
    learn: learnSchema.prefault({}).describe('How failures become skills.'),
    practice: practiceSchema.prefault({}).describe('Practice in quiet hours.'),
    schedule: scheduleSchema.prefault({}).describe('When slow work may run.'),
    train: trainSchema.prefault({}).describe("Training of the policy's weights."),
    store: storeSchema.prefault({}).describe('Where facts are kept.'),
    log: logSchema.prefault({}).describe('Logs, on standard error.'),
  })
  .describe("Instar's settings.");

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

/** The settings in effect: checked and with every default filled in. */
export type Config = DeepReadonly<z.output<typeof configSchema>>;
export type ProviderEntry = Config['providers'][string];

/** What a person may write in config.json, as JSON Schema 2020-12 for editors. */
export const configJsonSchema = (): JsonObject => ({
  title: 'Instar config',
  ...asObject(z.toJSONSchema(configSchema, { io: 'input', target: 'draft-2020-12' })),
});
