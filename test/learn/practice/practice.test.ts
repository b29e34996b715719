import { describe, expect, it } from 'vitest';
import type { Attempt, AttemptGroup } from '../../../src/core/practice.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import {
  attemptOf,
  goodReply,
  practise,
  scriptedModel,
  succeeds,
  taskOf,
  userText,
} from './scripted-practice.ts';

const inUse = ({ library }: Awaited<ReturnType<typeof practise>>) =>
  library.lessons().filter(({ state }) => state === 'trial');

describe('a run of practice', () => {
  it('puts what groups teach on trial as experiences of their domain, with provenance, in one change set', async () => {
    const run = await practise();
    const { result, store } = run;
    expect(result).toMatchObject({
      end: 'done',
      counts: { graded: 12, groups: 4, kept: 3, published: 3, refused: 0 },
    });
    const lessons = inUse(run);
    expect(lessons).toHaveLength(3);
    for (const { kind, text } of lessons) {
      expect(kind).toBe('experience');
      expect(text.scope).toEqual({ domain: 'reports' });
      expect(text.note).toMatchObject({ source: 'practice', importance: 0.8, tags: ['practice', 'reports'] });
      expect([1 / 3, 2 / 3]).toContain(text.note.confidence);
      expect(text.evidence).toMatchObject({ learner: 'practice', model: 'test/tiny' });
      expect(text.evidence.turns.every((id) => id.startsWith('attempt:run1/0/'))).toBe(true);
    }
    expect(store.factsOf('library-changed', 0, 10)).toHaveLength(1);
    expect(store.factsOf('cycle-end', 0, 10).map(({ fact }) => fact)).toMatchObject([
      { learner: 'practice', outcome: 'published', turns: [] },
    ]);
  });

  it('compares attempts that nothing grades, in both orders, and says so', async () => {
    const run = await practise({
      tasks: ['daily', 'monthly'].map((name) => {
        const { check: _, reference: __, ...task } = taskOf(name);
        return task;
      }),
      attempt: async (order) => attemptOf(order, { outcome: { is: 'ungraded' } }),
    });
    expect(run.result).toMatchObject({ isSelfEvaluated: true, counts: { ungraded: 6, graded: 0, kept: 2 } });
    expect(
      run.asked.filter(({ stage }) => stage === 'compare').every(({ temperature }) => temperature === 0.3),
    ).toBe(true);
    // One comparison by a model is no proof: a person decides.
    expect(run.library.lessons().map(({ state }) => state)).toEqual(['proposed', 'proposed']);
  });

  it('gives the same library whichever attempt is ready first', async () => {
    const later = await practise({
      settings: { concurrency: 8 },
      attempt: async (order) => {
        await new Promise((resolve) => setTimeout(resolve, succeeds(order) ? 20 : 1));
        return attemptOf(order);
      },
    });
    const inOrder = await practise({ settings: { concurrency: 1 } });
    expect(later.library.lessons()).toEqual(inOrder.library.lessons());
    expect(later.result.counts).toEqual(inOrder.result.counts);
  });

  it('hands groups with their tokens to the trainer before it publishes, at temperature 1', async () => {
    const trained: { readonly groups: readonly AttemptGroup[]; readonly generation: number }[] = [];
    const temperatures = new Set<number>();
    const store = createMemoryStore();
    const run = await practise({
      store,
      attempt: async (order) => {
        temperatures.add(order.temperature);
        const sampled: Attempt['sampled'] = [
          { prompt: [1], tokens: [2], logprobs: [-0.1], version: 3, temperature: 1 },
        ];
        return { ...attemptOf(order), sampled };
      },
      trainOn: async (groups) => {
        trained.push({ groups, generation: store.factsOf('library-changed', 0, 10).length });
        return undefined;
      },
    });
    expect(trained).toMatchObject([{ generation: 0 }]);
    expect(trained[0]?.groups).toHaveLength(3);
    expect(temperatures).toEqual(new Set([1]));
    expect(run.library.generation).toBe(1);
  });

  it('publishes nothing while the trainer does not take the groups, and continues later', async () => {
    const store = createMemoryStore();
    const attempt = async (order: Parameters<typeof attemptOf>[0]): Promise<Attempt> => ({
      ...attemptOf(order),
      sampled: [{ prompt: [1], tokens: [2], logprobs: [-0.1], version: 3, temperature: 1 }],
    });
    const down = await practise({ store, attempt, trainOn: () => Promise.reject(new Error('no engine')) });
    expect(down.result).toMatchObject({
      end: 'stuck',
      note: 'the trainer did not take the groups: no engine',
    });
    expect(down.library.lessons()).toEqual([]);
    const up = await practise({ store, attempt, trainOn: async () => undefined });
    expect(up.result).toMatchObject({ end: 'done', counts: { published: 3 } });
  });

  it('stops at its budget with a usable library, and does not make the call that would overrun', async () => {
    // 12 attempts of one call each, and one question for each of 3 groups: the last question does not fit.
    const run = await practise({
      limits: { calls: 14 },
      settings: { concurrency: 1 },
    });
    expect(run.result.end).toBe('budget');
    expect(run.result.note).toContain('practice.budget.calls');
    expect(run.result.spent.calls).toBeLessThanOrEqual(14);
    expect(inUse(run).length).toBeGreaterThan(0);
    expect(inUse(run).length).toBeLessThan(3);
  });

  it('learns from recorded attempts without a new one', async () => {
    const orders = [0, 1].map((place) => ({
      id: `attempt:recorded/${place}`,
      task: taskOf('daily'),
      shown: { text: '', lessons: [], generation: 0 },
      seed: String(place),
      temperature: 0,
      timeoutMs: 1,
    }));
    const attempts = orders.map((order, place) =>
      attemptOf(order, {
        outcome: { is: 'graded', reward: place, reasons: [] },
        output:
          place === 1
            ? 'Every amount carries its currency sign, checked line by line for daily.'
            : 'The amounts of daily are listed without a currency sign.',
      }),
    );
    const run = await practise({
      tasks: [],
      recorded: [{ id: 'r1', task: taskOf('daily'), generation: 0, gradedBy: 'person', attempts }],
      attempt: () => Promise.reject(new Error('no attempt was asked for')),
    });
    expect(run.result).toMatchObject({ end: 'done', counts: { groups: 1, kept: 1, published: 1 } });
  });

  it('is free when it runs again: every attempt and every reply is in the cache', async () => {
    const store = createMemoryStore();
    const first = await practise({
      store,
      run: 'run1',
      gate: async () => ({ outcome: 'refused', why: ['a test'] }),
    });
    expect(first.result.spent.calls).toBe(15);
    const model = scriptedModel(() => {
      throw new Error('the model was asked again');
    });
    const again = await practise({
      store,
      run: 'run2',
      model,
      attempt: () => Promise.reject(new Error('it was attempted again')),
      gate: async () => ({ outcome: 'refused', why: ['a test'] }),
    });
    expect(again.result).toMatchObject({
      end: 'done',
      counts: { graded: 12, kept: 3 },
      spent: { calls: 0, tokens: 0, usd: 0 },
    });
    expect(
      again.events.filter((event) => event.type === 'attempt-made').every(({ isKnown }) => isKnown),
    ).toBe(true);
  });

  it('gives one lesson of two domains, and not two, where another domain teaches the same', async () => {
    const first = await practise({ tasks: [taskOf('daily', { domain: 'reports' })] });
    const [of] = first.library.lessons();
    expect(of?.text.scope.domain).toBe('reports');
    const { library, store } = await practise({
      run: 'run2',
      store: first.store,
      tasks: [taskOf('daily', { id: 'curated/daily-2', domain: 'invoices' })],
    });
    const lessons = library.lessons().filter(({ state }) => state === 'trial');
    expect(lessons.map(({ id, revision, text }) => [id, revision, text.scope.domain])).toEqual([
      [of?.id, 2, undefined],
    ]);
    expect(lessons[0]?.text.note.tags).toEqual(expect.arrayContaining(['reports', 'invoices']));
    // A third one leaves it as it is.
    const third = await practise({ run: 'run3', store, tasks: [taskOf('daily', { id: 'curated/daily-3' })] });
    expect(third.library.lessons()).toHaveLength(1);
  });

  it('keeps a domain under its limit: the weakest experience that nobody measured makes room', async () => {
    const store = createMemoryStore();
    const names = Array.from({ length: 12 }, (_, at) => `nr${at}x`);
    const advice = [
      'Sort rows by date, oldest on top.',
      'Compute sums twice and compare both.',
      'Spell surnames as the register does.',
      'Choose two colours that print well.',
      'Keep one font for headings and body.',
      'Leave wide margins for handwritten remarks.',
      'Repeat column heads on each page.',
      'Number pages at the bottom right.',
      'Convert inches into centimetres first.',
      'Separate taxes from net prices.',
      'Ask who approves expenses beforehand.',
      'Shorten hyperlinks until they fit.',
    ];
    const model = scriptedModel((stage, request) => {
      if (stage !== 'advantage') return goodReply(stage, request);
      const root = /Write the (\S+) report/.exec(userText(request))?.[1] ?? '';
      const insight = advice[names.indexOf(root)] ?? '';
      return JSON.stringify({
        situation: `somebody asks: ${insight.toLowerCase().replace('.', '')}`,
        insight,
        quotes: [`checked line by line for ${root}`, `${root} are listed without a currency sign`],
      });
    });
    const run = await practise({
      store,
      model,
      tasks: names.map((name) => taskOf(name)),
      settings: { mostPerDomain: 3, batch: 4, groupSize: 6 },
    });
    const used = run.library.lessons().filter(({ state }) => state === 'trial' || state === 'live');
    expect(used.length).toBe(3);
    expect(
      run.library
        .lessons()
        .some(({ state, reason }) => state === 'retired' && reason?.includes('more than 3')),
    ).toBe(true);
  });
});
