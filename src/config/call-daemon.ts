import { request } from 'node:http';
import { request as requestSafely } from 'node:https';

interface DaemonCall {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** For the whole exchange. */
  readonly timeoutMs: number;
}

interface DaemonReply {
  readonly status: number;
  readonly text: string;
}

/**
 * One HTTP request to a daemon, on this machine or at the address of a team's gateway. Redirects are not followed. Rejects when nothing answers in time or the
 * connection breaks. Plain `node:http`: loading `fetch` takes longer than most commands.
 */
export const callDaemon = (
  record: { readonly url: string },
  path: string,
  { method = 'GET', headers = {}, body, timeoutMs }: DaemonCall,
): Promise<DaemonReply> =>
  new Promise((resolve, reject) => {
    const url = new URL(path, record.url);
    const call = (url.protocol === 'https:' ? requestSafely : request)(
      url,
      { method, headers, agent: false, signal: AbortSignal.timeout(timeoutMs) },
      (reply) => {
        const chunks: Buffer[] = [];
        reply.on('data', (chunk: Buffer) => void chunks.push(chunk));
        reply.on('error', reject);
        reply.on('end', () => {
          resolve({ status: reply.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') });
        });
      },
    );
    call.on('error', reject);
    call.end(body);
  });
