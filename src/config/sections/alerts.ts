import { z } from 'zod';
import { ALERT_EVENTS } from '../../core/alert.ts';
import { keyEnvSchema } from './providers.ts';
import { hoursSchema } from './slow-work.ts';
import { receiverSchema } from './traces.ts';

export const alertsSchema = z.strictObject({
  url: receiverSchema('alerts').describe('Address that each alert is posted to, as JSON.'),
  secretEnv: keyEnvSchema
    .optional()
    .describe(
      'Environment variable with the secret that messages are signed with (HMAC-SHA256, the headers of Standard Webhooks). Absent: they are not signed.',
    ),
  events: z
    .array(z.enum(ALERT_EVENTS))
    .min(1)
    .default([...ALERT_EVENTS])
    .describe(
      'What is told: budget (80 % of a day’s budget of learning, of background jobs or of a key), decision, rule, degraded.',
    ),
  quiet: hoursSchema
    .optional()
    .describe(
      'Hours in which nothing is sent; what was held is sent together after them. Default: schedule.sleep.',
    ),
  content: z
    .boolean()
    .default(false)
    .describe(
      'Also send the titles of lessons and rules, which have words of people. Otherwise their ids alone.',
    ),
});
