import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
  /** Resolves when the gateway closes this exchange before the provider has ended it. */
  readonly abandoned: Promise<void>;
}

export type Reply = (request: SeenRequest, response: ServerResponse, nth: number) => void | Promise<void>;

export interface Provider {
  readonly url: string;
  readonly port: number;
  readonly seen: readonly SeenRequest[];
  close(): Promise<void>;
}

/** A real HTTP server with scripted replies, faults included. `nth` counts requests from 1. */
export async function startProvider(reply: Reply): Promise<Provider> {
  const seen: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  const server = http.createServer(
    { keepAliveTimeout: 0 },
    (request: IncomingMessage, response: ServerResponse) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('error', () => undefined);
      request.on('end', () => {
        const abandoned = new Promise<void>((resolve) => {
          response.on('close', () => {
            if (!response.writableFinished) resolve();
          });
        });
        const { method = '', url = '', headers } = request;
        const one: SeenRequest = { method, url, headers, body: Buffer.concat(chunks), abandoned };
        seen.push(one);
        void reply(one, response, seen.length);
      });
    },
  );
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    seen,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** A port on which nothing listens. */
export async function closedPort(): Promise<number> {
  const server = http.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}
