import http from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../../../src/base/random.ts';
import type { WireName } from '../../../src/core/wire.ts';

export interface Driver {
  /** Begins one turn, or one feedback; resolves when it is over. Never rejects. */
  step(): Promise<void>;
  readonly acknowledged: ReadonlyMap<string, number>;
  /** Feedback that was confirmed, by turn, with the time. */
  readonly confirmed: ReadonlyMap<string, number>;
  /** Turns by how they ended for the client. */
  readonly ends: ReadonlyMap<string, number>;
}

interface DriverOptions {
  /** Undefined while the daemon is down. */
  readonly port: () => number | undefined;
  readonly callerKey: () => string;
  readonly ownerKey: () => string;
  readonly random: Random;
}

interface Session {
  readonly id: string;
  readonly agent: string;
  readonly wire: WireName;
  readonly task: string;
  readonly client: number;
  readonly length: number;
  readonly isTaught: boolean;
  history: { readonly role: string; readonly content: string }[];
}

const OPEN_SESSIONS = 8;
const ROUTES: Readonly<Record<WireName, string>> = {
  'openai-chat': '/v1/chat/completions',
  'openai-responses': '/v1/responses',
  anthropic: '/v1/messages',
};
const WIRES: readonly WireName[] = ['openai-chat', 'openai-responses', 'anthropic'];
const LEAVE_SHARE = 0.08;
const LONG_SHARE = 0.05;
const TIME_OUT_MS = 60_000;

/** Several agents at work: conversations in all dialects, some long, clients that disconnect, users who correct. */
export function createDriver({ port, callerKey, ownerKey, random }: DriverOptions): Driver {
  const acknowledged = new Map<string, number>();
  const confirmed = new Map<string, number>();
  const ends = new Map<string, number>();
  const open: Session[] = [];
  let made = 0;

  const count = (end: string): void => void ends.set(end, (ends.get(end) ?? 0) + 1);
  const begin = (): Session => {
    const nth = made++;
    // Three sessions in a row are of one client, so that a demand repeats.
    const client = Math.floor(nth / 3);
    return {
      id: `soak-${nth}`,
      agent: `agent-${client % 40}`,
      wire: WIRES[nth % WIRES.length] ?? 'openai-chat',
      task: `Write the invoice amounts of client ${client} into report.md`,
      client,
      length: 1 + Math.floor(random.next() * 6),
      isTaught: client % 4 === 0,
      history: [],
    };
  };

  const turn = async (session: Session, to: number): Promise<void> => {
    const isLong = random.next() < LONG_SHARE;
    const text = session.history.length === 0 ? session.task : 'And now the next page, please.';
    session.history.push({
      role: 'user',
      content: isLong ? `${text}\n${'a line of a log file\n'.repeat(4_000)}` : text,
    });
    const isStream = random.next() < 0.5;
    const isLast = session.history.length >= 2 * session.length - 1;
    const body = {
      model: 'soak/worker',
      stream: isStream,
      ...(session.wire === 'openai-responses' ? { input: session.history } : { messages: session.history }),
      ...(session.wire === 'anthropic' ? { max_tokens: 500 } : {}),
    };
    const headers = {
      authorization: `Bearer ${callerKey()}`,
      'x-instar-session': session.id,
      'x-instar-agent': session.agent,
      ...(isLast ? { 'x-instar-session-done': 'true' } : {}),
    };
    const leaves = isStream && random.next() < LEAVE_SHARE;
    const reply = await post(to, ROUTES[session.wire], body, headers, leaves);
    count(reply.end);
    if (reply.turn !== undefined && reply.end === 'complete') acknowledged.set(reply.turn, Date.now());
    session.history.push({ role: 'assistant', content: 'The amounts are in report.md now.' });
    if (isLast) open.splice(open.indexOf(session), 1);
    if (isLast && session.isTaught && reply.turn !== undefined && reply.end === 'complete')
      await teach(session, reply.turn, to);
  };

  const teach = async (session: Session, about: string, to: number): Promise<void> => {
    const note = `Put the unit U${session.client} behind every amount of client ${session.client}, such as 12.50 U${session.client}.`;
    const reply = await post(
      to,
      '/v1/feedback',
      { turn: about, score: -1, note },
      { authorization: `Bearer ${ownerKey()}` },
      false,
    );
    if (reply.status === 200) confirmed.set(about, Date.now());
    count(reply.status === 200 ? 'feedback' : `feedback refused (${reply.status})`);
  };

  return {
    acknowledged,
    confirmed,
    ends,
    step: async () => {
      const to = port();
      if (to === undefined) return void (await pause(50));
      if (open.length < OPEN_SESSIONS) open.push(begin());
      const session = open[Math.floor(random.next() * open.length)];
      if (session !== undefined) await turn(session, to);
    },
  };
}

interface ClientReply {
  readonly status: number;
  /** `complete`: the client saw a whole reply with status 200. */
  readonly end: string;
  readonly turn: string | undefined;
}

function post(
  port: number,
  path: string,
  body: object,
  headers: Readonly<Record<string, string>>,
  leaves: boolean,
): Promise<ClientReply> {
  return new Promise((resolve) => {
    const request = http.request({
      port,
      host: '127.0.0.1',
      path,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      timeout: TIME_OUT_MS,
    });
    request.on('response', (response) => {
      const { statusCode: status = 0 } = response;
      const named = response.headers['x-instar-turn'];
      const turn = typeof named === 'string' ? named : undefined;
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text = (text + chunk).slice(-4_000);
        if (!leaves) return;
        resolve({ status, end: 'client left', turn });
        request.destroy();
      });
      response.on('end', () => {
        const isError = status !== 200 || /"error":\s*\{|event: error|response\.failed/.test(text);
        resolve({ status, end: !response.complete ? 'cut' : isError ? `error ${status}` : 'complete', turn });
      });
      response.on('error', () => resolve({ status, end: 'cut', turn }));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve({ status: 0, end: 'no reply', turn: undefined }));
    request.end(JSON.stringify(body));
  });
}
