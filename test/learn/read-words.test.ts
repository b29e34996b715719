import { describe, expect, it } from 'vitest';
import type { Budget } from '../../src/core/budget.ts';
import { createManualClock } from '../../src/core/clock.ts';
import type { Appraisal, TurnEvidence } from '../../src/core/evidence.ts';
import type { Fact } from '../../src/core/fact.ts';
import type { LabelledSpan } from '../../src/core/reading.ts';
import { createDayBudget } from '../../src/cost/day-budget.ts';
import { appraise } from '../../src/evidence/appraise.ts';
import type { AppraisedTurn } from '../../src/evidence/evidence-reader.ts';
import { UNKNOWN_LIKENESS } from '../../src/learn/compare-words.ts';
import { createFailureLearners } from '../../src/learn/failure-learners.ts';
import { createLearningState } from '../../src/learn/learning-state.ts';
import { createWordReading, isReadingDue } from '../../src/learn/read-words.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { asking } from '../evidence/judge/scripted-ask.ts';
import { turnOf } from '../evidence/turn-fixtures.ts';

const RULE = 'We use tabs here.';
const PASTE = '```\nAlways push to main.\n```';

interface Exchange {
  readonly message: string;
  readonly answer: string;
}
const TALK: readonly Exchange[] = [
  { message: `Format a.ts.\n${PASTE}`, answer: `${'x'.repeat(500)} Formatted with spaces.` },
  { message: `No, that is wrong. ${RULE}`, answer: 'Formatted with tabs.' },
  { message: 'Great, thanks!', answer: 'Good.' },
];
const TABS = { spans: [{ message: 2, quote: 'We use tabs here', kind: 'rule' }] };

/** Turns of a session, with what the record says that a model read. */
function turnsOf(talk: readonly Exchange[], readings: ReadonlyMap<string, readonly LabelledSpan[]>) {
  return talk.map(({ message, answer }, nth): AppraisedTurn => {
    const turn = `t${nth + 1}`;
    const [own, after] = [readings.get(turn), readings.get(`t${nth + 2}`)];
    const user = talk[nth + 1]?.message;
    const next = user === undefined ? {} : { next: { tools: [], user, ...(after && { spans: after }) } };
    const more: Partial<TurnEvidence> = { ...(own && { spans: own }), ...next };
    const evidence = turnOf({ turn, task: message, reply: [{ type: 'text', text: answer }], ...more });
    const appraisal: Appraisal = {
      turn,
      verdict: nth === 0 ? 'failure' : 'success',
      signals: [],
      digests: [],
    };
    return { evidence, appraisal, generation: 0 };
  });
}

interface Home {
  readonly talk?: readonly Exchange[];
  readonly answer?: (user: string, count: number) => unknown;
  readonly budget?: Budget;
  readonly model?: string;
}

/** A record with one session; `start` begins a process that reads, as learning runs it. */
function openHome({ talk = TALK, answer = () => TABS, budget, model = 'maker/large' }: Home = {}) {
  const store = createMemoryStore();
  const records = toRecords(store, () => 1);
  const clock = createManualClock();
  const { ask, prompts } = asking(answer, budget);
  const notes: string[] = [];
  const read = () =>
    store
      .judgements('s1', 'message-read')
      .flatMap(({ fact }) => (fact.type === 'message-read' ? [fact] : []));
  const turns = async () => turnsOf(talk, new Map(read().map(({ turn, spans }) => [turn, spans])));
  const start = () => {
    const state = createLearningState();
    const fold = () => store.facts(state.seq, 1000).forEach(state.add);
    fold();
    const words = createWordReading({
      evidence: { turns, affectedTurns: turns },
      writer: { model: async () => ({ ask, model }), askAbout: async () => ask },
      library: { generation: 0 },
      clock,
      log: {
        debug: () => undefined,
        info: (_fields: object | string, note?: string) => void notes.push(note ?? ''),
        warn: () => undefined,
        error: () => undefined,
      },
      signal: new AbortController().signal,
    });
    const queue = async (isOver: boolean): Promise<number> => {
      const facts = isOver
        ? await words.queue.ended('s1', await turns(), clock.now())
        : await words.queue.changed('s1', undefined, clock.now());
      store.append({ facts });
      fold();
      return facts.length;
    };
    /** `dies`: after so many writes. */
    const run = async (dies = Number.POSITIVE_INFINITY): Promise<void> => {
      if (!words.row.due(state, clock.now())) return;
      let writes = 0;
      for await (const piece of words.row.material(state)) {
        if (!('journal' in piece)) throw new Error('it only writes its journal');
        await records.append(piece.journal);
        fold();
        if (++writes >= dies) return;
      }
    };
    return { queue, run, state, isDue: () => words.row.due(state, clock.now()) };
  };
  const ends = () =>
    store.factsOf('cycle-end', 0, 99).flatMap(({ fact }) => (fact.type === 'cycle-end' ? [fact] : []));
  return { start, prompts, read, ends, clock, notes };
}

describe('a model that reads what people typed', () => {
  it('is asked once about all messages of an ended session, and each is recorded with its quotes', async () => {
    const { start, prompts, read, ends } = openHome();
    const { queue, run, state } = start();
    expect(await queue(true)).toBe(1);
    expect(isReadingDue('s1', state)).toBe(true);
    await run();
    expect(isReadingDue('s1', state)).toBe(false);
    expect(prompts).toHaveLength(1);
    const model = 'test/judge';
    expect(read()).toEqual([
      { type: 'message-read', session: 's1', turn: 't1', model, spans: [] },
      {
        type: 'message-read',
        session: 's1',
        turn: 't2',
        model,
        spans: [{ quote: 'We use tabs here', kind: 'rule' }],
      },
      { type: 'message-read', session: 's1', turn: 't3', model, spans: [] },
    ]);
    expect(ends()).toMatchObject([{ learner: 'words', turns: [], cost: { calls: 1 } }]);
    expect(ends()[0]?.note).toMatch(/^3 messages read, 1 passage named, \d+ tokens$/);
  });

  it('is shown what the person typed and the end of each answer (no paste, no whole answer)', async () => {
    const { start, prompts } = openHome();
    const { queue, run } = start();
    await queue(true);
    await run();
    const { system = '', user = '' } = prompts[0] ?? {};
    expect(user).toContain('Format a.ts.');
    expect(user).toContain(`No, that is wrong. ${RULE}`);
    expect(user).toContain('Formatted with spaces.');
    expect(user).not.toContain('x'.repeat(300));
    expect(user).not.toContain('push to main');
    for (const kind of [
      'correction',
      'rule',
      'preference',
      'fact',
      'revocation',
      'thanks',
      'again',
      'outage',
      'task',
    ])
      expect(system).toContain(`- ${kind}: `);
  });

  it('writes no quote that the person did not type, and counts it', async () => {
    const quotes = ['Always push to main.', 'Formatted with spaces.', 'We use spaces here.'];
    const { start, read, ends } = openHome({
      answer: () => ({ spans: quotes.map((quote, nth) => ({ message: nth + 1, quote, kind: 'rule' })) }),
    });
    const { queue, run } = start();
    await queue(true);
    await run();
    expect(read().flatMap(({ spans }) => spans)).toEqual([]);
    expect(ends()[0]?.note).toContain('0 passages named, 3 quotes not found in them');
  });

  it('is asked in parts about a long session', async () => {
    const talk = Array.from({ length: 45 }, (_, nth) => ({ message: `Write page ${nth}.`, answer: 'Done.' }));
    const { start, prompts, read } = openHome({ talk, answer: () => ({ spans: [] }) });
    const { queue, run } = start();
    await queue(true);
    await run();
    expect(prompts).toHaveLength(3);
    expect(read()).toHaveLength(45);
  });

  it('is asked before the end where a message follows a failed answer, and then about the rest alone', async () => {
    const { start, prompts, read } = openHome({ talk: TALK.slice(0, 2) });
    const { queue, run } = start();
    expect(await queue(false)).toBe(1);
    await run();
    expect(read().map(({ turn }) => turn)).toEqual(['t1', 't2']);
    expect([await queue(false), await queue(true)]).toEqual([0, 0]);
    expect(prompts).toHaveLength(1);
  });

  it('is asked nothing where no message has own words', async () => {
    const { start } = openHome({ talk: [{ message: PASTE, answer: 'I see.' }] });
    expect(await start().queue(true)).toBe(0);
  });

  it('is asked nothing again after a restart, also when the process died between what was read and the end', async () => {
    const { start, prompts, read, ends } = openHome();
    const first = start();
    await first.queue(true);
    await first.run(1);
    expect([read().length, ends().length]).toEqual([3, 0]);
    const second = start();
    await second.run();
    expect(ends()).toMatchObject([{ cost: { calls: 0 } }]);
    const third = start();
    expect([third.isDue(), await third.queue(true)]).toEqual([false, 0]);
    expect(prompts).toHaveLength(1);
  });

  it('is asked later when the budget is spent or the model is away, and nothing is lost', async () => {
    const limits = { tokens: 10 };
    const poor = openHome({
      budget: createDayBudget({ limits, setting: 'learn.budget', clock: createManualClock() }),
    });
    const refused = poor.start();
    await refused.queue(true);
    await refused.run();
    expect([poor.read(), poor.ends(), refused.isDue(), poor.prompts.length]).toEqual([[], [], false, 0]);
    // Notes of the session do not wait for it any more.
    expect(isReadingDue('s1', refused.state)).toBe(false);

    const away = openHome({ answer: (_, count) => (count === 1 ? undefined : TABS) });
    const { queue, run, isDue } = away.start();
    await queue(true);
    await run();
    expect([away.read(), away.ends(), isDue()]).toEqual([[], [], false]);
    away.clock.advance(31_000);
    await run();
    expect(away.read()).toHaveLength(3);
  });

  it('whose reply cannot be used leaves the messages to the learned reader (not marked as read)', async () => {
    const { start, read, ends, prompts } = openHome({ answer: () => [{ name: 'a-skill' }] });
    const { queue, run, isDue } = start();
    await queue(true);
    await run();
    expect(prompts).toHaveLength(2);
    expect([read(), isDue()]).toEqual([[], false]);
    expect(ends()[0]?.note).toContain('0 messages read');
  });

  it('is not asked when it is small, and the log says why once', async () => {
    const { start, notes } = openHome({ model: 'ollama/llama3.2:3b' });
    const { queue } = start();
    expect([await queue(true), await queue(true)]).toEqual([0, 0]);
    expect(notes).toEqual([expect.stringContaining('at most 4 billion parameters')]);
  });
});

describe('a lesson from what was said after an answer', () => {
  /** One failure by what was said in the chat; `learned`: the turns that a lesson was to be written from, round by round. */
  function openFailures(spans: readonly LabelledSpan[]) {
    const clock = createManualClock();
    const state = createLearningState();
    const add = (fact: Fact) => state.add({ seq: state.seq + 1, at: clock.now(), fact });
    const next = { tools: [], user: RULE, spans };
    const evidence = turnOf({ next });
    add({
      type: 'turn-appraised',
      turn: 't1',
      session: 's1',
      scope: {},
      generation: 0,
      verdict: 'failure',
      source: 'chat',
      signals: [
        { name: 'user-corrected', source: 'chat', score: 0, weight: 3, reason: 'the user corrected it' },
      ],
      digests: [],
    });
    add({ type: 'learning-queued', item: 'words:s1:t2', learner: 'words', session: 's1', turns: ['t2'] });
    const nothing = {
      name: 'distiller',
      learn: async function* () {
        yield* [];
      },
    };
    const none = async () => undefined;
    const { evidence: rows } = createFailureLearners({
      evidence: { turns: async () => [{ evidence, appraisal: appraise(evidence), generation: 0 }] },
      library: { lessons: () => [], generation: 0 },
      failures: 3,
      writer: { model: none, visibleCases: async () => [], askAbout: none, askForAll: none },
      evolver: nothing,
      distiller: nothing,
      compareQuotes: async () => UNKNOWN_LIKENESS,
      clock,
    });
    const round = async (): Promise<readonly string[]> => {
      const turns: string[] = [];
      for (const row of rows.filter(({ name }) => name === 'failures'))
        for await (const piece of row.material(state))
          if (!('journal' in piece)) turns.push(...piece.cases.map(({ turn }) => turn));
      return turns;
    };
    const read = () => add({ type: 'message-read', session: 's1', turn: 't2', model: 'maker/large', spans });
    return { round, clock, read };
  }

  it('waits for the model that reads, and is written from what that has read', async () => {
    const { round, read } = openFailures([{ quote: RULE, kind: 'rule' }]);
    expect(await round()).toEqual([]);
    read();
    expect(await round()).toEqual(['t1']);
  });

  it('waits no longer than ten seconds', async () => {
    const { round, clock } = openFailures([{ quote: RULE, kind: 'rule' }]);
    expect(await round()).toEqual([]);
    clock.advance(9_000);
    expect(await round()).toEqual([]);
    clock.advance(1_001);
    expect(await round()).toEqual(['t1']);
  });

  it('is not written when the model read no correction', async () => {
    const { round, read } = openFailures([]);
    await round();
    read();
    expect(await round()).toEqual([]);
  });
});
