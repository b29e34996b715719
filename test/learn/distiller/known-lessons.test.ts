import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Lesson } from '../../../src/core/lesson.ts';
import {
  type ComparedLesson,
  createReadKnown,
  mayBeTakenIn,
  nearestByWords,
  readKnown,
} from '../../../src/learn/distiller/known-lessons.ts';
import { coversMatter, mayCoverMatter, readMatter } from '../../../src/learn/distiller/matter.ts';
import type { Saying } from '../../../src/learn/distiller/sayings.ts';
import { lesson } from '../../lessons/recall/sample-lessons.ts';
import { runsOf } from '../../support/counts.ts';

const about = (n: number, content: string): Lesson =>
  lesson(`l${n}`, { description: `When ${n}`, content, changedAt: n });
const said = (quote: string): Pick<Saying, 'quote' | 'matter'> => ({ quote, matter: readMatter(quote) });

describe('what is known of lessons', () => {
  it('is read again only of lessons that have changed', () => {
    const read = createReadKnown();
    const lessons = Array.from({ length: 50 }, (_, n) => about(n, `Use spaces in file ${n}.`));
    const before = read(lessons);
    const changed = lessons.with(7, about(7, 'Use tabs in the Makefile.'));
    const after = read(changed);
    expect(after.filter((one, at) => one !== before[at]).map((one) => one.lesson)).toEqual([changed[7]]);
    expect(after[7]?.words[0]?.quote).toContain('tabs');
  });

  it('is compared by meaning with the lessons of the most shared words, and of these the newest', () => {
    const lessons = Array.from({ length: 900 }, (_, n) =>
      about(n, n % 100 === 0 ? 'The ledger takes integers for amounts.' : 'Deploy from the release branch.'),
    );
    const near = nearestByWords(createReadKnown()(lessons), [
      said('we never use floats for amounts in the ledger'),
    ] as Saying[]);
    expect(near).toHaveLength(300);
    expect(near.slice(0, 9).map((one) => one.lesson.changedAt)).toEqual([
      800, 700, 600, 500, 400, 300, 200, 100, 0,
    ]);
    expect(near[9]?.lesson.changedAt).toBe(899);
  });

  it('is compared with every lesson of a small library', () => {
    const known = createReadKnown()([about(1, 'Use tabs.'), about(2, 'Use spaces.')]);
    expect(nearestByWords(known, [said('something else')] as Saying[])).toBe(known);
  });
});

describe('lessons on the same rule', () => {
  const own = (id: string, state: Lesson['state']): ComparedLesson => {
    const { text, ...rest } = about(1, 'Use tabs.');
    const evidence = { ...text.evidence, learner: 'distiller' };
    return readKnown({ ...rest, id, state, text: { ...text, evidence } });
  };

  it('are taken into one that is in force (not into one that waits: they would leave the prompts with it)', () => {
    expect(mayBeTakenIn(own('a', 'live'), own('b', 'live'))).toBe(true);
    expect(mayBeTakenIn(own('a', 'live'), own('b', 'trial'))).toBe(true);
    expect(mayBeTakenIn(own('a', 'live'), own('b', 'proposed'))).toBe(false);
  });
});

describe('a first look at the letters of a lesson', () => {
  const WORDS = fc.constantFrom(
    ..."use tabs tab spaces ledger ledgers amounts floats running run calling called queries query deploy deployed boxes classes makes make don't never not 4 Makefile src/app.ts 不要 zero\u200bwidth".split(
      ' ',
    ),
  );
  const text = (most: number) =>
    fc.array(WORDS, { minLength: 1, maxLength: most }).map((words) => words.join(' '));

  it('never passes over one that covers what was said', () => {
    fc.assert(
      fc.property(text(14), text(6), (lessonWords, quote) => {
        const matter = readMatter(quote);
        if (coversMatter(readMatter(lessonWords), matter))
          expect(mayCoverMatter(lessonWords, matter)).toBe(true);
      }),
      runsOf(1000, 3000),
    );
  });

  it('passes over what shares too few words', () => {
    const matter = readMatter('we never use floats for the amounts of the ledger');
    expect(mayCoverMatter('Deploy from the release branch, and tell the ledger team.', matter)).toBe(false);
    expect(mayCoverMatter('Amounts in ledgers are never floats.', matter)).toBe(true);
  });
});
