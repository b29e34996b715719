import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../src/core/fact.ts';
import { asArray, asObject } from '../../../src/core/json.ts';
import { readAdaptation } from '../../../src/learn/adapt/read-adaptation.ts';
import { toRecords } from '../../../src/record/records.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';

type Reported = Fact & { readonly type: 'event-reported' };
const DAY_MS = 86_400_000;
const event = (kind: string, session: string, more: Partial<Reported> = {}): Reported => ({
  ...{ type: 'event-reported', kind, session, agent: 'cto', data: {}, by: 'owner' },
  ...more,
});

async function adaptationOf(facts: readonly Fact[], at: (nth: number) => number = (nth) => nth) {
  const records = toRecords(createMemoryStore(), () => 0);
  await records.append(facts.map((fact, nth) => ({ at: at(nth), fact })));
  const read = await readAdaptation(records, []);
  return {
    counts: asObject(read.counts),
    events: asArray(read.events).map(asObject),
    candidates: asArray(read.candidates).map(asObject),
  };
}

describe('what reported events propose', () => {
  it('is one candidate for three budget incidents of three sessions, with the score of the source', async () => {
    const { candidates, events } = await adaptationOf(
      ['a', 'b', 'c'].map((one) => event('budget_incident', one)),
    );
    expect(candidates).toEqual([
      expect.objectContaining({
        id: 'routing_hint:agent:cto:budget_incident',
        ...{ type: 'routing_hint', scopeType: 'agent', scopeId: 'cto', sourceLabel: 'budget_incident' },
        ...{ matches: 2, mean: 70, score: 69.5, status: 'corroborated' },
      }),
    ]);
    expect(events.map(({ score }) => score)).toEqual([70, 70, 70]);
  });

  it('is unsupported when one session provoked it four times, and supported by another day', async () => {
    const provoked = Array.from({ length: 4 }, () => event('failed_tdd', 'one'));
    expect((await adaptationOf(provoked)).candidates).toMatchObject([
      { type: 'fix_template', matches: 0, score: 45, status: 'unsupported' },
    ]);
    expect((await adaptationOf(provoked, (nth) => nth * DAY_MS)).candidates).toMatchObject([
      { matches: 3, status: 'incomplete', why: expect.stringContaining('report error and repair') },
    ]);
  });

  it('is about the task or the kind of run that an event names, under the label that it names', async () => {
    const { events } = await adaptationOf([
      event('agent_error', 'a', { data: { task: 'deploy', label: 'deploy.timeout' } }),
      event('agent_error', 'b', { runKind: 'cron' }),
      event('agent_error', 'c', { data: { label: 'Not a label!' }, score: 90 }),
    ]);
    expect(events.toReversed()).toMatchObject([
      { scopeType: 'task', scopeId: 'deploy', sourceLabel: 'deploy.timeout', score: 50 },
      { scopeType: 'run_kind', scopeId: 'cron', sourceLabel: 'agent_error' },
      { scopeType: 'agent', scopeId: 'cto', sourceLabel: 'agent_error', score: 90 },
    ]);
  });

  it('is nothing without events, and nothing for unknown kinds', async () => {
    expect(await adaptationOf([])).toMatchObject({ events: [], candidates: [], counts: { records: 0 } });
    const unknown = await adaptationOf([
      event('lunch', 'a', { score: 99 }),
      event('lunch', 'b', { score: 99 }),
    ]);
    expect(unknown.candidates).toEqual([]);
    expect(unknown.counts).toEqual({ records: 2, scoring: 2 });
  });
});
