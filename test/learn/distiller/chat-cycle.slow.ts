import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import type { FailureCase } from '../../../src/core/learn.ts';
import type { Library } from '../../../src/core/library.ts';
import { runCycle } from '../../../src/learn/cycle.ts';
import { createDistiller } from '../../../src/learn/distiller/distiller.ts';
import type { Autonomy } from '../../../src/learn/gate/autonomy-rule.ts';
import { checkLessonText } from '../../../src/lessons/check-lesson-text.ts';
import { libraryWith } from '../evolver/samples.ts';
import { gateWith } from '../gate/samples.ts';
import { readCorpus } from '../read-corpus.ts';
import { COMPLAINTS } from './corpora.ts';
import { corrected, remarked, toldOf } from './distill.ts';

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
const runWith = (
  one: { readonly learner: typeof learner; readonly gate: typeof gate },
  library: Library,
  cases: readonly FailureCase[],
) =>
  runCycle(
    { id: `c${++cycles}`, learner: one.learner, material: cases, cases, items: [] },
    {
      library,
      ask: undefined,
      gate: (proposal, all) => one.gate(proposal, all, library),
      clock: systemClock,
      newId: (prefix) => `${prefix}-${++cycles}`,
      journal: () => undefined,
      signal: new AbortController().signal,
    },
  );
const run = (library: Library, ...cases: readonly FailureCase[]) =>
  runWith({ learner, gate }, library, cases);
const runUnder = (autonomy: Autonomy, library: Library, ...cases: readonly FailureCase[]) =>
  runWith({ learner, gate: gateWith({ autonomy }) }, library, cases);

const states = (library: Library): readonly string[] =>
  library.lessons().map(({ state, text }) => `${state} ${text.description}`);

describe('a correction in the chat, through the gate', () => {
  it('is in force at once for its own agent and project, from one session', async () => {
    const library = await libraryWith();
    const end = await run(library, withMaterial(corrected(1, 'we use pnpm here, not npm')));
    expect([end.outcome, end.turns]).toEqual(['published', ['t1']]);
    expect(library.lessons()).toMatchObject([
      {
        state: 'live',
        text: { scope: { agent: 'coder', project: 'shop' }, note: { source: 'experience' } },
      },
    ]);
  });

  it('is in force at once beside the prose of tools in at least 195 of 204 cases', async () => {
    const held: string[] = [];
    for (const [number, said] of COMPLAINTS.entries()) {
      const { judgements } = await run(await libraryWith(), withMaterial(corrected(1, said), number));
      const [{ outcome, why } = { outcome: 'nothing', why: [] }] = judgements;
      if (outcome !== 'live') held.push(`${said}: ${outcome} ${why.join('; ')}`);
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
    const end = await runWith({ learner: wide, gate }, library, [one]);
    expect(['refused', 'proposed']).toContain(end.judgements[0]?.outcome);
    expect(library.lessons().filter(({ state }) => state === 'trial' || state === 'live')).toEqual([]);
  });

  it('retires the lesson that it takes back, with a link, and back again when the user returns to it', async () => {
    const library = await libraryWith();
    await run(library, withMaterial(corrected(1, 'use tabs')));
    await run(library, withMaterial(corrected(2, 'no, spaces please')));
    expect(states(library)).toEqual(['retired "use tabs"', 'live "no, spaces please"']);
    expect(library.lessons()[0]?.supersededBy).toBe(library.lessons()[1]?.id);
    await run(library, withMaterial(corrected(3, 'use tabs')));
    expect(states(library).slice(1)).toEqual(['retired "no, spaces please"', 'live "use tabs"']);
  });

  it.each(['manual', 'guarded', 'autonomous'] as const)(
    'leaves the old lesson in use while the new one, an order that could do harm, waits under %s',
    async (autonomy) => {
      const library = await libraryWith();
      await run(library, withMaterial(corrected(1, 'never skip the backup')));
      const { judgements } = await runUnder(autonomy, library, withMaterial(corrected(2, 'skip the backup')));
      expect(judgements.map(({ outcome }) => outcome)).toEqual(['proposed', 'refused']);
      expect(states(library)).toEqual(['live "never skip the backup"', 'proposed "skip the backup"']);
    },
  );

  it('is in force and retires the old lesson also where every change of a model needs approval', async () => {
    const library = await libraryWith();
    await run(library, withMaterial(corrected(1, 'never push to main')));
    await runUnder('manual', library, withMaterial(corrected(2, 'push to main')));
    expect(states(library)).toEqual(['retired "never push to main"', 'live "push to main"']);
    expect(library.lessons()[0]?.supersededBy).toBe(library.lessons()[1]?.id);
  });

  it('does not retire what the owner told; the owner’s newer feedback does', async () => {
    const library = await libraryWith();
    await run(
      library,
      withMaterial({ ...toldOf(1, 'Use tabs.'), scope: { agent: 'coder', project: 'shop' } }),
    );
    await run(library, withMaterial(corrected(2, 'use spaces')));
    expect(states(library)).toEqual(['live "Use tabs."']);
    await run(
      library,
      withMaterial({ ...toldOf(3, 'Use spaces.'), scope: { agent: 'coder', project: 'shop' } }),
    );
    expect(states(library)).toEqual(['retired "Use tabs."', 'live "Use spaces."']);
  });
});

describe('what the user states after an answer, without blame', () => {
  it('is in force when two sessions say it, and nothing when one does, however often', async () => {
    const library = await libraryWith();
    const first = remarked(1, 'table driven tests please');
    const again = { ...remarked(2, 'table driven tests here please'), session: first.session };
    expect((await run(library, first)).outcome).toBe('nothing');
    expect((await run(library, first, again)).outcome).toBe('nothing');
    const end = await run(library, first, remarked(3, 'table driven please!', 'success'));
    expect([end.outcome, end.turns.toSorted()]).toEqual(['published', ['t1', 't3']]);
    expect(library.lessons()).toMatchObject([
      {
        state: 'live',
        text: { scope: { agent: 'coder', project: 'shop' }, note: { source: 'experience' } },
      },
    ]);
  });

  it('counts with what another session said as a correction', async () => {
    const library = await libraryWith();
    const once = corrected(1, 'no, table driven tests', { isStanding: false });
    expect((await run(library, once, remarked(2, 'table driven please!'))).outcome).toBe('published');
  });

  it('is no lesson about two matters, also when they share a word', async () => {
    const library = await libraryWith();
    const cases = [remarked(1, 'the header is blue now'), remarked(2, 'the header needs a search box')];
    expect((await run(library, ...cases)).outcome).toBe('nothing');
  });
});

describe('words that take a lesson back', () => {
  it.each([
    ['no deploys on fridays!', 'the friday rule for deploys is gone since we have canaries'],
    [
      'use prisma for all queries in here',
      'no - we dropped prisma on monday. kysely now, for everything new',
    ],
    ['no emojis in slack messages please', 'ok you may use emojis in slack again. one per message'],
    ['keine Deploys am Freitag', 'die Regel mit den Freitag-Deploys gilt nicht mehr'],
  ])('retire "%s" after "%s", and take its place', async (before, now) => {
    const library = await libraryWith();
    await run(library, corrected(1, before));
    await run(library, corrected(2, now));
    expect(states(library)).toEqual([
      expect.stringMatching(/^retired /),
      expect.stringContaining(`live "${now.slice(0, 20)}`),
    ]);
    expect(library.lessons()[0]?.supersededBy).toBe(library.lessons()[1]?.id);
  });

  it.each([
    [
      'we indent with tabs, please',
      'news: the team decided for two spaces, tabs are out from today on. new .editorconfig is merged',
    ],
    ['use yarn to install packages', 'yarn is gone. from monday on we use bun'],
    ['we run the tests with jest', 'we switched from jest to vitest last week'],
    ['format with prettier', 'prettier was last year, now biome'],
    ['we are on node 18', 'we moved from node 18 to node 20'],
    ['wir nutzen hier npm', 'wir sind von npm auf pnpm umgestiegen'],
    ['aquí usamos npm', 'hemos pasado de npm a pnpm'],
    ['ici on utilise npm', 'on est passés de npm à pnpm'],
    ['aqui usamos npm', 'mudamos de npm para pnpm'],
    ['мы используем npm', 'мы перешли с npm на pnpm'],
    ['我们用 npm 安装', '我们从 npm 换成 pnpm 了'],
  ])('that name what was replaced retire "%s" after "%s"', async (before, now) => {
    const library = await libraryWith();
    await run(library, withMaterial(corrected(1, before)));
    // It was shown to the work that was corrected, and is not revised with its own end.
    const [id = ''] = library.lessons().map((lesson) => lesson.id);
    await run(library, { ...withMaterial(corrected(2, now)), shown: [id] });
    expect(states(library)).toEqual([expect.stringMatching(/^retired /), `live "${now}"`]);
    expect(library.lessons()[0]?.supersededBy).toBe(library.lessons()[1]?.id);
  });

  it.each([
    ['we indent with tabs', 'the tabs are out of sync, always reload them'],
    ['tests go in spec/', 'we moved the file from spec/ to src/, always look there first'],
    ['the sale banner is always red', 'the sale is over'],
    ['never use tabs', 'tabs are out from today on, we agreed on spaces'],
    ['we use pnpm, not npm', 'we moved from npm to pnpm'],
    ['we are on node 20', 'we moved from node 18 to node 20'],
  ])('leave "%s" alone in "%s"', async (before, now) => {
    const library = await libraryWith();
    await run(library, withMaterial(corrected(1, before)));
    await run(library, withMaterial(corrected(2, now)));
    expect(states(library)[0]).not.toMatch(/^retired/);
  });

  it('retire what was said just before, and are no lesson', async () => {
    const library = await libraryWith();
    await run(library, corrected(1, 'always use flexbox for headers'));
    const revoked = corrected(2, 'no forget that, I was thinking of another project', {
      session: 's1',
      task: 'always use flexbox for headers',
    });
    const end = await run(library, revoked);
    expect(end.turns).toEqual(['t2']);
    expect(states(library)).toEqual([expect.stringMatching(/^retired /)]);
  });

  it.each([
    ['always answer in French', 'Forget what I said about French.'],
    ['always indent with tabs', "ok, please forget everything I've told you about tabs"],
    ['Rechnungen immer als PDF schicken', 'Vergiss bitte, was ich dir zu PDF gesagt habe.'],
    ['toujours mettre la date en haut', "Oublie ce que j'ai dit sur la date en haut."],
    ['siempre usa la plantilla azul', 'Olvida lo que te dije sobre la plantilla azul.'],
  ])('retire "%s" by "%s", in another session, and are no lesson', async (before, now) => {
    const library = await libraryWith();
    await run(library, withMaterial(corrected(1, before)));
    await run(library, withMaterial(corrected(2, now)));
    expect(states(library)).toEqual([expect.stringMatching(/^retired /)]);
  });

  it.each([
    ['always indent with tabs', "don't forget what I said about tabs"],
    ['always indent with tabs', 'you always forget what I told you about tabs'],
    ['always indent python with tabs', 'forget what I said about makefiles with tabs'],
  ])('leave "%s" in use after "%s"', async (before, now) => {
    const library = await libraryWith();
    await run(library, withMaterial(corrected(1, before)));
    await run(library, withMaterial(corrected(2, now)));
    expect(states(library)[0]).not.toMatch(/^retired/);
  });

  it('leave a lesson alone that they do not name', async () => {
    const library = await libraryWith();
    await run(library, corrected(1, 'we use pnpm here, not npm'));
    await run(library, corrected(2, 'the rule about fridays is gone. always deploy with canaries'));
    expect(states(library)[0]).toMatch(/^live "we use pnpm/);
  });

  it('do not retire what the owner told', async () => {
    const library = await libraryWith();
    await run(library, toldOf(1, 'No deploys on fridays.'));
    await run(library, corrected(2, 'the friday rule for deploys is gone since we have canaries'));
    expect(states(library)[0]).not.toMatch(/^retired/);
  });
});
