import net, { type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { KEY, providerAt, startGateway } from '../support/gateway.ts';
import { startProvider } from '../support/provider.ts';
import { ROUTES, requestBody, wholeReply } from '../support/samples.ts';

const open: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** Opens so many connections at once, and sends one request on each as soon as it is open: the head of every reply. */
function sendAtOnce(port: number, count: number, body: string, key: string): Promise<readonly string[]> {
  const head = [
    `POST ${ROUTES['openai-chat']} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ].join('\r\n');
  const one = (): Promise<string> =>
    new Promise((resolve) => {
      let text = '';
      const socket: Socket = net.connect(port, '127.0.0.1', () => socket.write(`${head}\r\n\r\n${body}`));
      open.push(() => void socket.destroy());
      const end = (): void => {
        resolve(text.split('\r\n\r\n', 1)[0] ?? '');
        socket.destroy();
      };
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
        if (text.includes('\r\n\r\n')) end();
      });
      socket.on('error', end);
      socket.on('close', end);
    });
  return Promise.all(Array.from({ length: count }, one));
}

const countBy = (heads: readonly string[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const head of heads) {
    const status = head.split(' ')[1] ?? 'closed';
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
};

describe('many requests at once', () => {
  it.each([
    [780, 'small', ''],
    [300, 'of 200 KB', 'x'.repeat(200_000)],
  ])(
    'S12 each of %i requests (%s) with a key gets a reply: 503 with Retry-After beyond the limit (those beyond the limit of connections were closed without one)',
    async (count, _size, padding) => {
      const waiting: (() => void)[] = [];
      const provider = await startProvider((_request, response) => {
        waiting.push(() => {
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(wholeReply('openai-chat'));
        });
      });
      open.push(() => provider.close());
      const access = { kind: 'own', credentials: () => ({ authorization: 'Bearer sk' }) } as const;
      const providers = [providerAt(provider.url, ['openai-chat'], { access })];
      const gateway = await startGateway({ providers, maxInFlight: 50, maxConnections: 200 });
      open.push(() => gateway.close());
      const body = requestBody('openai-chat', false, `Hello ${padding}`);
      const sent = sendAtOnce(gateway.port, count, body, KEY);
      // All that were admitted are at the provider: those that come now are refused.
      await expect.poll(() => waiting.length, { timeout: 60_000 }).toBe(50);
      const answering = setInterval(() => {
        for (const answer of waiting.splice(0)) answer();
      }, 20);
      const heads = await sent;
      clearInterval(answering);
      const { 200: served = 0, 503: refused = 0, ...others } = countBy(heads);
      expect(others).toEqual({});
      expect([served >= 50, served + refused]).toEqual([true, count]);
      for (const head of heads) if (head.includes(' 503 ')) expect(head).toMatch(/^retry-after: 1\r?$/m);
    },
    120_000,
  );
});
