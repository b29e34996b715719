import { z } from 'zod';
import { asObject, type JsonObject } from '../core/json.ts';
import { alertsSchema } from './sections/alerts.ts';
import { gatewaySchema } from './sections/gateway.ts';
import { learnSchema, librarySchema, practiceSchema } from './sections/learning.ts';
import { modelsSchema, providersSchema } from './sections/providers.ts';
import { routerSchema } from './sections/router.ts';
import { scheduleSchema, trainSchema } from './sections/slow-work.ts';
import { tracesSchema } from './sections/traces.ts';

const storeSchema = z.strictObject({
  url: z
    .string()
    .regex(/^(?:sqlite|postgres(?:ql)?:\/\/\S+)$/, {
      error: 'must be "sqlite", or the URL of a PostgreSQL: postgres://USER:PASSWORD@HOST/DATABASE',
    })
    .default('sqlite')
    .describe(
      'Where the record is stored: "sqlite", a file in the home, or postgres://USER:PASSWORD@HOST/DATABASE?sslmode=verify-full&sslrootcert=FILE&schema=NAME. Without a password in it PGPASSWORD is used; a server on another machine needs TLS unless sslmode says otherwise. "instar team store migrate" moves a record.',
    ),
  keepDays: z
    .int()
    .min(0)
    .max(36_500)
    .default(180)
    .describe(
      'Sessions whose last turn is older than this many days are erased, after a copy was made and only while the clock can be believed; 0 keeps them forever.',
    ),
  snapshots: z
    .int()
    .min(0)
    .max(365)
    .default(7)
    .describe(
      'Number of daily copies of the record to keep; with 7 or more also one of each of 4 weeks and 3 months. 0 makes none.',
    ),
});

const logSchema = z.strictObject({
  alerts: alertsSchema
    .optional()
    .describe(
      'A webhook that is told when 80 % of a budget of the day is used, a lesson waits for your decision, a rule was broken again, or nothing is recorded. Absent: nothing is sent.',
    ),
  level: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('The lowest level that is logged, on standard error and in logs/instar.log.'),
});

/** All settings with their defaults. Unknown keys are errors at every level. */
export const configSchema = z
  .strictObject({
    $schema: z.string().optional().describe('Path of the JSON Schema of this file, for editors.'),
    gateway: gatewaySchema.prefault({}).describe('The HTTP server that agents connect to.'),
    providers: providersSchema
      .default({})
      .describe('Model providers by a name of your choice. Default: those with a key in the environment.'),
    models: modelsSchema
      .default({})
      .describe('Aliases for models: "provider/model", a list with fallbacks, or a command.'),
    router: routerSchema
      .optional()
      .describe('Chooses between two models by task, price and past outcomes. Absent: off.'),
    library: librarySchema.prefault({}).describe('Which lessons a model is shown.'),
    learn: learnSchema.prefault({}).describe('Learning skills from failures.'),
    practice: practiceSchema
      .prefault({})
      .describe('Practice: tasks are attempted several times, and what the better attempts did is learned.'),
    schedule: scheduleSchema.prefault({}).describe('When background jobs may run.'),
    train: trainSchema.prefault({}).describe("Training of the policy's weights."),
    store: storeSchema.prefault({}).describe('The record.'),
    traces: tracesSchema
      .prefault({})
      .describe('Traces of turns and of learning, for a receiver of OpenTelemetry. Off unless it has a url.'),
    log: logSchema.prefault({}).describe('Logging, on standard error and to a file.'),
  })
  .describe("Instar's settings.");

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

/** The effective settings: validated, with all defaults. */
export type Config = DeepReadonly<z.output<typeof configSchema>>;
export type ProviderEntry = Config['providers'][string];

/** The JSON Schema 2020-12 of config.json, for editors. */
export const configJsonSchema = (): JsonObject => ({
  title: 'Instar config',
  ...asObject(z.toJSONSchema(configSchema, { io: 'input', target: 'draft-2020-12' })),
});
