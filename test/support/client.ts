import http from 'node:http';
import type { JsonObject } from '../../src/core/json.ts';

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
  /** False when the connection broke before the reply was complete. */
  readonly whole: boolean;
}

export interface Ask {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string | Buffer;
  /** Called with the number of body bytes received so far. */
  readonly onBytes?: (bytes: number) => void;
  /** Called with what has arrived so far; return true to disconnect. */
  readonly leaveWhen?: (soFar: Buffer) => boolean;
  /** Sends no content-type. */
  readonly bare?: boolean;
}

/** A plain HTTP client that reports whether a reply arrived completely. */
export function ask(
  port: number,
  { method = 'POST', path, headers = {}, body, onBytes, leaveWhen, bare }: Ask,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request(
      {
        port,
        host: '127.0.0.1',
        method,
        path,
        agent: false,
        headers: { ...(bare || method === 'GET' ? {} : { 'content-type': 'application/json' }), ...headers },
      },
      (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        const settle = (whole: boolean) => {
          const all = Buffer.concat(chunks);
          const { statusCode = 0, headers: got } = response;
          resolve({ status: statusCode, headers: got, body: all, text: all.toString('utf8'), whole });
        };
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          size += chunk.length;
          onBytes?.(size);
          if (leaveWhen?.(Buffer.concat(chunks))) {
            settle(false);
            request.destroy();
          }
        });
        response.on('end', () => settle(response.complete));
        response.on('error', () => settle(false));
        response.on('aborted', () => settle(false));
        if (leaveWhen?.(Buffer.alloc(0))) {
          settle(false);
          request.destroy();
        }
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

/** What the API answers to the owner. */
export async function askOwner(
  { port, ownerKey }: { readonly port: number; readonly ownerKey: string },
  method: string,
  path: string,
  body?: object,
): Promise<JsonObject> {
  const headers = { authorization: `Bearer ${ownerKey}`, 'content-type': 'application/json' };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  return JSON.parse((await ask(port, { method, path, headers, ...sent })).text);
}
