import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqliteReader } from '../../src/record/store/sqlite-store.ts';
import { ask } from '../support/client.ts';
import { countOf } from '../support/counts.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { ROUTES, requestBody, streamedReply, wholeReply } from '../support/samples.ts';

/** `KILL_CYCLES=100 npx vitest run test/record/kill` is the long form. */
const CYCLES = Number(process.env.KILL_CYCLES ?? countOf(1, 20));
const CLIENTS = 8;

let provider: Provider;
beforeAll(async () => {
  provider = await startProvider((request, response) => {
    const isStream = JSON.parse(request.body.toString()).stream === true;
    response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    response.end(isStream ? streamedReply('openai-chat').join('') : wholeReply('openai-chat'));
  });
});
afterAll(() => provider.close());

interface Done {
  readonly id: string;
  readonly at: number;
}

/** What the clients observed of one daemon. */
interface Life {
  readonly turns: Done[];
  /** The keys of acknowledged feedback. */
  readonly feedback: string[];
  /** Turns that ended before this time were posted to the writer before an acknowledged feedback: they must be recorded. */
  settledAt: number;
}

/** Sends requests and feedback until the daemon is gone. */
async function live(daemon: RunningDaemon, life: Life): Promise<void> {
  const headers = { authorization: `Bearer ${daemon.ownerKey}` };
  const { turns } = life;
  for (let n = 0; ; n++) {
    try {
      const body = requestBody('openai-chat', n % 2 === 0, `question ${randomUUID()}`);
      const askedAt = performance.now();
      const answer = await ask(daemon.port, { path: ROUTES['openai-chat'], body });
      if (answer.status !== 200 || !answer.whole) return;
      const id = String(answer.headers['x-instar-turn']);
      turns.push({ id, at: performance.now() });
      if (n % 4 !== 3) continue;
      const key = randomUUID();
      const given = { turn: turns.at(-4)?.id ?? id, score: 1, note: key };
      const sent = {
        path: '/v1/feedback',
        body: JSON.stringify(given),
        headers: { ...headers, 'idempotency-key': key },
      };
      if ((await ask(daemon.port, sent)).status !== 200) continue;
      life.feedback.push(key);
      life.settledAt = Math.max(life.settledAt, askedAt);
    } catch {
      return;
    }
  }
}

const settledOf = ({ turns, settledAt }: Life): readonly string[] =>
  turns.filter(({ at }) => at < settledAt).map(({ id }) => id);

describe('kill -9 under load', () => {
  it(
    `${CYCLES} times loses no settled turn, doubles none, and keeps every acknowledged feedback`,
    async () => {
      const home = makeHome({ providers: { fake: { wire: 'openai', baseUrl: `${provider.url}/v1` } } });
      const settled: string[] = [];
      const feedback: string[] = [];
      let interrupted = 0;
      const ages = new Map<string, number>();
      for (let cycle = 0; cycle < CYCLES; cycle++) {
        const daemon = await startDaemon(home.dir);
        const life: Life = { turns: [], feedback: [], settledAt: 0 };
        const clients = Array.from({ length: CLIENTS }, () => live(daemon, life));
        // Not before there is something to lose, however slow the machine is.
        while (settledOf(life).length < 15 || life.feedback.length < 2)
          await new Promise((resolve) => setTimeout(resolve, 5));
        await new Promise((resolve) => setTimeout(resolve, 150 + Math.random() * 250));
        const killedAt = performance.now();
        daemon.child.kill('SIGKILL');
        await daemon.exited;
        await Promise.all(clients);
        settled.push(...settledOf(life));
        feedback.push(...life.feedback);
        for (const { id, at } of life.turns) ages.set(id, killedAt - at);
      }
      const last = await startDaemon(home.dir);
      last.child.kill('SIGTERM');
      await last.exited;

      const reader = openSqliteReader(`${home.dir}/instar.sqlite`);
      const lost = settled.filter((id) => reader.turn(id)?.status !== 'complete');
      expect(lost).toEqual([]);
      expect(reader.openTurns()).toEqual([]);
      const counts = new Map<string, number>();
      const notes = new Map<string, number>();
      for (let after = 0; ; ) {
        const page = reader.facts(after, 1000);
        for (const { seq, fact } of page) {
          after = seq;
          if (fact.type === 'turn-start' || fact.type === 'turn-end') {
            const name = `${fact.type} ${fact.turn}`;
            counts.set(name, (counts.get(name) ?? 0) + 1);
            if (fact.type === 'turn-end' && fact.status === 'crashed') interrupted++;
          }
          if (fact.type === 'reward-given') notes.set(fact.note ?? '', (notes.get(fact.note ?? '') ?? 0) + 1);
        }
        if (page.length === 0) break;
      }
      expect([...counts.values()].filter((count) => count > 1)).toEqual([]);
      expect(feedback.filter((key) => notes.get(key) !== 1)).toEqual([]);
      expect(reader.check()).toEqual([]);
      const unrecorded = [...ages].filter(([id]) => reader.turn(id)?.status !== 'complete');
      reader.close();
      home.remove();
      // Not vacuous: there was something to lose.
      expect(settled.length).toBeGreaterThan(CYCLES * 10);
      expect(feedback.length).toBeGreaterThanOrEqual(CYCLES * 2);
      const lag = Math.max(0, ...unrecorded.map(([, age]) => age)).toFixed(0);
      process.stderr.write(
        `kill -9: ${CYCLES} cycles, ${ages.size} turns ended, ${settled.length} of them settled (0 lost), ` +
          `${feedback.length} feedbacks, ${interrupted} interrupted; ` +
          `${unrecorded.length} had ended and were not yet recorded, the oldest ${lag} ms before the kill\n`,
      );
    },
    120_000 + CYCLES * 60_000,
  );
});
