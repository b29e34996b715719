import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { JobQueue, JobRules, LeasedJob } from '../../src/core/jobs.ts';
import type { Jobs } from '../../src/jobs/open-jobs.ts';
import { workJobs } from '../../src/jobs/work-jobs.ts';

const KIND = 'attempt local/m';
const LEASE = 'learning';

/** How two processes of one store see its jobs. `rules`: leases of a second, so that tests need not wait longer. */
export function describeJobs(title: string, open: (rules: JobRules) => Promise<readonly [Jobs, Jobs]>): void {
  const rules: JobRules = { leaseMs: 2_000, attempts: 3, pauseMs: 1_000 };
  const opened: Jobs[] = [];
  const openBoth = async (): Promise<readonly [Jobs, Jobs]> => {
    const both = await open(rules);
    opened.push(...new Set(both));
    return both;
  };
  afterEach(async () => {
    for (const jobs of opened.splice(0)) await jobs.close();
  });
  /** Waits until a job can be taken: after a failure or a lost lease that takes a while. */
  const taken = async (queue: JobQueue, kinds: readonly string[] = [KIND]): Promise<LeasedJob> => {
    let job: LeasedJob | undefined;
    await expect
      .poll(
        async () => {
          job = await queue.take(kinds);
          return job !== undefined;
        },
        { timeout: 100_000, interval: 100 },
      )
      .toBe(true);
    if (job === undefined) throw new Error('no job was taken');
    return job;
  };

  describe(title, () => {
    it('gives a job to one process, with what was enqueued, and keeps its output', async () => {
      const [{ queue }, { queue: other }] = await openBoth();
      const data = { order: { text: 'a\u0000b \ud800 “ü”', list: [1, { x: null }] } };
      const id = await queue.enqueue({ kind: KIND, key: 'one', data });
      const job = await taken(other);
      expect(job).toMatchObject({ id, kind: KIND, key: 'one', data, attempt: 1, isLast: false });
      expect(await queue.take([KIND])).toBeUndefined();
      expect(await queue.state(KIND, id)).toEqual({ is: 'open' });
      expect(await job.complete({ reply: 'c\u0000' })).toBe(true);
      expect(await queue.state(KIND, id)).toEqual({ is: 'done', output: { reply: 'c\u0000' } });
      expect(await job.complete({ reply: 'again' })).toBe(false);
    });

    it('has one job for a key, however often and by whomever it is enqueued, also when it is over', async () => {
      const [{ queue }, { queue: other }] = await openBoth();
      const ids = await Promise.all(
        [queue, other, queue, other].map((one) => one.enqueue({ kind: KIND, key: 'same', data: {} })),
      );
      expect(new Set(ids).size).toBe(1);
      await (await taken(queue)).complete({ done: true });
      expect(await other.enqueue({ kind: KIND, key: 'same', data: { other: 1 } })).toBe(ids[0]);
      expect(await queue.take([KIND])).toBeUndefined();
      expect(await other.state(KIND, ids[0] ?? '')).toMatchObject({ is: 'done' });
      await queue.forget(KIND, ids[0] ?? '');
      expect(await other.state(KIND, ids[0] ?? '')).toEqual({ is: 'unknown' });
      await other.enqueue({ kind: KIND, key: 'same', data: { other: 1 } });
      expect((await taken(queue)).data).toEqual({ other: 1 });
    });

    it('takes only the kinds that it is asked for, the oldest first', async () => {
      const [{ queue }] = await openBoth();
      await queue.enqueue({ kind: 'other', key: 'x', data: {} });
      for (const key of ['a', 'b', 'c']) await queue.enqueue({ kind: KIND, key, data: {} });
      const keys: string[] = [];
      for (let nth = 0; nth < 3; nth++) keys.push((await taken(queue)).key);
      expect(keys).toEqual(['a', 'b', 'c']);
      expect(await queue.take([KIND])).toBeUndefined();
      expect(await queue.take([])).toBeUndefined();
      expect((await taken(queue, [KIND, 'other'])).key).toBe('x');
    });

    it('tries a job that failed again after a pause, until its last attempt', async () => {
      const [{ queue }] = await openBoth();
      const id = await queue.enqueue({ kind: KIND, key: 'bad', data: {} });
      const attempts: [number, boolean][] = [];
      for (let nth = 1; nth <= 3; nth++) {
        const job = await taken(queue);
        attempts.push([job.attempt, job.isLast]);
        expect(await job.fail(`no ${nth}`)).toBe(true);
        // The pause.
        if (nth < 3) expect(await queue.take([KIND])).toBeUndefined();
      }
      expect(attempts).toEqual([
        [1, false],
        [2, false],
        [3, true],
      ]);
      expect(await queue.state(KIND, id)).toEqual({ is: 'failed', why: 'no 3' });
    });

    it('gives the job of a silent process to another one, and refuses what the silent one says later', async () => {
      const [{ queue }, { queue: other }] = await openBoth();
      const id = await queue.enqueue({ kind: KIND, key: 'slow', data: {} });
      const silent = await taken(queue);
      const next = await taken(other);
      expect(next).toMatchObject({ id, attempt: 2 });
      expect(await silent.renew()).toBe(false);
      expect(await silent.complete({ by: 'silent' })).toBe(false);
      expect(await silent.fail('late')).toBe(false);
      expect(await next.complete({ by: 'next' })).toBe(true);
      expect(await queue.state(KIND, id)).toEqual({ is: 'done', output: { by: 'next' } });
    });

    it('leaves a job with the process that renews its lease', async () => {
      const [{ queue }, { queue: other }] = await openBoth();
      await queue.enqueue({ kind: KIND, key: 'long', data: {} });
      const job = await taken(queue);
      for (let nth = 0; nth < 8; nth++) {
        await new Promise((resolve) => setTimeout(resolve, 500));
        expect(await job.renew()).toBe(true);
        expect(await other.take([KIND])).toBeUndefined();
      }
      expect(await job.complete({})).toBe(true);
    });

    it('forgets jobs with words of a session that is erased, also while somebody works on one', async () => {
      const [{ queue }, { queue: other }] = await openBoth();
      const about = { kind: KIND, data: { words: 'secret' }, sessions: ['s1', 's2'] };
      await queue.enqueue({ ...about, key: 'first' });
      await queue.enqueue({ ...about, key: 'second' });
      const kept = await queue.enqueue({ kind: KIND, key: 'kept', data: {}, sessions: ['s3'] });
      const job = await taken(queue);
      expect(await other.forgetSession('s2')).toBe(2);
      expect(await job.complete({ words: 'secret' })).toBe(false);
      expect(await other.state(KIND, kept)).toEqual({ is: 'open' });
      expect((await taken(queue)).key).toBe('kept');
    });

    it('does every job once when two processes work, and finishes what is under way when one closes', async () => {
      const [one, two] = await openBoth();
      const done: string[] = [];
      const work = (jobs: Jobs) =>
        workJobs({
          ...{ queue: jobs.queue, atOnce: 2, leaseMs: rules.leaseMs, idleMs: 50, clock: systemClock },
          doing: async () => ({
            [KIND]: async ({ key }) => {
              await new Promise((resolve) => setTimeout(resolve, 30));
              done.push(key);
              return { key };
            },
          }),
          onNews: () => undefined,
        });
      const workers = [work(one), work(two)];
      const keys = Array.from({ length: 20 }, (_, index) => `job-${index}`);
      const ids = await Promise.all(keys.map((key) => one.queue.enqueue({ kind: KIND, key, data: {} })));
      await expect.poll(() => done.length, { timeout: 100_000 }).toBeGreaterThan(5);
      await workers[0]?.close(10_000);
      await expect.poll(() => done.length, { timeout: 100_000 }).toBe(20);
      await workers[1]?.close(10_000);
      expect(done.toSorted()).toEqual(keys.toSorted());
      for (const id of ids) expect(await one.queue.state(KIND, id)).toMatchObject({ is: 'done' });
    });

    it('gives a job back when its process must stop before it is done', async () => {
      const [one, two] = await openBoth();
      const id = await one.queue.enqueue({ kind: KIND, key: 'endless', data: {} });
      let isBegun = false;
      const worker = workJobs({
        ...{ queue: one.queue, atOnce: 1, leaseMs: rules.leaseMs, idleMs: 50, clock: systemClock },
        doing: async () => ({
          [KIND]: (_, signal) =>
            new Promise((_resolve, reject) => {
              isBegun = true;
              signal.addEventListener('abort', () => reject(signal.reason));
            }),
        }),
        onNews: () => undefined,
      });
      await expect.poll(() => isBegun, { timeout: 100_000 }).toBe(true);
      await worker.close(0);
      expect(await taken(two.queue)).toMatchObject({ id, attempt: 2 });
    });

    it('gives a right to one holder at a time, until it is released or its time is over', async () => {
      const [{ leases }, { leases: other, holder }] = await openBoth();
      const [first, second] = await Promise.all([leases.take([LEASE], 60_000), other.take([LEASE], 60_000)]);
      expect([first, second].filter((one) => one !== undefined)).toHaveLength(1);
      await (first ?? second)?.release();
      const mine = await other.take([LEASE], 60_000);
      expect(mine?.fence).toBeGreaterThan((first ?? second)?.fence ?? 0);
      expect(await leases.holder(LEASE)).toBe(holder);
      expect(await mine?.renew()).toBe(true);
      await mine?.release();
      expect(await leases.holder(LEASE)).toBeUndefined();
      const short = await leases.take([LEASE], 200);
      await expect.poll(() => other.take([LEASE], 60_000), { timeout: 100_000 }).toBeDefined();
      expect(await short?.renew()).toBe(false);
    });

    it('gives the first free one of several rights', async () => {
      const [{ leases }, { leases: other }] = await openBoth();
      const names = ['slot/a/1', 'slot/a/2'];
      const first = await leases.take(names, 60_000);
      const second = await other.take(names, 60_000);
      expect([first?.name, second?.name].toSorted()).toEqual(names);
      expect(await other.take(names, 60_000)).toBeUndefined();
      await first?.release();
      expect((await other.take(names, 60_000))?.name).toBe(first?.name);
    });
  });
}
