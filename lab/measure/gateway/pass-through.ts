import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Dispatcher, Pool } from 'undici';

/**
 * The minimal proxy on Node: reads a request, forwards it, and streams the reply back. The other proxies are compared with it.
 */
const HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'host', 'content-length']);
const pool = new Pool(process.argv[2] ?? '', {
  pipelining: 1,
  keepAliveTimeout: 30_000,
  headersTimeout: 0,
  bodyTimeout: 0,
});

const withoutHop = <T>(headers: Record<string, T | undefined>): Record<string, T> => {
  const kept: Record<string, T> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && !HOP.has(name)) kept[name] = value;
  }
  return kept;
};

function pass(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { method = 'GET', url: path = '/', headers } = request;
    const body = chunks.length === 1 ? (chunks[0] ?? null) : Buffer.concat(chunks);
    pool.dispatch(
      { method, path, headers: withoutHop<string | string[]>(headers), body },
      sendBack(response),
    );
  });
}

function sendBack(response: ServerResponse): Dispatcher.DispatchHandler {
  let upstream: Dispatcher.DispatchController | undefined;
  response.on('drain', () => upstream?.resume());
  response.on('close', () => {
    if (!response.writableFinished) upstream?.abort(new Error('the client left'));
  });
  return {
    onRequestStart: (controller) => {
      upstream = controller;
    },
    onResponseStart: (_controller, status, headers) => {
      const kept = withoutHop<string | string[]>(headers);
      if (headers['content-length'] !== undefined) kept['content-length'] = headers['content-length'];
      response.writeHead(status, kept);
    },
    onResponseData: (controller, chunk) => {
      if (!response.write(chunk)) controller.pause();
    },
    onResponseEnd: () => {
      response.end();
    },
    onResponseError: () => {
      response.destroy();
    },
  };
}

const server = http.createServer({ keepAliveTimeout: 65_000 }, pass);
server.listen(0, '127.0.0.1', 1024, () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('disconnect', () => process.exit(0));
