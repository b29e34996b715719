import { describe, expect, it } from 'vitest';
import type { Fact } from '../../src/core/fact.ts';
import type { Change } from '../../src/core/lesson.ts';
import { type BufferOptions, createBuffer, type Buffer as Samples } from '../../src/train/buffer.ts';
import { changed, cycleEnd, erased, failure, learner, numbered, resting, success } from './facts.ts';

function fold(facts: readonly Fact[], options: Partial<BufferOptions> = {}): Samples {
  const samples = createBuffer({ cap: 100, ...options });
  const stored = numbered();
  for (const fact of facts) samples.add(stored(fact));
  return samples;
}

const turnsOf = (samples: Samples): readonly string[] => samples.samples().map(({ turn }) => turn);

describe('what becomes a sample', () => {
  it('takes a rewarded success of the generation in force, and says which generation that is', () => {
    expect(fold([success('a', { reward: 0.7 })]).samples()).toEqual([
      { turn: 'a', session: 's1', generation: 0, reward: 0.7 },
    ]);
  });

  it('takes no success without a reward, nothing ambiguous and no infrastructure', () => {
    const { reward: _none, ...unrewarded } = success('a');
    const samples = fold([
      unrewarded,
      success('b', { verdict: 'ambiguous' }),
      success('c', { verdict: 'infrastructure' }),
    ]);
    expect(turnsOf(samples)).toEqual([]);
  });

  it('takes no turn of an older or a newer generation', () => {
    const samples = fold([changed(2), success('old', { generation: 1 }), success('new', { generation: 3 })]);
    expect(turnsOf(samples)).toEqual([]);
  });

  it('lets the oldest go beyond the cap, and an appraisal said again keeps its place', () => {
    const samples = fold([...['a', 'b', 'c'].map((turn) => success(turn)), success('b'), success('d')], {
      cap: 3,
    });
    expect(turnsOf(samples)).toEqual(['b', 'c', 'd']);
  });

  it('gives a batch of the oldest, and nothing rather than a short one', () => {
    const samples = fold(['a', 'b', 'c'].map((turn) => success(turn)));
    expect(samples.batch(2, 0).map(({ turn }) => turn)).toEqual(['a', 'b']);
    expect(samples.batch(4, 0)).toEqual([]);
  });

  it('gives nothing to a trainer that knows of a newer generation than the fold does', () => {
    expect(fold([success('a')]).batch(1, 1)).toEqual([]);
  });

  it('passes over a fact that it has taken before', () => {
    const samples = createBuffer({ cap: 10 });
    const stored = numbered();
    const good = stored(success('a'));
    const bad = stored(failure('a'));
    for (const fact of [good, bad, good]) samples.add(fact);
    expect(turnsOf(samples)).toEqual([]);
  });
});

describe('what is support for ever', () => {
  it('never takes a failure, also when a later appraisal calls it a success', () => {
    const samples = fold([failure('a'), success('a'), success('b'), failure('b'), success('b')]);
    expect(turnsOf(samples)).toEqual([]);
    expect(samples.counts()).toEqual({ query: 0, support: 2, generation: 0 });
  });

  it('never takes a turn that a cycle learned from, whatever it was', () => {
    expect(turnsOf(fold([success('a'), cycleEnd('a', 'b'), success('a'), success('b')]))).toEqual([]);
  });

  it('never takes what a learner cites, also in a change that prompts do not show', () => {
    const cites = changed(0, { by: learner, changes: [resting('a', 'b')] });
    expect(turnsOf(fold([success('a'), cites, success('a'), success('b')]))).toEqual([]);
  });

  it('keeps a turn that only a person cites', () => {
    expect(turnsOf(fold([success('a'), changed(0, { changes: [resting('a')] })]))).toEqual(['a']);
  });

  it('remembers a failure over generations, even if its turn came to be stamped with a later one', () => {
    expect(turnsOf(fold([failure('a'), changed(1), success('a', { generation: 1 })]))).toEqual([]);
  });

  it('forgets marks only of turns from before the last flush, the oldest first', () => {
    const failed = Array.from({ length: 10 }, (_, index) => failure(`old-${index}`));
    const now = ['a', 'b', 'c', 'd', 'e'].map((turn) => failure(turn, { generation: 1 }));
    const again = ['a', 'b', 'c', 'd', 'e', 'old-9'].map((turn) => success(turn, { generation: 1 }));
    const samples = fold([...failed, changed(1), ...now, ...again], { cap: 100, mostMarks: 4 });
    expect(turnsOf(samples)).toEqual([]);
  });

  it('counts a turn once, however often it is cited', () => {
    expect(fold([failure('a'), cycleEnd('a'), changed(1), cycleEnd('a')]).counts().support).toBe(1);
  });

  it('reads on where a newer version wrote a change that cannot be read here', () => {
    const strange = [null, 7, { op: 'add', text: 'words' }, { text: { evidence: { turns: ['a', 3] } } }];
    const fact = changed(0, { by: learner, changes: strange as readonly unknown[] as readonly Change[] });
    expect(turnsOf(fold([success('a'), success('b'), fact]))).toEqual(['b']);
  });
});

describe('a new generation', () => {
  it('takes everything out at once when nothing is certified', () => {
    const samples = fold([success('a'), success('b'), changed(1)]);
    expect(samples.counts()).toEqual({ query: 0, support: 0, generation: 1 });
  });

  it('leaves exactly what was certified, stamped anew, and nothing that was only named', () => {
    const samples = fold([
      ...['a', 'b', 'c'].map((turn) => success(turn)),
      changed(1, { recertified: ['c', 'a', 'ghost'] }),
    ]);
    expect(samples.samples().map(({ turn, generation }) => [turn, generation])).toEqual([
      ['a', 1],
      ['c', 1],
    ]);
  });

  it('does not certify what the same change rests on', () => {
    const change = changed(1, { by: learner, changes: [resting('a')], recertified: ['a', 'b'] });
    expect(turnsOf(fold([success('a'), success('b'), change]))).toEqual(['b']);
  });

  it('keeps a certified sample that is rewarded again, with the new reward and generation', () => {
    const samples = fold([success('a'), changed(1, { recertified: ['a'] }), success('a', { reward: 0.6 })]);
    expect(samples.samples()).toEqual([{ turn: 'a', session: 's1', generation: 1, reward: 0.6 }]);
  });

  it('does not take a certified sample back once it has left', () => {
    const samples = fold([
      success('a'),
      changed(1, { recertified: ['a'] }),
      success('a', { verdict: 'ambiguous' }),
      success('a'),
    ]);
    expect(turnsOf(samples)).toEqual([]);
  });

  it('is what rolling back makes too: samples of the generation that was gone back to do not return', () => {
    const samples = fold([success('a'), changed(1), changed(2), success('a')]);
    expect(samples.counts()).toEqual({ query: 0, support: 0, generation: 2 });
  });

  it('leaves the samples when a change is not shown in prompts', () => {
    expect(turnsOf(fold([success('a'), changed(0)]))).toEqual(['a']);
  });
});

describe('an erased session', () => {
  it('takes its samples with it and no others', () => {
    const samples = fold([success('a'), success('b', { session: 's2' }), erased('s1')]);
    expect(turnsOf(samples)).toEqual(['b']);
    expect([samples.has('a'), samples.has('b'), samples.counts().query]).toEqual([false, true, 1]);
    expect(samples.batch(2, 0)).toEqual([]);
  });

  it('is known from a scrubbed appraisal too, as a log without the tombstone gives it', () => {
    expect(turnsOf(fold([success('a', { signals: [] }), success('b')]))).toEqual(['b']);
  });

  it('still fills its place, so that a log that is read again ends in the same samples', () => {
    const facts = [success('a'), success('b', { session: 's2' }), success('c')];
    const live = fold([...facts, erased('s2')], { cap: 2 });
    const again = fold(
      facts.map((fact) => (fact.session === 's2' ? { ...fact, signals: [] } : fact)),
      { cap: 2 },
    );
    expect(turnsOf(live)).toEqual(['c']);
    expect(again.samples()).toEqual(live.samples());
  });
});
