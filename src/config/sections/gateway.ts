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
  flows: z
    .boolean()
    .default(false)
    .describe(
      'Answer the next call of a learned flow without asking the model, while the conversation follows it.',
    ),
});
