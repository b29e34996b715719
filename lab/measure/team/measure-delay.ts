import type { ChildProcess } from 'node:child_process';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { spreadOf } from '../gateway/load-order.ts';
import type { TaughtLesson } from '../gateway/start-instar.ts';
import { requireSome } from '../measured.ts';
import { taughtText } from '../plain-lesson.ts';
import { sendTurn } from './send-turns.ts';
import type { TeamGateway } from './start-team.ts';

export interface LessonDelay {
  readonly lessons: number;
  /** Milliseconds from the reply that confirmed the lesson until a prompt of another gateway had it. */
  readonly p50: number;
  readonly p99: number;
  /** Not in any prompt of another gateway after the longest wait. */
  readonly never: number;
}

const LONGEST_MS = 10_000;
const BETWEEN_MS = 10;

/**
 * Adds lessons at the first gateway, one after the other, and begins a conversation at each other gateway every ten
 * milliseconds until the provider has seen the lesson in one of its prompts.
 */
export async function measureDelay(
  gateways: readonly TeamGateway[],
  upstream: ChildProcess,
  lessons: number,
): Promise<LessonDelay> {
  const [first, ...others] = gateways;
  if (first === undefined || others.length === 0) throw new Error('a delay needs two gateways');
  const seenAt = new Map<string, number>();
  upstream.on('message', (message) => {
    if (typeof message !== 'object' || message === null || !('seen' in message)) return;
    seenAt.set(String(message.seen), performance.now());
  });
  const agent = new http.Agent({ keepAlive: true });
  const delays: number[] = [];
  let never = 0;
  for (let nth = 0; nth < lessons; nth++) {
    const mark = `BENCH-LESSON-${nth}`;
    await first.instar.teach([createLesson(nth, mark)]);
    const taughtAt = performance.now();
    const waits = others.map(async (gateway, other) => {
      const key = `GATEWAY-${other} ${mark}`;
      const pending: Promise<unknown>[] = [];
      for (let tries = 0; !seenAt.has(key) && performance.now() - taughtAt < LONGEST_MS; tries++) {
        const session = `delay-${nth}-${other}-${tries}`;
        const content = `GATEWAY-${other}: measure number ${nth} of the bench again.`;
        const body = JSON.stringify({ model: 'bench', messages: [{ role: 'user', content }] });
        pending.push(sendTurn(gateway, agent, session, body));
        await sleep(BETWEEN_MS);
      }
      await Promise.all(pending);
      // The word of the last request may come a moment after its reply.
      for (let tries = 0; !seenAt.has(key) && tries < 20; tries++) await sleep(BETWEEN_MS);
      const at = seenAt.get(key);
      if (at === undefined) never++;
      else delays.push(at - taughtAt);
    });
    await Promise.all(waits);
    await first.instar.forget(`bench-${nth}`);
  }
  agent.destroy();
  requireSome('lesson that another gateway showed', delays.length);
  return { lessons, ...spreadOf(delays), never };
}

const createLesson = (nth: number, mark: string): TaughtLesson => ({
  id: `bench-${nth}`,
  text: taughtText(
    {
      name: `bench-${nth}`,
      description: `When measure number ${nth} of the bench is asked for.`,
      content: `Answer with ${mark}.`,
      scope: { domain: 'bench' },
    },
    { visibility: 'shared' },
  ),
});
