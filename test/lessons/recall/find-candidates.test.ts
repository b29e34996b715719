import { describe, expect, it, vi } from 'vitest';
import { createMulberry32, createRandomEmbed, randomVector } from '../../../lab/measure/recall/synthetic.ts';
import type { RecallQuery } from '../../../src/core/recall.ts';
import { eligibilityOf, scanLessons } from '../../../src/lessons/recall/find-candidates.ts';
import { createLessonIndex } from '../../../src/lessons/recall/lesson-index.ts';
import { RELEVANCE } from '../../../src/lessons/recall/relevance.ts';
import { audienceOf } from '../../../src/lessons/scope.ts';
import { lesson, query } from './sample-lessons.ts';

/** Seconds on an idle machine. */
vi.setConfig({ testTimeout: 240_000 });

const LESSONS = 4200;
const DIMENSIONS = 32;

describe('a large library of which little is in scope', () => {
  it('is compared by meaning in that part alone, with the same scores as in a scan of everything', async () => {
    const embed = createRandomEmbed(DIMENSIONS);
    const index = createLessonIndex({ embed, first: embed }, (one) => audienceOf(one, undefined));
    await index.update(
      Array.from({ length: LESSONS }, (_, n) =>
        lesson(`l${n}`, {
          description: `When ${n}`,
          scope: { agent: n % 60 === 0 ? 'main' : `other-${n % 7}` },
          note: { triggers: [`first way ${n}`, `second way ${n}`], visibility: 'scoped' },
        }),
      ),
    );
    await index.settled();
    const task = { text: 'words', meaning: randomVector(createMulberry32(3), DIMENSIONS) };
    const scan = async (of: RecallQuery) => {
      const range = { length: index.table.length, stamp: index.stamp };
      const domain = { name: 'general', reason: 'default' } as const;
      const standings = await eligibilityOf(index, range, of, { domain, now: 0 });
      const { similarity } = await scanLessons(index, { ...range, standings }, task, RELEVANCE);
      return { standings, similarity: similarity ?? new Float32Array() };
    };
    const all = await scan(query('words', { agent: '*' }));
    const few = await scan(query('words'));
    const own = [...few.standings.keys()].filter(
      (slot) => index.at(slot)?.lesson.text.scope.agent === 'main',
    );
    expect(own).toHaveLength(LESSONS / 60);
    const everything = await scanLessons(
      index,
      { length: index.table.length, stamp: index.stamp, standings: all.standings.fill(1) },
      task,
      RELEVANCE,
    );
    for (const slot of own) expect(few.similarity[slot]).toBe(everything.similarity?.[slot]);
    expect(own.some((slot) => few.similarity[slot] !== 0)).toBe(true);
    const others = [...few.similarity.keys()].filter((slot) => !own.includes(slot));
    expect(others.every((slot) => few.similarity[slot] === 0)).toBe(true);
  });
});
