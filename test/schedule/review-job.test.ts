import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../src/core/clock.ts';
import { asObject } from '../../src/core/json.ts';
import type { JobContext } from '../../src/core/schedule.ts';
import { createNgramEmbed } from '../../src/embed/ngram-embed.ts';
import { openLessons } from '../../src/lessons/open-lessons.ts';
import { createReviewJob, REVIEW_JOB } from '../../src/lessons/review-job.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { NO_USAGE } from '../../src/schedule/job-history.ts';
import { createLeases } from '../../src/schedule/leases.ts';
import { createRecordsJournal } from '../../src/schedule/serve-schedule.ts';
import { lessonText } from '../support/lesson-text.ts';

const DAY = 86_400_000;

async function open() {
  const clock = createManualClock(Date.UTC(2026, 10, 14));
  const store = createMemoryStore();
  const records = toRecords(store, clock.now);
  let ids = 0;
  const newId = (prefix: string): string => `${prefix}_${++ids}`;
  const shelf = await openLessons({
    records,
    clock,
    newId,
    onFault: (error) => {
      throw error;
    },
  });
  const leases = createLeases({
    journal: createRecordsJournal(records, clock),
    clock,
    holder: 'p',
    newRun: () => newId('run'),
    isAlone: true,
    leaseMs: 1000,
  });
  const embed = createNgramEmbed();
  const job = createReviewJob({ open: () => shelf, embed, now: clock.now, history: leases.history });
  const add = (id: string, content: string) => {
    const text = asObject(lessonText({ name: id, description: `When you work on ${id}.`, content }));
    return shelf.api.change({
      reason: 'a test',
      changes: [{ op: 'add', id, kind: 'skill', state: 'live', text }],
    });
  };
  /** A whole run, as the scheduler would make it; told to stop after so many checkpoints. */
  const run = async (stopAfter = Number.POSITIVE_INFINITY) => {
    const lease = await leases.take(REVIEW_JOB);
    if (lease === undefined) throw new Error('not ours');
    const stop = new AbortController();
    let kept = 0;
    const context: JobContext = {
      run: lease.run,
      from: lease.from,
      signal: stop.signal,
      checkpoint: async (state) => {
        await lease.checkpoint(state, NO_USAGE);
        if (++kept >= stopAfter) stop.abort();
      },
      spend: () => undefined,
      reserve: async () => ({ isGranted: false, why: 'a review reserves nothing' }),
    };
    const end = await job.run(context);
    await lease.end(end, NO_USAGE);
    return { end, kept, run: lease.run };
  };
  return { clock, shelf, job, add, run };
}

describe('the nightly review of the library', () => {
  it('has nothing to do for an empty library, and proposes without changing a lesson', async () => {
    const { shelf, job, add, run } = await open();
    expect(await job.isReady()).toBe(false);
    await add('one', 'Run the linter before you commit any change to the repository.');
    await add('two', 'Run the linter before you commit any change to this repository.');
    const before = JSON.stringify(shelf.library.lessons());
    const { end } = await run();
    expect(end).toMatchObject({ end: 'done' });
    expect(end.end === 'done' ? end.note : '').toMatch(/^generation \d+: /);
    expect(JSON.stringify(shelf.library.lessons())).toBe(before);
  });

  it('reviews a generation once, a changed one after a day, and not again when the clock is set back', async () => {
    const { clock, job, add, run } = await open();
    await add('one', 'Write dates with an offset.');
    await run();
    clock.advance(2 * DAY);
    expect(await job.isReady()).toBe(false);
    await add('two', 'Keep a copy before you overwrite a file.');
    expect(await job.isReady()).toBe(true);
    await run();
    await add('three', 'Sort the keys of every JSON file.');
    expect(await job.isReady()).toBe(false);
    clock.advance(-3_600_000);
    expect(await job.isReady()).toBe(false);
    clock.advance(DAY);
    expect(await job.isReady()).toBe(true);
  });

  it('stops between groups and resumes the same run without repeating work', async () => {
    const { job, add, run } = await open();
    for (let n = 0; n < 40; n++)
      await add(`lesson-${n}`, `Do thing number ${n} in the way that ${n} asks for.`);
    const first = await run(1);
    expect([first.end.end, first.kept]).toEqual(['paused', 1]);
    expect(await job.isReady()).toBe(true);
    const second = await run();
    expect([second.end.end, second.kept, second.run]).toEqual(['done', 2, first.run]);
  });
});

it('compares a large library without keeping the thread that serves', async () => {
  const { reviewLibrary } = await import('../../src/lessons/similar/review-library.ts');
  const { shelf, add } = await open();
  for (let n = 0; n < 3; n++) await add(`rule-${n}`, `Write amounts with unit ${n}.`);
  const [first] = shelf.library.lessons();
  if (first === undefined) throw new Error('no lesson');
  // All in the same words: every pair is compared in full.
  const lessons = Array.from({ length: 400 }, (_, n) => ({ ...first, id: `copy-${n}` }));
  let turns = 0;
  const count = setInterval(() => turns++, 1);
  const review = await reviewLibrary({
    lessons,
    embed: createNgramEmbed(),
    isByLetters: true,
    effects: shelf.effects,
    trials: shelf.trials,
    now: 0,
  });
  clearInterval(count);
  expect(review.same).toHaveLength((400 * 399) / 2);
  expect(turns).toBeGreaterThan(3);
});
