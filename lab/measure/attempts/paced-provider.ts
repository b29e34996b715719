import http, { type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createRandom } from '../../../src/base/random.ts';
import { wires } from '../../../src/wire/wires.ts';

/** What a provider allows, and what goes wrong with it. */
export interface ProviderPace {
  /** Requests at the same time; more are refused with 429. */
  readonly room?: number;
  /** Requests per second, and how many at once; more are refused with 429 and a Retry-After. */
  readonly perSecond?: number;
  readonly burst?: number;
  /** How long an answer takes: evenly between these. */
  readonly ms: readonly [least: number, most: number];
  /** Shares of the requests: the connection breaks, an error 500, no answer at all. */
  readonly faults?: { readonly reset: number; readonly error: number; readonly hang: number };
}

export interface PacedProvider {
  readonly url: string;
  /** So far: requests that were answered, their whole time of service, and those refused. */
  counts(): {
    readonly served: number;
    readonly serviceMs: number;
    readonly refused: number;
    readonly broken: number;
  };
  /** Requests that are being answered now. */
  inside(): number;
  close(): Promise<void>;
}

const wire = wires['openai-chat'];

/** A provider on loopback that answers every task rightly, at its own pace. */
export async function startPacedProvider(pace: ProviderPace, seed: string): Promise<PacedProvider> {
  const random = createRandom(seed);
  const { room = Number.POSITIVE_INFINITY, faults, perSecond, burst = 1 } = pace;
  const counts = { served: 0, serviceMs: 0, refused: 0, broken: 0 };
  const sockets = new Set<Socket>();
  let inside = 0;
  let tokens = burst;
  let filledAt = performance.now();
  const takeToken = (): number | undefined => {
    if (perSecond === undefined) return undefined;
    const now = performance.now();
    tokens = Math.min(burst, tokens + ((now - filledAt) / 1000) * perSecond);
    filledAt = now;
    if (tokens < 1) return (1 - tokens) / perSecond;
    tokens--;
    return undefined;
  };
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const waitS = takeToken();
      if (inside >= room || waitS !== undefined) {
        counts.refused++;
        refuse(response, waitS);
        return;
      }
      const luck = random.next();
      const { reset = 0, error = 0, hang = 0 } = faults ?? {};
      if (luck < reset + error + hang) {
        counts.broken++;
        if (luck < reset) response.destroy();
        else if (luck < reset + error) response.writeHead(500).end('{"error":{"message":"broken"}}');
        return;
      }
      inside++;
      const ms = pace.ms[0] + random.next() * (pace.ms[1] - pace.ms[0]);
      const timer = setTimeout(() => {
        counts.served++;
        counts.serviceMs += ms;
        response.writeHead(200, { 'content-type': 'application/json' }).end(answerTo(chunks));
      }, ms);
      response.on('close', () => {
        clearTimeout(timer);
        inside--;
      });
    });
  });
  server.keepAliveTimeout = 60_000;
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    counts: () => ({ ...counts }),
    inside: () => inside,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function refuse(response: ServerResponse, waitS: number | undefined): void {
  const after = waitS === undefined ? {} : { 'retry-after': waitS.toFixed(3) };
  response.writeHead(429, { 'content-type': 'application/json', ...after });
  response.end('{"error":{"message":"too many requests","type":"rate_limit_error"}}');
}

/** The first time in a folder: the right command. Else the right number. */
function answerTo(chunks: readonly Buffer[]): string {
  const { tools, messages } = wire.decodeRequest(JSON.parse(Buffer.concat(chunks).toString('utf8')));
  const usage = { inputTokens: 400, outputTokens: 20 };
  const start = { type: 'reply-start', id: 'r', model: 'm' } as const;
  const isFirst = tools.length > 0 && !messages.some(({ role }) => role === 'tool');
  const command = JSON.stringify({ command: 'cat sum.txt\necho 42 > answer.txt\ndone' });
  return JSON.stringify(
    wire.encodeReply(
      isFirst
        ? [
            start,
            { type: 'tool-start', id: 'c', name: 'run_command' },
            { type: 'tool-delta', id: 'c', json: command },
            { type: 'reply-end', stop: 'tool-calls', usage },
          ]
        : [start, { type: 'text-delta', text: 'The answer: 42' }, { type: 'reply-end', stop: 'end', usage }],
    ),
  );
}
