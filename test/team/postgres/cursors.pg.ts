import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type PostgresServer, startPostgres } from '../../../lab/measure/postgres-server.ts';
import { openPageReads } from '../../../src/api/page/page-reads.ts';
import { asArray, asObject, asString } from '../../../src/core/json.ts';
import { readPgUrl } from '../../../src/record/pg-place.ts';
import { openPgPool } from '../../../team/postgres/pg-connection.ts';
import { openPgPageReader } from '../../../team/postgres/pg-page-reader.ts';
import { openPgReader, openPgStore } from '../../../team/postgres/pg-store.ts';
import { at, end, start } from '../../record/store/facts.ts';
import { needPostgres } from '../../support/need-postgres.ts';

const [WRITERS, SESSIONS, BEFORE] = [3, 25, 40];
const NOON = 1_800_000_000_000;
const bin = needPostgres();
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres(bin, true);
});
afterAll(() => server.stop());

/** Three gateways whose commits take a while, and whose clocks differ by seconds; sessions that were there before they begin. */
async function openSlow() {
  const url = server.freshUrl();
  const stores = await Promise.all(Array.from({ length: WRITERS }, () => openPgStore({ url })));
  const reader = await openPgReader(url);
  const pages = openPgPageReader(url);
  const pool = openPgPool(readPgUrl(url), { most: 1 });
  onTestFinished(async () => {
    for (const one of [...stores, reader, pages, pool]) await one.close();
  });
  for (let n = 0; n < BEFORE; n++)
    await stores[0]?.append({ facts: at(NOON + 1_000 * n, start(`old${n}`, `old-${n}`), end(`old${n}`)) });
  // Between the number and the commit: whoever comes later must not be seen first.
  await pool.exec(
    `create function slow() returns trigger language plpgsql as
       'begin perform pg_sleep(random() * 0.04); return null; end';
     create constraint trigger slow after update on log_head deferrable initially deferred
     for each row execute function slow()`,
  );
  const write = async (): Promise<void> => {
    await Promise.all(
      stores.map(async (store, writer) => {
        for (let n = 0; n < SESSIONS; n++) {
          const [turn, session] = [`w${writer}.${n}`, `w${writer}-${n}`];
          const facts = [
            start(turn, session),
            end(turn),
            { type: 'reward-given', turn, source: 'person', score: 1 } as const,
          ];
          await store.append({ facts: at(NOON + 60_000 + 1_000 * n - 7_000 * writer, ...facts) });
        }
      }),
    );
  };
  const written = Array.from({ length: WRITERS }, (_, writer) =>
    Array.from({ length: SESSIONS }, (_one, n) => `w${writer}-${n}`),
  ).flat();
  const old = Array.from({ length: BEFORE }, (_, n) => `old-${n}`);
  return { url, reader, pages, write, written, old };
}

const upTo = (n: number): readonly number[] => Array.from({ length: n }, (_, index) => index + 1);

describe('readers with a cursor, beside three writers whose commits take a while', () => {
  it('see every fact once and in order, as learning follows the record, and all facts of one type', async () => {
    const { reader, write, written } = await openSlow();
    let isOver = false;
    const follow = async (read: (after: number) => Promise<readonly { readonly seq: number }[]>) => {
      const seen: number[] = [];
      for (let after = 0; ; ) {
        const wasOver = isOver;
        const page = await read(after);
        seen.push(...page.map(({ seq }) => seq));
        after = page.at(-1)?.seq ?? after;
        if (wasOver && page.length === 0) return seen;
      }
    };
    const all = follow((after) => reader.facts(after, 5));
    const rewards = follow((after) => reader.factsOf('reward-given', after, 3));
    await write();
    isOver = true;
    expect(await all).toEqual(upTo(2 * BEFORE + 3 * written.length));
    expect(await rewards).toHaveLength(written.length);
  });

  it('are told everything that happened, as the feed of the page asks', async () => {
    const { pages, write, written } = await openSlow();
    const wanted = { rare: ['reward-given'], frequent: [], mostRare: 4, mostFrequent: 1 } as const;
    const told: string[] = [];
    let isOver = false;
    // Before the writers begin: what is written from here on is told.
    const first = await pages.lastSeq();
    const follow = async (): Promise<void> => {
      for (let after = first; ; ) {
        const wasOver = isOver;
        const news = await pages.news(after, wanted);
        for (const { fact } of news.facts) if (fact.type === 'reward-given') told.push(fact.turn ?? '');
        if (wasOver && news.last === after) return;
        after = news.last;
      }
    };
    const following = follow();
    await write();
    isOver = true;
    await following;
    expect(told.toSorted()).toEqual(written.map((session) => session.replace('-', '.')).toSorted());
  });

  it('page through all sessions that do not change meanwhile, each once, and through all of them when it is quiet', async () => {
    const { url, reader, write, written, old } = await openSlow();
    const page = openPageReads(url);
    onTestFinished(() => page.close());
    const ofPage = async (): Promise<readonly string[]> => {
      const ids: string[] = [];
      for (let cursor: string | undefined; ; ) {
        const { sessions, next } = await page.sessions({ limit: 7, cursor });
        ids.push(...asArray(sessions).map((one) => asString(asObject(one).id) ?? ''));
        cursor = asString(next);
        if (cursor === undefined) return ids;
      }
    };
    /** As `instar sessions list --before`. */
    const byTime = async (): Promise<readonly string[]> => {
      const ids: string[] = [];
      for (let before: number | undefined; ; ) {
        const rows = await reader.sessions({ limit: 7, ...(before === undefined ? {} : { before }) });
        ids.push(...rows.map(({ id }) => id));
        before = rows.at(-1)?.lastAt;
        if (before === undefined) return ids;
      }
    };
    const writing = write();
    for (const walk of [ofPage, byTime]) {
      const seen = await walk();
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.filter((id) => id.startsWith('old-')).toSorted()).toEqual(old.toSorted());
    }
    await writing;
    for (const walk of [ofPage, byTime])
      expect((await walk()).toSorted()).toEqual([...old, ...written].toSorted());
  });
});
