import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StoredFact } from '../../../src/core/fact.ts';
import { digestRecords } from '../../../src/learn/adapt/digest.ts';
import { createRecordWindow, learningRecordOf } from '../../../src/learn/adapt/learning-records.ts';

const KINDS = ['failed_tdd', 'budget_incident', 'repeated_retry', 'agent_error', 'of_nobody'] as const;
const eventOf = fc.record({
  kind: fc.constantFrom(...KINDS),
  agent: fc.constantFrom('a', 'b', 'c'),
  score: fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined }),
});
const stored = (
  event: { kind: string; agent: string; score?: number | undefined },
  seq: number,
): StoredFact => ({
  seq,
  at: seq,
  fact: {
    type: 'event-reported',
    kind: event.kind,
    agent: event.agent,
    data: {},
    ...(event.score === undefined ? {} : { score: event.score }),
  },
});

describe('a window of learning records', () => {
  it('drafts in runs of five what one look at all records would draft', () => {
    fc.assert(
      fc.property(fc.array(eventOf, { maxLength: 60 }), (events) => {
        const facts = events.map((event, at) => stored(event, at + 1));
        const window = createRecordWindow();
        for (const fact of facts) window.add(fact);
        const drafts = [];
        const taken = new Set<string>();
        for (let run = 0; window.hasNews && run < 50; run++) {
          const now = window.digest(taken);
          expect(now.length).toBeLessThanOrEqual(5);
          for (const draft of now) taken.add(draft.dedupeKey);
          drafts.push(...now);
        }
        expect(window.hasNews).toBe(false);
        const all = facts.flatMap((fact) => learningRecordOf(fact) ?? []);
        const whole = digestRecords(all, new Set(), { minScore: 60, limit: 1000 });
        expect(drafts.map(({ dedupeKey }) => dedupeKey).sort()).toEqual(
          whole.map(({ dedupeKey }) => dedupeKey).sort(),
        );
      }),
    );
  });

  it('looks only at places with something new, and keeps no more records than it may', () => {
    const window = createRecordWindow(10);
    for (let seq = 1; seq <= 30; seq++)
      window.add(stored({ kind: 'failed_tdd', agent: seq <= 25 ? 'old' : 'new', score: 90 }, seq));
    expect(window.size).toBe(10);
    expect(window.digest(new Set()).map(({ scope }) => scope.id)).toEqual(['old', 'new']);
    expect(window.hasNews).toBe(false);
    window.add(stored({ kind: 'failed_tdd', agent: 'new', score: 70 }, 31));
    expect(window.digest(new Set()).map(({ scope }) => scope.id)).toEqual(['new']);
    expect(window.alike({ scope: { type: 'agent', id: 'old' }, sourceLabel: 'failed_tdd' })).toHaveLength(4);
    // The same fact again changes nothing.
    window.add(stored({ kind: 'failed_tdd', agent: 'new', score: 70 }, 31));
    expect(window.hasNews).toBe(false);
  });
});
