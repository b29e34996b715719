import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { Fact } from '../../src/core/fact.ts';
import type { Records } from '../../src/core/store.ts';
import { createEvidenceReader } from '../../src/evidence/evidence-reader.ts';
import { endSession } from '../../src/learn/end-session.ts';
import { findStart } from '../../src/learn/follow-record.ts';
import { openLessons } from '../../src/lessons/open-lessons.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { start } from '../record/store/facts.ts';
import { lessonText } from '../support/lesson-text.ts';

const openRecords = () => toRecords(createMemoryStore(), () => 1);
const report = (kind: string, data: Record<string, string | boolean> = {}, by = 'k_1'): Fact => ({
  type: 'event-reported',
  kind,
  session: 'ep_1',
  agent: 'exporter',
  data,
  by,
});
const append = (records: Records, ...facts: readonly Fact[]) =>
  records.append(facts.map((fact) => ({ at: 1, fact })));

const openLibrary = async (records: Records) => {
  const { library, api } = await openLessons({
    records,
    clock: systemClock,
    newId: (prefix) => `${prefix}_1`,
    onFault: (error) => {
      throw error;
    },
  });
  const text = lessonText({
    name: 'iso-dates',
    description: 'When dates are written.',
    content: 'Write dates as 2026-03-16.',
  });
  await library.publish({
    id: 'set',
    by: { kind: 'person', name: 'person' },
    reason: 'told',
    changes: [{ op: 'add', id: 'lesson_1', kind: 'skill', text, state: 'live' }],
  });
  return api;
};

describe('an episode', () => {
  it('scores the lessons that it was shown, once, and is not queued as a session with turns', async () => {
    const records = openRecords();
    const api = await openLibrary(records);
    await append(records, report('episode_start', { task: 'Write the dates of the orders' }));
    const asked = { task: 'Write the dates of the orders', agent: 'exporter', episode: 'ep_1', by: 'k_1' };
    expect((await api.recall(asked)).lessons).toEqual([{ id: 'lesson_1', name: 'iso-dates' }]);
    await api.recall(asked);
    expect(await records.recalls('ep_1')).toHaveLength(1);
    await append(records, report('episode_end', { outcome: 'failure' }));
    const [scored, ...more] = await endSession(
      'ep_1',
      { records, evidence: createEvidenceReader({ ...records, decoder: () => async () => undefined }) },
      5,
    );
    expect(scored?.fact).toMatchObject({
      type: 'session-scored',
      session: 'ep_1',
      score: 0,
      lessons: ['lesson_1'],
      heldOut: [],
    });
    expect(more).toEqual([]);
  });

  it.each([
    ['of another key', [report('episode_start', { task: 'x' }, 'k_2')]],
    [
      'that has ended',
      [report('episode_start', { task: 'x' }), report('episode_end', { outcome: 'success' })],
    ],
    ['that never began', [report('episode_attempt')]],
  ])('%s is not said to have been shown anything', async (_, facts) => {
    const records = openRecords();
    const api = await openLibrary(records);
    await append(records, ...facts);
    const asked = { task: 'Write the dates', agent: 'exporter', episode: 'ep_1', by: 'k_1' };
    expect((await api.recall(asked)).lessons).toHaveLength(1);
    expect(await records.recalls('ep_1')).toEqual([]);
  });
});

describe('the start of learning', () => {
  const recordMany = async (records: Records, count: number): Promise<void> => {
    const one = report('episode_attempt', { action: 'a', result: 'b', ok: false });
    await append(records, ...Array.from({ length: count }, () => one));
  };

  it('reads everything that was recorded while no daemon ran (not: the last 500 facts)', async () => {
    const records = openRecords();
    await append(records, start('t_1', 's_1'));
    await recordMany(records, 3000);
    expect(await findStart(records, 3001)).toBe(0);
  });

  it('goes back to what learning wrote last where other gateways record, too (not: to their last turn)', async () => {
    const records = openRecords();
    await append(records, start('t_1', 's_1'));
    await append(records, { type: 'session-scored', session: 's_1', score: 1, lessons: [], heldOut: [] });
    const turns = Array.from({ length: 7_000 }, (_, n) => start(`t_2_${n}`, `s_${n % 50}`));
    await append(records, ...turns);
    expect(await findStart(records, 7_002, true)).toBe(0);
    expect(await findStart(records, 7_002)).toBe(6_502);
  });

  it('goes back a little before the last fact of a daemon', async () => {
    const records = openRecords();
    await recordMany(records, 2000);
    await append(records, start('t_1', 's_1'));
    await recordMany(records, 1200);
    expect(await findStart(records, 3201)).toBe(1501);
    await append(records, start('t_2', 's_1'));
    expect(await findStart(records, 3202)).toBe(2702);
    expect(await findStart(openRecords(), 0)).toBe(0);
  });
});
