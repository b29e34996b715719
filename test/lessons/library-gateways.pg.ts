import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type PostgresServer, startPostgres } from '../../lab/measure/postgres-server.ts';
import { createManualClock } from '../../src/core/clock.ts';
import type { Change } from '../../src/core/lesson.ts';
import type { AsyncStore } from '../../src/core/store.ts';
import { type OpenLibrary, openLibrary } from '../../src/lessons/library.ts';
import { openPgStore } from '../../team/postgres/pg-store.ts';
import { lessonText } from '../support/lesson-text.ts';
import { needPostgres } from '../support/need-postgres.ts';

const bin = needPostgres();
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres(bin, true);
});
afterAll(() => server.stop());

async function openOne(url: string, nth: number): Promise<{ store: AsyncStore; opened: OpenLibrary }> {
  const store = await openPgStore({ url });
  onTestFinished(() => store.close());
  let ids = 0;
  const opened = await openLibrary({
    load: (after, limit) => store.factsOf('library-changed', after, limit),
    append: async (fact) => {
      const [done] = await store.append({ facts: [fact] });
      if (done === undefined) throw new Error('no answer');
      return done;
    },
    clock: createManualClock(),
    newId: (prefix) => `${prefix}_${nth}_${ids++}`,
    onFault: (error) => {
      throw error;
    },
  });
  return { store, opened };
}
const add = (id: string): Change => ({
  op: 'add',
  id,
  kind: 'skill',
  state: 'live',
  text: lessonText({
    name: id,
    description: `When ${id} comes up in a task.`,
    content: `Do ${id} with care.`,
  }),
});
const by = { kind: 'person', name: 'ada' } as const;

describe('libraries of several gateways', () => {
  it('never fork: of changes at the same time each is a generation of its own, and all agree in the end', async () => {
    const url = server.freshUrl();
    const gateways = await Promise.all([0, 1, 2].map((nth) => openOne(url, nth)));
    const published = await Promise.all(
      gateways.map(async ({ opened }, nth) => {
        const generations: number[] = [];
        for (let round = 0; round < 8; round++) {
          const id = `lesson-${nth}-${round}`;
          const { generation, results } = await opened.library.publish({
            ...{ id: `set-${nth}-${round}`, by, reason: 'a test', changes: [add(id)] },
          });
          expect(results).toMatchObject([{ status: 'applied', id }]);
          generations.push(generation);
        }
        return generations;
      }),
    );
    expect(published.flat().toSorted((a, b) => a - b)).toEqual(Array.from({ length: 24 }, (_, n) => n + 1));
    for (const { opened } of gateways) await opened.catchUp();
    const views = gateways.map(({ opened: { library } }) => [library.lessons(), library.generations()]);
    expect(views[1]).toEqual(views[0]);
    expect(views[2]).toEqual(views[0]);
    expect(gateways[0]?.opened.library.generations()).toHaveLength(24);
  });

  it('take one of two changes that exclude each other, and tell the other one why', async () => {
    const url = server.freshUrl();
    const [one, two] = await Promise.all([openOne(url, 0), openOne(url, 1)]);
    const results = await Promise.all(
      [one, two].map(({ opened }, nth) =>
        opened.library.publish({ id: `set-${nth}`, by, reason: 'a test', changes: [add('same')] }),
      ),
    );
    const statuses = results.map(({ results: [result] }) => result?.status);
    expect(statuses.filter((status) => status === 'applied')).toHaveLength(1);
    expect(one.opened.library.generation).toBe(1);
  });

  it('take the same set once when two publish it', async () => {
    const url = server.freshUrl();
    const [one, two] = await Promise.all([openOne(url, 0), openOne(url, 1)]);
    const set = { id: 'set-1', by, reason: 'a test', changes: [add('once')] };
    const results = await Promise.all([one, two].map(({ opened }) => opened.library.publish(set)));
    expect(results.map(({ generation }) => generation)).toEqual([1, 1]);
    expect(await one.store.totals()).toMatchObject({ facts: 1 });
  });
});
