import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type PostgresServer, startPostgres } from '../../../lab/measure/postgres-server.ts';
import type { GatewayProcess } from '../../../src/core/gateway-process.ts';
import type { TurnIntent } from '../../../src/core/recorder.ts';
import type { AsyncStore } from '../../../src/core/store.ts';
import { readPgUrl } from '../../../src/record/pg-place.ts';
import { readRecordedRequest } from '../../../src/record/request-manifest.ts';
import { createTurnEncoder } from '../../../src/record/turn-encoder.ts';
import type { WriterJob } from '../../../src/record/writer-messages.ts';
import { createRedactor } from '../../../src/redact/redact.ts';
import { holdGateway } from '../../../team/postgres/gateways.ts';
import { openPgPool } from '../../../team/postgres/pg-connection.ts';
import { migratePg, monthOf } from '../../../team/postgres/pg-schema.ts';
import { openPgReader, openPgStore } from '../../../team/postgres/pg-store.ts';
import { watchGateways } from '../../../team/postgres/watch-gateways.ts';
import { at, end, start } from '../../record/store/facts.ts';
import { needPostgres } from '../../support/need-postgres.ts';

const bin = needPostgres();
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres(bin);
});
afterAll(() => server.stop());

const nothing = (): void => undefined;
const quietLog = { debug: nothing, info: nothing, warn: nothing, error: nothing };

const opened = async (url: string): Promise<AsyncStore> => {
  const store = await openPgStore({ url });
  onTestFinished(() => store.close());
  return store;
};

describe('several writers of one store in PostgreSQL', () => {
  it('give numbers without a gap, and a reader that follows by number misses none and sees none twice', async () => {
    const url = server.freshUrl();
    const [WRITERS, BATCHES] = [6, 40];
    const stores = await Promise.all(Array.from({ length: WRITERS }, () => opened(url)));
    const reader = await openPgReader(url);
    onTestFinished(() => reader.close());
    const seen: number[] = [];
    let isOver = false;
    const follow = async (): Promise<void> => {
      for (let after = 0; ; ) {
        const wasOver = isOver;
        const page = await reader.facts(after, 7);
        // A number that became visible after a higher one would be skipped here.
        for (const { seq } of page) seen.push(seq);
        after = page.at(-1)?.seq ?? after;
        if (wasOver && page.length === 0) return;
      }
    };
    const followers = follow();
    const answers = await Promise.all(
      stores.map(async (store, writer) => {
        const own: number[] = [];
        for (let nth = 0; nth < BATCHES; nth++) {
          const turn = `w${writer}.${nth}`;
          // Every writer adds turns to every session, and blocks that the others use, too.
          const appended = await store.append({
            facts: at(1_800_000_000_000 + nth, start(turn, `s${nth % 5}`), end(turn)),
            blocks: [{ hash: `aa0${nth % 7}`, text: `text ${nth % 7}`, session: `s${nth % 5}` }],
            chains: [{ session: `s${nth % 5}`, link: turn }],
          });
          own.push(...appended.map(({ seq }) => seq));
        }
        return own;
      }),
    );
    isOver = true;
    await followers;
    const all = WRITERS * BATCHES * 2;
    expect(answers.flat().toSorted((a, b) => a - b)).toEqual(Array.from({ length: all }, (_, n) => n + 1));
    expect(seen).toEqual(Array.from({ length: all }, (_, n) => n + 1));
    expect(await reader.totals()).toMatchObject({ facts: all, turns: all / 2, sessions: 5, blocks: 7 });
    const sessions = await reader.sessions({ limit: 9 });
    expect(sessions.reduce((sum, { turns }) => sum + turns, 0)).toBe(all / 2);
    expect(await reader.check()).toEqual([]);
    const [store] = stores;
    const before = await reader.sessions({ limit: 9 });
    await store?.rebuild();
    expect(await reader.sessions({ limit: 9 })).toEqual(before);
  });

  it('accept an idempotency key once, whoever comes first, across months', async () => {
    const url = server.freshUrl();
    const stores = await Promise.all([1, 2, 3, 4].map(() => opened(url)));
    for (let round = 0; round < 10; round++) {
      const answers = await Promise.all(
        stores.map((store, nth) =>
          store.append({
            facts: [
              {
                // Each in another month, so in another partition.
                at: Date.UTC(2026, nth, 1),
                key: `feedback ${round}`,
                fact: { type: 'event-reported', kind: 'k', data: { nth } },
              },
            ],
          }),
        ),
      );
      expect(answers.flat().filter(({ isNew }) => isNew)).toHaveLength(1);
      expect(new Set(answers.flat().map(({ seq }) => seq)).size).toBe(1);
    }
    expect(await stores[0]?.totals()).toMatchObject({ facts: 10 });
    expect(await stores[0]?.check()).toEqual([]);
  });

  it('create the tables once when they start at the same moment', async () => {
    const url = server.freshUrl();
    const stores = await Promise.all(Array.from({ length: 5 }, () => opened(url)));
    await Promise.all(stores.map((store, n) => store.append({ facts: at(1, start(`t${n}`, 's')) })));
    expect(await stores[0]?.totals()).toMatchObject({ turns: 5, sessions: 1 });
  });

  it('end the turns of a dead run of their own home, and leave those of other gateways alone', async () => {
    const url = server.freshUrl();
    const run = async (id: string, home: string): Promise<AsyncStore> => {
      const gateway = { id, home, host: 'h', pid: 1, version: '1', startedAt: 1 };
      const store = await openPgStore({ url, gateway });
      onTestFinished(() => store.close());
      return store;
    };
    const begin = (turn: string, gateway: string) => ({ ...start(turn, 's'), gateway: { id: gateway } });
    const first = await run('g1', 'home1');
    expect(await first.endCrashed(1)).toBe(0);
    const second = await run('g2', 'home2');
    expect(await second.endCrashed(1)).toBe(0);
    await first.append({ facts: at(1, begin('t1', 'g1')) });
    await second.append({ facts: at(1, begin('t2', 'g2')) });
    // As after kill -9: the row of the first run is still listed.
    const again = await run('g3', 'home1');
    expect(await again.endCrashed(5)).toBe(1);
    expect(await again.turn('t1')).toMatchObject({ status: 'crashed' });
    expect(await again.turn('t2')).not.toHaveProperty('status');
    // A gateway that was stopped is not listed: what it left open is over.
    await second.close();
    const third = await run('g4', 'home3');
    expect(await third.endCrashed(6)).toBe(1);
    expect(await third.turn('t2')).toMatchObject({ status: 'crashed' });
  });

  it('end the turns of a gateway whose connection is gone for longer than the grace, once', async () => {
    const url = server.freshUrl();
    const [dead, alive] = ['g1', 'g2'].map((id) => ({
      ...{ id, home: id, host: 'h', pid: 1, version: '1', startedAt: 1 },
    })) as [GatewayProcess, GatewayProcess];
    const crashed = await openPgStore({ url, gateway: dead });
    await crashed.endCrashed(1);
    await crashed.append({ facts: at(1, { ...start('t1', 's'), gateway: { id: 'g1' } }) });
    const pool = openPgPool(readPgUrl(url));
    onTestFinished(() => pool.close());
    const lost = await pool.hold(() => undefined);
    await holdGateway(lost, dead);
    const store = await openPgStore({ url, gateway: alive });
    onTestFinished(() => store.close());
    expect(await store.endCrashed(2)).toBe(0);
    let time = 0;
    const watch = watchGateways({
      ...{ pool, gateway: alive, now: () => 9, monotonic: () => time, log: quietLog },
      append: (facts) => store.append({ facts }),
      graceMs: 1_000,
    });
    onTestFinished(() => watch.close());
    await watch.look();
    expect(watch.known().map(({ id, isAlive }) => [id, isAlive])).toEqual([
      ['g1', true],
      ['g2', false],
    ]);
    lost.release();
    await expect
      .poll(async () => {
        await watch.look();
        return watch.known()[0]?.isAlive;
      })
      .toBe(false);
    expect(await store.turn('t1')).not.toHaveProperty('status');
    time = 2_000;
    await watch.look();
    expect(await store.turn('t1')).toMatchObject({ status: 'crashed', endedAt: 9 });
    await watch.look();
    expect(watch.known().map(({ id }) => id)).toEqual(['g2']);
  });

  it('lose no body when one of them erases what another one knows to be stored', async () => {
    const url = server.freshUrl();
    const [eraser, other] = await Promise.all([opened(url), opened(url)]);
    const encoder = createTurnEncoder({
      ...createRedactor({ known: () => [], salt: 'x' }),
      setKeys: () => undefined,
    });
    const system = { role: 'user', content: 'the same long text in every session '.repeat(60) };
    const turn = (id: string, session: string, ...said: string[]): WriterJob => {
      const messages = [
        system,
        ...said.map((content) => ({ role: 'user', content: content.padEnd(1_500, '.') })),
      ];
      const intent: Omit<TurnIntent, 'body'> = {
        ...{
          turn: id,
          session,
          agent: 'a',
          model: 'm',
          generation: 0,
          policy: 'p',
          lessons: [],
          caller: 'c',
        },
        role: 'main',
        wire: 'openai-chat',
      };
      return { type: 'start', at: 1, intent, body: Buffer.from(JSON.stringify({ model: 'm', messages })) };
    };
    /** As the writer does. */
    const write = async (job: WriterJob): Promise<number> => {
      for (let tries = 1; ; tries++)
        try {
          await other.append(encoder.batch([job]));
          return tries;
        } catch (error) {
          expect(error).toMatchObject({ code: 'stale' });
          encoder.forget();
        }
    };
    const read = async (id: string): Promise<unknown> =>
      readRecordedRequest(`request:${id}`, other, new Map());
    expect(await write(turn('t1', 's1', 'one'))).toBe(1);
    expect(await write(turn('t2', 's2', 'one'))).toBe(1);
    // Shared text of s1 and s2, then of nobody.
    await eraser.erase('s1', 2, 'asked');
    await eraser.erase('s2', 2, 'asked');
    expect(await write(turn('t3', 's3', 'one'))).toBe(2);
    expect(await read('t3')).toMatchObject({ messages: [system, {}] });
    // The session itself: its last request was the base of the next one.
    await eraser.erase('s3', 3, 'asked');
    expect(await write(turn('t4', 's3', 'one', 'two'))).toBe(2);
    expect(await read('t4')).toMatchObject({ messages: [system, {}, {}] });
    expect(await write(turn('t5', 's3', 'one', 'two', 'three'))).toBe(1);
    expect(await read('t5')).toMatchObject({ messages: [system, {}, {}, {}] });
  });

  it('end the turns of a dead process that names no gateway only when nobody else runs', async () => {
    const url = server.freshUrl();
    const first = await opened(url);
    expect(await first.endCrashed(1)).toBe(0);
    await first.append({ facts: at(1, start('t1', 's1')) });
    const second = await opened(url);
    expect(await second.endCrashed(2)).toBe(0);
    expect(await second.turn('t1')).not.toHaveProperty('status');
    await Promise.all([first.close(), second.close()]);
    const third = await opened(url);
    await expect.poll(() => third.openTurns()).toEqual(['t1']);
    await expect
      .poll(async () => {
        const next = await openPgStore({ url });
        const ended = await next.endCrashed(3);
        await next.close();
        return ended;
      })
      .toBe(1);
    expect(await third.turn('t1')).toMatchObject({ status: 'crashed' });
  });
});

describe('the tables in PostgreSQL', () => {
  it('keep facts and bodies in the partition of their month', async () => {
    const url = server.freshUrl();
    const store = await opened(url);
    const times = [Date.UTC(2026, 0, 31, 23, 59), Date.UTC(2026, 1, 1), Date.UTC(2026, 11, 31), 5];
    await store.append({
      facts: times.map((when, n) => ({ at: when, fact: start(`t${n}`, 's') })),
      blocks: times.map((_, n) => ({ hash: `request:t${n}`, text: `body ${n}`, session: 's' })),
    });
    const pool = openPgPool(readPgUrl(url));
    onTestFinished(() => pool.close());
    for (const table of ['facts', 'bodies']) {
      const rows = await pool.all<{ part: string; n: number }>(
        `select tableoid::regclass::text as part, count(*) as n from ${table} group by 1 order by 1`,
      );
      expect(rows.map(({ part, n }) => `${part.replace(/.*\./, '')} ${n}`)).toEqual([
        `${table}_202601 1`,
        `${table}_202602 1`,
        `${table}_202612 1`,
        `${table}_other 1`,
      ]);
    }
    expect(monthOf(Number.MAX_SAFE_INTEGER)).toBe(0);
    expect(await store.turns('s')).toHaveLength(4);
    expect(await store.erase('s', Date.UTC(2027, 0, 1), 'asked')).toMatchObject({ turns: 4 });
    expect(await store.block('request:t2')).toBeUndefined();
  });

  it('refuse a newer format and the schema of another program', async () => {
    const url = server.freshUrl();
    await (await openPgStore({ url })).close();
    const pool = openPgPool(readPgUrl(url));
    onTestFinished(() => pool.close());
    await pool.run('update schema_version set version = 99');
    await expect(openPgStore({ url })).rejects.toThrow(expect.objectContaining({ code: 'newer' }));
    await pool.exec('drop table schema_version');
    await expect(openPgStore({ url })).rejects.toThrow(/is not Instar's: name another one with \?schema=/);
  });

  it('are upgraded by one process while the others wait', async () => {
    const url = server.freshUrl();
    const pool = openPgPool(readPgUrl(url));
    onTestFinished(() => pool.close());
    const steps = ['create table log(step int); insert into log values(1)', 'insert into log values(2)'];
    await Promise.all([1, 2, 3].map(() => migratePg(pool, steps)));
    expect(await pool.all('select step from log order by step')).toEqual([{ step: 1 }, { step: 2 }]);
  });
});

describe('a server that dies', () => {
  it('loses nothing that was acknowledged, and the store goes on when it is back', async () => {
    const url = server.freshUrl();
    const store = await opened(url);
    await store.endCrashed(0);
    let acknowledged = 0;
    let isDead = false;
    const writing = (async () => {
      for (let n = 0; ; n++) {
        try {
          await store.append({ facts: at(n, start(`t${n}`, 's')) });
          acknowledged = n + 1;
        } catch (error) {
          // The second: the answer to a commit is missing.
          expect(error).toMatchObject({
            name: 'StoreError',
            code: expect.stringMatching(/^(?:away|unclear)$/),
          });
          if (isDead) return;
        }
      }
    })();
    await expect.poll(() => acknowledged).toBeGreaterThan(20);
    isDead = true;
    await server.kill();
    await writing;
    await expect(store.totals()).rejects.toMatchObject({ code: 'away' });
    await server.start();
    const { turns } = await store.totals();
    expect(turns).toBeGreaterThanOrEqual(acknowledged);
    expect(turns).toBeLessThanOrEqual(acknowledged + 1);
    // The same batch again is no second turn.
    await store.append({ facts: at(acknowledged, start(`t${acknowledged}`, 's')) });
    expect(await store.totals()).toMatchObject({ turns: acknowledged + 1, facts: acknowledged + 1 });
    expect(await store.check()).toEqual([]);
    // It is present again: a second gateway leaves its open turns alone.
    const second = await opened(url);
    expect(await second.endCrashed(5)).toBe(0);
  });
});
