import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RecallCandidate } from '../../../src/lessons/recall/find-candidates.ts';
import {
  estimateLessonTokens,
  limitsFor,
  limitsWithin,
  selectLessons,
} from '../../../src/lessons/recall/select-lessons.ts';
import { renderLine } from '../../../src/lessons/render-block.ts';
import { estimateTokens } from '../../../src/text/estimate-tokens.ts';
import { lesson } from './sample-lessons.ts';

const WEIGHTS = { fewer: 0, listed: -2, near: -1.9, nearBest: 1.5, beside: 0 };
const NOTHING_ALIKE = { lotOf: () => 'shown' as const, areAlike: () => false, weights: WEIGHTS };
const ROOM = { topK: 10, tokenBudget: 10_000 };
let slots = 0;
const candidate = (name: string, evidence: number, more: Partial<RecallCandidate> = {}): RecallCandidate => ({
  lesson: lesson(name, { content: 'x'.repeat(200) }),
  slot: slots++,
  evidence,
  activation: 1,
  isKept: false,
  isGuideline: false,
  isDue: false,
  isInScope: true,
  ...more,
});
const ids = (list: readonly { readonly id: string }[]): readonly string[] => list.map(({ id }) => id);
const verdicts = (found: ReturnType<typeof selectLessons>): Readonly<Record<string, string>> =>
  Object.fromEntries(found.considered.map(({ id, verdict }) => [id, verdict]));

describe('selectLessons', () => {
  it('shows lessons with enough evidence, ordered by id (not by relevance)', () => {
    const found = selectLessons(
      [candidate('b', 2), candidate('a', 1), candidate('c', -1)],
      ROOM,
      NOTHING_ALIKE,
    );
    expect(ids(found.lessons)).toEqual(['a', 'b']);
    expect(ids(found.considered)).toEqual(['b', 'a', 'c']);
    expect(verdicts(found)).toEqual({ a: 'shown', b: 'shown', c: 'not-relevant' });
  });

  it('shows nothing without candidates', () => {
    expect(selectLessons([], ROOM, NOTHING_ALIKE)).toEqual({
      lessons: [],
      index: [],
      heldOut: [],
      considered: [],
    });
  });

  it('leaves out lessons far behind the best', () => {
    const found = selectLessons(
      [candidate('best', 8), candidate('near', 5), candidate('far', 1)],
      ROOM,
      NOTHING_ALIKE,
    );
    expect(verdicts(found)).toEqual({ best: 'shown', near: 'shown', far: 'not-relevant' });
  });

  it('leaves a third of the room to experiences that clearly fit, and gives back what they do not need', () => {
    const skills = Array.from({ length: 8 }, (_, at) =>
      candidate(`skill-${at}`, 5 - at / 10, { isGuideline: true }),
    );
    const [near, far] = [candidate('happened', 4.5), candidate('happened-elsewhere', 0.5)];
    const shown = (all: readonly RecallCandidate[], limits: object = {}): readonly string[] =>
      ids(selectLessons(all, { ...ROOM, topK: 6, ...limits }, NOTHING_ALIKE).lessons);
    expect(shown([...skills, near]).filter((id) => id.startsWith('happened'))).toEqual(['happened']);
    expect(shown([...skills, near])).toHaveLength(6);
    expect(shown([...skills, far])).toEqual(skills.slice(0, 6).map(({ lesson: { id } }) => id));
    const many = ['x', 'y', 'z', 'w'].map((name) => candidate(name, 4.9));
    expect(shown([...skills, ...many])).toHaveLength(6);
    expect(shown([...skills, ...many]).filter((id) => id.startsWith('skill'))).toHaveLength(4);
    const size = estimateLessonTokens(near.lesson);
    const tight = { tokenBudget: 4 * size };
    expect(shown([...skills, near], tight)).toContain('happened');
    expect(shown(skills, tight)).toHaveLength(4);
  });

  it('respects the limits for lessons and for tokens', () => {
    const three = [candidate('a', 3), candidate('b', 2.9), candidate('c', 2.8)];
    expect(verdicts(selectLessons(three, { ...ROOM, topK: 2 }, NOTHING_ALIKE)).c).toBe('over-limit');
    const size = estimateLessonTokens(lesson('a', { content: 'x'.repeat(200) }));
    const tight = selectLessons(three, { ...ROOM, tokenBudget: size * 2 }, NOTHING_ALIKE);
    expect(verdicts(tight).c).toBe('over-budget');
  });

  it('never exceeds the token budget', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ evidence: fc.double({ min: -2, max: 5, noNaN: true }), size: fc.nat(900) }), {
          maxLength: 12,
        }),
        fc.nat(800),
        (list, tokenBudget) => {
          const candidates = list.map(({ evidence, size }, n) => ({
            ...candidate(`l${n}`, evidence),
            lesson: lesson(`l${n}`, { content: 'y'.repeat(size) }),
          }));
          const { lessons } = selectLessons(candidates, { topK: 5, tokenBudget }, NOTHING_ALIKE);
          expect(lessons.reduce((sum, one) => sum + estimateLessonTokens(one), 0)).toBeLessThanOrEqual(
            tokenBudget,
          );
          expect(lessons.length).toBeLessThanOrEqual(5);
        },
      ),
    );
  });

  it('reserves the place of a held-out lesson and does not show it', () => {
    const ways = {
      ...NOTHING_ALIKE,
      lotOf: (id: string) => (id === 'a' ? ('held-out' as const) : ('shown' as const)),
    };
    const found = selectLessons(
      [candidate('a', 3), candidate('b', 2.9), candidate('c', 2.8)],
      { ...ROOM, topK: 2 },
      ways,
    );
    expect(ids(found.lessons)).toEqual(['b']);
    expect(found.heldOut).toEqual(['a']);
    expect(verdicts(found)).toEqual({ a: 'held-out', b: 'shown', c: 'over-limit' });
  });

  it('lists lessons that fit less, and those for whose bodies there is no room, the nearest first', () => {
    const found = selectLessons(
      [candidate('far', -1.9), candidate('top', 3), candidate('next', 2.9), candidate('none', -2.1)],
      { ...ROOM, topK: 1, index: { lines: 24, tokens: 600 } },
      NOTHING_ALIKE,
    );
    expect(ids(found.lessons)).toEqual(['top']);
    expect(ids(found.index)).toEqual(['next', 'far']);
    expect(verdicts(found)).toEqual({ top: 'shown', next: 'listed', far: 'listed', none: 'not-relevant' });
  });

  it('lists more of a small library, where a line costs little, and not more of one that fills the lines', () => {
    const some = [candidate('far', -1.9), candidate('none', -3)];
    const many = Array.from({ length: 30 }, (_, at) => candidate(`far-${at}`, -3));
    const ways = { ...NOTHING_ALIKE, weights: { ...NOTHING_ALIKE.weights, fewer: 4 } };
    const room = { ...ROOM, index: { lines: 24, tokens: 600 } };
    expect(ids(selectLessons(some, room, ways).index)).toEqual(['far', 'none']);
    expect(selectLessons(many, room, ways).index).toEqual([]);
  });

  it('lists nothing where nothing comes near (a question about nothing here got nine lines)', () => {
    const room = { ...ROOM, index: { lines: 2, tokens: 600 } };
    const ways = { ...NOTHING_ALIKE, weights: { ...WEIGHTS, listed: -3, near: -1 } };
    const listed = (best: number) =>
      ids(selectLessons([candidate('a', best), candidate('b', -2)], room, ways).index);
    expect(listed(-1.1)).toEqual([]);
    expect(listed(-0.9)).toEqual(['a', 'b']);
  });

  it('holds a listed lesson out too, and reserves the place of its line', () => {
    const ways = {
      ...NOTHING_ALIKE,
      lotOf: (id: string) => (id === 'a' ? ('held-out' as const) : ('shown' as const)),
    };
    const found = selectLessons(
      [candidate('a', -1), candidate('b', -1.1), candidate('c', -1.2)],
      { ...ROOM, index: { lines: 2, tokens: 600 } },
      ways,
    );
    expect(found.heldOut).toEqual(['a']);
    expect(ids(found.index)).toEqual(['b']);
  });

  it('keeps the lines within their own budget', () => {
    const many = Array.from({ length: 40 }, (_, at) => candidate(`lesson-${at}`, -0.1 * (at % 9)));
    const found = selectLessons(many, { ...ROOM, index: { lines: 24, tokens: 100 } }, NOTHING_ALIKE);
    const tokens = found.index.reduce((sum, one) => sum + estimateTokens(renderLine(one)), 0);
    expect(found.index.length).toBeGreaterThan(0);
    expect(tokens).toBeLessThanOrEqual(100);
  });

  it('lists a quoting lesson with its words once (not again behind the mark of the quotation)', () => {
    const said = 'we use pnpm here, not npm';
    const quoting = lesson('pnpm', { description: `"${said}"`, content: `The user said:\n\n> ${said}` });
    expect(renderLine(quoting)).toBe(`- pnpm: "${said}"`);
    const sighed = lesson('pnpm', { description: `"${said}"`, content: `The user said:\n\n> omg. ${said}` });
    expect(renderLine(sighed)).toBe(`- pnpm: "${said}"`);
  });

  it('gives a body to the next ones beside a best lesson that has enough, and to none without it', () => {
    const ways = { ...NOTHING_ALIKE, weights: { ...WEIGHTS, beside: -1 } };
    const two = (best: number) => selectLessons([candidate('a', best), candidate('b', -0.5)], ROOM, ways);
    expect(ids(two(0.2).lessons)).toEqual(['a', 'b']);
    expect(ids(two(-0.1).lessons)).toEqual([]);
  });

  it('drops a near-duplicate of a better lesson', () => {
    const [best, same] = [candidate('best', 3), candidate('same', 2.9)];
    const ways = {
      ...NOTHING_ALIKE,
      areAlike: (one: number, other: number) =>
        [one, other].every((slot) => [best.slot, same.slot].includes(slot)),
    };
    expect(verdicts(selectLessons([best, same], ROOM, ways))).toEqual({
      best: 'shown',
      same: 'near-duplicate',
    });
  });

  it('lets activation decide between near-ties only', () => {
    const one = { ...ROOM, topK: 1 };
    const fresh = candidate('fresh', 2, { activation: 1 });
    expect(
      ids(selectLessons([candidate('old', 2.2, { activation: 0.3 }), fresh], one, NOTHING_ALIKE).lessons),
    ).toEqual(['fresh']);
    expect(
      ids(selectLessons([candidate('old', 2.6, { activation: 0.3 }), fresh], one, NOTHING_ALIKE).lessons),
    ).toEqual(['old']);
  });

  it('hides old lessons only near the threshold, and never pinned or proven ones', () => {
    const old = { activation: 0.2 };
    expect(verdicts(selectLessons([candidate('a', 0.1, old)], ROOM, NOTHING_ALIKE)).a).toBe('hidden-by-age');
    expect(verdicts(selectLessons([candidate('a', 1, old)], ROOM, NOTHING_ALIKE)).a).toBe('shown');
    expect(
      verdicts(selectLessons([candidate('a', 0.1, { ...old, isKept: true })], ROOM, NOTHING_ALIKE)).a,
    ).toBe('shown');
  });

  it("puts a domain's guidelines first, and shows those of a named domain whether or not they match", () => {
    const guide = { isGuideline: true, isDue: true };
    const found = selectLessons(
      [candidate('note', 5), candidate('z-guide', -4, guide)],
      { ...ROOM, topK: 2 },
      NOTHING_ALIKE,
    );
    expect(ids(found.lessons)).toEqual(['z-guide', 'note']);
  });

  it('reports a lesson of another scope only as out of scope', () => {
    const found = selectLessons(
      [candidate('a', 9, { isInScope: false }), candidate('b', 1)],
      ROOM,
      NOTHING_ALIKE,
    );
    expect(verdicts(found)).toEqual({ a: 'out-of-scope', b: 'shown' });
  });
});

describe('the room for lines', () => {
  it('follows the setting for bodies, also when it changes', () => {
    const settings = { topK: 6, tokenBudget: 1500 };
    const limits = limitsFor(settings);
    expect(limits.index).toEqual({ lines: 24, tokens: 600 });
    settings.tokenBudget = 6000;
    expect(limits.index).toEqual({ lines: 96, tokens: 2400 });
    settings.tokenBudget = 0;
    expect(limits.index).toEqual({ lines: 0, tokens: 0 });
  });

  it('and the room for bodies follow the context of the model, and never exceed the setting', () => {
    const limits = limitsFor({ topK: 6, tokenBudget: 1500 });
    expect(limitsWithin(limits, { room: 512 })).toEqual({
      topK: 6,
      tokenBudget: 512,
      index: { lines: 8, tokens: 205 },
    });
    expect(limitsWithin(limits, { room: 9000 })).toEqual(limitsWithin(limits, {}));
  });
});

describe('what people told', () => {
  const told = (name: string, evidence: number, more: Partial<RecallCandidate> = {}): RecallCandidate =>
    candidate(name, evidence, {
      lesson: lesson(name, {
        description: `Mind ${name}.`,
        content: `Always mind ${name}. ${'x'.repeat(200)}`,
        note: { source: 'told' },
      }),
      ...more,
    });
  const rules = (count: number): readonly RecallCandidate[] =>
    Array.from({ length: count }, (_, at) => told(`rule-${at + 10}`, -5 + at / 100, { isDue: true }));
  const size = estimateLessonTokens(told('rule-10', 0).lesson);

  it('is never held out, takes no place in a measurement, and is not counted by topK', () => {
    const asked: string[] = [];
    const lotOf = (id: string) => {
      asked.push(id);
      return 'held-out' as const;
    };
    const found = selectLessons(
      [...rules(12), candidate('inferred', 3)],
      { ...ROOM, topK: 1, tokenBudget: 40 * size },
      { ...NOTHING_ALIKE, lotOf },
    );
    expect(ids(found.lessons)).toEqual(rules(12).map((one) => one.lesson.id));
    expect(found.heldOut).toEqual(['inferred']);
    expect(new Set(asked)).toEqual(new Set(['inferred']));
    expect(found.unmeasured).toHaveLength(12);
  });

  it('has half of the budget: the best-fitting with their text, the others by a line each, and says so', () => {
    const found = selectLessons(
      [...rules(12), candidate('inferred', 3)],
      { ...ROOM, tokenBudget: 8 * size },
      NOTHING_ALIKE,
    );
    expect(ids(found.lessons)).toEqual(['inferred', 'rule-18', 'rule-19', 'rule-20', 'rule-21']);
    expect(ids(found.index)).toHaveLength(8);
    expect(verdicts(found)).toMatchObject({ 'rule-10': 'condensed', 'rule-21': 'shown' });
  });

  it('is shown where it fits at all, however old, and however much better something else fits', () => {
    const found = selectLessons(
      [candidate('best', 8), told('old', 0.1, { activation: 0 })],
      ROOM,
      NOTHING_ALIKE,
    );
    expect(verdicts(found)).toEqual({ best: 'shown', old: 'shown' });
    expect(verdicts(selectLessons([told('else', -2)], ROOM, NOTHING_ALIKE))).toEqual({
      else: 'not-relevant',
    });
  });

  it('is shown once where two say the same, and twice where they only sound alike', () => {
    const same = (name: string, content: string) =>
      told(name, 2, { lesson: lesson(name, { content, note: { source: 'told' } }) });
    const alike = { ...NOTHING_ALIKE, areAlike: () => true };
    const twice = [same('a', 'Always quote prices in euros.'), same('b', 'Quote prices in euros.')];
    expect(verdicts(selectLessons(twice, ROOM, alike))).toEqual({ a: 'shown', b: 'near-duplicate' });
    const apart = [same('a', 'Quote prices in euros.'), same('b', 'Quote prices in dollars.')];
    expect(verdicts(selectLessons(apart, ROOM, alike))).toEqual({ a: 'shown', b: 'shown' });
  });

  it('is not shown where no lessons are', () => {
    expect(selectLessons(rules(3), { ...ROOM, topK: 0 }, NOTHING_ALIKE).lessons).toEqual([]);
  });
});
