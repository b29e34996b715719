import { describe, expect, it } from 'vitest';
import { NOTHING_SPENT } from '../../../src/core/budget.ts';
import type { Lesson } from '../../../src/core/lesson.ts';
import type { PracticeTask } from '../../../src/core/practice.ts';
import { lessonSubject } from '../../../src/core/trial.ts';
import type { Autonomy } from '../../../src/learn/gate/autonomy-rule.ts';
import { createTransfers } from '../../../src/learn/transfer/transfer.ts';
import { checkLessonText } from '../../../src/lessons/check-lesson-text.ts';
import { openLessons } from '../../../src/lessons/open-lessons.ts';
import { transferId } from '../../../src/lessons/transfer.ts';
import { toRecords } from '../../../src/record/records.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { lessonText, type ToldText } from '../../support/lesson-text.ts';
import { runRows } from '../run-rows.ts';

const REPORTS = [
  'Write the sales report of June',
  'Write the sales report of July',
  'Write the sales report of May',
];
const GARDEN = ['Water the roses at noon', 'Prune the apple tree', 'Plant tulips in autumn'];

/** A vector by topic: reports on one axis, gardens on another. */
const embed = async (texts: readonly string[]) =>
  texts.map((text) => Float32Array.from(/report/i.test(text) ? [1, 0] : [0, 1]));

const tasksOf = (agent: string, prompts: readonly string[], project?: string): readonly PracticeTask[] =>
  prompts.map((prompt) => ({
    id: `${agent}/${prompt}`,
    root: `${agent}/${prompt}`,
    origin: 'curated',
    prompt,
    domain: 'general',
    agent,
    ...(project === undefined ? {} : { project }),
  }));

async function openWorld(autonomy: Autonomy = 'guarded', tasks?: readonly PracticeTask[]) {
  const now = () => 1_800_000_000_000;
  const clock = { now, monotonic: now };
  const records = toRecords(createMemoryStore(), now);
  let ids = 0;
  const newId = (prefix: string): string => `${prefix}_${++ids}`;
  const opened = await openLessons({
    records,
    clock,
    newId,
    onFault: (error) => {
      throw error;
    },
  });
  const { library, effects } = opened;
  const add = async (
    id: string,
    over: Partial<ToldText> = {},
    kind: Lesson['kind'] = 'skill',
    isProven = true,
  ) => {
    const text = lessonText({
      name: id,
      description: 'When you write a sales report.',
      content: `Put the total of the report first (${id}).`,
      scope: { agent: 'ada' },
      ...over,
    });
    const { results } = await library.publish({
      id: `add-${id}`,
      by: { kind: 'person', name: 'person' },
      reason: 'test',
      changes: [{ op: 'add', id, kind, state: 'live', text }],
    });
    expect(results[0]?.status).toBe('applied');
    if (isProven) await prove(id);
  };
  /** A trial in which it helped, as practice records it. */
  const prove = async (id: string, outcome: 'helpful' | 'harmful' = 'helpful') => {
    const subject = lessonSubject(id, 1);
    const pair = {
      task: 't',
      root: 'r',
      with: outcome === 'helpful' ? 1 : 0,
      without: outcome === 'helpful' ? 0 : 1,
    };
    const pairs = Array.from({ length: 20 }, () => pair);
    await records.append(
      [
        { type: 'trial-opened' as const, subject, place: 1, until: 0 },
        {
          type: 'trial-measured' as const,
          subject,
          by: 'tasks' as const,
          begun: 20,
          pairs,
          used: NOTHING_SPENT,
        },
        { type: 'trial-ended' as const, subject, outcome, why: 'measured' },
      ].map((fact) => ({ at: now(), fact })),
    );
  };
  const transfers = createTransfers({
    library,
    effects,
    records,
    tasks: async () =>
      tasks ?? [...tasksOf('ada', REPORTS), ...tasksOf('bob', REPORTS), ...tasksOf('cyd', GARDEN)],
    embed,
    autonomy,
    checkText: checkLessonText,
    clock,
    newId,
  });
  const run = runRows(library, async (facts) => void (await records.append(facts)));
  /** How many lessons went on trial and how many wait. */
  const transfer = async () => {
    const outcomes = (await run([transfers.row])).flatMap(({ judgements }) =>
      judgements.map(({ outcome }) => outcome),
    );
    const countOf = (wanted: string) => outcomes.filter((outcome) => outcome === wanted).length;
    return { trial: countOf('trial'), proposed: countOf('proposed') };
  };
  return { ...opened, records, add, prove, plan: transfers.plan, transfer };
}

describe('a lesson that helped one agent', () => {
  it('goes on trial for an agent with tasks of the same kind, with its origin and its measured effect', async () => {
    const { add, plan, transfer, library, api } = await openWorld();
    await add('total-first');
    expect(await plan()).toMatchObject([{ from: 'ada', to: 'bob', tasks: 3, of: 3 }]);
    expect(library.lessons()).toHaveLength(1);
    expect(await transfer()).toEqual({ trial: 1, proposed: 0 });
    const lesson = library.lesson(transferId('total-first', 'bob'));
    expect(lesson).toMatchObject({
      state: 'trial',
      text: {
        name: 'total-first-for-bob',
        content: 'Put the total of the report first (total-first).',
        scope: { agent: 'bob' },
        evidence: {
          learner: 'transfer',
          transfer: {
            agent: 'ada',
            lesson: 'total-first',
            revision: 1,
            effect: expect.stringMatching(/^\+1\.00 \[/),
          },
        },
      },
    });
    expect(await api.show('total-first-for-bob')).toMatchObject({
      writtenBy: 'a transfer from ada, lesson total-first',
      evidence: { transfer: { agent: 'ada' } },
    });
    // Its own measurement decides about it: the origin stays.
    expect(await transfer()).toEqual({ trial: 0, proposed: 0 });
    await library.publish({
      id: 'harm',
      by: { kind: 'instar', name: 'measurement' },
      reason: 'harmful',
      changes: [{ op: 'retire', id: transferId('total-first', 'bob'), reason: 'harmful for bob' }],
    });
    expect(library.lesson('total-first')?.state).toBe('live');
    expect(await plan()).toEqual([]);
  });

  it('waits under manual autonomy, and is never live at once under autonomous', async () => {
    const manual = await openWorld('manual');
    await manual.add('aa');
    expect(await manual.transfer()).toEqual({ trial: 0, proposed: 1 });
    const free = await openWorld('autonomous');
    await free.add('aa');
    expect(await free.transfer()).toEqual({ trial: 1, proposed: 0 });
  });

  it('stays where it is: private, identity, unproven, tainted, of another project, or transferred itself', async () => {
    const { add, plan } = await openWorld();
    await add('private', { note: { visibility: 'private' } });
    await add('identity', { note: { tier: 'free' } }, 'identity');
    await add('unproven', {}, 'skill', false);
    await add('tainted', { taint: ['web'] });
    await add('other-project', { scope: { agent: 'ada', project: 'p1' } });
    await add('shared', { note: { visibility: 'shared' } });
    await add('copy', {
      evidence: {
        turns: [],
        quotes: [],
        learner: 'transfer',
        transfer: { agent: 'eve', lesson: 'x', revision: 1, effect: '+1' },
      },
    });
    expect(await plan()).toEqual([]);
    const inProject = await openWorld('guarded', tasksOf('bob', REPORTS, 'p1'));
    await inProject.add('same-project', { scope: { agent: 'ada', project: 'p1' } });
    expect(await inProject.plan()).toMatchObject([{ to: 'bob' }]);
    await inProject.transfer();
    expect(inProject.library.lesson(transferId('same-project', 'bob'))?.text.scope).toEqual({
      agent: 'bob',
      project: 'p1',
    });
  });
});
