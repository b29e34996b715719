import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createText } from '../gateway/traffic.ts';

/** Where chat requests go. */
export interface ChatPlace {
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
}

export interface SentTurn {
  readonly ms: number;
  readonly isWhole: boolean;
}

/** Turns of a session until the next begins. */
const TURNS = 10;
const NEW_TEXT = 1_500;
const SYSTEM_TEXT = 4_000;

/** Turn `nth` of a conversation: the system prompt, all earlier messages, and a new one. */
function requestOf(session: string, nth: number): string {
  const seed = [...session].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 1_000_003, 7);
  const system = { role: 'system', content: `You are an agent. ${createText(3)(SYSTEM_TEXT)}` };
  const rest = Array.from({ length: nth + 1 }, (_, turn) => [
    { role: 'user', content: `${session} turn ${turn}: ${createText(seed + turn)(NEW_TEXT)}` },
    ...(turn < nth ? [{ role: 'assistant', content: `Done ${turn}.` }] : []),
  ]).flat();
  return JSON.stringify({ model: 'bench', messages: [system, ...rest] });
}

/**
 * `perSecond` turns a second over all places for `ms`, conversations of ten turns, each at one place; the next request of a
 * conversation waits for the reply before. Without `perSecond` each of `lanes` conversations sends as fast as it is answered.
 */
export async function sendTurns(
  places: readonly ChatPlace[],
  plan: {
    readonly name: string;
    readonly ms: number;
    readonly lanes: number;
    readonly perSecond?: number;
  },
): Promise<readonly SentTurn[]> {
  const agent = new http.Agent({ keepAlive: true });
  const sent: SentTurn[] = [];
  const startedAt = performance.now();
  const gapMs = plan.perSecond === undefined ? 0 : (1000 * plan.lanes) / plan.perSecond;
  const run = async (lane: number): Promise<void> => {
    const place = places[lane % places.length];
    if (place === undefined) return;
    for (let count = 0; ; count++) {
      const dueAt = startedAt + gapMs * (count + lane / plan.lanes);
      const wait = dueAt - performance.now();
      if (wait > 0) await sleep(wait);
      if (performance.now() - startedAt >= plan.ms) return;
      const session = `${plan.name}-${lane}-${Math.floor(count / TURNS)}`;
      sent.push(await sendTurn(place, agent, session, requestOf(session, count % TURNS)));
    }
  };
  await Promise.all(Array.from({ length: plan.lanes }, (_, lane) => run(lane)));
  agent.destroy();
  return sent;
}

/** One request; resolves when its reply has ended. */
export function sendTurn(
  place: ChatPlace,
  agent: http.Agent,
  session: string,
  body: string,
): Promise<SentTurn> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const end = (isWhole: boolean): void => resolve({ ms: performance.now() - startedAt, isWhole });
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
          'x-instar-agent': 'bench',
          ...place.headers,
        },
      },
      (response) => {
        response.on('data', () => undefined);
        response.on('end', () => end(response.statusCode === 200));
        response.on('error', () => end(false));
      },
    );
    request.on('error', () => end(false));
    request.end(body);
  });
}
