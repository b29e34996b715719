import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import type { FailureCase } from '../../../src/core/learn.ts';
import type { Library } from '../../../src/core/library.ts';
import { runCycle } from '../../../src/learn/cycle.ts';
import { createDistiller } from '../../../src/learn/distiller/distiller.ts';
import { checkLessonText } from '../../../src/lessons/check-lesson-text.ts';
import { libraryWith } from '../evolver/samples.ts';
import { gateWith } from '../gate/samples.ts';
import { readCorpus } from '../read-corpus.ts';
import { COMPLAINTS } from './corpora.ts';
import { corrected, toldOf } from './distill.ts';

const gate = gateWith();
const learner = createDistiller({ checkText: checkLessonText });

/** What a session has besides: prose of a tool and of a page, as real ones have. */
const BACKGROUNDS = readCorpus<string>('gate/corpus/backgrounds.jsonl');
const withMaterial = (one: FailureCase, number = 0): FailureCase => {
  const [task, ...rest] = one.passages;
  const passages = [
    ...(task === undefined ? [] : [task]),
    { origin: 'tool' as const, text: BACKGROUNDS[number % BACKGROUNDS.length] ?? '' },
    { origin: 'assistant' as const, text: 'I have added the package and changed the settings.' },
    ...rest,
  ];
  return { ...one, passages, material: { passages, commands: [], missing: [] } };
};

let cycles = 0;
const run = (library: Library, ...cases: readonly FailureCase[]) =>
  runCycle(
    { id: `c${++cycles}`, learner, material: cases, cases, items: [] },
    {
      library,
      ask: undefined,
      gate: (proposal, all) => gate(proposal, all, library),
      clock: systemClock,
      newId: (prefix) => `${prefix}-${++cycles}`,
      journal: () => undefined,
      signal: new AbortController().signal,
    },
  );

const states = (library: Library): readonly string[] =>
  library.lessons().map(({ state, text }) => `${state} ${text.description}`);

describe('a correction in the chat, through the gate', () => {
  it('puts a lesson on trial for its own agent and project, from one session', async () => {
    const library = await libraryWith();
    const end = await run(library, withMaterial(corrected(1, 'we use pnpm here, not npm')));
    expect([end.outcome, end.turns]).toEqual(['published', ['t1']]);
    expect(library.lessons()).toMatchObject([
      {
        state: 'trial',
        text: { scope: { agent: 'coder', project: 'shop' }, note: { source: 'experience' } },
      },
    ]);
  });

  it('goes on trial beside the prose of tools in at least 195 of 204 cases', async () => {
    const held: string[] = [];
    for (const [number, said] of COMPLAINTS.entries()) {
      const { judgements } = await run(await libraryWith(), withMaterial(corrected(1, said), number));
      const [{ outcome, why } = { outcome: 'nothing', why: [] }] = judgements;
      if (outcome !== 'trial') held.push(`${said}: ${outcome} ${why.join('; ')}`);
    }
    expect(held.length, held.join('\n')).toBeLessThanOrEqual(9);
  });

  it('needs the scope that it was said in: one session is not enough for another project', async () => {
    const one = withMaterial(corrected(1, 'we use pnpm here, not npm'));
    const library = await libraryWith();
    const wide = {
      ...learner,
      async *learn(input: Parameters<typeof learner.learn>[0]) {
        for await (const step of learner.learn(input))
          if ('change' in step && step.change.op === 'add')
            yield { ...step, change: { ...step.change, text: { ...step.change.text, scope: {} } } };
      },
    };
    const end = await runCycle(
      { id: 'wide', learner: wide, material: [one], cases: [one], items: [] },
      {
        library,
        ask: undefined,
        gate: (proposal, all) => gate(proposal, all, library),
        clock: systemClock,
        newId: (prefix) => `${prefix}-wide`,
        journal: () => undefined,
        signal: new AbortController().signal,
      },
    );
    expect(['refused', 'proposed']).toContain(end.judgements[0]?.outcome);
    expect(library.lessons().filter(({ state }) => state === 'trial')).toEqual([]);
  });

  it('retires the lesson that it takes back, with a link, and back again when the user returns to it', async () => {
    const library = await libraryWith();
    await run(library, withMaterial(corrected(1, 'use tabs')));
    await run(library, withMaterial(corrected(2, 'no, spaces please')));
    expect(states(library)).toEqual(['retired "use tabs"', 'trial "no, spaces please"']);
    expect(library.lessons()[0]?.supersededBy).toBe(library.lessons()[1]?.id);
    await run(library, withMaterial(corrected(3, 'use tabs')));
    expect(states(library).slice(1)).toEqual(['retired "no, spaces please"', 'trial "use tabs"']);
  });

  it('leaves the old lesson in use while the new one waits for a person', async () => {
    const library = await libraryWith();
    await run(library, withMaterial(corrected(1, 'never push to main')));
    const { judgements } = await runCycle(
      {
        id: 'held',
        learner,
        material: [withMaterial(corrected(2, 'push to main'))],
        cases: [withMaterial(corrected(2, 'push to main'))],
        items: [],
      },
      {
        library,
        ask: undefined,
        gate: (proposal, all) => gateWith({ autonomy: 'manual' })(proposal, all, library),
        clock: systemClock,
        newId: (prefix) => `${prefix}-held`,
        journal: () => undefined,
        signal: new AbortController().signal,
      },
    );
    expect(judgements.map(({ outcome }) => outcome)).toEqual(['proposed', 'refused']);
    expect(states(library)).toEqual(['trial "never push to main"', 'proposed "push to main"']);
  });

  it('does not retire what the owner told; the owner’s newer feedback does', async () => {
    const library = await libraryWith();
    await run(
      library,
      withMaterial({ ...toldOf(1, 'Use tabs.'), scope: { agent: 'coder', project: 'shop' } }),
    );
    await run(library, withMaterial(corrected(2, 'use spaces')));
    expect(states(library)).toEqual(['trial "Use tabs."']);
    await run(
      library,
      withMaterial({ ...toldOf(3, 'Use spaces.'), scope: { agent: 'coder', project: 'shop' } }),
    );
    expect(states(library)).toEqual(['retired "Use tabs."', 'trial "Use spaces."']);
  });
});
