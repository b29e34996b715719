import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChatPlace } from '../team/send-turns.ts';
import type { PacedTurn } from './person-day.ts';

interface PlayedTurn {
  readonly nth: number;
  /** From the request to the first byte of the reply's body, in milliseconds. */
  readonly firstMs: number;
  readonly isWhole: boolean;
}

const END = 'data: [DONE]';

/**
 * Sends the day to one place, `gapMs` between two turns in the mean, `offsetMs` later than planned. A session's next request waits
 * for the reply to the one before.
 */
export async function playDay(
  plan: readonly PacedTurn[],
  { port, headers }: ChatPlace,
  gapMs: number,
  offsetMs: number,
): Promise<readonly PlayedTurn[]> {
  const agent = new http.Agent({ keepAlive: true });
  const before = new Map<string, Promise<unknown>>();
  const startedAt = performance.now() + offsetMs;
  const all: Promise<PlayedTurn>[] = [];
  for (const turn of plan) {
    const { session } = turn;
    const wait = Math.max(0, startedAt + turn.at * gapMs - performance.now());
    if (wait > 0) await sleep(wait);
    const sent = (before.get(session) ?? Promise.resolve()).then(() => send(turn, { port, headers }, agent));
    before.set(session, sent);
    all.push(sent);
  }
  const played = await Promise.all(all);
  agent.destroy();
  return played;
}

function send(
  { session, nth, isLast, body }: PacedTurn,
  place: ChatPlace,
  agent: http.Agent,
): Promise<PlayedTurn> {
  const sentAt = performance.now();
  return new Promise((resolve) => {
    let firstMs = Number.NaN;
    let tail = '';
    const end = (isWhole: boolean): void => resolve({ nth, firstMs, isWhole });
    const request = http.request(
      {
        agent,
        host: '127.0.0.1',
        port: place.port,
        path: '/v1/chat/completions',
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'x-instar-session': session,
          'x-instar-agent': 'pace',
          ...(isLast ? { 'x-instar-session-done': 'true' } : {}),
          ...place.headers,
        },
      },
      (response) => {
        response.on('data', (chunk: Buffer) => {
          if (Number.isNaN(firstMs)) firstMs = performance.now() - sentAt;
          tail = (tail + chunk.toString('latin1')).slice(-2 * END.length);
        });
        response.on('end', () => end(response.statusCode === 200 && tail.includes(END)));
        response.on('error', () => end(false));
      },
    );
    request.on('error', () => end(false));
    request.end(body);
  });
}
