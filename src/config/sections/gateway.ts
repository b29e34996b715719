import { isIP } from 'node:net';
import { z } from 'zod';

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i;

const hostName = z.string().refine((host) => isIP(host) !== 0 || HOST_NAME.test(host), {
  error: 'must be a host name or an IP address',
  params: { fix: 'without scheme, port or path, such as 127.0.0.1' },
});

const forwardedPath = z
  .string()
  .max(256)
  .regex(
    /^(?:\/[A-Za-z0-9_:@-][A-Za-z0-9_:@.-]*)+\/?$/,
    'must be a path of the provider’s API, such as "/files", or "/files/" for everything under it',
  );

const milliseconds = (fallback: number) => z.int().min(1).max(86_400_000).default(fallback);

const timeoutsSchema = z.strictObject({
  connectMs: milliseconds(10_000).describe('Longest wait for a connection to a provider.'),
  headersMs: milliseconds(600_000).describe(
    "Longest wait from the request's last byte to the reply's headers.",
  ),
  firstByteMs: milliseconds(300_000).describe(
    "Longest wait from the reply's headers to the first byte of its body.",
  ),
  idleMs: milliseconds(300_000).describe('Longest pause between two chunks of a reply.'),
});

export const gatewaySchema = z.strictObject({
  port: z.int().min(0).max(65_535).default(4600).describe('Port to listen on; 0 picks a free one.'),
  host: hostName
    .default('127.0.0.1')
    .describe("Address to listen on. Beyond loopback, every caller needs Instar's key."),
  allowedHosts: z
    .array(hostName)
    .default([])
    .describe('Additional host names accepted in the Host header, such as the name of a reverse proxy.'),
  trustedProxy: z
    .boolean()
    .default(false)
    .describe(
      'A reverse proxy that speaks TLS stands before the gateway, and nothing else reaches it. A team beyond loopback needs one.',
    ),
  forward: z
    .array(forwardedPath)
    .default([])
    .describe(
      'Further paths that callers may use with the provider keys of this config: exact, or every path under one that ends with a slash, such as "/files/". Without it caller keys reach models, and the responses and batches that they created themselves.',
    ),
  maxBodyMb: z.int().min(1).max(1024).default(64).describe('Largest request body, in MiB.'),
  maxMessages: z
    .int()
    .min(100)
    .max(1_000_000)
    .default(10_000)
    .describe('Most messages in one request; a request with more of them is refused.'),
  maxInFlight: z
    .int()
    .min(1)
    .max(100_000)
    .default(2000)
    .describe('Maximum number of concurrent requests; further ones are asked to retry later.'),
  timeouts: timeoutsSchema.prefault({}).describe('Time-outs for providers.'),
  retries: z
    .int()
    .min(0)
    .max(10)
    .default(2)
    .describe('Retries per request, only before the first byte was sent to the client.'),
  flows: z
    .boolean()
    .default(false)
    .describe(
      'Answer the next call of a learned flow without asking the model, while the conversation follows it.',
    ),
});
