import { describe, expect, it } from 'vitest';
import { createTrainingBuffer } from '../../../src/evidence/training-buffer.ts';
import { domainOf } from '../../../src/evidence/verify-session.ts';
import { rootOf, splitOf } from '../../../src/learn/practice/sources/split.ts';
import { openScripted, tasksFile } from './open-scripted.ts';
import { attemptOf } from './scripted-practice.ts';
import { createRecordedWork, type RecordedWork } from './sources/recorded-work.ts';

const [WORSE, BETTER] = [
  'The amounts of daily are listed without a currency sign.',
  'Every amount carries its currency sign, checked line by line for daily.',
];
/** Requests that ask for the same, in words that fall into one split. */
const wordings = (split: string, domain: string): readonly string[] =>
  Array.from({ length: 60 }, (_, nth) => `Write the daily report of shop ${nth} as a table`).filter(
    (words) => splitOf(rootOf(domain, words)) === split,
  );

/** Two sessions that ask for the same: a person is content with the one, and not with the other. */
async function recordWork(work: RecordedWork, split: string, project = 'p1'): Promise<void> {
  work.record(`${project}-probe`, [{ user: 'hello' }, { agent: 'hello' }], { project });
  const domain = await domainOf(`${project}-probe`, work.records);
  const [one = '', two = ''] = wordings(split, domain);
  const [bad = ''] = work.record(`${project}-bad`, [{ user: one }, { agent: WORSE }], { project });
  const [good = ''] = work.record(`${project}-good`, [{ user: two }, { agent: BETTER }], { project });
  work.add(
    { type: 'reward-given', turn: bad, source: 'person', score: -1 },
    { type: 'reward-given', turn: good, source: 'person', score: 1 },
  );
}

describe('practice with recorded work', () => {
  it('learns from better and worse sessions of people, cites their turns, and says so', async () => {
    const work = createRecordedWork();
    await recordWork(work, 'learn');
    const { command, finish, lessons, store } = await openScripted({}, work);
    expect(await command('run', { kind: 'exploratory' })).toEqual({ started: true });
    await finish();
    expect(await command('report')).toMatchObject({ end: 'done', counts: { recorded: 1, published: 1 } });
    const [lesson] = lessons.library.lessons();
    expect(lesson?.text.evidence.turns.toSorted()).toEqual(['p1-bad-t0', 'p1-good-t0']);
    // What a lesson rests on is not trained on.
    const buffer = createTrainingBuffer({ cap: 10 });
    for (const stored of store.facts(0, 10_000)) buffer.add(stored);
    expect(buffer.counts().support).toBe(2);
    store.erase('p1-good', 5_000, 'asked');
    expect(JSON.stringify(store.facts(0, 10_000))).not.toContain('checked line by line for daily');
  });

  it('learns from the same recorded work once', async () => {
    const work = createRecordedWork();
    await recordWork(work, 'learn');
    const first = await openScripted({}, work);
    await first.command('run', { kind: 'exploratory' });
    await first.finish();
    const second = await openScripted({ tasks: [tasksFile()] }, work);
    await second.command('run', { kind: 'micro' });
    await second.finish();
    expect(await second.command('report')).toMatchObject({ kind: 'micro', counts: { recorded: 0 } });
  });

  it('takes none that lessons are measured on, and none of another area', async () => {
    for (const [split, area] of [
      ['gate', {}],
      ['report', {}],
      ['learn', { domain: 'reports' }],
    ] as const) {
      const work = createRecordedWork();
      await recordWork(work, split);
      const { command, finish } = await openScripted({ tasks: [tasksFile()] }, work);
      await command('run', { kind: 'exploratory', ...area });
      await finish();
      expect(await command('report')).toMatchObject({ end: 'done', counts: { recorded: 0 } });
    }
  });

  it('shows the words of a session to no model of another provider, unless its owner named the model', async () => {
    const work = createRecordedWork();
    await recordWork(work, 'learn');
    const hidden = await openScripted({}, { ...work, onlyFor: 'elsewhere' });
    await hidden.command('run', { kind: 'exploratory' });
    await hidden.finish();
    expect([hidden.asked, hidden.orders]).toEqual([[], []]);
  });

  it('goes on with the groups that it began with, but without those that were erased since', async () => {
    const work = createRecordedWork();
    await recordWork(work, 'learn', 'p1');
    await recordWork(work, 'learn', 'p2');
    const first = await openScripted(
      {},
      {
        ...work,
        attempt: (order, signal) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve(attemptOf(order)), { once: true });
          }),
      },
    );
    await first.command('run', { kind: 'exploratory' });
    await expect.poll(() => first.orders.length).toBeGreaterThan(0);
    await first.command('stop');
    // New work does not change a session that has begun.
    await recordWork(work, 'learn', 'p3');
    work.store.erase('p2-bad', 5_000, 'asked');
    const second = await openScripted({}, work);
    await second.command('run');
    await second.finish();
    expect(await second.command('report')).toMatchObject({ end: 'done', counts: { recorded: 1 } });
    const cited = second.lessons.library.lessons().flatMap(({ text }) => text.evidence.turns);
    expect(cited.toSorted()).toEqual(['p1-bad-t0', 'p1-good-t0']);
  });
});
