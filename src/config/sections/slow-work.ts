import { z } from 'zod';
import { asString, isObject } from '../../core/json.ts';
import { PLAIN_HTTP_FAULT, sendsKeyInClear } from '../address.ts';
import { baseUrlSchema, keyEnvSchema } from './providers.ts';

const CLOCK_TIME = '([01][0-9]|2[0-3]):[0-5][0-9]';

const calendarSchema = z
  .strictObject({
    ics: z.string().min(1).optional().describe('Secret iCalendar address (https) or a file.'),
    google: z.string().min(1).optional().describe('Google calendar id, such as primary.'),
    caldav: z.string().min(1).optional().describe('https address of a CalDAV calendar.'),
    user: z.string().min(1).optional().describe('User name at the CalDAV server.'),
    clientId: z.string().min(1).optional().describe('OAuth client (a desktop app) that asks Google.'),
    keyEnv: keyEnvSchema
      .optional()
      .describe("Variable that holds the CalDAV password, or the Google client's secret."),
  })
  .refine(
    (given) => [given.ics, given.google, given.caldav].filter((one) => one !== undefined).length === 1,
    {
      error: 'must hold exactly one of ics, google and caldav',
    },
  );

const DAY = '(sun|mon|tue|wed|thu|fri|sat|daily|weekdays|weekends)';
const DAYS = `${DAY}(-${DAY})?`;
const STRETCH = `(${DAYS}(, ?${DAYS})* )?${CLOCK_TIME}-(${CLOCK_TIME}|24:00)`;
const HOURS = new RegExp(`^(off|${STRETCH}([,;] ?${STRETCH})*)$`);

/** A stretch that ends when it begins is a slip more often than a wish; the whole day is 00:00-24:00. */
const hasEmptyStretch = (text: string): boolean =>
  [...text.matchAll(/(\d\d:\d\d)-(\d\d:\d\d)/g)].some(([, start, end]) => start === end);

const budgetSchema = z.strictObject({
  minutesPerDay: z.int().min(0).max(1440).default(480).describe('Minutes of slow work a day, over all jobs.'),
  tokensPerDay: z.int().min(0).default(2_000_000).describe('Tokens that slow work may use a day.'),
  usdPerDay: z.number().min(0).default(1).describe('Dollars that slow work may cost a day.'),
});

export const scheduleSchema = z.strictObject({
  sleep: z
    .string()
    .max(1000)
    .regex(
      HOURS,
      'must be "off" or hours such as "23:00-07:00" or "mon-fri 23:00-07:00, sat,sun 01:00-09:00"',
    )
    .refine((text) => !hasEmptyStretch(text), {
      error: 'has hours that end when they begin; the whole day is 00:00-24:00',
    })
    .default('23:00-07:00')
    .describe('When you sleep, local time; slow work may run then. "off" for no such hours.'),
  idleMinutes: z.int().min(1).max(1440).default(30).describe('Minutes without input that count as away.'),
  calendar: calendarSchema.optional().describe('A calendar: in a meeting counts as away.'),
  budget: budgetSchema.prefault({}).describe('What slow work may use a day, at most.'),
});

const tinkerSchema = z
  .strictObject({
    tinker: baseUrlSchema.describe("Base URL of a server that speaks Tinker's protocol."),
    keyEnv: keyEnvSchema.optional().describe('Variable that holds its key.'),
    baseModel: z.string().min(1).describe('Model to train.'),
    tokenizer: z
      .string()
      .min(1)
      .optional()
      .describe("Folder with the model's tokenizer.json and tokenizer_config.json: to answer with it."),
  })
  .check(
    z.refine((entry) => !sendsKeyInClear(asString(entry.tinker), entry.keyEnv !== undefined), {
      when: ({ value }) => isObject(value),
      path: ['tinker'],
      error: PLAIN_HTTP_FAULT.what,
      params: { mend: PLAIN_HTTP_FAULT.mend },
    }),
  );

const serveSchema = z
  .strictObject({
    vllm: baseUrlSchema.describe('Base URL of a vLLM that reads the same files and may load adapters.'),
    keyEnv: keyEnvSchema.optional().describe('Variable that holds its key.'),
    model: z
      .string()
      .min(1)
      .optional()
      .describe("The base model's name at vLLM; that of the model in training unless given."),
  })
  .check(
    z.refine((entry) => !sendsKeyInClear(asString(entry.vllm), entry.keyEnv !== undefined), {
      when: ({ value }) => isObject(value),
      path: ['vllm'],
      error: PLAIN_HTTP_FAULT.what,
      params: { mend: PLAIN_HTTP_FAULT.mend },
    }),
  );

export const trainSchema = z.strictObject({
  engine: z
    .union([z.enum(['nano', 'off']), tinkerSchema])
    .default('nano')
    .describe('What trains the weights: the embedded engine, none, or a server.'),
  serve: serveSchema
    .optional()
    .describe('What answers with the trained weights; the engine that trains them unless given.'),
  loraRank: z.int().min(1).max(512).default(8).describe('Rank of the LoRA adapters.'),
  batchSize: z.int().min(2).max(4096).default(32).describe('Attempts in one training step.'),
  groupSize: z.int().min(2).max(64).default(8).describe('Attempts at one task, held against each other.'),
  steps: z.int().min(1).max(10_000).default(10).describe('Training steps of one window.'),
  live: z
    .boolean()
    .default(false)
    .describe("Also learn from single turns of live traffic, against the agent's running mean."),
});
