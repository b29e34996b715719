import { describe, expect, it } from 'vitest';
import { createHoldout, createLibraryHoldout } from '../../../src/lessons/effect/hold-out.ts';
import { createLessonEffects } from '../../../src/lessons/effect/lesson-effects.ts';
import { lessonOf, scored, textOf } from './sample-lessons.ts';

const counting = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);
/** Everything may be held out: only the draw decides. */
const FREE = { sparedFor: () => 10, hasEnded: () => true };

describe('the lots of a session', () => {
  it('take one lesson at most, and give each the same lot for the whole session', () => {
    const { lotOf } = createHoldout(FREE);
    const lessons = ['l_1', 'l_2', 'l_3'];
    for (const at of counting(300)) {
      const lots = lessons.map((lesson) => lotOf({ session: `s${at}` }, lesson));
      expect(lots.filter((lot) => lot === 'held-out').length).toBeLessThanOrEqual(1);
      expect(lessons.map((lesson) => lotOf({ session: `s${at}` }, lesson))).toEqual(lots);
    }
  });

  it('hold the lesson under test out from half of the sessions while some may go without it', () => {
    const { lotOf } = createHoldout(FREE);
    const out = counting(2000).filter((at) => lotOf({ session: `s${at}` }, 'l_1') === 'held-out').length;
    expect(Math.abs(out / 2000 - 0.5)).toBeLessThan(0.05);
    expect(lotOf({ session: '' }, 'l_1')).toBe('shown');
  });

  it('count sessions that have not ended (not: the same three sessions a hundred times)', () => {
    const ended = new Set<string>();
    const { lotOf } = createHoldout({ sparedFor: () => 3, hasEnded: (session) => ended.has(session) });
    const out = counting(100).filter((at) => lotOf({ session: `s${at}` }, 'l_1') === 'held-out');
    expect(out).toHaveLength(3);
  });

  it('go on from the record after a restart', () => {
    const { lotOf } = createHoldout(FREE);
    for (const at of counting(100)) {
      const drawn = { shown: ['l_1'], heldOut: ['l_2'] };
      const lots = ['l_1', 'l_2', 'l_3'].map((lesson) => lotOf({ session: `s${at}`, drawn }, lesson));
      expect(lots).toEqual(['shown', 'held-out', 'shown']);
    }
  });
});

describe('a library', () => {
  const told = textOf({ note: { ...textOf().note, source: 'told' } });
  const lessons = [
    lessonOf('told', { state: 'trial', text: told }),
    lessonOf('old', { state: 'trial', createdAt: 1 }),
    lessonOf('young', { state: 'trial', createdAt: 2 }),
    lessonOf('pinned', { state: 'trial', pinned: true }),
    lessonOf('live'),
  ];
  const library = {
    lessons: () => lessons,
    lesson: (id: string) => lessons.find((one) => one.id === id),
    generation: 1,
  };
  const open = (sessions: number) => {
    const effects = createLessonEffects();
    for (const at of counting(sessions)) effects.add(scored(at + 1, `before-${at}`, 1, []));
    return { effects, holdout: createLibraryHoldout(library, effects) };
  };

  it('holds nothing out in its first sessions: three of a hundred must have gone by', () => {
    const { holdout } = open(30);
    for (const at of counting(200)) expect(holdout.lotOf({ session: `s${at}` }, 'old')).toBe('shown');
  });

  it('withholds the oldest inferred lesson alone, from 3 % of all sessions at most, and a person’s word from none', () => {
    const { effects, holdout } = open(0);
    const out: Record<string, number> = {};
    for (const at of counting(3000)) {
      const session = `s${at}`;
      const isFitting = at % 5 === 0;
      const held = !isFitting
        ? []
        : lessons.filter(({ id }) => holdout.lotOf({ session }, id) === 'held-out');
      for (const { id } of held) out[id] = (out[id] ?? 0) + 1;
      effects.add(
        scored(
          at + 1,
          session,
          1,
          [],
          held.map(({ id }) => id),
        ),
      );
    }
    expect(Object.keys(out)).toEqual(['old']);
    expect(out.old).toBeLessThanOrEqual(90);
    expect(out.old).toBeGreaterThan(80);
  });

  it('tests the next lesson when the first has its verdict', () => {
    const { effects, holdout } = open(400);
    const isEverOut = (id: string): boolean =>
      counting(40).some((at) => holdout.lotOf({ session: `${id}-${at}` }, id) === 'held-out');
    expect([isEverOut('young'), isEverOut('old')]).toEqual([false, true]);
    effects.add({
      seq: 500,
      at: 0,
      fact: { type: 'trial-ended', subject: 'lesson/old/1', outcome: 'no-difference', why: 'none seen' },
    });
    expect(counting(40).some((at) => holdout.lotOf({ session: `later-${at}` }, 'young') === 'held-out')).toBe(
      true,
    );
    expect(counting(40).some((at) => holdout.lotOf({ session: `last-${at}` }, 'old') === 'held-out')).toBe(
      false,
    );
  });
});
