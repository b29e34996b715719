import { afterEach, describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../src/core/chat.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { NewFact } from '../../src/core/store.ts';
import type { Waiting } from '../../src/core/waiting.ts';
import type { LearningPorts, LearningWorker } from '../../src/learn/learning-ports.ts';
import { createLearningState } from '../../src/learn/learning-state.ts';
import type { LearningStatus } from '../../src/learn/learning-status.ts';
import { listLearningWaits } from '../../src/learn/learning-waits.ts';
import { startLearningWorker } from '../../src/learn/learning-worker.ts';
import { lastTryOf } from '../../src/learn/pauses.ts';
import { openLessons } from '../../src/lessons/open-lessons.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { cycleEnd, failure, numbered } from '../train/facts.ts';
import { text } from './ask/samples.ts';
import { failedEpisodes, SKILL } from './failed-episodes.ts';

const quiet = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
const workers: LearningWorker[] = [];
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.close();
});

/** Learning in this thread, on a store in memory. */
async function open(over: Partial<LearningPorts> = {}, usdPerDay = 1, store = createMemoryStore()) {
  const records = toRecords(store, () => 0);
  let ids = 0;
  const newId = (prefix: string) => `${prefix}-${++ids}`;
  const lessons = await openLessons({ records, clock: systemClock, newId, onFault: () => undefined });
  const statuses: LearningStatus[] = [];
  const settings = {
    autonomy: 'guarded',
    failures: 3,
    maxNewSkills: 3,
    budget: { usdPerDay, tokensPerDay: usdPerDay === 0 ? 0 : 500_000 },
    prices: {},
    since: 0,
    verifiers: [],
  } as const;
  const worker = await startLearningWorker(settings, {
    records,
    decoder: () => async () => undefined,
    publish: lessons.library.publish,
    model: async () => ({
      name: 'own/teacher',
      title: 'own/teacher',
      price: { from: 'unknown', isLocal: false },
    }),
    chat: async () => text(JSON.stringify([SKILL])),
    embed: async (texts) => texts.map(() => new Float32Array(384)),
    hasSecret: () => false,
    buffer: { add: () => undefined },
    onStatus: (status) => statuses.push(status),
    clock: systemClock,
    newId,
    log: quiet,
    ...over,
  });
  workers.push(worker);
  const waits = (): readonly Waiting[] => statuses.at(-1)?.waits ?? [];
  return { worker, records, lessons, waits, store };
}

const unreachable: readonly ChatEvent[] = [
  { type: 'failure', failure: { kind: 'unreachable', status: 502, message: 'connect ECONNREFUSED' } },
];

const withoutWords = (facts: readonly NewFact[]): readonly NewFact[] =>
  facts.map(({ fact, ...rest }) => {
    if (fact.type !== 'reward-given') return { ...rest, fact };
    const { note: _, ...score } = fact;
    return { ...rest, fact: score };
  });

describe('what waits to be learned from', () => {
  it('is said with the number that is missing, not only with a count', async () => {
    const { worker, records, waits } = await open();
    await records.append(withoutWords(failedEpisodes('ada', 2)));
    await worker.settle();
    expect(waits()).toEqual([
      {
        code: 'more-failures',
        count: 2,
        what: 'one more similar failure of ada',
        why: 'and Instar writes a lesson (2 of 3)',
      },
    ]);
  });

  it('is nothing where a person said in feedback what is wrong: one note is in force at once, in their words', async () => {
    const { worker, records, waits, lessons } = await open({ chat: async () => text('[]') });
    await records.append(failedEpisodes('ada', 1));
    await worker.settle();
    expect(waits().map(({ code }) => code)).not.toContain('more-failures');
    expect(lessons.library.lessons().map(({ state, text: { content } }) => [state, content])).toEqual([
      ['live', expect.stringContaining('Put the unit behind every amount, such as 12.50 EUR.')],
    ]);
  });

  it('is only a better wording where 25 agents were corrected and no reply of the model holds a skill: it is asked three times, and each agent has its lesson', async () => {
    const { worker, records, waits, lessons } = await open({
      chat: async () => text('[{"name": "POISON", "description": ""}]'),
    });
    const agents = Array.from({ length: 25 }, (_, nth) => ({
      agent: `agent-${nth}`,
      words: `Put the unit behind every amount, such as ${nth + 10}.50 EUR.`,
    }));
    for (const { agent, words } of agents)
      await records.append(
        failedEpisodes(agent, 1).map(({ fact, ...rest }) =>
          fact.type === 'reward-given' ? { ...rest, fact: { ...fact, note: words } } : { ...rest, fact },
        ),
      );
    await worker.settle();
    const tries = (await records.factsOf('cycle-end', 0, 1000)).filter(
      ({ fact }) => fact.type === 'cycle-end' && fact.learner === 'evolver',
    );
    expect(tries).toHaveLength(3);
    const shown = new Map(lessons.library.lessons().map((lesson) => [lesson.text.scope.agent, lesson]));
    expect(shown.size).toBe(25);
    for (const { agent, words } of agents)
      expect(shown.get(agent)).toMatchObject({
        state: 'live',
        text: { evidence: { learner: 'distiller' }, content: expect.stringContaining(words) },
      });
    expect(waits()).toMatchObject([{ code: 'evolver-revision', count: 25 }]);
  });

  it.each([
    [
      'an unusable reply',
      async () => text('I am sorry.'),
      'the reply of own/teacher could not be used: it holds no JSON',
    ],
    [
      'a model that cannot be reached',
      async () => unreachable,
      'own/teacher gave no answer (unreachable: connect ECONNREFUSED)',
    ],
  ] as const)(
    'says after %s that a lesson in your own words is in use, why, and when the next try is',
    async (_, chat, why) => {
      const { worker, records, waits, lessons } = await open({ chat });
      await records.append(failedEpisodes('ada'));
      await worker.settle();
      const [lesson] = lessons.library.lessons();
      expect(waits()).toMatchObject([
        {
          code: 'evolver-revision',
          count: 1,
          what: '1 lesson in your own words',
          why: `is in use; the writer has yet to word it better. Last try: ${why}`,
          lessons: [lesson?.id],
        },
      ]);
      const next = waits()[0]?.nextAt ?? 0;
      expect(next).toBeGreaterThan(Date.now());
      expect(next).toBeLessThanOrEqual(Date.now() + 60_000);
    },
  );

  it('is not said to be learned from now while the model rests: the reply that made it rest and the end of the rest are', async () => {
    const { worker, records, waits } = await open({ chat: async () => text('I am sorry.') });
    for (const agent of ['ada', 'bea', 'cyd', 'dan']) {
      await records.append(withoutWords(failedEpisodes(agent)));
      await worker.settle();
    }
    const untried = waits().find(({ what }) => what.endsWith('dan'));
    expect(untried).toMatchObject({
      code: 'reply-unusable',
      what: '3 failures of dan',
      why: 'wait: the reply of own/teacher could not be used: it holds no JSON',
    });
    expect(untried?.nextAt).toBeGreaterThan(Date.now() + 10 * 60_000);
  });

  it('is not said to be learned from now where nothing was found, and a later failure was learned from without them', async () => {
    const { worker, records, waits } = await open({ chat: async () => text('{"skills": []}') });
    await records.append(withoutWords(failedEpisodes('ada')));
    await worker.settle();
    expect(waits()).toMatchObject([{ code: 'nothing-found', count: 3 }]);
    // New evidence ends the pause, and another learner uses it up.
    const later = failure('later', { source: 'person', scope: { agent: 'ada' } });
    await records.append([later, cycleEnd('later')].map((fact) => ({ at: 2_000, fact })));
    await worker.settle();
    expect(waits()).toMatchObject([
      { code: 'nothing-found', count: 3, why: 'wait: nothing was found that would have prevented them' },
    ]);
    expect(waits()[0]?.nextAt).toBeGreaterThan(Date.now());
  });

  it('is said with the reason and the next try where nobody said what was wrong', async () => {
    const { worker, records, waits } = await open({ chat: async () => unreachable });
    await records.append(withoutWords(failedEpisodes('ada')));
    await worker.settle();
    expect(waits()).toMatchObject([
      {
        code: 'model-unavailable',
        count: 3,
        what: '3 failures of ada',
        why: 'wait: own/teacher gave no answer (unreachable: connect ECONNREFUSED), since just now',
        fix: 'instar doctor',
      },
    ]);
    expect(waits()[0]?.nextAt).toBeGreaterThan(Date.now());
  });

  it('names the budget and the setting when a call does not fit into it', async () => {
    const { worker, records, waits } = await open({}, 0);
    await records.append(failedEpisodes('ada'));
    await worker.settle();
    expect(waits()).toMatchObject([
      { code: 'evolver-revision', count: 1, fix: expect.stringContaining('instar config set learn.budget.') },
    ]);
  });

  it('is asked of no model while learning is off, also after a restart, and is learned from when it is on again', async () => {
    let asked = 0;
    const chat = async () => {
      asked++;
      return text(JSON.stringify([SKILL]));
    };
    const first = await open({ chat });
    const turn = (on: boolean, at: number) =>
      first.records.append([{ at, fact: { type: 'learning-switched', on } }]);
    await turn(false, 2_000);
    await first.records.append(failedEpisodes('ada'));
    await first.worker.settle();
    expect(first.waits()).toMatchObject([
      { code: 'learning-off', count: 3, why: 'wait: learning is off', fix: 'instar learning on' },
      { code: 'learning-off', count: 0 },
    ]);
    await first.worker.close();
    const second = await open({ chat }, 1, first.store);
    await second.worker.settle();
    expect(asked).toBe(0);
    expect(second.lessons.library.lessons()).toEqual([]);
    await turn(true, 3_000);
    await second.worker.settle();
    expect(asked).toBeGreaterThan(0);
    expect(second.lessons.library.lessons()).toHaveLength(1);
    expect(second.waits()).toEqual([]);
  });

  it('stops a run that is under way when learning is turned off, which publishes nothing', async () => {
    const records: { current?: Awaited<ReturnType<typeof open>> } = {};
    const opened = await open({
      chat: async () => {
        await records.current?.records.append([
          { at: 2_000, fact: { type: 'learning-switched', on: false } },
        ]);
        await records.current?.worker.look();
        return text(JSON.stringify([SKILL]));
      },
    });
    records.current = opened;
    await opened.records.append(failedEpisodes('ada'));
    await opened.worker.settle();
    expect(opened.lessons.library.lessons()).toEqual([]);
    expect(opened.waits()).toMatchObject([{ code: 'learning-off', count: 3 }, { code: 'learning-off' }]);
  });
});

describe('one place', () => {
  const listed = async (
    facts: readonly ReturnType<typeof failure>[],
    more: Partial<Parameters<typeof listLearningWaits>[0]> = {},
  ): Promise<readonly Waiting[]> => {
    const state = createLearningState();
    const stored = numbered();
    for (const fact of facts) state.add(stored(fact, 1_000));
    return listLearningWaits({
      state,
      failures: 3,
      now: 10_000,
      open: { count: 0, oldest: undefined },
      anonymous: 0,
      labelOf: async () => 'shop-api',
      ...more,
    });
  };

  it('says that three signs of one session need a word, and names the turn to speak about', async () => {
    const [wait] = await listed([failure('a'), failure('b'), failure('c')]);
    expect(wait).toMatchObject({
      code: 'one-session',
      count: 3,
      fix: expect.stringContaining('feedback c --bad'),
    });
    expect(wait?.what).toContain(' in shop-api');
  });

  it('waits for midnight (not for half a minute) when the budget of the day is spent', async () => {
    const state = createLearningState();
    const stored = numbered();
    const now = Date.now();
    for (const turn of ['a', 'b', 'c']) state.add(stored(failure(turn, { source: 'person' }), now));
    const why = '$1.00 of $1.00 a day are used up; the day ends at midnight (learn.budget.usdPerDay)';
    for (const cluster of state.support.waiting())
      state.support.postpone(cluster, now, { cause: 'budget', why });
    const [wait] = await listLearningWaits({
      state,
      failures: 3,
      now,
      open: { count: 0, oldest: undefined },
      anonymous: 0,
      labelOf: async () => undefined,
    });
    expect(wait).toMatchObject({
      code: 'budget-spent',
      fix: 'instar config set learn.budget.usdPerDay LIMIT',
    });
    const midnight = new Date(wait?.nextAt ?? 0);
    expect([midnight.getHours(), midnight.getMinutes(), midnight.getSeconds()]).toEqual([0, 0, 0]);
    expect(midnight.getTime()).toBeGreaterThan(now);
  });

  it('says without a daemon that Instar is not running', async () => {
    const told = { source: 'person' } as const;
    const three = [failure('a', told), failure('b', told), failure('c', told)];
    expect(await listed(three, { isOffline: true })).toMatchObject([
      { code: 'not-running', fix: 'instar up' },
    ]);
  });

  it('counts open sessions with the idle time, and turns without a key with the command', async () => {
    const waits = await listed([], { open: { count: 2, oldest: 4_000 }, anonymous: 1 });
    expect(waits).toMatchObject([
      { code: 'session-open', what: '2 sessions', nextAt: 4_000 + 30 * 60_000 },
      { code: 'no-key', what: '1 turn since the start', fix: 'instar connect CLIENT' },
    ]);
    expect(waits[0]?.why).toContain('scored after 30 min');
  });

  it('puts more than eight places together in one line', async () => {
    const facts = Array.from({ length: 12 }, (_, n) => failure(`t${n}`, { scope: { agent: `agent-${n}` } }));
    const waits = await listed(facts);
    expect(waits).toHaveLength(9);
    expect(waits[8]).toMatchObject({ count: 4, what: '4 failures in 4 other places', why: 'wait too' });
  });

  it('explains a refusal of the gate by its reason', () => {
    const end = {
      type: 'cycle-end',
      cycle: 'c',
      learner: 'evolver',
      outcome: 'refused',
      items: [],
      turns: [],
      judgements: [{ lesson: 'l', name: 'a-skill', outcome: 'refused', why: ['it contains a secret'] }],
      generation: 0,
      cost: { calls: 1, inputTokens: 1, outputTokens: 1, usd: 0 },
      tookMs: 1,
    } as const;
    expect(lastTryOf(end)).toEqual({ cause: 'refused', why: '“A skill”: it contains a secret' });
  });
});
