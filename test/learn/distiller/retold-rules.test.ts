import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import type { FailureCase } from '../../../src/core/learn.ts';
import type { Library } from '../../../src/core/library.ts';
import { createMiniLmEmbed } from '../../../src/embed/minilm-embed.ts';
import {
  createQuoteComparison,
  isAlike,
  isSameInWords,
  readRuleWords,
} from '../../../src/learn/compare-words.ts';
import { runCycle } from '../../../src/learn/cycle.ts';
import { createDistiller } from '../../../src/learn/distiller/distiller.ts';
import { readSayings } from '../../../src/learn/distiller/sayings.ts';
import { checkLessonText } from '../../../src/lessons/check-lesson-text.ts';
import { failure, libraryWith } from '../evolver/samples.ts';
import { gateWith } from '../gate/samples.ts';
import { corrected, remarked, toldOf } from './distill.ts';

const model = createMiniLmEmbed();
afterAll(() => model.close());
const compareQuotes = createQuoteComparison(model.embed);
const learner = createDistiller({ checkText: checkLessonText, compareQuotes });
const gate = gateWith();

let cycles = 0;
/** Each call is a run of its own: what one taught is there when the next begins. */
const run = (library: Library, ...cases: readonly FailureCase[]) => runWith(learner, library, cases);
const runWith = (distiller: typeof learner, library: Library, cases: readonly FailureCase[]) =>
  runCycle(
    { id: `c${++cycles}`, learner: distiller, material: cases, cases, items: [] },
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
const inUse = (library: Library) => library.lessons().filter(({ state }) => state === 'live');

describe('a rule that is told again in other words', () => {
  it('stays one lesson, which has the words of each telling', async () => {
    const library = await libraryWith();
    const words = [
      'Every JSON file needs its keys in alphabetical order.',
      'You must sort the keys of JSON files by the alphabet.',
      'The keys of all our JSON files should be alphabetically sorted, as everywhere.',
    ];
    for (const [nth, said] of words.entries()) await run(library, toldOf(nth + 1, said));
    const [lesson, ...others] = inUse(library);
    expect(others).toEqual([]);
    for (const said of words) expect(lesson?.text.content).toContain(said);
    expect(lesson?.text.evidence.turns.toSorted()).toEqual(['t1', 't2', 't3']);
  });

  it('does not take in another rule, however similar its sentence', async () => {
    const library = await libraryWith();
    await run(library, toldOf(1, 'Topics such as fennel must become "fennel;;" with us.', 'Topic fennel.'));
    await run(library, toldOf(2, 'Days such as Monday must become "=Monday" with us.', 'On Monday.'));
    await run(library, toldOf(3, 'Never commit to main without a pull request.'));
    expect(inUse(library)).toHaveLength(3);
  });

  it('is learned when two sessions say it, although neither said that it holds for later work', async () => {
    const library = await libraryWith();
    const first = remarked(1, 'the columns of a table in the report are sorted by name');
    await run(library, first);
    expect(inUse(library)).toHaveLength(0);
    await run(library, first, remarked(2, 'table columns belong in the order of their names in a report'));
    expect(inUse(library)).toHaveLength(1);
  });

  it('joins lessons that turn out to say the same, also what a person told: the words of both stay', async () => {
    const library = await libraryWith();
    const apart = createDistiller({ checkText: checkLessonText });
    const [one, other] = ['Write all dates in ISO order.', 'Year, month, day: that is how dates must look.'];
    for (const [nth, said] of [one, other].entries())
      await runWith(apart, library, [toldOf(nth + 1, said ?? '')]);
    expect(inUse(library)).toHaveLength(2);
    await run(library, toldOf(3, 'Dates must be written in ISO order: year, month, day.'));
    const [lesson, ...others] = inUse(library);
    expect(others).toEqual([]);
    for (const said of [one, other]) expect(lesson?.text.content).toContain(said);
    expect(library.lessons().filter(({ mergedInto }) => mergedInto === lesson?.id)).toHaveLength(1);
  });

  it('is compared by its words alone where the sentence model cannot be asked, and in other languages', async () => {
    const failing = createQuoteComparison(async () => {
      throw new Error('no model');
    });
    expect(
      (await failing(['sort the keys', 'order the keys']))('sort the keys', 'order the keys'),
    ).toBeUndefined();
    const german = ['Die Preise sind netto und die Steuer steht unten.', 'Der Kunde ist in der Datei vorn.'];
    const [a = '', b = ''] = german;
    expect((await compareQuotes(german))(a, b)).toBeUndefined();
  });
});

describe('values', () => {
  const rule = (quote: string, task = '') => readRuleWords(quote, [task]);

  it('are what a quote names and its task does not', () => {
    expect(rule('It must remain as notes/may.json_old.', 'Edit notes/may.json').values).toEqual(['_old']);
    expect(rule('Never use --no-verify, write %Y-%m-%d.').values).toEqual(['--no-verify', '%Y-%m-%d']);
    expect(rule('The total of 2026-05-04 in src/a.ts is 4,120.50 for "Ann".').values).toEqual([]);
  });

  it('are what the person says above and below a mail that their note quotes, and not the mail', () => {
    const note =
      'On Mon, Ilse wrote:\n> shall I use the old template?\n\nNo. Always use the template of 2026.';
    expect(readSayings(toldOf(1, note, 'Write the report.')).map(({ quote }) => quote)).toEqual([
      'No. Always use the template of 2026.',
    ]);
  });

  it('tell two rules apart, and the same one in other words', () => {
    const near = () => ({ whole: 0.5, nearest: 0.5 });
    expect(isAlike(rule('Let "=>" lead it.'), rule('No day without => before it.'), near)).toBe(true);
    expect(isSameInWords(rule('Let "=>" lead it.'), rule('Let "+?" lead it.'))).toBe(false);
  });
});

describe('what is no rule', () => {
  const said = (words: string, task = 'Do it.') =>
    readSayings(toldOf(1, words, task)).map(({ quote }) => quote);

  it('is which options were right, and what names nothing but its own task', () => {
    expect(said('Not quite. A is right. B is wrong.')).toEqual([]);
    expect(said('I saw no seats in a/b.json, I had said 20.', 'Set seats in a/b.json to 20.')).toEqual([]);
    expect(said('I saw no "unit_of" in a/b.json.', 'Set seats in a/b.json to 20.')).toHaveLength(1);
  });

  it('is praise for an answer after which something was stated', () => {
    const praised = remarked(1, 'reports go to the board on Mondays', 'success');
    const passages = [...praised.passages, { origin: 'person' as const, text: 'Well done, that is all.' }];
    expect(readSayings({ ...praised, passages }).map(({ quote }) => quote)).toEqual([
      'reports go to the board on Mondays',
    ]);
  });

  it('is what the user typed as well, where the same words were filed as feedback', () => {
    const words = 'Put the unit behind every amount.';
    const both = corrected(1, words);
    const passages = [...both.passages, { origin: 'person' as const, text: words }];
    expect(readSayings({ ...failure({}), ...both, passages })).toHaveLength(1);
  });
});
