import { describe, expect, it } from 'vitest';
import type { Attempt } from '../../../src/core/practice.ts';
import { hasSpread } from '../../../src/learn/practice/practice-input.ts';
import { readOperations } from '../../../src/learn/practice/propose-operations.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { add, learner, openOn, setOf, text } from '../../lessons/library/samples.ts';
import { attemptOf, goodReply, practise, type Stage, scriptedModel, taskOf } from './scripted-practice.ts';

/** A home with an experience that practice may change. */
async function homeWith(...ids: readonly string[]) {
  const store = createMemoryStore();
  const { library } = await openOn(store);
  const { note, evidence } = text();
  await library.publish(
    setOf(
      'before',
      ids.map((id) =>
        add(id, {
          kind: 'experience',
          state: 'trial',
          text: text({
            name: `note-${id}`,
            content: `What ${id} says about reports and their tables.`,
            scope: { domain: 'reports' },
            note: { ...note, source: 'practice' },
            evidence: { ...evidence, learner: 'practice' },
          }),
        }),
      ),
      learner,
    ),
  );
  return store;
}

const answering = (replies: Partial<Record<Stage, string>>) =>
  scriptedModel((stage, request) => replies[stage] ?? goodReply(stage, request));

const one = (over: Partial<Attempt> = {}) => ({ tasks: [taskOf('daily')], ...over });

describe('what other implementations of practice get wrong', () => {
  it('1: a DELETE without content retires the lesson (it is not ignored)', async () => {
    const store = await homeWith('old');
    const run = await practise({
      ...one(),
      store,
      model: answering({ operations: '[{"operation": "DELETE", "id": "E1"}]' }),
    });
    expect(run.library.lesson('old')?.state).toBe('retired');
  });

  it('2: an operation on an unknown id is quarantined and reported (not lost, not made an addition)', async () => {
    const store = await homeWith('old');
    const run = await practise({
      ...one(),
      store,
      model: answering({
        operations:
          '[{"operation": "UPDATE", "id": "E9", "content": "Something else about reports altogether."}]',
      }),
    });
    expect(run.result.counts.quarantined).toBe(1);
    expect(run.events.find(({ type }) => type === 'operation-quarantined')).toMatchObject({
      why: expect.stringContaining('"E9"'),
    });
    expect(run.library.lessons()).toHaveLength(1);
  });

  it('3: a reply that is no list costs its group alone (not the batch)', async () => {
    const store = await homeWith('old');
    const model = scriptedModel((stage, request) =>
      stage === 'operations' && JSON.stringify(request.messages).includes('currency sign before every amount')
        ? '{"thoughts": "none"}'
        : goodReply(stage, request),
    );
    const run = await practise({ store, model });
    expect(run.result.counts).toMatchObject({ kept: 3, lost: 1, published: 2 });
  });

  it('3: one object instead of a list of one is read as it is meant', async () => {
    const store = await homeWith('old');
    const run = await practise({ ...one(), store, model: answering({ operations: '{"operation": "ADD"}' }) });
    expect(run.result.counts).toMatchObject({ lost: 0, published: 1 });
  });

  it('4: no model is asked when there is nothing to do', async () => {
    const flat = await practise({
      attempt: async (order) => attemptOf(order, { outcome: { is: 'graded', reward: 1, reasons: [] } }),
    });
    expect(flat.asked).toEqual([]);
    const nothing = await practise({ model: answering({ advantage: '{"situation": null}' }) });
    expect(nothing.asked.every(({ stage }) => stage === 'advantage')).toBe(true);
    expect(nothing.result.counts).toMatchObject({ kept: 3, published: 0, lost: 0 });
  });

  it('5: lower case and "[E1]" are repaired (not dropped, not duplicated)', async () => {
    const store = await homeWith('old');
    const content = 'Write the currency sign before each amount, and check it.';
    const run = await practise({
      ...one(),
      store,
      model: answering({ operations: JSON.stringify([{ operation: 'update', id: '[E1]', content }]) }),
    });
    expect(run.library.lessons()).toMatchObject([{ id: 'old', revision: 2, text: { content } }]);
  });

  it('6: a task without an answer, a check or a reference is practised all the same', async () => {
    const { check: _, reference: __, ...bare } = taskOf('daily');
    const run = await practise({
      tasks: [bare],
      attempt: async (order) => attemptOf(order, { outcome: { is: 'ungraded' } }),
    });
    expect(run.result).toMatchObject({ end: 'done', isSelfEvaluated: true, counts: { kept: 1 } });
  });

  it('7: a group whose attempts all got half the reward is not kept (the spread counts, not the mean)', () => {
    const graded = (...rewards: readonly number[]) => ({
      attempts: rewards.map((reward, place) => {
        const order = {
          id: `a${place}`,
          task: taskOf('daily'),
          shown: { text: '', lessons: [], generation: 0 },
          seed: '',
          temperature: 1,
          timeoutMs: 1,
        };
        return attemptOf(order, { outcome: { is: 'graded', reward, reasons: [] } });
      }),
    });
    expect(hasSpread(graded(0.5, 0.5, 0.5), 0.05)).toBe(false);
    expect(hasSpread(graded(0.6, 0.9, 0.6), 0.05)).toBe(true);
    expect(hasSpread(graded(1), 0.05)).toBe(false);
  });

  it('8: an attempt without a trajectory ends no run', async () => {
    const run = await practise({
      attempt: async (order) => {
        const { steps: _, output: __, ...bare } = attemptOf(order);
        return JSON.parse(JSON.stringify(bare));
      },
    });
    expect(run.result.end).toBe('done');
  });

  it('9: attempts are made at 0.7 and judged at 0.3, and neither changes the other', async () => {
    const temperatures = new Set<number>();
    const run = await practise({
      attempt: async (order) => {
        temperatures.add(order.temperature);
        return attemptOf(order);
      },
    });
    expect(temperatures).toEqual(new Set([0.7]));
    expect(new Set(run.asked.map(({ temperature }) => temperature))).toEqual(new Set([0.3]));
  });

  it('10, 20: the same id continues a run, and a finished one gives the same result without any work', async () => {
    const store = createMemoryStore();
    const first = await practise({ store });
    const again = await practise({
      store,
      attempt: () => Promise.reject(new Error('attempted again')),
      model: scriptedModel(() => {
        throw new Error('asked again');
      }),
    });
    expect(again.result).toEqual(first.result);
    expect(again.library.lessons()).toEqual(first.library.lessons());
  });

  it('11: the order of tasks depends on the seed, and only on the seed', async () => {
    const orderOf = async (seed: string) => {
      const { events } = await practise({ settings: { seed, concurrency: 1, groupSize: 2 } });
      return events.flatMap((event) => (event.type === 'attempt-made' ? [event.task] : []));
    };
    expect(await orderOf('a')).toEqual(await orderOf('a'));
    const orders = await Promise.all(['a', 'b', 'c', 'd'].map(orderOf));
    expect(new Set(orders.map(String)).size).toBeGreaterThan(1);
  });

  it('12: the time limit and the concurrency reach the attempts', async () => {
    let [running, most] = [0, 0];
    const limits = new Set<number>();
    await practise({
      settings: { concurrency: 2, timeoutMs: 1234 },
      attempt: async (order) => {
        limits.add(order.timeoutMs);
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        return attemptOf(order);
      },
    });
    expect(limits).toEqual(new Set([1234]));
    expect(most).toBe(2);
  });

  it('13: each epoch makes its own attempts (the numbers of the first are not shown again)', async () => {
    const ids = new Set<string>();
    const run = await practise({
      settings: { epochs: 2 },
      attempt: async (order) => {
        ids.add(order.id);
        return attemptOf(order);
      },
    });
    expect(ids.size).toBe(24);
    expect(run.result.counts.graded).toBe(24);
  });

  it('14: two runs in one process share nothing but the cache of what is the same', async () => {
    const [good, bad] = await Promise.all([
      practise({ run: 'good' }),
      practise({
        run: 'bad',
        attempt: async (order) => attemptOf(order, { outcome: { is: 'graded', reward: 0, reasons: [] } }),
      }),
    ]);
    expect(good.result.rewards.verifier).toBeGreaterThan(0);
    expect(bad.result.rewards.verifier).toBe(0);
  });

  it('15, 16: a verifier that fails is no grade: the attempt is made again, counted, and teaches nothing', async () => {
    const run = await practise({
      settings: { refills: 1 },
      attempt: async (order) =>
        order.id.includes('daily')
          ? attemptOf(order, { outcome: { is: 'infrastructure', why: 'the verifier did not load' } })
          : attemptOf(order),
    });
    expect(run.result.counts).toMatchObject({ infrastructure: 3, graded: 9, groups: 4, kept: 2 });
    expect(run.result.rewards.verifier).toBeCloseTo(7 / 9);
    const wild = await practise({
      attempt: async (order) =>
        attemptOf(order, { outcome: { is: 'graded', reward: Number.NaN, reasons: [] } }),
    });
    expect(wild.result.counts).toMatchObject({ infrastructure: 12, graded: 0, kept: 0 });
  });

  it('17: two tasks with the same words are two groups', async () => {
    const prompt = 'Write the daily report of the shop as a table of amounts.';
    const run = await practise({ tasks: ['daily', 'weekly'].map((name) => taskOf(name, { prompt })) });
    expect(run.result.counts.groups).toBe(2);
  });

  it('18: an attempt is shown the block that production would show', async () => {
    const shown = { text: '<lessons>the block</lessons>', lessons: ['l1'], generation: 7 };
    const seen = new Set<object>();
    await practise({
      lessonsFor: async () => shown,
      attempt: async (order) => {
        seen.add(order.shown);
        return attemptOf(order);
      },
    });
    for (const one of seen) expect(one).toEqual(shown);
  });

  it('19: the right answer reaches no prompt, and an experience that contains it is not kept', async () => {
    const leaking = JSON.stringify({
      situation: 'the daily report is asked for',
      insight: 'Answer with answer-of-daily, because that is what the report comes to.',
      quotes: ['checked line by line for daily'],
    });
    const run = await practise({
      ...one(),
      model: answering({ advantage: leaking }),
      attempt: async (order) => {
        const attempt = attemptOf(order);
        const reward = attempt.outcome.is === 'graded' ? attempt.outcome.reward : 0;
        return { ...attempt, outcome: { is: 'graded', reward, reasons: ['expected answer-of-daily'] } };
      },
    });
    expect(
      run.asked.some(({ user }) =>
        user.split('That reply cannot be used')[0]?.includes('expected answer-of-daily'),
      ),
    ).toBe(false);
    expect(run.result.counts).toMatchObject({ kept: 1, lost: 1, published: 0 });
    expect(run.library.lessons()).toEqual([]);
  });

  it('live mode: a model that is down loses nothing, and attempts are not made again', async () => {
    const store = createMemoryStore();
    let made = 0;
    const attempt = async (order: Parameters<typeof attemptOf>[0]) => {
      made++;
      return attemptOf(order);
    };
    const down = await practise({
      store,
      attempt,
      model: {
        asked: [],
        model: async function* () {
          yield { type: 'failure', failure: { kind: 'overloaded', message: 'try later', status: 503 } };
        },
      },
    });
    expect(down.result).toMatchObject({ end: 'stuck', counts: { graded: 12 } });
    const up = await practise({ store, attempt });
    expect(up.result).toMatchObject({ end: 'done', counts: { published: 3 } });
    expect(made).toBe(12);
  });

  it('live mode: several lessons that say the same become one, not only additions', async () => {
    const store = await homeWith('old', 'older');
    const content = 'Write the currency sign before each amount, and check every line.';
    const run = await practise({
      ...one(),
      store,
      model: answering({ operations: JSON.stringify([{ operation: 'Merge', ids: 'E1, E2', content }]) }),
    });
    const states = run.library
      .lessons()
      .map(({ id, state, text: said }) => [id, state, said.content === content]);
    expect(states).toContainEqual(['old', 'trial', true]);
    expect(run.library.lesson('older')).toMatchObject({ state: 'retired', mergedInto: 'old' });
  });

  it('reads operations in every shape that models write, and never throws', () => {
    const shown = {
      ids: new Map([
        ['E1', 'a'],
        ['E2', 'b'],
      ]),
      fixed: new Set(['b']),
    };
    expect(readOperations({ operations: [{ op: 'remove', lesson: 'e1' }] }, shown)).toMatchObject({
      value: { operations: [{ op: 'DELETE', ids: ['a'] }] },
    });
    expect(readOperations({ E1: { operation: 'UPDATE' } }, shown)).toMatchObject({
      value: { operations: [{ op: 'UPDATE', ids: ['a'] }] },
    });
    expect(readOperations([{ operation: 'DELETE', id: 'E2' }], shown)).toMatchObject({
      value: { operations: [], quarantined: [expect.stringContaining('only a person')] },
    });
    expect(readOperations([], shown)).toMatchObject({ value: { operations: [{ op: 'NONE' }] } });
    expect(readOperations('nothing of use', shown)).toMatchObject({
      value: { operations: [{ op: 'NONE' }] },
    });
    for (const odd of [null, 7, true, {}, [[[]]], [{ operation: 7 }], { operations: { operations: {} } }])
      expect(() => readOperations(odd as never, shown)).not.toThrow();
  });
});
