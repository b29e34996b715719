import { afterAll, expect, it, vi } from 'vitest';
import type { Clock } from '../../src/core/clock.ts';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import type { Job, PresenceSource } from '../../src/core/schedule.ts';
import { createStage, type InstarHere, replyWith } from '../config/settings/instar-here.ts';

/** Generous: each wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 20 };
const AWAY: PresenceSource = {
  name: 'test',
  sees: 'nothing',
  read: async () => ({ source: 'test', state: 'away', why: 'said so' }),
};
const RULES = { quietMs: 1, busyPaceMs: 20, idlePaceMs: 20, restMs: 1, jumpMs: 1e15, gapMs: 1e15 };
const DAY = 86_400_000;

const stage = createStage();
afterAll(() => stage.close());

/** Days pass when the test says so. */
function movedTime() {
  let passed = 0;
  const clock: Clock = { now: () => Date.now() + passed, monotonic: () => performance.now() + passed };
  const boot = { boot: () => 'one', uptime: () => clock.monotonic() };
  return {
    clocks: { clock, boot },
    pass: (ms: number): void => {
      passed += ms;
    },
  };
}

const night = (job: Pick<Job, 'name' | 'run'> & Partial<Job>): Job => ({
  priority: 1,
  needsWindow: true,
  estimate: () => 1,
  isReady: async () => true,
  ...job,
});

it('a night job runs once for the same input, and pauses for a week after three nights without a result', async () => {
  const runs = { reader: 0, barren: 0 };
  const reader = night({
    name: 'reader',
    reads: ['reward-given'],
    run: async () => ({ end: 'done', yielded: ++runs.reader }),
  });
  const barren = night({
    name: 'barren',
    restMs: DAY / 2,
    run: async () => {
      runs.barren++;
      return { end: 'done', note: 'looked', yielded: 0 };
    },
  });
  const time = movedTime();
  const provider = await stage.provider('p', (_, response) => replyWith(response, 'ok'));
  const here: InstarHere = await stage.open(
    'nights',
    { providers: { p: { wire: 'openai', baseUrl: `${provider.url}/v1` } }, models: { evolver: 'off' } },
    { clocks: time.clocks, slowWork: { jobs: [reader, barren], sources: [AWAY], rules: RULES } },
  );
  const jobs = async () => asArray((await here.owner('GET', '/api/schedule')).jobs).map(asObject);
  /** So many runs, and the end of each is on record. */
  const reached = (wanted: Partial<typeof runs>) =>
    vi.waitFor(async () => {
      expect(runs).toMatchObject(wanted);
      const own = (await jobs()).filter(({ name }) => name === 'reader' || name === 'barren');
      expect(own.map(({ unfinished }) => unfinished)).toEqual([undefined, undefined]);
    }, SOON);
  const rate = async (): Promise<void> => {
    const { headers } = await here.chat('Sort the invoices', { session: `s-${runs.reader}` });
    await here.owner('POST', '/v1/feedback', { turn: String(headers['x-instar-turn']), score: 1 });
  };
  const job = async (wanted: string): Promise<JsonObject> =>
    asObject((await jobs()).find(({ name }) => name === wanted));

  await reached({ reader: 1, barren: 1 });
  time.pass(DAY);
  await reached({ barren: 2 });
  expect(runs.reader).toBe(1);
  await rate();
  await reached({ reader: 2 });
  time.pass(DAY);
  await reached({ reader: 2, barren: 3 });
  await vi.waitFor(async () => expect((await job('barren')).pausedUntil).toBeDefined(), SOON);
  expect(asObject((await job('barren')).last).note).toMatch(
    /^looked; nothing came of it 3 nights in a row: it pauses until /,
  );
  expect(asArray((await here.owner('GET', '/api/status')).waiting)).toContainEqual(
    expect.objectContaining({ code: 'job-paused', what: 'the background job barren' }),
  );
  time.pass(DAY);
  await rate();
  await reached({ reader: 3, barren: 3 });
  time.pass(7 * DAY);
  await reached({ barren: 4 });
});
