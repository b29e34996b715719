import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export type Fault =
  | { readonly kind: 'reply'; readonly reply: Reply }
  /** Says nothing, or says it forever. */
  | { readonly kind: 'hang' | 'drip' | 'flood' | 'cut' };

export interface FakeServer {
  readonly url: string;
  readonly seen: readonly Seen[];
  /** What happens instead of the answer, until it is undefined again. */
  fault: Fault | undefined;
  close(): Promise<void>;
}

/** A real server with scripted or faulty answers. */
export async function startFakeServer(answer: (request: Seen) => Reply): Promise<FakeServer> {
  const seen: Seen[] = [];
  const fake: { fault: Fault | undefined } = { fault: undefined };
  const timers = new Set<NodeJS.Timeout>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const one = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body };
      seen.push(one);
      if (fake.fault !== undefined) misbehave(fake.fault, response, timers);
      else send(response, answer(one));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    get fault() {
      return fake.fault;
    },
    set fault(next) {
      fake.fault = next;
    },
    close: () =>
      new Promise((resolve) => {
        for (const timer of timers) clearInterval(timer);
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function send(response: ServerResponse, { status, headers, body }: Reply): void {
  response.writeHead(status, headers);
  response.end(body);
}

function misbehave(fault: Fault, response: ServerResponse, timers: Set<NodeJS.Timeout>): void {
  if (fault.kind === 'reply') send(response, fault.reply);
  if (fault.kind === 'reply' || fault.kind === 'hang') return;
  response.writeHead(200, { 'content-type': 'text/calendar' });
  if (fault.kind === 'cut') {
    response.write('BEGIN:VCAL');
    setTimeout(() => response.destroy(), 20);
    return;
  }
  const chunk = fault.kind === 'drip' ? ' ' : 'X'.repeat(64 * 1024);
  const timer = setInterval(() => response.write(chunk), fault.kind === 'drip' ? 20 : 1);
  timers.add(timer);
  response.on('close', () => clearInterval(timer));
}
