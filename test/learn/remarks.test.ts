import { describe, expect, it } from 'vitest';
import type { Fact, StoredFact } from '../../src/core/fact.ts';
import { NO_COST } from '../../src/core/learn.ts';
import { UNKNOWN_LIKENESS } from '../../src/learn/compare-words.ts';
import { createRemarks, createRepeatedRemarks } from '../../src/learn/remarks.ts';
import { remarked } from './distiller/distill.ts';

let seq = 0;
const stored = (fact: Fact): StoredFact => ({ seq: ++seq, at: seq, fact });
const appraised = (
  turn: string,
  over: Partial<Fact & { type: 'turn-appraised' }> = {},
): Fact & { type: 'turn-appraised' } => ({
  type: 'turn-appraised',
  turn,
  session: `s-${turn}`,
  scope: { agent: 'coder', project: 'shop' },
  generation: 0,
  verdict: 'ambiguous',
  signals: [],
  digests: [],
  isRemarked: true,
  ...over,
});
const turnsOf = (remarks: ReturnType<typeof createRemarks>): readonly (readonly string[])[] =>
  remarks.fresh().map((cluster) => cluster.remarks.map(({ turn }) => turn));

describe('remarks', () => {
  it('are kept by agent and project; failures, outages and turns without one are not', () => {
    const remarks = createRemarks();
    remarks.add(stored(appraised('a')));
    remarks.add(stored(appraised('b', { verdict: 'success' })));
    remarks.add(stored(appraised('c', { verdict: 'failure' })));
    remarks.add(stored(appraised('d', { verdict: 'infrastructure' })));
    remarks.add(stored(appraised('e', { scope: { agent: 'coder', project: 'blog' } })));
    const { isRemarked: _, ...silent } = appraised('f');
    remarks.add(stored(silent));
    expect(turnsOf(remarks)).toEqual([['a', 'b'], ['e']]);
  });

  it('are compared once, and again when there is a new one', () => {
    const remarks = createRemarks();
    remarks.add(stored(appraised('a')));
    for (const cluster of remarks.fresh()) remarks.looked(cluster);
    expect(turnsOf(remarks)).toEqual([]);
    remarks.add(stored(appraised('a')));
    expect(turnsOf(remarks)).toEqual([]);
    remarks.add(stored(appraised('b')));
    expect(turnsOf(remarks)).toEqual([['a', 'b']]);
  });

  it('are compared later when they came while others were compared', () => {
    const remarks = createRemarks();
    remarks.add(stored(appraised('a')));
    const seen = remarks.fresh();
    remarks.add(stored(appraised('b')));
    for (const cluster of seen) remarks.looked(cluster);
    expect(turnsOf(remarks)).toEqual([['a', 'b']]);
  });

  it('are compared again with a correction in the chat of their place (not with one of another, or of a tool)', () => {
    const remarks = createRemarks();
    remarks.add(stored(appraised('a')));
    for (const cluster of remarks.fresh()) remarks.looked(cluster);
    const said = { verdict: 'failure', source: 'chat' } as const;
    remarks.add(stored(appraised('b', { ...said, scope: { agent: 'coder', project: 'blog' } })));
    remarks.add(stored(appraised('c', { ...said, source: 'signal' })));
    expect(turnsOf(remarks)).toEqual([]);
    remarks.add(stored(appraised('d', said)));
    expect(turnsOf(remarks)).toEqual([['a']]);
  });

  it('go when a cycle used them, when their session is erased and when the verdict becomes a failure', () => {
    const remarks = createRemarks();
    for (const turn of ['a', 'b', 'c', 'd']) remarks.add(stored(appraised(turn)));
    remarks.add(stored(appraised('b', { verdict: 'failure' })));
    remarks.add(stored({ type: 'session-erased', session: 's-c', turns: 1, reason: 'asked' }));
    remarks.add(
      stored({
        type: 'cycle-end',
        cycle: 'c1',
        learner: 'distiller',
        outcome: 'published',
        items: [],
        turns: ['d'],
        sessions: [],
        judgements: [],
        generation: 1,
        cost: NO_COST,
        tookMs: 1,
      }),
    );
    expect(turnsOf(remarks)).toEqual([['a']]);
  });

  it('are read once each, and found again only in another session', async () => {
    const cases = [
      remarked(1, 'table driven tests please'),
      { ...remarked(2, 'table driven tests again please'), session: 's1' },
      remarked(3, 'just the code, no explanations'),
      remarked(4, 'table driven please!'),
    ];
    const read: string[] = [];
    const repeated = createRepeatedRemarks(async () => UNKNOWN_LIKENESS);
    const find = (count: number) =>
      repeated.find(cases.slice(0, count), async (turns) => {
        read.push(...turns.map(({ turn }) => turn));
        return cases.filter(({ turn }) => turns.some((one) => one.turn === turn));
      });
    expect(await find(3)).toEqual([]);
    expect((await find(4)).map(({ turn }) => turn)).toEqual(['t1', 't2', 't4']);
    expect(read).toEqual(['t1', 't2', 't3', 't4']);
  });
});
