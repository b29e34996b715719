import { type IncomingMessage, request } from 'node:http';
import { request as requestSafely } from 'node:https';
import type { ToldEvent } from '../core/daemon-api.ts';
import { asObject, parseJson } from '../core/json.ts';
import { PAGE_ROUTES } from './router/page-routes.ts';

/**
 * Events as a running daemon tells them, `hello` first. Ends when the daemon refuses, goes away, or the signal is given;
 * never rejects.
 */
export async function* followFeed(
  { url, key }: { readonly url: string; readonly key: string | undefined },
  signal: AbortSignal,
): AsyncGenerator<ToldEvent, void> {
  const { method, path } = PAGE_ROUTES.feed;
  const address = new URL(path, url);
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const call = (address.protocol === 'https:' ? requestSafely : request)(address, {
    method,
    headers,
    agent: false,
    signal,
  });
  try {
    const reply = await new Promise<IncomingMessage>((resolve, reject) => {
      call.on('response', resolve).on('error', reject).end();
    });
    if (reply.statusCode !== 200) return;
    reply.setEncoding('utf8');
    let [rest, event] = ['', ''];
    for await (const chunk of reply) {
      const lines = `${rest}${chunk}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line.startsWith(EVENT)) event = line.slice(EVENT.length);
        if (line.startsWith(DATA)) yield { event, data: asObject(parseJson(line.slice(DATA.length))) };
      }
    }
  } catch {
    // Whoever follows reads the state itself once nothing more is told.
    return;
  } finally {
    call.destroy();
  }
}

const EVENT = 'event: ';
const DATA = 'data: ';
