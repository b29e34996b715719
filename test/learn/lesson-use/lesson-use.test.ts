import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../src/core/clock.ts';
import type { Fact } from '../../../src/core/fact.ts';
import type { Json } from '../../../src/core/json.ts';
import type { Ask } from '../../../src/core/learn.ts';
import type { Lesson } from '../../../src/core/lesson.ts';
import type { NewFact } from '../../../src/core/store.ts';
import { createGate } from '../../../src/learn/gate/gate.ts';
import { createLearningState } from '../../../src/learn/learning-state.ts';
import { listLearningWaits } from '../../../src/learn/learning-waits.ts';
import { createReviserRow, createUseRow } from '../../../src/learn/lesson-use/lesson-use.ts';
import { readLessonUse } from '../../../src/learn/lesson-use/lesson-uses.ts';
import { createReviser } from '../../../src/learn/lesson-use/reviser.ts';
import { createRunner } from '../../../src/learn/runner.ts';
import { checkLessonText } from '../../../src/lessons/check-lesson-text.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { openOn, setOf } from '../../lessons/library/samples.ts';
import { lessonText } from '../../support/lesson-text.ts';
import { asker, speaker, text } from '../ask/samples.ts';
import { ran, turnsOf } from '../live/worked-session.ts';

const scope = { agent: 'app' };
const learned = (over: object = {}) =>
  lessonText({
    name: 'use-spaces',
    description: 'Indent code with 4 spaces.',
    content: '1. Indent with 4 spaces.\n2. Run the formatter before you commit.\nAnti-pattern: tabs.',
    scope,
    note: {
      ...lessonText({ name: 'use-spaces', description: 'x', content: 'x' }).note,
      source: 'experience',
    },
    evidence: { turns: ['t-old'], quotes: [], learner: 'evolver' },
    ...over,
  });

const SAME = 'No, wrong again: always indent with 4 spaces here.';
const OTHERWISE = 'No. Never indent with spaces here, we use tabs.';
const ELSE = 'No, the port of the server is 8080.';
const session = (said: string) =>
  turnsOf('add a parser for dates', [{ says: 'I added src/dates.ts.', user: said }], ['use-spaces']);
const well = turnsOf('add a parser for times', [ran('npm test', 0, '4 passed in 1s\n')], ['use-spaces']);

describe('what people say about a shown lesson', () => {
  const library = new Map([['use-spaces', { id: 'use-spaces', text: learned() } as Lesson]]);
  const read = (said: string) => readLessonUse(session(said), (id) => library.get(id));
  it.each([
    ['the same again', SAME, ['use-spaces'], []],
    ['otherwise', OTHERWISE, [], ['use-spaces']],
    ['something else', ELSE, [], []],
    ['nothing', 'Now add one for times.', [], []],
  ])('is %s, and nothing else', (_, said, ignored, contradicted) => {
    const use = read(said);
    expect([...use.ignored.keys()]).toEqual(ignored);
    expect([...use.contradicted.keys()]).toEqual(contradicted);
  });

  it('says nothing about a lesson that was not shown', () => {
    const turns = turnsOf('add a parser', [{ says: 'Done.', user: SAME }], ['another']);
    expect(readLessonUse(turns, (id) => library.get(id)).ignored.size).toBe(0);
  });
});

/** The step on a real library; sessions are what the evidence reader would read. */
async function open(over: { readonly ask?: Ask; readonly text?: object; readonly pinned?: boolean } = {}) {
  const store = createMemoryStore();
  const { library } = await openOn(store);
  const changes = [
    { op: 'add', id: 'use-spaces', kind: 'skill', state: 'trial', text: learned(over.text) } as const,
    ...(over.pinned === true ? [{ op: 'mark', id: 'use-spaces', pinned: true } as const] : []),
  ];
  await library.publish(setOf('c1', changes));
  const sessions = new Map<string, ReturnType<typeof session>>();
  const state = createLearningState();
  let seq = 0;
  const add = (fact: Fact): void => state.add({ seq: ++seq, at: 1_000, fact });
  const facts: NewFact[] = [];
  const clock = createManualClock(1_000);
  const gate = createGate({
    autonomy: 'guarded',
    checkText: checkLessonText,
    hasSecret: () => false,
    findSimilar: async () => [],
    voteDay: (at) => new Date(at).toDateString(),
  });
  let ids = 0;
  const use = {
    records: { session: async () => ({ agent: 'app' }) as never },
    evidence: { turns: async (id: string) => sessions.get(id) ?? [] },
    library,
    reviser: createReviser({ checkText: checkLessonText }),
    writer: {
      model: async () => (over.ask === undefined ? undefined : { ask: over.ask, model: 'own/teacher' }),
      askForAll: async () => over.ask,
    },
    clock,
  };
  const rows = [createUseRow(use), createReviserRow(use)];
  const runner = createRunner({
    library,
    gate,
    clock,
    newId: (prefix) => `${prefix}-${++ids}`,
    log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
    signal: new AbortController().signal,
  });
  const write = async (written: readonly NewFact[]): Promise<void> => {
    facts.push(...written);
    for (const { fact } of written) add(fact);
  };
  const play = async (id: string, turns: ReturnType<typeof session>): Promise<void> => {
    sessions.set(
      id,
      turns.map((turn) => {
        const evidence = { ...turn.evidence, session: id, turn: `${id}-${turn.evidence.turn}` };
        return { ...turn, evidence, appraisal: { ...turn.appraisal, turn: evidence.turn } };
      }),
    );
    const use = readLessonUse(turns, library.lesson);
    add({
      ...{
        type: 'session-scored',
        session: id,
        score: turns === well ? 0.9 : 0.1,
        lessons: ['use-spaces'],
        heldOut: [],
      },
      ignored: [...use.ignored.keys()],
      contradicted: [...use.contradicted.keys()],
    });
    await runner.run(rows, { state, write });
  };
  return { library, state, play, facts, lesson: () => library.lesson('use-spaces') };
}

describe('a lesson that was shown', () => {
  it('retires with its reason after three sessions whose user said otherwise, and not after two', async () => {
    const { play, lesson } = await open();
    await play('s1', session(OTHERWISE));
    await play('s2', session(OTHERWISE));
    expect(lesson()?.state).toBe('trial');
    await play('s3', session(OTHERWISE));
    expect(lesson()).toMatchObject({
      state: 'retired',
      reason: 'the user said otherwise in 3 of 3 sessions that it was shown in',
    });
  });

  it.each([
    ['failed without a word against it', {}, false, ELSE],
    ['was told by a person', { note: { ...learned().note, source: 'told' } }, false, OTHERWISE],
    ['is pinned', {}, true, OTHERWISE],
  ])('stays after four bad sessions when it %s', async (_, text, pinned, said) => {
    const { play, lesson } = await open({ text, pinned });
    for (const id of ['s1', 's2', 's3', 's4']) await play(id, session(said));
    expect(lesson()?.state).toBe('trial');
  });

  it('stays when most sessions that it was shown in had nothing against it', async () => {
    const { play, lesson } = await open();
    for (let nth = 0; nth < 12; nth++) await play(`s${nth}`, nth % 5 === 0 ? session(OTHERWISE) : well);
    expect(lesson()?.state).toBe('trial');
  });

  it('is worded anew by a model that sees sessions of both sorts, once and not in each session', async () => {
    const requests: string[] = [];
    const { model } = speaker(
      text(
        JSON.stringify({
          title: 'use-spaces',
          summary: 'Every line that you write is indented with 4 spaces, new files too.',
          steps: ['Indent each line with 4 spaces.', 'Look at new files too before you finish.'],
        } as Json),
      ),
    );
    const { ask: plain } = asker(model);
    const ask: Ask = (question, signal) => {
      requests.push(question.user);
      return plain(question, signal);
    };
    const { play, lesson, facts } = await open({ ask });
    await play('s0', well);
    await play('s1', session(SAME));
    expect(requests).toHaveLength(0);
    await play('s2', session(SAME));
    expect(requests).toHaveLength(1);
    expect(requests[0]).toContain(SAME);
    expect(requests[0]).toContain('add a parser for times');
    expect(lesson()).toMatchObject({ revision: 2, state: 'trial' });
    expect(lesson()?.text.description).toContain('new files too');
    expect(lesson()?.text.content).toContain('always indent with 4 spaces here');
    expect(facts.map(({ fact }) => fact.type)).toEqual(['learning-queued', 'cycle-end']);
  });

  it('is named to the person when there is no model and the same had to be said in three sessions', async () => {
    const { play, state, lesson } = await open();
    const waits = () =>
      listLearningWaits({
        ...{ state, failures: 3, now: 1_000, anonymous: 0, open: { count: 0, oldest: undefined } },
        labelOf: async () => undefined,
      });
    await play('s1', session(SAME));
    await play('s2', session(SAME));
    expect(await waits()).toEqual([]);
    await play('s3', session(SAME));
    expect(await waits()).toMatchObject([{ code: 'lesson-ignored', lessons: ['use-spaces'] }]);
    expect(lesson()).toMatchObject({ revision: 1, state: 'trial' });
  });
});
