import { describe, expect, it } from 'vitest';
import type { Fact } from '../../src/core/fact.ts';
import type { Change } from '../../src/core/lesson.ts';
import {
  createTrainingBuffer,
  type TrainingBuffer as Samples,
  type TrainingBufferOptions,
} from '../../src/evidence/training-buffer.ts';
import {
  changed,
  cycleEnd,
  erased,
  failure,
  learner,
  numbered,
  resting,
  silent,
  success,
} from '../train/facts.ts';

function fold(facts: readonly Fact[], options: Partial<TrainingBufferOptions> = {}): Samples {
  const samples = createTrainingBuffer({ cap: 100, ...options });
  const stored = numbered();
  for (const fact of facts) samples.add(stored(fact));
  return samples;
}

const turnsOf = (samples: Samples): readonly string[] => samples.samples().map(({ turn }) => turn);

describe('the training buffer', () => {
  it('takes a rewarded success of the generation in force, stamped with that generation', () => {
    expect(fold([success('a', { reward: 0.7 })]).samples()).toEqual([
      { turn: 'a', session: 's1', generation: 0, reward: 0.7 },
    ]);
  });

  it('takes no success without a reward, nothing ambiguous and no infrastructure failure', () => {
    const { reward: _none, ...unrewarded } = success('a');
    const samples = fold([
      unrewarded,
      success('b', { verdict: 'ambiguous' }),
      success('c', { verdict: 'infrastructure' }),
      // An agent that praises itself does not train its weights.
      success('d', { source: 'agent' }),
    ]);
    expect(turnsOf(samples)).toEqual([]);
  });

  it('takes no turn of another key or of an end user: weights are for everybody', () => {
    const samples = fold([
      success('own'),
      success('key', { session: 'k_0123456789:s1' }),
      success('user', { session: 'k_0123456789.u_0123456789abcdef:s1' }),
      success('guest', { session: 'u_0123456789abcdef:s1' }),
    ]);
    expect(turnsOf(samples)).toEqual(['own']);
  });

  it('takes no turn of an older or a newer generation', () => {
    const samples = fold([changed(2), success('old', { generation: 1 }), success('new', { generation: 3 })]);
    expect(turnsOf(samples)).toEqual([]);
  });

  it('drops the oldest above the cap; a repeated appraisal keeps its place', () => {
    const samples = fold([...['a', 'b', 'c'].map((turn) => success(turn)), success('b'), success('d')], {
      cap: 3,
    });
    expect(turnsOf(samples)).toEqual(['b', 'c', 'd']);
  });

  it('stamps each sample with the generation of the fold, so that a trainer can tell one that is behind', () => {
    expect(fold([success('a')]).samples()).toMatchObject([{ turn: 'a', generation: 0 }]);
  });

  it('ignores a fact that it was given before', () => {
    const samples = createTrainingBuffer({ cap: 10 });
    const stored = numbered();
    const good = stored(success('a'));
    const bad = stored(failure('a'));
    for (const fact of [good, bad, good]) samples.add(fact);
    expect(turnsOf(samples)).toEqual([]);
  });
});

describe('support data', () => {
  it('never contains a failure, also when a later appraisal calls it a success', () => {
    const samples = fold([failure('a'), success('a'), success('b'), failure('b'), success('b')]);
    expect(turnsOf(samples)).toEqual([]);
    expect(samples.counts()).toEqual({ query: 0, support: 2, generation: 0 });
  });

  it('never contains a turn that a cycle learned from', () => {
    expect(turnsOf(fold([success('a'), cycleEnd('a', 'b'), success('a'), success('b')]))).toEqual([]);
  });

  it('never contains a turn that a learner cites, also in a change that prompts do not show', () => {
    const cites = changed(0, { by: learner, changes: [resting('a', 'b')] });
    expect(turnsOf(fold([success('a'), cites, success('a'), success('b')]))).toEqual([]);
  });

  it('does not exclude a turn that only a person cites', () => {
    expect(turnsOf(fold([success('a'), changed(0, { changes: [resting('a')] })]))).toEqual(['a']);
  });

  it('remembers a failure across generations, even if its turn is stamped with a later one', () => {
    expect(turnsOf(fold([failure('a'), changed(1), success('a', { generation: 1 })]))).toEqual([]);
  });

  it('drops marks only of turns from before the last flush, the oldest first', () => {
    const failed = Array.from({ length: 10 }, (_, index) => failure(`old-${index}`));
    const now = ['a', 'b', 'c', 'd', 'e'].map((turn) => failure(turn, { generation: 1 }));
    const again = ['a', 'b', 'c', 'd', 'e', 'old-9'].map((turn) => success(turn, { generation: 1 }));
    const samples = fold([...failed, changed(1), ...now, ...again], { cap: 100, mostMarks: 4 });
    expect(turnsOf(samples)).toEqual([]);
  });

  it('counts a turn once, however often it is cited', () => {
    expect(fold([failure('a'), cycleEnd('a'), changed(1), cycleEnd('a')]).counts().support).toBe(1);
  });

  it('ignores a change of a newer version that cannot be read', () => {
    const strange = [null, 7, { op: 'add', text: 'words' }, { text: { evidence: { turns: ['a', 3] } } }];
    const fact = changed(0, { by: learner, changes: strange as readonly unknown[] as readonly Change[] });
    expect(turnsOf(fold([success('a'), success('b'), fact]))).toEqual(['b']);
  });
});

describe('a new generation', () => {
  it('empties the buffer at once when nothing is certified', () => {
    const samples = fold([success('a'), success('b'), changed(1)]);
    expect(samples.counts()).toEqual({ query: 0, support: 0, generation: 1 });
  });

  it('keeps exactly the certified samples with the new stamp, and nothing that was only named', () => {
    const samples = fold([
      ...['a', 'b', 'c'].map((turn) => success(turn)),
      changed(1, { recertified: ['c', 'a', 'ghost'] }),
    ]);
    expect(samples.samples().map(({ turn, generation }) => [turn, generation])).toEqual([
      ['a', 1],
      ['c', 1],
    ]);
  });

  it('does not certify the turns that the same change cites', () => {
    const change = changed(1, { by: learner, changes: [resting('a')], recertified: ['a', 'b'] });
    expect(turnsOf(fold([success('a'), success('b'), change]))).toEqual(['b']);
  });

  it('keeps a certified sample that is rewarded again, with the new reward and generation', () => {
    const samples = fold([success('a'), changed(1, { recertified: ['a'] }), success('a', { reward: 0.6 })]);
    expect(samples.samples()).toEqual([{ turn: 'a', session: 's1', generation: 1, reward: 0.6 }]);
  });

  it('does not take a certified sample back once it was dropped', () => {
    const samples = fold([
      success('a'),
      changed(1, { recertified: ['a'] }),
      success('a', { verdict: 'ambiguous' }),
      success('a'),
    ]);
    expect(turnsOf(samples)).toEqual([]);
  });

  it('also results from a rollback: samples of the restored generation do not return', () => {
    const samples = fold([success('a'), changed(1), changed(2), success('a')]);
    expect(samples.counts()).toEqual({ query: 0, support: 0, generation: 2 });
  });

  it('keeps the samples when a change is not shown in prompts', () => {
    expect(turnsOf(fold([success('a'), changed(0)]))).toEqual(['a']);
  });
});

describe('an erased session', () => {
  it('removes its samples and no others', () => {
    const samples = fold([success('a'), success('b', { session: 's2' }), erased('s1')]);
    expect(turnsOf(samples)).toEqual(['b']);
    expect([samples.has('a'), samples.has('b'), samples.counts().query]).toEqual([false, true, 1]);
  });

  it('is recognised by a scrubbed appraisal, too, in a log without the tombstone', () => {
    expect(turnsOf(fold([success('a', { signals: [] }), success('b')]))).toEqual(['b']);
  });

  it('keeps the places of its samples, so that folding the log again gives the same samples', () => {
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

describe('the outcomes for live turns', () => {
  const outcomesOf = (...facts: readonly Fact[]): readonly string[] =>
    fold(facts)
      .outcomes()
      .map(({ turn }) => turn);
  const queued = (...turns: readonly string[]): Fact => ({
    type: 'learning-queued',
    item: 'i',
    learner: 'evolver',
    session: 's1',
    turns,
  });

  it('are the samples and the failures that fed no lesson', () => {
    expect(outcomesOf(failure('bad'), success('good'))).toEqual(['good', 'bad']);
  });

  it('never include a failure that a cycle learned from, a learner cites or is queued for one, in any order', () => {
    const cites = changed(0, { by: learner, changes: [resting('a')] });
    for (const cite of [cycleEnd('a'), cites, queued('a')]) {
      expect(outcomesOf(failure('a'), cite)).toEqual([]);
      expect(outcomesOf(cite, failure('a'))).toEqual([]);
      expect(outcomesOf(failure('a'), cite, failure('a', { reward: 0.2 }))).toEqual([]);
    }
  });

  it('never include a failure of another generation, also when its turn was certified', () => {
    expect(outcomesOf(failure('a'), changed(1, { recertified: ['a'] }))).toEqual([]);
    expect(outcomesOf(changed(1), failure('a'))).toEqual([]);
  });

  it('never include what an agent said of itself, or a failure of an erased session', () => {
    expect(outcomesOf(failure('a', { source: 'agent' }), failure('b'), erased('s1'))).toEqual([]);
  });
});

describe('turns that nobody rewarded', () => {
  const unrated = silent('t');
  const observed = (outcome: 'kept' | 'broken' | 'does-not-apply', more: object = {}, turn = 't'): Fact => ({
    type: 'rules-observed',
    session: 's1',
    turn,
    results: [{ lesson: 'rule', revision: 1, outcome, ...more }],
  });

  it('are rewarded by the accepted checks of their rules, in whatever order the facts come', () => {
    for (const facts of [
      [unrated, observed('kept')],
      [observed('kept'), unrated],
      [unrated, observed('kept'), unrated],
    ])
      expect(fold(facts).outcomes()).toMatchObject([{ turn: 't', reward: 1, source: 'check' }]);
    // A turn that nobody said anything about has no appraisal in the record.
    const sampled = { generation: 0, scope: { agent: 'coder' } };
    const alone = { ...observed('kept'), sampled } as Fact;
    expect(fold([alone]).outcomes()).toMatchObject([{ turn: 't', reward: 1, source: 'check' }]);
    const broken = fold([unrated, observed('broken')]);
    expect(broken.outcomes()).toMatchObject([{ turn: 't', reward: 0, source: 'check' }]);
    // It is no sample, and no failure that lessons are learned from.
    expect(broken.counts()).toMatchObject({ query: 0, support: 0 });
  });

  it('are not rewarded by what is provisional, waits, was found by a model, or does not apply', () => {
    for (const more of [{ isProvisional: true }, { isWaiting: true }, { isJudged: true }])
      expect(fold([unrated, observed('kept', more)]).outcomes()).toEqual([]);
    expect(fold([unrated, observed('does-not-apply')]).outcomes()).toEqual([]);
  });

  it('have the reward of a verifier or a person where there is one; a failure stays one; an erased one is gone', () => {
    const person = success('t', { source: 'person', reward: 0.2, verdict: 'failure' });
    expect(fold([observed('kept'), person]).outcomes()).toMatchObject([{ reward: 0.2, source: 'person' }]);
    expect(fold([unrated, observed('kept'), failure('t')]).outcomes()).toMatchObject([{ source: 'signal' }]);
    const judged = success('t', { source: 'judge', reward: 0.8 });
    expect(fold([judged, observed('broken')]).outcomes()).toMatchObject([{ reward: 0, source: 'check' }]);
    expect(fold([unrated, observed('kept'), erased('s1')]).outcomes()).toEqual([]);
    expect(fold([unrated, { ...observed('kept'), results: [] } as Fact, erased('s1')]).outcomes()).toEqual(
      [],
    );
  });
});
