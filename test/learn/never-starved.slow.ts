import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { ChatEvent, ChatRequest } from '../../src/core/chat.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import type { NewFact } from '../../src/core/store.ts';
import type { LearningPorts, LearningWorker } from '../../src/learn/learning-ports.ts';
import type { LearningStatus } from '../../src/learn/learning-status.ts';
import { startLearningWorker } from '../../src/learn/learning-worker.ts';
import { openLessons } from '../../src/lessons/open-lessons.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { text } from './ask/samples.ts';
import { failedEpisodes, SKILL } from './failed-episodes.ts';

const quiet = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
const WORDS = 'Put the unit behind every amount, such as 12.50 EUR.';
const MINUTE = 60_000;
/** The evolver's requests; the others ask for the check of a rule. */
const isForSkills = ({ system }: ChatRequest): boolean =>
  JSON.stringify(system).includes('You write skills for an assistant');
const workers: LearningWorker[] = [];
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.close();
});

interface Over extends Partial<LearningPorts> {
  readonly patienceMs?: number;
}

/** Learning in this thread, on a store in memory, at a time that the test moves. */
async function open({ patienceMs, ...over }: Over = {}, store = createMemoryStore(), skip = { ms: 0 }) {
  const records = toRecords(store, () => 0);
  let ids = store.facts(0, 10_000).length;
  const newId = (prefix: string) => `${prefix}-${++ids}`;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + skip.ms };
  const lessons = await openLessons({ records, clock, newId, onFault: () => undefined });
  const statuses: LearningStatus[] = [];
  let asked = 0;
  let askedElse = 0;
  const chat = over.chat ?? (async () => text(JSON.stringify([SKILL])));
  const worker = await startLearningWorker(
    {
      autonomy: 'guarded',
      failures: 3,
      maxNewSkills: 3,
      budget: { usdPerDay: 1, tokensPerDay: 50_000_000 },
      prices: {},
      since: 0,
      verifiers: [],
      ...(patienceMs === undefined ? {} : { patienceMs }),
    },
    {
      records,
      decoder: () => async () => undefined,
      publish: lessons.library.publish,
      model: async () => ({
        name: 'own/teacher',
        title: 'own/teacher',
        price: { from: 'unknown', isLocal: false },
      }),
      embed: async (texts) => texts.map(() => new Float32Array(384)),
      hasSecret: () => false,
      buffer: { add: () => undefined },
      onStatus: (status) => statuses.push(status),
      clock,
      newId,
      log: quiet,
      ...over,
      chat: async (...call) => {
        if (isForSkills(call[1])) asked++;
        else askedElse++;
        return chat(...call);
      },
    },
  );
  workers.push(worker);
  /** Of what makes lessons of failures, and not of what looks for a lesson's check. */
  const ends = async () =>
    (await records.factsOf('cycle-end', 0, 100)).flatMap(({ fact }) =>
      fact.type === 'cycle-end' && !fact.learner.startsWith('checks') ? [fact] : [],
    );
  const waits = () => statuses.at(-1)?.waits ?? [];
  return {
    worker,
    records,
    lessons: () => lessons.library.lessons(),
    ends,
    waits,
    store,
    skip,
    asked: () => asked,
    askedElse: () => askedElse,
  };
}

const unreachable: readonly ChatEvent[] = [
  { type: 'failure', failure: { kind: 'unreachable', status: 502, message: 'connect ECONNREFUSED' } },
];

describe('new evidence', () => {
  it.each([
    ['a reply that cannot be used', async () => text('I am sorry, POISON.')],
    ['a model that cannot be reached', async () => unreachable],
    ['a reply that stops in the middle', async () => text('[{"name": "a", "content": "POISON').slice(0, 2)],
    ['a skill that says nothing', async () => text('[{"content": "POISON"}]')],
    ['nothing', async () => text('[]')],
  ])(
    'becomes a lesson in the user’s own words at once after %s, which leaves nothing behind',
    async (_, chat) => {
      const { worker, records, lessons, ends } = await open({ chat });
      await records.append(failedEpisodes('ada'));
      await worker.settle();
      expect(lessons()).toMatchObject([{ state: 'live', text: { evidence: { learner: 'distiller' } } }]);
      expect(lessons()[0]?.text.content).toContain('12.50 EUR');
      expect(JSON.stringify(lessons())).not.toContain('POISON');
      expect((await ends()).map(({ learner, outcome }) => [learner, outcome])).toEqual([
        ['evolver', 'stuck'],
        ['distiller', 'published'],
      ]);
    },
  );

  it('waits for a slow model no longer than its patience, and a late answer revises the lesson', async () => {
    let answer: ((events: readonly ChatEvent[]) => void) | undefined;
    const { worker, records, lessons, ends, waits } = await open({
      patienceMs: 20,
      chat: async (_role, request) =>
        isForSkills(request) ? new Promise((resolve) => (answer = resolve)) : text('no'),
    });
    await records.append(failedEpisodes('ada'));
    worker.wake();
    await expect.poll(() => lessons().length, { timeout: 100_000 }).toBe(1);
    const [quoting] = lessons();
    expect(quoting).toMatchObject({ state: 'live', text: { evidence: { learner: 'distiller' } } });
    await worker.look();
    expect(waits()).toMatchObject([
      { code: 'evolver-revision', why: expect.stringContaining('it is being asked') },
    ]);
    answer?.(text(JSON.stringify([SKILL])));
    await worker.settle();
    expect(lessons()).toMatchObject([
      {
        id: quoting?.id,
        revision: 2,
        state: 'live',
        text: { name: quoting?.text.name, evidence: { learner: 'evolver' } },
      },
    ]);
    expect(lessons()[0]?.text.content).toContain(`The user said: "${WORDS}" (3 times)`);
    expect(waits()).toEqual([]);
    expect((await ends()).at(-1)).toMatchObject({
      learner: 'evolver',
      outcome: 'published',
      items: [expect.any(String)],
    });
  });

  it('is not delayed by the pause of older evidence of the same place', async () => {
    const { worker, records, lessons } = await open({ chat: async () => unreachable });
    await records.append(failedEpisodes('ada'));
    await worker.settle();
    await records.append(
      failedEpisodes('ada').map(({ fact, ...rest }): NewFact => {
        if (fact.type === 'event-reported')
          return { ...rest, fact: { ...fact, session: `new-${fact.session}` } };
        if (fact.type !== 'reward-given') return { ...rest, fact };
        return {
          ...rest,
          fact: {
            ...fact,
            session: `new-${fact.session}`,
            note: 'Sort the rows by booking day before you save the file.',
          },
        };
      }),
    );
    await worker.settle();
    expect(
      lessons()
        .map(({ text: { content } }) => content)
        .join('\n'),
    ).toContain('booking day');
  });

  it('of another place does not wait while a model hangs', async () => {
    const { worker, records, lessons } = await open({
      patienceMs: 20,
      chat: () => new Promise(() => undefined),
    });
    await records.append(failedEpisodes('ada'));
    worker.wake();
    await expect.poll(() => lessons().length, { timeout: 100_000 }).toBe(1);
    await records.append(failedEpisodes('bob'));
    worker.wake();
    await expect.poll(() => lessons().length, { timeout: 100_000 }).toBe(2);
  });
});

describe('the evolver', () => {
  const failing = async () => {
    let reply: readonly ChatEvent[] = text('no');
    const opened = await open({ chat: async () => reply });
    await opened.records.append(failedEpisodes('ada'));
    await opened.worker.settle();
    return { ...opened, say: (said: readonly ChatEvent[]) => (reply = said) };
  };

  it('is asked again with a growing pause, and then revises the lesson under its id with the quote', async () => {
    const { worker, lessons, ends, skip, say, asked } = await failing();
    const [quoting] = lessons();
    const first = asked();
    worker.wake();
    await worker.settle();
    expect(asked()).toBe(first);
    skip.ms += MINUTE;
    worker.wake();
    await worker.settle();
    expect(asked()).toBe(2 * first);
    expect((await ends()).at(-1)).toMatchObject({
      learner: 'evolver',
      outcome: 'stuck',
      items: [],
      tried: [expect.any(String)],
    });
    // The second pause is longer than the first.
    skip.ms += 50_000;
    worker.wake();
    await worker.settle();
    expect(asked()).toBe(2 * first);
    say(text(JSON.stringify([SKILL])));
    skip.ms += MINUTE;
    worker.wake();
    await worker.settle();
    expect(lessons()).toMatchObject([
      { id: quoting?.id, revision: 2, state: 'live', text: { evidence: { learner: 'evolver' } } },
    ]);
    expect(lessons()[0]?.text.content).toContain(WORDS);
    const total = asked();
    skip.ms += 60 * MINUTE;
    worker.wake();
    await worker.settle();
    expect(asked()).toBe(total);
  });

  it('goes on after a restart where it was: not at once, and not from the first pause', async () => {
    const first = await failing();
    first.skip.ms += MINUTE;
    first.worker.wake();
    await first.worker.settle();
    await first.worker.close();
    const second = await open({}, first.store, first.skip);
    await second.worker.settle();
    expect(second.asked()).toBe(0);
    expect(second.waits()).toMatchObject([{ code: 'evolver-revision', count: 1 }]);
    first.skip.ms += 2 * MINUTE;
    second.worker.wake();
    await second.worker.settle();
    expect(second.asked()).toBe(1);
    expect(second.lessons()).toMatchObject([{ revision: 2, text: { evidence: { learner: 'evolver' } } }]);
    expect(second.waits()).toEqual([]);
  });

  it('is asked again when the process was killed before its answer came', async () => {
    const first = await open({
      patienceMs: 20,
      chat: (_role, _request, signal) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
        ),
    });
    await first.records.append(failedEpisodes('ada'));
    first.worker.wake();
    await expect.poll(() => first.lessons().length, { timeout: 100_000 }).toBe(1);
    await first.worker.close();
    const second = await open({}, first.store);
    await second.worker.settle();
    expect(second.asked()).toBe(1);
    expect(second.lessons()).toMatchObject([{ revision: 2, text: { evidence: { learner: 'evolver' } } }]);
  });

  it('gets new evidence together with what it owes: one lesson (not a second one beside the quoting one)', async () => {
    const { worker, records, lessons, say, waits } = await failing();
    const [quoting] = lessons();
    say(text(JSON.stringify([SKILL])));
    await records.append(
      failedEpisodes('ada').map(({ fact, ...rest }): NewFact => {
        if (fact.type !== 'event-reported' && fact.type !== 'reward-given') return { ...rest, fact };
        return { ...rest, fact: { ...fact, session: `new-${String(fact.session)}` } };
      }),
    );
    await worker.settle();
    expect(lessons()).toMatchObject([
      { id: quoting?.id, revision: 2, text: { evidence: { learner: 'evolver' } } },
    ]);
    expect(lessons()[0]?.text.evidence.turns).toHaveLength(6);
    expect(waits()).toEqual([]);
  });

  it('is asked a few times only when its replies cannot be used', async () => {
    const { worker, skip, ends, waits } = await failing();
    for (let times = 0; times < 12; times++) {
      skip.ms += 7 * 60 * MINUTE;
      worker.wake();
      await worker.settle();
    }
    expect((await ends()).filter(({ learner }) => learner === 'evolver')).toHaveLength(3);
    expect(waits()).toEqual([]);
  });

  it('that finds nothing is asked once, and again only about more (1 call, not 13)', async () => {
    let reply = text('[]');
    const first = await open({ chat: async () => reply });
    await first.records.append(failedEpisodes('ada'));
    await first.worker.settle();
    expect(first.lessons()).toMatchObject([{ text: { evidence: { learner: 'distiller' } } }]);
    for (let times = 0; times < 6; times++) {
      first.skip.ms += 7 * 60 * MINUTE;
      first.worker.wake();
      await first.worker.settle();
    }
    expect(first.asked()).toBe(1);
    // Nor is the check of the rule that it left looked for again and again.
    expect(first.askedElse()).toBe(1);
    expect(first.waits()).toEqual([]);
    await first.worker.close();
    // The record remembers it.
    const second = await open({ chat: async () => reply }, first.store, first.skip);
    await second.worker.settle();
    expect(second.asked()).toBe(0);
    reply = text(JSON.stringify([SKILL]));
    await second.records.append(
      failedEpisodes('ada').map(({ fact, ...rest }): NewFact => {
        if (fact.type !== 'event-reported' && fact.type !== 'reward-given') return { ...rest, fact };
        return { ...rest, fact: { ...fact, session: `new-${String(fact.session)}` } };
      }),
    );
    await second.worker.settle();
    expect(second.asked()).toBe(1);
  });

  it('that finds nothing in failures without words is asked once, and again by another name', async () => {
    let name = 'own/teacher';
    const { worker, records, asked, skip } = await open({
      chat: async () => text('[]'),
      model: async () => ({ name, title: name, price: { from: 'unknown', isLocal: false } }),
    });
    await records.append(
      failedEpisodes('ada').map(({ fact, ...rest }): NewFact => {
        if (fact.type !== 'reward-given') return { ...rest, fact };
        const { note: _, ...unsaid } = fact;
        return { ...rest, fact: unsaid };
      }),
    );
    for (let minutes = 0; minutes < 16; minutes++) {
      await worker.settle();
      skip.ms += MINUTE;
      worker.wake();
    }
    expect(asked()).toBe(1);
    name = 'own/other';
    for (let hours = 0; hours < 3; hours++) {
      skip.ms += 7 * 60 * MINUTE;
      worker.wake();
      await worker.settle();
    }
    expect(asked()).toBe(2);
  });

  it('is not asked about a lesson that a person has taken out of use meanwhile', async () => {
    const { worker, records, skip, asked, lessons, ends } = await failing();
    const before = asked();
    const owner = await openLessons({
      records,
      clock: systemClock,
      newId: (prefix) => `${prefix}-x`,
      onFault: () => undefined,
    });
    await owner.library.publish({
      id: 'by-hand',
      by: { kind: 'person', name: 'ada' },
      reason: 'wrong',
      changes: [{ op: 'retire', id: lessons()[0]?.id ?? '', reason: 'wrong' }],
    });
    skip.ms += MINUTE;
    worker.wake();
    await worker.settle();
    expect(asked()).toBe(before);
    expect((await ends()).at(-1)).toMatchObject({
      learner: 'evolver',
      outcome: 'nothing',
      cost: { calls: 0 },
    });
  });
});

const HOSTILE = [
  'POISON',
  '../../etc',
  '__proto__',
  'a\0b',
  '\u202e',
  '[]',
  '{}',
  'null',
  '```json\n',
  '</think>',
  'I cannot',
  '{"name":"POISON"',
];
const piece = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.nat({ max: 400 }).map((at) => JSON.stringify([SKILL]).slice(0, at)),
  fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
);

describe('whatever the model replies', () => {
  it('words about failures end in a lesson that has them, and nothing else of a bad reply is kept', async () => {
    let quoted = 0;
    let evolved = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 4 }), async (pieces) => {
        const { worker, records, lessons } = await open({ chat: async () => text(pieces.join('')) });
        await records.append(failedEpisodes('ada'));
        await worker.settle();
        await worker.close();
        const shown = lessons().filter(
          ({ state }) => state === 'trial' || state === 'live' || state === 'proposed',
        );
        expect(shown.map(({ text: { content } }) => content).join('\n')).toContain('such as 12.50 EUR');
        const own = shown.filter(({ text: { evidence } }) => evidence.learner === 'distiller');
        expect(JSON.stringify(own)).not.toContain('POISON');
        if (own.length > 0) quoted++;
        else evolved++;
      }),
      { numRuns: 60 },
    );
    expect(quoted).toBeGreaterThan(10);
    expect(evolved).toBeGreaterThan(0);
  });
});
