import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterEach, expect, it, vi } from 'vitest';
import { createInstarClient } from '../../plugins/shared/instar-client.ts';
import { asObject, parseJson } from '../../src/core/json.ts';
import { closedPort } from '../support/provider.ts';

interface Arrived {
  readonly kind: unknown;
  readonly repeatKey: unknown;
}

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** An Instar that answers its n-th request as it is told; `silence`: not at all. */
async function listen(
  arrived: Arrived[],
  replies: readonly (number | 'silence')[],
  port = 0,
): Promise<string> {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const status = replies[arrived.length] ?? 200;
      const { kind } = asObject(parseJson(Buffer.concat(chunks).toString()));
      arrived.push({ kind, repeatKey: request.headers['idempotency-key'] });
      if (status !== 'silence') response.writeHead(status).end('{}');
    });
  });
  await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const clientOf = (url: string, timeoutMs = 5_000) =>
  createInstarClient({ client: 'pi', url, key: 'k' }, { timeoutMs, pauseMs: 100 });
const kindsOf = (arrived: readonly Arrived[]) => arrived.map(({ kind }) => kind);

it('what is reported while Instar is away arrives when it is back, in order, and nobody waits for it', async () => {
  const port = await closedPort();
  const client = clientOf(`http://127.0.0.1:${port}`);
  client.report({ kind: 'tool_outcome' });
  client.report({ kind: 'run_end' });
  // Resolves although nothing was sent; the time is never reached.
  await client.flush(600_000);
  const arrived: Arrived[] = [];
  await listen(arrived, [], port);
  await vi.waitFor(() => expect(kindsOf(arrived)).toEqual(['tool_outcome', 'run_end']), 20_000);
});

it('an event whose reply did not come is sent again under the key of the first time', async () => {
  const arrived: Arrived[] = [];
  const client = clientOf(await listen(arrived, ['silence']), 200);
  client.report({ kind: 'tool_outcome' });
  client.report({ kind: 'run_end' });
  await vi.waitFor(() => expect(kindsOf(arrived).slice(-1)).toEqual(['run_end']), 20_000);
  const keys = arrived.filter(({ kind }) => kind === 'tool_outcome').map(({ repeatKey }) => repeatKey);
  expect(keys.length).toBeGreaterThanOrEqual(2);
  expect(new Set(keys).size).toBe(1);
  expect(arrived.at(-1)?.repeatKey).not.toBe(keys[0]);
});

it('a rating follows the events before it and is delivered with its reply', async () => {
  const arrived: Arrived[] = [];
  const client = clientOf(await listen(arrived, [403]));
  client.report({ kind: 'run_end', session: 's' });
  expect((await client.deliver('/v1/feedback', { kind: 'rating' })).status).toBe(200);
  // The event was refused with its session and told without it, before anything else.
  expect(kindsOf(arrived)).toEqual(['run_end', 'run_end', 'rating']);
});

it('a program that was busy itself longer than the limit does not take Instar for away', async () => {
  const worker = new Worker(
    `const { createServer } = require('node:http');
     const { parentPort } = require('node:worker_threads');
     const server = createServer((_, response) => response.end('{}'));
     server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
    { eval: true },
  );
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  const client = clientOf(`http://127.0.0.1:${port}`, 2_000);
  const asked = client.ask('GET', '/healthz');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000);
  expect((await asked).status).toBe(200);
  await worker.terminate();
});
