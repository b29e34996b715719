import { describe, expect, it } from 'vitest';
import { NOTHING_SPENT } from '../../../src/core/budget.ts';
import type { Fact } from '../../../src/core/fact.ts';
import type { PracticeKind } from '../../../src/core/practice.ts';
import { findDueSession, type PracticeSupply } from '../../../src/learn/practice/plan-session.ts';
import { createPracticeHistory, type PracticeHistory } from '../../../src/learn/practice/practice-history.ts';
import { changed, failure, learner, numbered, resting, success } from '../../train/facts.ts';

const HOUR = 3_600_000;
const NOW = 100 * 24 * HOUR;
const NO_COUNTS = {
  graded: 0,
  ungraded: 0,
  infrastructure: 0,
  groups: 0,
  kept: 0,
  lost: 0,
  quarantined: 0,
  published: 0,
  proposed: 0,
  refused: 0,
};

const planned = (run: string, kind: PracticeKind, area = {}): Fact => ({
  type: 'practice-session',
  op: 'planned',
  run,
  kind,
  why: 'it was due',
  area,
  tasks: [],
  regression: [],
  epochs: 1,
  groupSize: 3,
});
const closed = (run: string, published = 0, tokens = 0): Fact => ({
  type: 'practice-session',
  op: 'closed',
  run,
  end: 'done',
  counts: { ...NO_COUNTS, published },
  spent: { ...NOTHING_SPENT, tokens },
  helpful: 0,
  refused: 0,
  forgotten: [],
});

const supply = (over: Partial<PracticeSupply> = {}): PracticeSupply => ({
  byDomain: new Map([['code', 12]]),
  due: 0,
  contradictions: 0,
  ...over,
});

/** Facts with their times, in milliseconds before now. */
function history(...facts: readonly (readonly [Fact, number])[]): PracticeHistory {
  const stored = numbered();
  const fold = createPracticeHistory();
  for (const [fact, before] of facts) fold.add(stored(fact, NOW - before));
  return fold;
}
const known: readonly [Fact, number] = [planned('r0', 'initial', { domain: 'code' }), 50 * HOUR];
const turns = (count: number, make: (turn: string) => Fact): readonly (readonly [Fact, number])[] =>
  Array.from({ length: count }, (_, at) => [make(`t${at}`), HOUR - at] as const);

describe('a session of practice', () => {
  it('is never due without a task that could be attempted, whatever else happened', () => {
    const failing = history(known, ...turns(20, (turn) => failure(turn)));
    expect(findDueSession(failing, supply({ byDomain: new Map() }), NOW)).toBeUndefined();
  });

  it('is initial, once, for a domain with at least five tasks (not for one with four)', () => {
    const few = supply({ byDomain: new Map([['mail', 4]]) });
    expect(findDueSession(history(), few, NOW)).toBeUndefined();
    expect(findDueSession(history(), supply(), NOW)).toMatchObject({
      kind: 'initial',
      area: { domain: 'code' },
    });
    expect(findDueSession(history(known), supply(), NOW)).toBeUndefined();
  });

  it('is remedial where two of five answers fail, and not again before a day has passed', () => {
    const work = [...turns(6, failure), ...turns(8, (turn) => success(`good-${turn}`))];
    const due = findDueSession(history(known, ...work), supply(), NOW);
    expect(due).toMatchObject({ kind: 'remedial', area: { agent: 'coder' } });
    expect(due?.why).toContain('6 of the last 14 judged answers of coder');
    const practised = history(
      known,
      [planned('r1', 'remedial', due?.area), 2 * HOUR],
      [closed('r1', 1), 2 * HOUR],
      ...work,
    );
    expect(findDueSession(practised, supply(), NOW)?.kind).toBe('micro');
  });

  it('counts an answer by its last verdict (not twice) and only after the area was practised', () => {
    const twice = turns(8, failure).flatMap((one) => [one, [success('t0'), 1] as const]);
    expect(history(known, ...twice).failing(8, 0)).toEqual([
      { area: { agent: 'coder' }, failures: 7, judged: 8 },
    ]);
  });

  it('is small after every ten interactions, and rests for an hour', () => {
    expect(findDueSession(history(known, ...turns(9, success)), supply(), NOW)).toBeUndefined();
    expect(findDueSession(history(known, ...turns(10, success)), supply(), NOW)?.kind).toBe('micro');
    const again = history(
      known,
      [planned('r1', 'micro'), 2 * HOUR],
      [closed('r1', 1), 2 * HOUR],
      ...turns(10, success),
    );
    expect(findDueSession(again, supply(), NOW)?.kind).toBe('micro');
    const soon = history(
      known,
      [planned('r1', 'micro'), HOUR / 2],
      [closed('r1', 1), HOUR / 2],
      ...turns(10, success),
    );
    expect(findDueSession(soon, supply(), NOW)).toBeUndefined();
  });

  it('is for maintenance when tasks are due, lessons contradict or twenty are new', () => {
    const why = (over: Partial<PracticeSupply>, ...more: readonly (readonly [Fact, number])[]) =>
      findDueSession(history(known, ...more), supply(over), NOW)?.why;
    expect(why({ due: 4 })).toBeUndefined();
    expect(why({ due: 5 })).toContain('5 tasks are due');
    expect(why({ contradictions: 1 })).toContain('contradict');
    const lessons = turns(20, (turn) => changed(1, { by: learner, changes: [resting(turn)] }));
    expect(why({}, ...lessons)).toContain('20 lessons');
  });

  it('comes less often while sessions of its kind bring nothing', () => {
    const barren = ['r1', 'r2', 'r3'].flatMap((run, at): readonly (readonly [Fact, number])[] => [
      [planned(run, 'maintenance'), (8 - at) * 24 * HOUR],
      [closed(run, 0, 1000), (8 - at) * 24 * HOUR],
    ]);
    const fold = history(known, ...barren);
    expect(fold.barren('maintenance')).toBe(3);
    expect(findDueSession(fold, supply({ due: 9 }), NOW)).toBeUndefined();
    expect(findDueSession(fold, supply({ due: 9 }), NOW + 2 * 24 * HOUR)?.kind).toBe('maintenance');
    expect(fold.yields()).toEqual([
      { kind: 'maintenance', sessions: 3, learned: 0, helpful: 0, spent: { ...NOTHING_SPENT, tokens: 3000 } },
    ]);
  });

  it('goes on when it was interrupted, and not when it is over', () => {
    expect(history(known).unfinished()?.planned.run).toBe('r0');
    expect(history(known, [closed('r0'), HOUR]).unfinished()).toBeUndefined();
  });
});
