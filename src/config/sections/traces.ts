import { z } from 'zod';
import { findBaseUrlFault, sendsKeyInClear } from '../address.ts';
import { keyEnvSchema } from './providers.ts';

/** The address of a program that is told something. */
export const receiverSchema = (what: string) =>
  z.string().superRefine((text, context) => {
    const fault =
      findBaseUrlFault(text) ??
      (sendsKeyInClear(text, true)
        ? {
            what: `would send ${what} over plain http, unencrypted`,
            fix: 'use https; http is allowed for loopback and private addresses only',
          }
        : undefined);
    if (fault) context.addIssue({ code: 'custom', message: fault.what, params: { fix: fault.fix } });
  });

export const tracesSchema = z
  .strictObject({
    url: receiverSchema('traces')
      .optional()
      .describe(
        'Address of a receiver of OpenTelemetry traces (OTLP over HTTP), such as http://127.0.0.1:6006: spans go to /v1/traces under it. Absent: nothing is sent.',
      ),
    headersEnv: keyEnvSchema
      .optional()
      .describe(
        'Environment variable with headers for the receiver, such as its key: "name=value,name=value", as in OTEL_EXPORTER_OTLP_HEADERS.',
      ),
    content: z
      .boolean()
      .default(false)
      .describe(
        'Send the words of requests, replies and notes as well, redacted as they are recorded. Without it spans have names, numbers and ids alone.',
      ),
  })
  .refine(({ url, headersEnv }) => url !== undefined || headersEnv === undefined, {
    path: ['url'],
    error: 'is missing: the other settings of traces have no effect without it',
    params: { fix: 'set traces.url to the address of the receiver' },
  });
