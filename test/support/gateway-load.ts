import { randomUUID } from 'node:crypto';
import { ask } from './client.ts';
import type { RunningDaemon } from './daemon.ts';
import { ROUTES } from './samples.ts';

/** What the clients of several gateways were told, to be compared with the record. */
export interface Told {
  readonly turns: {
    readonly id: string;
    readonly session: string;
    readonly life: Life;
    readonly at: number;
  }[];
  /** The keys of acknowledged feedback. */
  readonly feedback: string[];
  /** Refused with 503, each time. */
  refused: number;
  /** Why, counted. */
  readonly reasons: Map<string, number>;
  /** Sessions that were erased, and those of which nobody knows. */
  readonly erased: Set<string>;
  readonly unclear: Set<string>;
  /** Requests that a running gateway did not serve. */
  readonly failures: string[];
}

/** One run of a gateway. */
export interface Life {
  readonly daemon: RunningDaemon;
  killedAt?: number;
}

export const nothingTold = (): Told => ({
  turns: [],
  feedback: [],
  refused: 0,
  reasons: new Map(),
  erased: new Set(),
  unclear: new Set(),
  failures: [],
});

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const TURNS_OF_SESSION = 6;

/**
 * A client: conversations one after the other, each turn with its whole history; feedback about some of its turns, with one key
 * until it is acknowledged; older conversations are erased. Turns wait for neither: without an answer both may take a minute. Goes
 * on with the gateway's next life. Until `isOver`.
 */
export async function runClient(
  name: string,
  { life, isOver, told }: { life: () => Life | undefined; isOver: () => boolean; told: Told },
): Promise<void> {
  let messages: object[] = [];
  let rated: { readonly turn: string; readonly key: string } | undefined;
  let aside: Promise<void> | undefined;
  /** One at a time; none is begun before the last one was answered. */
  const beside = (now: Life, work: () => Promise<void>): void => {
    aside ??= work()
      .catch((error: unknown) => failed(now, error))
      .finally(() => {
        aside = undefined;
      });
  };
  /** The gateway was killed: its next life answers. */
  const failed = (now: Life, error: unknown): void => {
    if (life() === now && now.killedAt === undefined) told.failures.push(String(error));
  };
  const refused = (text: string): void => {
    const reason = text
      .replace(/^.*"message":"/, '')
      .replaceAll(/\d+/g, 'N')
      .slice(0, 120);
    told.refused++;
    told.reasons.set(reason, (told.reasons.get(reason) ?? 0) + 1);
  };
  const rate = async (now: Life): Promise<void> => {
    const mine = rated;
    if (mine === undefined) return;
    const sent = await ask(now.daemon.port, {
      path: '/v1/feedback',
      body: JSON.stringify({ turn: mine.turn, score: 1, note: mine.key }),
      headers: { authorization: `Bearer ${now.daemon.ownerKey}`, 'idempotency-key': mine.key },
    });
    if (sent.status === 200) told.feedback.push(mine.key);
    else if (sent.status === 503) refused(sent.text);
    if (sent.status !== 503) rated = undefined;
  };
  const erase = async (now: Life, gone: string): Promise<void> => {
    told.unclear.add(gone);
    const { status, text } = await ask(now.daemon.port, {
      method: 'DELETE',
      path: `/api/sessions/${gone}`,
      headers: { authorization: `Bearer ${now.daemon.ownerKey}` },
    });
    if (status === 200) told.erased.add(gone);
    else if (status === 503) refused(text);
  };
  for (let n = 0; !isOver(); n++) {
    await pause(100);
    const now = life();
    if (now === undefined) continue;
    const session = `${name}-${Math.floor(n / TURNS_OF_SESSION)}`;
    if (n % TURNS_OF_SESSION === 0) messages = [];
    messages.push({
      role: 'user',
      content: `${session}: a Kubernetes pod is in CrashLoopBackOff, step ${n}`,
    });
    try {
      const { status, whole, headers } = await ask(now.daemon.port, {
        path: ROUTES['openai-chat'],
        body: JSON.stringify({ model: 'm', messages }),
        headers: { 'x-instar-key': now.daemon.key, 'x-instar-session': session, 'x-instar-agent': 'builder' },
      });
      messages.push({ role: 'assistant', content: `done ${n}` });
      const id = headers['x-instar-turn'];
      if (status !== 200 || !whole) told.failures.push(`${session} ${status}`);
      else if (typeof id !== 'string') told.failures.push(`${session} was not recorded`);
      else {
        told.turns.push({ id, session, life: now, at: Date.now() });
        // Of every second conversation, and those are not erased.
        if (n % (2 * TURNS_OF_SESSION) === 1) rated ??= { turn: id, key: randomUUID() };
      }
    } catch (error) {
      failed(now, error);
    }
    if (rated !== undefined && n % 3 === 2) beside(now, () => rate(now));
    const old = Math.floor(n / TURNS_OF_SESSION) - 1;
    const gone = `${name}-${old}`;
    // While its gateway was down a conversation had no turn.
    if (n % (2 * TURNS_OF_SESSION) === 5 && old > 0 && old % 2 === 1)
      if (told.turns.some((turn) => turn.session === gone)) beside(now, () => erase(now, gone));
  }
  await aside;
}
