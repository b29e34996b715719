import { z } from 'zod';
import { asString, isObject } from '../../core/json.ts';
import { PLAIN_HTTP_FAULT, sendsKeyInClear } from '../address.ts';
import { baseUrlSchema, keyEnvSchema, perMillion } from './providers.ts';

const CLOCK_TIME = '([01][0-9]|2[0-3]):[0-5][0-9]';

/** Which calendars each further key is for. */
const CALENDAR_OPTIONS: Readonly<Record<string, readonly ('google' | 'caldav')[]>> = {
  user: ['caldav'],
  clientId: ['google'],
  keyEnv: ['caldav', 'google'],
};

const calendarSchema = z
  .strictObject({
    ics: z.string().min(1).optional().describe('Private iCalendar address (https) or a file.'),
    google: z
      .string()
      .min(1)
      .optional()
      .describe('Secret address in iCal format of a Google calendar, which its settings show.'),
    caldav: z.string().min(1).optional().describe('https address of a CalDAV calendar.'),
    user: z.string().min(1).optional().describe('User name at the CalDAV server.'),
    clientId: z
      .string()
      .min(1)
      .optional()
      .describe('No longer used: a Google calendar is read by its secret address.'),
    keyEnv: keyEnvSchema.optional().describe('Environment variable with the CalDAV password.'),
  })
  .refine(
    (given) => [given.ics, given.google, given.caldav].filter((one) => one !== undefined).length === 1,
    {
      error: 'must have exactly one of ics, google and caldav',
    },
  )
  .superRefine((given, context) => {
    for (const [key, kinds] of Object.entries(CALENDAR_OPTIONS))
      if (given[key as keyof typeof given] !== undefined && kinds.every((kind) => given[kind] === undefined))
        context.addIssue({
          code: 'custom',
          path: [key],
          message: `has no effect here: it belongs to ${kinds.join(' and ')}`,
          params: { fix: 'remove it' },
        });
  });

const DAY = '(sun|mon|tue|wed|thu|fri|sat|daily|weekdays|weekends)';
const DAYS = `${DAY}(-${DAY})?`;
const STRETCH = `(${DAYS}(, ?${DAYS})* )?${CLOCK_TIME}-(${CLOCK_TIME}|24:00)`;
const HOURS = new RegExp(`^(off|${STRETCH}([,;] ?${STRETCH})*)$`);

/** Hours that end when they begin are probably a mistake; the whole day is 00:00-24:00. */
const hasEmptyHours = (text: string): boolean =>
  [...text.matchAll(/(\d\d:\d\d)-(\d\d:\d\d)/g)].some(([, start, end]) => start === end);

/** Hours of the week, or `off`. */
export const hoursSchema = z
  .string()
  .max(1000)
  .regex(HOURS, 'must be "off" or hours such as "23:00-07:00" or "mon-fri 23:00-07:00, sat,sun 01:00-09:00"')
  .refine((text) => !hasEmptyHours(text), {
    error: 'has hours that end when they begin; the whole day is 00:00-24:00',
  });

const budgetSchema = z.strictObject({
  tokensPerDay: z
    .int()
    .min(0)
    .default(2_000_000)
    .describe('Maximum tokens of background jobs per day: those that training samples and trains on.'),
  usdPerDay: z
    .number()
    .min(0)
    .default(1)
    .describe(
      'Maximum cost of background jobs per day, in US dollars, by train.engine.price. 0 allows only an engine that costs nothing.',
    ),
});

export const scheduleSchema = z.strictObject({
  sleep: hoursSchema
    .default('23:00-07:00')
    .describe('Your quiet hours, local time, in which background jobs may run; "off" for none.'),
  idleMinutes: z
    .int()
    .min(1)
    .max(1440)
    .default(30)
    .describe('Minutes without input after which you count as away.'),
  calendar: calendarSchema.optional().describe('A calendar; you count as away during its meetings.'),
  budget: budgetSchema.prefault({}).describe('Daily limits for background jobs.'),
});

const tinkerSchema = z
  .strictObject({
    tinker: baseUrlSchema.describe("Base URL of a server that speaks Tinker's protocol."),
    keyEnv: keyEnvSchema.optional().describe('Environment variable with its key.'),
    baseModel: z.string().min(1).describe('Model to train.'),
    profile: z
      .enum(['generic', 'tinker', 'skyrl', 'tuft'])
      .default('generic')
      .describe(
        'Kind of server. SkyRL must be named: it averages losses, samples in place and compiles for each number of sequences. generic finds out the wire format; the rest is as in Tinker.',
      ),
    tokenizer: z
      .string()
      .min(1)
      .optional()
      .describe(
        "Folder with the model's tokenizer.json and tokenizer_config.json, needed to serve its answers.",
      ),
    price: z
      .strictObject({
        prefill: perMillion.describe('US dollars for a million tokens of prompts.'),
        sample: perMillion.describe('US dollars for a million sampled tokens.'),
        train: perMillion.describe('US dollars for a million tokens that are trained on.'),
      })
      .optional()
      .describe(
        'What the server charges. Default: 0 on loopback, else unknown: then nothing is trained before schedule.budget.tokensPerDay is set, which counts its tokens.',
      ),
  })
  .check(
    z.refine((entry) => !sendsKeyInClear(asString(entry.tinker), entry.keyEnv !== undefined), {
      when: ({ value }) => isObject(value),
      path: ['tinker'],
      error: PLAIN_HTTP_FAULT.what,
      params: { fix: PLAIN_HTTP_FAULT.fix },
    }),
  );

const serveSchema = z
  .strictObject({
    vllm: baseUrlSchema.describe(
      'Base URL of a vLLM server that can read the same files and load LoRA adapters at run time.',
    ),
    keyEnv: keyEnvSchema.optional().describe('Environment variable with its key.'),
    model: z
      .string()
      .min(1)
      .optional()
      .describe('Name of the base model at vLLM; default: the name of the model in training.'),
  })
  .check(
    z.refine((entry) => !sendsKeyInClear(asString(entry.vllm), entry.keyEnv !== undefined), {
      when: ({ value }) => isObject(value),
      path: ['vllm'],
      error: PLAIN_HTTP_FAULT.what,
      params: { fix: PLAIN_HTTP_FAULT.fix },
    }),
  );

export const trainSchema = z.strictObject({
  engine: z
    .union([z.enum(['nano', 'off']), tinkerSchema])
    .default('nano')
    .describe('The training engine: nano (embedded), off, or a server.'),
  serve: serveSchema
    .optional()
    .describe('The server that serves the trained weights; default: the training engine.'),
  amount: z
    .enum(['light', 'night', 'long'])
    .default('night')
    .describe(
      'How much one window trains: light, night or long. At a server 1,280, 10,240 or 76,800 attempts and what is sampled beyond them, so that an update has enough to compare.',
    ),
  learningRate: z
    .number()
    .positive()
    .max(1)
    .optional()
    .describe(
      'How far one step moves the weights. Lower it when new weights forget what they could do. Default: what suits the model (0.005 for nano, 0.0005 up to 4 billion parameters, 0.00004 above).',
    ),
  live: z
    .boolean()
    .default(false)
    .describe(
      'Also train on the rewards that single turns of live traffic got from verifiers, people and judges.',
    ),
  effect: z
    .number()
    .min(0.05)
    .max(0.9)
    .default(0.2)
    .describe(
      'The improvement that a test of new weights must be able to show, as a share: the smaller, the more tasks are needed.',
    ),
});
