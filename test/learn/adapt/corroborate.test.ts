import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVENT_KINDS, type LearningRecord } from '../../../src/core/adapt.ts';
import { corroborate, PASS_SCORE, scoreOf } from '../../../src/learn/adapt/corroborate.ts';
import { candidateTypeOf, digestRecords } from '../../../src/learn/adapt/digest.ts';

const DAY_MS = 86_400_000;
const record = (id: string, more: Partial<LearningRecord> = {}): LearningRecord => ({
  ...{ id, at: Number(id), kind: 'budget_incident', sourceLabel: 'budget_incident', score: 70 },
  ...{ scope: { type: 'agent', id: 'cto' }, session: `s${id}`, payload: {} },
  ...more,
});

describe('the score of a candidate', () => {
  it.each([
    [1, 64.7],
    [2, 58.8],
    [3, 52.9],
    [9, 52.9],
  ])('with %i matches passes from a mean of %f on', (matches, mean) => {
    const at = (value: number) =>
      scoreOf(
        Array.from({ length: matches }, () => value),
        100,
      ).passes;
    expect([at(mean - 0.1), at(mean + 0.1)]).toEqual([false, true]);
  });

  it('without a match is at most 45, and fails', () => {
    expect(scoreOf([], 100)).toEqual({ matches: 0, mean: 0, score: 45, passes: false });
    expect(scoreOf([], 20)).toMatchObject({ score: 20, passes: false });
  });

  it('is the formula of the source, whatever the scores are', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 100, noNaN: true }), { minLength: 1 }), (scores) => {
        const mean = scores.reduce((sum, one) => sum + one, 0) / scores.length;
        const expected = Math.min(100, mean * 0.85 + Math.min(15, 5 * scores.length));
        const { score, passes } = scoreOf(scores, 100);
        expect(score).toBeCloseTo(expected, 9);
        expect(passes).toBe(score >= PASS_SCORE);
        expect(score).toBeLessThanOrEqual(100);
      }),
    );
  });
});

describe('corroboration', () => {
  const draft = {
    scope: { type: 'agent', id: 'cto' },
    sourceLabel: 'budget_incident',
    records: ['1'],
    score: 70,
  } as const;

  it('counts records of the same label and scope that the draft was not made from', () => {
    const others = [
      record('2'),
      record('3', { sourceLabel: 'other' }),
      record('4', { scope: { type: 'agent', id: 'cfo' } }),
      record('5', { scope: { type: 'run_kind', id: 'cto' } }),
    ];
    expect(corroborate(draft, [record('1'), ...others])).toMatchObject({ matches: 1, mean: 70 });
  });

  it('gives a session one vote a day, also the session of the draft, and a key without a session too', () => {
    const same = ['2', '3', '4'].map((id) => record(id, { session: 's1' }));
    expect(corroborate(draft, [record('1'), ...same]).matches).toBe(0);
    const later = record('5', { session: 's1', at: DAY_MS + 5 });
    expect(corroborate(draft, [record('1'), ...same, later]).matches).toBe(1);
    const { session: _, ...bare } = record('6', { by: 'k_1' });
    expect(corroborate(draft, [record('1'), bare, { ...bare, id: '7' }]).matches).toBe(1);
  });
});

describe('the digest', () => {
  it('drafts from records of at least 60, the best five, one for each key', () => {
    const records = Array.from({ length: 9 }, (_, at) =>
      record(String(at + 1), { score: 55 + at, scope: { type: 'agent', id: `a${at}` } }),
    );
    const drafts = digestRecords(
      [...records, record('20', { score: 90, scope: { type: 'agent', id: 'a8' } })],
      new Set(),
    );
    expect(drafts.map(({ dedupeKey, score }) => [dedupeKey, score])).toEqual([
      ['routing_hint:agent:a8:budget_incident', 90],
      ['routing_hint:agent:a7:budget_incident', 62],
      ['routing_hint:agent:a6:budget_incident', 61],
      ['routing_hint:agent:a5:budget_incident', 60],
    ]);
  });

  it('leaves out keys that have a candidate, kinds that feed none, and scores that are no numbers', () => {
    const taken = new Set(['routing_hint:agent:cto:budget_incident']);
    expect(digestRecords([record('1')], taken)).toEqual([]);
    expect(digestRecords([record('1', { kind: 'human_approval' })], new Set())).toEqual([]);
    expect(digestRecords([record('1', { score: Number.NaN })], new Set())).toEqual([]);
    expect(digestRecords([record('1', { kind: 'deploy_failed' })], new Set())).toEqual([]);
  });

  it('has the same drafts in whatever order the records come', () => {
    const some = fc.uniqueArray(
      fc.record({
        id: fc.integer({ min: 1, max: 500 }),
        score: fc.integer({ min: 0, max: 100 }),
        kind: fc.constantFrom(...EVENT_KINDS),
        agent: fc.constantFrom('a', 'b'),
      }),
      { selector: ({ id }) => id, maxLength: 40 },
    );
    fc.assert(
      fc.property(some, (given) => {
        const records = given.map(({ id, score, kind, agent }) =>
          record(String(id), { score, kind, sourceLabel: kind, scope: { type: 'agent', id: agent } }),
        );
        const drafts = digestRecords(records, new Set());
        expect(digestRecords(records.toReversed(), new Set())).toEqual(drafts);
        expect(drafts.length).toBeLessThanOrEqual(5);
        expect(new Set(drafts.map(({ dedupeKey }) => dedupeKey)).size).toBe(drafts.length);
        for (const { type, score } of drafts) {
          expect(score).toBeGreaterThanOrEqual(60);
          expect(type).toBe(
            candidateTypeOf(
              records.find(({ id }) => drafts.some((one) => one.records[0] === id && one.type === type))
                ?.kind ?? '',
            ),
          );
        }
      }),
    );
  });
});
