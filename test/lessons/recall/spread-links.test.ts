import { describe, expect, it } from 'vitest';
import type { Lesson, Note } from '../../../src/core/lesson.ts';
import { createNgramEmbed } from '../../../src/embed/ngram-embed.ts';
import { linkLessonsBothWays } from '../../../src/lessons/links.ts';
import type { RecallCandidate } from '../../../src/lessons/recall/find-candidates.ts';
import { createRecall } from '../../../src/lessons/recall/recall.ts';
import { selectLessons } from '../../../src/lessons/recall/select-lessons.ts';
import { spreadLinks as spread } from '../../../src/lessons/recall/spread-links.ts';
import { lesson, query } from './sample-lessons.ts';

let slots = 0;
const candidate = (
  name: string,
  evidence: number,
  links: readonly string[] = [],
  more: Partial<RecallCandidate> = {},
): RecallCandidate => ({
  lesson: lesson(name, { note: { links } }),
  slot: slots++,
  evidence,
  activation: 1,
  isKept: false,
  isGuideline: false,
  isDue: false,
  isInScope: true,
  ...more,
});
const evidenceOf = (found: readonly RecallCandidate[]): Readonly<Record<string, number>> =>
  Object.fromEntries(found.map((one) => [one.lesson.id, one.linked ?? one.evidence]));
const none = (): undefined => undefined;
/** Over the links that the candidates hold; lessons that are no candidates exist, too. */
const spreadLinks = (
  candidates: readonly RecallCandidate[],
  find: (id: string) => RecallCandidate | undefined,
): readonly RecallCandidate[] => {
  const ids = new Set(candidates.map((one) => one.lesson.id));
  const others = candidates
    .flatMap((one) => one.lesson.text.note.links)
    .filter((id) => !ids.has(id))
    .map((id) => lesson(id));
  return spread(candidates, linkLessonsBothWays([...candidates.map((one) => one.lesson), ...others]), find);
};
const WEIGHTS = { fewer: 0, listed: -2, nearBest: 1.5, beside: 0 };
const SELECTION = { lotOf: () => 'shown' as const, areAlike: () => false, weights: WEIGHTS };

describe('links in recall', () => {
  it('give a linked lesson half of the evidence of a clearly relevant one, and never less than its own', () => {
    const found = spreadLinks([candidate('a', 4, ['b', 'c']), candidate('b', -3), candidate('c', 3)], none);
    expect(evidenceOf(found)).toEqual({ a: 4, b: 2, c: 3 });
  });

  it('are followed for one hop, and only from lessons that are clearly relevant', () => {
    const found = spreadLinks(
      [candidate('a', 4, ['b']), candidate('b', -3, ['c']), candidate('c', -3), candidate('d', 0.9, ['e'])],
      (id) => candidate(id, -5),
    );
    expect(evidenceOf(found)).toEqual({ a: 4, b: 2, c: -3, d: 0.9 });
  });

  it('add two lessons at most, those of the best lesson first', () => {
    const found = spreadLinks([candidate('x', 2, ['d']), candidate('a', 4, ['b', 'c', 'e'])], (id) =>
      candidate(id, -5),
    );
    expect(evidenceOf(found)).toEqual({ x: 2, a: 4, b: 2, c: 2 });
  });

  it('show nothing that the asker may not see, and ignore links that lead nowhere', () => {
    const shut = candidate('b', -3, [], { isInScope: false });
    expect(evidenceOf(spreadLinks([candidate('a', 4, ['b', 'gone']), shut], none))).toEqual({ a: 4, b: -3 });
  });

  it('are followed from both ends, and never to what contradicts a lesson, replaces it, or would revise it', () => {
    const held = (name: string, note: Partial<Note>, more: Partial<Lesson> = {}): RecallCandidate => {
      const one = candidate(name, -3);
      return {
        ...one,
        lesson: {
          ...one.lesson,
          ...more,
          text: { ...one.lesson.text, note: { ...one.lesson.text.note, ...note } },
        },
      };
    };
    const found = spreadLinks(
      [
        candidate('a', 4),
        held('b', { links: ['a'] }),
        held('c', { links: ['a'], relations: [{ type: 'contradicts', to: 'a' }] }),
        held('d', { relations: [{ type: 'revises', to: 'a' }] }),
        held('e', { links: ['a'] }, { state: 'retired', supersededBy: 'a' }),
      ],
      none,
    );
    expect(evidenceOf(found)).toEqual({ a: 4, b: 2, c: -3, d: -3, e: -3 });
  });

  it('never take the place of a lesson that fits by itself', () => {
    const found = spreadLinks([candidate('a', 6, ['b']), candidate('b', -3), candidate('c', 5)], none);
    const limits = { topK: 2, tokenBudget: 10_000 };
    expect(selectLessons(found, limits, SELECTION).lessons.map(({ id }) => id)).toEqual(['a', 'c']);
    const wider = selectLessons(found, { ...limits, topK: 3 }, SELECTION);
    expect(wider.lessons.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    const own = spreadLinks([candidate('a', 2, ['b']), candidate('b', 0.9), candidate('c', 0.8)], none);
    expect(selectLessons(own, limits, SELECTION).lessons.map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it('bring a lesson of other words into a recall, where its project is the same', async () => {
    const embed = createNgramEmbed();
    const recall = createRecall({ embed, fallback: embed, limits: { topK: 3, tokenBudget: 4_000 } });
    const index = lesson('create-index', {
      description: 'When adding an index to a large PostgreSQL table in production.',
      content: 'CREATE INDEX CONCURRENTLY outside a transaction.',
      note: { links: ['ask-dana', 'other-project'] },
    });
    const dana = lesson('ask-dana', {
      description: 'Who owns the warehouse.',
      content: 'Ask Dana in the morning.',
    });
    const other = lesson('other-project', {
      description: 'Where the lorry parks.',
      content: 'Behind the hall.',
      scope: { project: 'elsewhere' },
    });
    await recall.update([index, dana, other]);
    await recall.settled();
    const asked = query('add an index to the large PostgreSQL table in production', { project: 'here' });
    const { lessons } = await recall.recall(asked, 0);
    expect(lessons.map(({ id }) => id)).toEqual(['ask-dana', 'create-index']);
  });
});

describe('confidence and importance', () => {
  const known = (name: string, evidence: number, note: { confidence?: number; importance?: number }) => ({
    ...candidate(name, evidence),
    lesson: lesson(name, { note }),
  });
  const first = (...candidates: readonly RecallCandidate[]): string | undefined =>
    selectLessons(candidates, { topK: 1, tokenBudget: 10_000 }, SELECTION).lessons[0]?.id;

  it('decide between lessons that fit equally well', () => {
    expect(first(known('a', 2, { confidence: 0.2 }), known('b', 2, { confidence: 0.9 }))).toBe('b');
    expect(first(known('a', 2, { importance: 0.2 }), known('b', 2, { importance: 0.9 }))).toBe('b');
  });

  it('never outweigh a lesson that fits better', () => {
    const sure = { confidence: 1, importance: 1 };
    expect(first(known('a', 2.4, { confidence: 0, importance: 0 }), known('b', 2, sure))).toBe('a');
  });
});
