import { describe, expect, it } from 'vitest';
import type { JobContext } from '../../../src/core/schedule.ts';
import { createNgramEmbed } from '../../../src/embed/ngram-embed.ts';
import { CONSOLIDATION_JOB, createConsolidationJob } from '../../../src/learn/memory/consolidation-job.ts';
import { withMemory } from '../../../src/learn/memory/serve-memory.ts';
import { NO_USAGE } from '../../../src/schedule/job-history.ts';
import { createLeases } from '../../../src/schedule/leases.ts';
import { createRecordsJournal } from '../../../src/schedule/serve-schedule.ts';
import { worthwhileJobs } from '../../../src/schedule/worthwhile-jobs.ts';
import { DAY, openMemoryLibrary } from './memory-library.ts';

async function open(autonomy: 'manual' | 'guarded' = 'guarded') {
  const library = await openMemoryLibrary();
  const { records, clock } = library;
  let runs = 0;
  const leases = createLeases({
    journal: createRecordsJournal(records, clock),
    clock,
    holder: 'p',
    newRun: () => `run_${++runs}`,
    isAlone: true,
    leaseMs: 1000,
  });
  const memory = withMemory(undefined, {
    catchUp: async () => undefined,
    library: library.library,
    effects: library.effects,
    records,
    embed: createNgramEmbed().embed,
    autonomy,
    clock,
  });
  let stop = new AbortController();
  let stopAfterSets = Number.POSITIVE_INFINITY;
  library.library.onChange(() => {
    if (--stopAfterSets === 0) stop.abort();
  });
  const [job] = worthwhileJobs(
    [
      createConsolidationJob({
        open: () => library,
        command: (request) => memory.command(request, stop.signal),
        records,
      }),
    ],
    { history: leases.history, records, clock, pauses: new Map() },
  );
  if (job === undefined) throw new Error('no job');
  /** One part of a run, told to stop after so many change sets. */
  const run = async (sets = Number.POSITIVE_INFINITY) => {
    const lease = await leases.take(CONSOLIDATION_JOB);
    if (lease === undefined) throw new Error('not ours');
    stop = new AbortController();
    stopAfterSets = sets;
    const context: JobContext = {
      run: lease.run,
      from: lease.from,
      signal: stop.signal,
      checkpoint: (state) => lease.checkpoint(state, NO_USAGE),
      reserve: async () => {
        throw new Error('it costs nothing');
      },
      spend: () => undefined,
    };
    const end = await job.run(context);
    await lease.end(end, NO_USAGE);
    return end;
  };
  const retired = (): number => library.library.lessons().filter(({ state }) => state === 'retired').length;
  return { library, job, run, retired };
}

const fill = async ({ library }: Awaited<ReturnType<typeof open>>, count: number) => {
  for (let at = 0; at < count; at++)
    await library.add(`idle_${at}`, { description: `${at}`, content: `Topic ${at ** 5 * 7919}.` });
  library.clock.advance(200 * DAY);
};

describe('the consolidation job', () => {
  it('runs once a week where something is in use and learning is on', async () => {
    const home = await open();
    expect(await home.job.isReady()).toBe(false);
    await home.library.add('used', {});
    expect(await home.job.isReady()).toBe(true);
    await home.library.records.append([
      { at: home.library.clock.now(), fact: { type: 'learning-switched', on: false } },
    ]);
    expect(await home.job.isReady()).toBe(false);
    await home.library.records.append([
      { at: home.library.clock.now() + 1, fact: { type: 'learning-switched', on: true } },
    ]);
    expect(await home.run()).toMatchObject({ end: 'done', note: '0 changes' });
    home.library.clock.advance(6 * DAY);
    expect(await home.job.isReady()).toBe(false);
    home.library.clock.advance(DAY);
    expect(await home.job.isReady()).toBe(true);
  });

  it('stops between two change sets when the person is back, and goes on with the rest', async () => {
    const home = await open();
    await fill(home, 40);
    expect(await home.run(1)).toMatchObject({ end: 'paused' });
    expect(home.retired()).toBe(25);
    expect(await home.job.isReady()).toBe(true);
    expect(await home.run()).toMatchObject({ end: 'done', note: '15 changes' });
    expect(home.retired()).toBe(40);
  });

  it('changes nothing where every change needs approval, and says what waits', async () => {
    const home = await open('manual');
    await fill(home, 2);
    expect(await home.run()).toMatchObject({ note: '2 changes wait for you: instar lessons consolidate' });
    expect(home.retired()).toBe(0);
  });
});
