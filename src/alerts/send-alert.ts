import { createHmac } from 'node:crypto';
import type { Agent } from 'undici';
import { compact } from '../core/json.ts';
import type { Delivery } from './alert-queue.ts';

interface AlertReceiver {
  readonly url: string;
  /** Absent: what is sent is not signed. */
  readonly secret?: string | undefined;
}

type AlertSent =
  | { readonly ok: true }
  | { readonly ok: false; readonly why: string; readonly retryAfterMs?: number };

const TIMEOUT_MS = 10_000;
const SECRET_PREFIX = 'whsec_';

/** The key of a signature: what stands behind `whsec_` in base64, or the text as it is. */
const keyOf = (secret: string): Buffer =>
  secret.startsWith(SECRET_PREFIX)
    ? Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
    : Buffer.from(secret, 'utf8');

/**
 * The headers of Standard Webhooks: an HMAC-SHA256 over id, time and the bytes of the body. A receiver refuses an old time and an id
 * that it has seen, so that a copied message has no effect.
 */
export function signAlert(id: string, body: string, at: number, secret: string): Record<string, string> {
  const seconds = String(Math.floor(at / 1000));
  const hmac = createHmac('sha256', keyOf(secret)).update(`${id}.${seconds}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${hmac}` };
}

/** `text` is for receivers that show one line each, such as Slack and Mattermost. */
function bodyOf({ id, alerts, dropped }: Delivery): string {
  const lines = alerts.map(({ text }) => text);
  if (dropped > 0) lines.push(`${dropped} earlier alerts were dropped.`);
  return JSON.stringify(
    compact({
      type: 'instar.alerts',
      id,
      text: lines.join('\n'),
      dropped: dropped > 0 ? dropped : undefined,
      alerts,
    }),
  );
}

/** Sends one message at a time; a redirect is not followed. Never rejects. */
export function createAlertSender() {
  const stop = new AbortController();
  let opened: Agent | undefined;
  /** Loaded with the first message: most homes send none. */
  const agentOf = async (): Promise<Agent> => {
    const undici = await import('undici');
    opened ??= new undici.Agent({ connections: 1, keepAliveTimeout: 1_000 });
    return opened;
  };
  return {
    send: async ({ url, secret }: AlertReceiver, delivery: Delivery, at: number): Promise<AlertSent> => {
      const body = bodyOf(delivery);
      const signed =
        secret === undefined ? { 'webhook-id': delivery.id } : signAlert(delivery.id, body, at, secret);
      const address = new URL(url);
      try {
        const agent = await agentOf();
        const reply = await agent.request({
          origin: address.origin,
          path: `${address.pathname}${address.search}`,
          method: 'POST',
          headers: { 'content-type': 'application/json', 'user-agent': 'instar', ...signed },
          body,
          signal: AbortSignal.any([stop.signal, AbortSignal.timeout(TIMEOUT_MS)]),
        });
        reply.body.on('error', () => undefined);
        await reply.body.dump({ limit: 16_384 });
        if (reply.statusCode >= 200 && reply.statusCode < 300) return { ok: true };
        const seconds = Number(reply.headers['retry-after']);
        return compact({
          ok: false as const,
          why: `HTTP ${reply.statusCode}`,
          retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : undefined,
        });
      } catch (error) {
        const { code, message } = error as { readonly code?: string | number; readonly message?: string };
        return { ok: false, why: typeof code === 'string' ? code : (message ?? 'no answer') };
      }
    },
    close: async (): Promise<void> => {
      stop.abort();
      await opened?.destroy();
    },
  };
}
