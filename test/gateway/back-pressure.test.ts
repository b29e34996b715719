import http from 'node:http';
import { describe, expect, it } from 'vitest';
import type { ChatModel } from '../../src/core/chat.ts';
import { noRecord, type TurnOutcome } from '../../src/core/recorder.ts';
import { WIRE_NAMES } from '../../src/core/wire.ts';
import { providerAt, startGateway, type TestGateway } from '../support/gateway.ts';
import { startProvider } from '../support/provider.ts';
import { ROUTES, requestBody } from '../support/samples.ts';

const MB = 1024 * 1024;
/** Two hops of kernel socket buffers on loopback, and a little in the gateway. */
const MOST_AHEAD = 24 * MB;
const IDLE_MS = 1_500;

/** Sends a request, reads nothing until `whenStalled` resolves, then reads everything; returns the number of bytes. */
function readLate(gateway: TestGateway, whenStalled: () => Promise<void>): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = http.request(
      {
        port: gateway.port,
        host: '127.0.0.1',
        method: 'POST',
        path: ROUTES['openai-chat'],
        headers: { 'content-type': 'application/json' },
      },
      (response) => {
        response.pause();
        whenStalled().then(() => {
          let bytes = 0;
          response.on('data', (chunk: Buffer) => {
            bytes += chunk.length;
          });
          response.on('end', () => resolve(bytes));
          response.resume();
        }, reject);
      },
    );
    request.on('error', reject);
    request.end(requestBody('openai-chat', true));
  });
}

/** Resolves when a counter has not changed for 150 ms. A slow machine can only make it resolve too early. */
async function settled(count: () => number): Promise<void> {
  for (let last = -1; last !== count() || last === 0; ) {
    last = count();
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
}

describe('a slow reader', () => {
  it('slows its provider down: of 64 MB little is read ahead, all of it arrives, and no idle time-out fires', async () => {
    let pushed = 0;
    const provider = await startProvider(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const event = Buffer.from(`data: ${'x'.repeat(MB - 8)}\n\n`);
      for (let n = 0; n < 64; n++) {
        if (!response.write(event)) await new Promise((resolve) => response.once('drain', resolve));
        pushed += event.length;
      }
      response.end();
    });
    const gateway = await startGateway({
      providers: [providerAt(provider.url, WIRE_NAMES)],
      timeouts: { idleMs: IDLE_MS },
    });
    let ahead = 0;
    const bytes = await readLate(gateway, async () => {
      await settled(() => pushed);
      ahead = pushed;
      // Longer than the idle time-out, so that a paused provider would be taken for an idle one.
      await new Promise((resolve) => setTimeout(resolve, IDLE_MS + 300));
    });
    expect(ahead).toBeLessThan(MOST_AHEAD);
    expect(bytes).toBe(64 * MB);
    await expect.poll(() => gateway.reports[0]?.end, { timeout: 100_000 }).toBe('complete');
    await gateway.close();
    await provider.close();
  });

  it('slows an embedded model down', async () => {
    let made = 0;
    const eager: ChatModel = async function* () {
      yield { type: 'reply-start', id: 'x', model: 'x' };
      for (; made < 64; made++) yield { type: 'text-delta', text: 'y'.repeat(MB) };
      yield { type: 'reply-end', stop: 'end' };
    };
    const gateway = await startGateway({ welcome: eager });
    let ahead = 0;
    const bytes = await readLate(gateway, async () => {
      await settled(() => made);
      ahead = made;
    });
    expect(ahead).toBeLessThan(MOST_AHEAD / MB);
    expect(bytes).toBeGreaterThan(64 * MB);
    await gateway.close();
  });
});

describe('a recorder that cannot keep up', () => {
  it('slows callers down before a provider is called (but not callers that turn recording off)', async () => {
    let asked = 0;
    const provider = await startProvider((_request, response) => {
      asked++;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"id":"x","choices":[]}');
    });
    let letIn = (): void => undefined;
    const waits: number[] = [];
    const started: string[] = [];
    const gateway = await startGateway({
      providers: [providerAt(provider.url, ['openai-chat'])],
      recorder: {
        room: (bytes) => {
          waits.push(bytes);
          return new Promise((resolve) => {
            letIn = resolve;
          });
        },
        start: ({ turn }) => {
          started.push(turn);
          return noRecord;
        },
      },
    });
    const body = requestBody('openai-chat', false);
    const ask = (headers: Record<string, string> = {}): Promise<number> =>
      fetch(`http://127.0.0.1:${gateway.port}${ROUTES['openai-chat']}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
      }).then(async (reply) => {
        await reply.arrayBuffer();
        return reply.status;
      });
    const slowed = ask();
    while (waits.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(await ask({ 'x-instar-record': 'off' })).toBe(200);
    expect({ asked, started: started.length }).toEqual({ asked: 1, started: 0 });
    letIn();
    expect(await slowed).toBe(200);
    expect({ asked, started: started.length }).toEqual({ asked: 2, started: 1 });
    expect(waits).toEqual([Buffer.byteLength(body)]);
    await gateway.close(0);
    await provider.close();
  });

  it('calls no provider for a client that disconnected while it waited, and records the abort', async () => {
    let asked = 0;
    const provider = await startProvider((_request, response) => {
      asked++;
      response.end('{}');
    });
    let letIn = (): void => undefined;
    const room = new Promise<void>((resolve) => {
      letIn = resolve;
    });
    let isWaiting = false;
    const outcomes: TurnOutcome[] = [];
    const gateway = await startGateway({
      providers: [providerAt(provider.url, ['openai-chat'])],
      recorder: {
        room: () => {
          isWaiting = true;
          return room;
        },
        start: () => ({ ...noRecord, end: (outcome) => void outcomes.push(outcome) }),
      },
    });
    const leaving = new AbortController();
    const left = fetch(`http://127.0.0.1:${gateway.port}${ROUTES['openai-chat']}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: requestBody('openai-chat', false),
      signal: leaving.signal,
    }).catch((error: Error) => error.name);
    const until = async (isSo: () => boolean): Promise<void> => {
      while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
    };
    await until(() => isWaiting);
    leaving.abort();
    expect(await left).toBe('AbortError');
    // Later requests are handled after the disconnect, so the gateway knows of it before there is room.
    for (let n = 0; n < 3; n++) await fetch(`http://127.0.0.1:${gateway.port}/healthz`);
    letIn();
    await until(() => gateway.reports.length > 0);
    expect(asked).toBe(0);
    expect(gateway.reports).toMatchObject([{ end: 'client-abort', tries: 0 }]);
    expect(outcomes).toMatchObject([{ status: 'client-abort', httpStatus: 499 }]);
    await gateway.close(0);
    await provider.close();
  });
});
