import { describe, expect, it } from 'vitest';
import { NOTHING_SPENT } from '../../../src/core/budget.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { toJson } from '../../../src/core/json.ts';
import type { AttemptGroup } from '../../../src/core/practice.ts';
import { openPracticeHistory } from '../../../src/learn/practice/practice-history.ts';
import { openPracticeJournal } from '../../../src/learn/practice/practice-units.ts';
import { trainOnWaiting } from '../../../src/learn/practice/session-weights.ts';
import { openPracticeTasks } from '../../../src/learn/practice/sources/practice-tasks.ts';
import { toRecords } from '../../../src/record/records.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { taskOf } from './scripted-practice.ts';

const GENERATION = 4;
const COUNTS = {
  ...{ graded: 0, ungraded: 0, infrastructure: 0, groups: 0, kept: 0, lost: 0 },
  ...{ quarantined: 0, published: 0, proposed: 0, refused: 0 },
};

/** A home with one task, and sessions of practice that attempted it twice in tokens. */
function openHome() {
  const records = toRecords(createMemoryStore(), systemClock.now);
  const task = taskOf('one');
  const close = async (
    run: string,
    { steps = 0, generation = GENERATION, rewards = [0, 1] } = {},
  ): Promise<void> => {
    const journal = await openPracticeJournal({ run, records, clock: systemClock });
    for (const [place, reward] of rewards.entries())
      await journal.write(
        `attempt/0/${task.id}/${place}/0`,
        toJson({
          ...{ id: `attempt:${run}/${place}`, task: task.id, by: 'nano@0', generation, lessons: [] },
          ...{ output: '', steps: [], used: NOTHING_SPENT, sampled: [] },
          outcome: { is: 'graded', reward, reasons: [] },
        }),
      );
    const planned = { run, kind: 'exploratory', why: '', area: {}, tasks: [task.id] } as const;
    await records.append([
      {
        at: 1,
        fact: { type: 'practice-task', op: 'added', id: task.id, task, sessions: [] },
        key: 'task',
      },
      {
        at: 1,
        fact: {
          ...{ type: 'practice-session', op: 'planned', ...planned },
          ...{ regression: [], epochs: 1, groupSize: 2 },
        },
      },
      {
        at: 2,
        fact: {
          ...{ type: 'practice-session', op: 'closed', run, end: 'done', counts: COUNTS },
          ...{ spent: NOTHING_SPENT, helpful: 0, refused: 0, forgotten: [] },
          weights: { steps, groups: steps, refused: 0, notes: [] },
        },
      },
    ]);
  };
  const given: AttemptGroup[][] = [];
  const train = async () => {
    given.length = 0;
    const journal = await openPracticeJournal({ run: 'now', records, clock: systemClock });
    const said = await trainOnWaiting(
      {
        trainOn: async (groups) => {
          given.push([...groups]);
          return { groups: groups.length, version: 1, refused: [] };
        },
      },
      {
        history: await openPracticeHistory(records),
        tasks: await openPracticeTasks(records),
        // Only the generation is read.
        library: { generation: GENERATION },
        records,
        clock: systemClock,
      },
      journal,
    );
    expect(said).toBeUndefined();
    return given.map((batch) => batch.map(({ id }) => id));
  };
  return { close, train, given };
}

describe('groups that were attempted while nothing could measure new weights', () => {
  it('are trained on by a later session under the same generation, once', async () => {
    const { close, train } = openHome();
    await close('first');
    await close('second');
    expect(await train()).toEqual([['second/0/curated/one', 'first/0/curated/one']]);
    expect(await train()).toEqual([]);
  });

  it('are not trained on under other lessons, without a difference, or where a later session has trained', async () => {
    const { close, train } = openHome();
    await close('before');
    await close('trained', { steps: 1 });
    await close('other-lessons', { generation: GENERATION - 1 });
    await close('all-alike', { rewards: [1, 1] });
    expect(await train()).toEqual([]);
  });
});
