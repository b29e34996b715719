import { describe, expect, it } from 'vitest';
import type { Fact } from '../../src/core/fact.ts';
import {
  createFailureClusters,
  type FailureCluster,
  type FailureClusters,
  saidForLater,
} from '../../src/learn/failure-clusters.ts';
import { changed, cycleEnd, erased, failure, learner, numbered, resting, success } from '../train/facts.ts';
import { corrected } from './distiller/distill.ts';

function fold(...facts: readonly Fact[]): FailureClusters {
  const support = createFailureClusters();
  const stored = numbered();
  for (const [index, fact] of facts.entries()) support.add(stored(fact, 1_000 + index));
  return support;
}

const readyTurns = (support: FailureClusters, failures = 1, now = 0): readonly (readonly string[])[] =>
  support.ready(failures, now).map((cluster) => cluster.failures.map(({ turn }) => turn));

const told = { source: 'person' } as const;

describe('pending failures', () => {
  it('form clusters by agent and project, the oldest first', () => {
    const web = { agent: 'coder', project: 'web' };
    const support = fold(
      failure('a', told),
      failure('b', { ...told, scope: web }),
      failure('c', { ...told, session: 's2' }),
    );
    expect(readyTurns(support)).toEqual([['a', 'c'], ['b']]);
    expect(support.ready(2, 0).map(({ isEarly }) => isEarly)).toEqual([undefined, true]);
    expect(support.ready(1, 0)[1]?.scope).toEqual(web);
    expect(support.size).toBe(3);
  });

  it('need two sessions (not two failures of one) when only heuristics report them', () => {
    expect(readyTurns(fold(failure('a'), failure('b')))).toEqual([]);
    expect(readyTurns(fold(failure('a'), failure('b', { session: 's2' })))).toEqual([['a', 'b']]);
  });

  it('need one session when a person or a verifier reports them, but not when a judge does', () => {
    expect(readyTurns(fold(failure('a'), failure('b', { source: 'verifier' })))).toEqual([['a', 'b']]);
    expect(readyTurns(fold(failure('a', { source: 'judge' }), failure('b')))).toEqual([]);
  });

  it.each(['chat', 'person'] as const)(
    'are ready early, below the number that starts a learner, when one is of the source %s',
    (source) => {
      const said = { source } as const;
      const [early] = fold(failure('a', said)).ready(3, 0);
      expect([early?.isEarly, early?.failures.length]).toEqual([true, 1]);
      expect(fold(failure('a'), failure('b', { session: 's2' })).ready(3, 0)).toEqual([]);
      const enough = fold(failure('a', said), failure('b', said), failure('c', said)).ready(3, 0);
      expect(enough.map(({ isEarly }) => isEarly)).toEqual([undefined]);
    },
  );

  it('keep their place and time when they are appraised again, with the new source', () => {
    const support = fold(failure('a'), failure('b', { session: 's2' }), failure('a', told));
    const [cluster] = support.ready(1, 0);
    expect(cluster?.failures.map(({ turn, at, source }) => [turn, at, source])).toEqual([
      ['a', 1_000, 'person'],
      ['b', 1_001, 'signal'],
    ]);
  });

  it('are at most 2,000: the oldest are dropped', () => {
    const many = Array.from({ length: 2_001 }, (_, index) => failure(`t${index}`, told));
    const support = fold(...many);
    expect(support.size).toBe(2_000);
    expect(readyTurns(support)[0]?.[0]).toBe('t1');
  });
});

describe('of too few failures', () => {
  const once = corrected(1, 'no, the other column', { isStanding: false });
  const again = corrected(2, 'no, the other column', { isStanding: false });
  const standing = corrected(3, 'we use pnpm here');

  it('what was said for later work is learned from at once, with a model and without one', () => {
    expect(saidForLater([once, standing], true)).toEqual([standing]);
    expect(saidForLater([once, standing], false)).toEqual([once, standing]);
    const word = {
      ...once,
      passages: [{ origin: 'user' as const, text: 'use ISO dates', isFeedback: true as const }],
    };
    expect(saidForLater([word], true)).toEqual([word]);
  });

  it('a correction of one answer waits for a second session, and for the whole number with a model', () => {
    expect(saidForLater([once], false)).toEqual([]);
    expect(saidForLater([once, { ...again, session: once.session }], false)).toEqual([]);
    expect(saidForLater([once, again], false)).toEqual([once, again]);
    expect(saidForLater([once, again], true)).toEqual([]);
  });
});

describe('a failure stops being pending', () => {
  it('when a cycle used it, permanently', () => {
    expect(fold(failure('a', told), cycleEnd('a'), failure('a', told)).size).toBe(0);
  });

  it('when a learner published a lesson that cites it, also if the process dies before its cycle ends', () => {
    const publication = changed(1, { by: learner, changes: [resting('a')] });
    expect(fold(failure('a', told), publication, failure('a', told)).size).toBe(0);
  });

  it('not when a person writes a lesson that cites it', () => {
    expect(fold(failure('a', told), changed(1, { changes: [resting('a')] })).size).toBe(1);
  });

  it('when its verdict is withdrawn, until the verdict is failure again', () => {
    expect(fold(failure('a', told), success('a')).size).toBe(0);
    expect(fold(failure('a', told), success('a'), failure('a', told)).size).toBe(1);
  });

  it('when its session is erased, with the tombstone or with the scrubbed appraisal alone', () => {
    expect(fold(failure('a', told), failure('b', { session: 's2' }), erased('s1')).size).toBe(1);
    expect(fold(failure('a', { ...told, signals: [] })).size).toBe(0);
  });

  it('not when a new generation is published: failures of the old one are still worth learning from', () => {
    expect(fold(failure('a', told), changed(1)).size).toBe(1);
  });

  it('once: a fact that was added before is ignored', () => {
    const support = createFailureClusters();
    const stored = numbered();
    const facts = [stored(failure('a', told)), stored(success('a'))];
    for (const fact of [...facts, ...facts]) support.add(fact);
    expect(support.size).toBe(0);
  });
});

describe('a cluster that led to no lesson', () => {
  /** The oldest cluster, as a try saw it. */
  const clusterOf = (support: FailureClusters): FailureCluster => {
    const [cluster] = support.waiting();
    if (cluster === undefined) throw new Error('nothing waits');
    return cluster;
  };

  it('is paused for a time that doubles, up to six hours', () => {
    const support = fold(failure('a', told));
    const pauses: number[] = [];
    let now = 0;
    for (let times = 0; times < 12; times++) {
      support.postpone(clusterOf(support), now);
      let [low, high] = [now, now + 10 * 3_600_000];
      while (low + 1 < high) {
        const middle = Math.floor((low + high) / 2);
        if (support.ready(1, middle).length > 0) high = middle;
        else low = middle;
      }
      pauses.push(high - now);
      now = high;
    }
    expect(pauses.slice(0, 4)).toEqual([30_000, 60_000, 120_000, 240_000]);
    expect(pauses.at(-1)).toBe(6 * 3_600_000);
  });

  it('is ready at once after a new failure, and not after a repeated appraisal', () => {
    const support = createFailureClusters();
    const stored = numbered();
    support.add(stored(failure('a', told)));
    support.postpone(clusterOf(support), 0);
    support.add(stored(failure('a', told)));
    expect(readyTurns(support)).toEqual([]);
    support.add(stored(failure('b', told)));
    expect(readyTurns(support)).toEqual([['a', 'b']]);
  });

  it('does not delay what came while the try was under way (a second correction within its milliseconds)', () => {
    const support = createFailureClusters();
    const stored = numbered();
    support.add(stored(failure('a', told)));
    const tried = clusterOf(support);
    support.add(stored(failure('b', told)));
    support.postpone(tried, 0);
    expect(readyTurns(support)).toEqual([['a', 'b']]);
    support.postpone(clusterOf(support), 0);
    expect(readyTurns(support)).toEqual([]);
  });

  it('does not delay another cluster', () => {
    const support = fold(failure('a', told), failure('b', { ...told, scope: { agent: 'writer' } }));
    support.postpone(clusterOf(support), 0);
    expect(readyTurns(support)).toEqual([['b']]);
  });
});
