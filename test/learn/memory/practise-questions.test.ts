import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createNgramEmbed } from '../../../src/embed/ngram-embed.ts';
import { planConsolidation } from '../../../src/learn/memory/consolidate.ts';
import { conflictOf } from '../../../src/learn/memory/open-questions.ts';
import { practiseQuestions, type QuestionParts } from '../../../src/learn/memory/practise-questions.ts';
import { withMemory } from '../../../src/learn/memory/serve-memory.ts';
import { readTrials } from '../../../src/lessons/effect/fold-trials.ts';
import { linkLessonsBothWays } from '../../../src/lessons/links.ts';
import { lessonText } from '../../support/lesson-text.ts';
import { openScripted, tasksFile } from '../practice/open-scripted.ts';
import { attemptOf } from '../practice/scripted-practice.ts';
import { openTrialWorld, tasksOf } from '../trial/trial-world.ts';

const DAY = 86_400_000;
const opened: { readonly close: () => void; readonly folder: string }[] = [];
afterEach(() => {
  for (const { close, folder } of opened.splice(0)) {
    close();
    rmSync(folder, { recursive: true, force: true });
  }
});

/** A home whose weekly run may make attempts. */
async function open() {
  const folder = mkdtempSync(path.join(tmpdir(), 'questions-'));
  const world = await openTrialWorld(folder);
  opened.push({ close: world.close, folder });
  const { library, effects, records, parts } = world;
  const embed = createNgramEmbed();
  const plan = async () =>
    planConsolidation(
      { library, effects, trials: await readTrials(records) },
      { now: parts.clock.now(), embed: embed.embed, isByLetters: true, isAsked: false },
    );
  const consolidate = (more: Partial<QuestionParts> = {}, canPractise = true) =>
    withMemory(undefined, {
      catchUp: async () => undefined,
      ...{ library, effects, records, embed: embed.embed, isByLetters: true, clock: parts.clock },
      autonomy: 'guarded',
      ...(canPractise
        ? {
            practise: (questions, _run, _when, signal) =>
              practiseQuestions(questions, { ...parts, ...more }, signal),
          }
        : {}),
    }).command({ do: 'consolidate-work', when: 'on' }, new AbortController().signal);
  return { ...world, plan, consolidate };
}

const note = { source: 'experience', halfLifeDays: 30, visibility: 'shared' } as const;
const evidence = { turns: [], quotes: [], learner: 'evolver' };
const RELEASE = { description: 'When you release.', note, evidence };

describe('two learned lessons that contradict each other', () => {
  const contradict = async (world: Awaited<ReturnType<typeof open>>) => {
    await world.add('first', { ...RELEASE, content: 'Tag the release commit first.' });
    await world.add('never', { ...RELEASE, content: 'Never tag the release commit first.' });
  };

  it('are both attempted; the one stays with which attempts come out better, the other names it and the figures', async () => {
    const world = await open();
    await contradict(world);
    world.grades((lessons) => (lessons.includes('never') && !lessons.includes('first') ? 1 : 0));
    expect((await world.plan()).open).toMatchObject([{ by: 'practise' }]);
    expect(await world.consolidate()).toMatchObject({ note: '1 change, 1 question answered by attempts' });
    expect(world.library.lesson('first')).toMatchObject({ state: 'retired', supersededBy: 'never' });
    expect(world.library.lesson('first')?.reason).toMatch(
      /^measured: attempts came out better with never \(−1\.00 .* in \d+ pairs of attempts at \d tasks\)/,
    );
    expect(world.library.lesson('never')?.state).toBe('trial');
  });

  it('both stay, marked and listed, where no difference shows; they are not attempted again', async () => {
    const world = await open();
    await contradict(world);
    await world.consolidate();
    const { length } = world.made;
    expect(length).toBeGreaterThan(0);
    const links = linkLessonsBothWays(world.library.lessons());
    expect(links.of('first')).toEqual([{ type: 'contradicts', to: 'never' }]);
    expect(links.of('never')).toEqual([{ type: 'contradicts', to: 'first' }]);
    expect(await world.consolidate()).toMatchObject({
      end: 'done',
      note: '0 changes, 1 contradiction left open',
    });
    expect(world.made.length).toBe(length);
  });

  it('wait where there is no task to tell them by, and nothing is retired', async () => {
    const world = await open();
    await contradict(world);
    await world.consolidate({ gateTasks: async () => [] });
    expect((await world.plan()).open).toMatchObject([{ by: 'practise' }]);
    for (const id of ['first', 'never']) expect(world.library.lesson(id)?.state).toBe('trial');
    expect(world.made).toEqual([]);
  });
});

describe('a decayed lesson', () => {
  const decay = async (world: Awaited<ReturnType<typeof open>>) => {
    await world.add('vault', { content: 'Rotate the api keys with the vault tool.', note, evidence });
    world.pass(130 * DAY);
  };

  it('that still helps stays in use, and its clock begins anew', async () => {
    const world = await open();
    await decay(world);
    world.grades((lessons) => (lessons.includes('vault') ? 1 : 0));
    expect(await world.consolidate()).toMatchObject({ note: '0 changes, 1 question answered by attempts' });
    world.pass(100 * DAY);
    await world.consolidate();
    expect(world.library.lesson('vault')?.state).toBe('trial');
    world.pass(30 * DAY);
    world.grades(() => 1);
    await world.consolidate();
    expect(world.library.lesson('vault')?.reason).toMatch(
      /^archived: no session needed it for 130 days, and attempts did no better with it: \+0\.00/,
    );
  });

  it('is archived by its age alone without a model, and where a budget is used up before its test', async () => {
    for (const canPractise of [false, true]) {
      const world = await open();
      await decay(world);
      await world.consolidate({ budget: { refusal: () => 'the budget is used up' } }, canPractise);
      expect(world.library.lesson('vault')?.reason).toBe('archived: no session needed it for 130 days');
      expect(world.made).toEqual([]);
    }
  });

  it('is tested once: a run that was stopped goes on with the pairs that it has', async () => {
    const world = await open();
    await decay(world);
    const stop = new AbortController();
    const questions = (await world.plan()).questions;
    await practiseQuestions(
      questions,
      {
        ...world.parts,
        gateTasks: async () => tasksOf(6),
        budget: { refusal: () => (world.made.length >= 8 ? 'stopped' : undefined) },
      },
      stop.signal,
    );
    expect(world.made.length).toBe(8);
    await practiseQuestions(questions, world.parts, stop.signal);
    expect(world.made.length).toBe(48);
    expect(new Set(world.made).size).toBe(48);
  });
});

describe('practice, asked by consolidation', () => {
  it('refreshes its tasks and answers with attempts, where they may be made by themselves', async () => {
    const { practise, lessons, orders } = await openScripted(
      { tasks: [tasksFile()] },
      {
        attempt: async (order) =>
          attemptOf(order, {
            outcome: { is: 'graded', reward: order.shown.lessons.includes('first') ? 0 : 1, reasons: [] },
          }),
      },
    );
    const add = (id: string, content: string) =>
      lessons.library.publish({
        id,
        by: { kind: 'learner', name: 'evolver' },
        reason: 'a test',
        changes: [
          {
            op: 'add',
            id,
            kind: 'skill',
            state: 'live',
            text: lessonText({ ...RELEASE, name: id, content }),
          },
        ],
      });
    await add('first', 'Tag the release commit first.');
    await add('never', 'Never tag the release commit first.');
    const [first, never] = ['first', 'never'].map((id) => lessons.library.lesson(id));
    if (first === undefined || never === undefined) throw new Error('not added');
    const { signal } = new AbortController();
    const questions = [conflictOf(first, never)];
    expect(await practise(questions, 'run', 'off', signal)).toBeUndefined();
    expect(orders).toEqual([]);
    expect(await practise(questions, 'run', 'free', signal)).toMatchObject({ answered: 1 });
    const made = orders.length;
    expect(made).toBeGreaterThan(8);
    expect(orders.every(({ shown }) => shown.lessons.length === 1)).toBe(true);
    // What is answered is not paid for again.
    expect(await practise(questions, 'later', 'on', signal)).toMatchObject({ answered: 0 });
    expect(orders.length).toBe(made);
  });
});
