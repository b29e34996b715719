import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../src/core/fact.ts';
import { digestRecords } from '../../../src/learn/adapt/digest.ts';
import { createRecordWindow, learningRecordOf } from '../../../src/learn/adapt/learning-records.ts';
import { createReporters, supportedCandidate } from '../../../src/learn/adapt/support-candidate.ts';
import { toRecords } from '../../../src/record/records.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { end, start } from '../../record/store/facts.ts';

type Reported = Fact & { readonly type: 'event-reported' };
const A = 'k_aaaaaaaaaa';
const B = 'k_bbbbbbbbbb';
const OWNER = 'owner_0123456789';
const event = (by: string, session: string, more: Partial<Reported> = {}): Reported => ({
  ...{ type: 'event-reported', kind: 'repeated_retry', agent: 'builder', session, score: 90, by },
  ...{ data: { retries: 1 } },
  ...more,
});
/** A recorded turn of the agent with a key. */
const turn = (session: string, caller: string, agent = 'builder', totalMs = 5): readonly Fact[] => [
  start(`t-${session}`, session, { agent, caller }),
  end(`t-${session}`, { totalMs, firstByteMs: totalMs }),
];

/** Every candidate of these facts, with what it may become. */
async function candidatesOf(facts: readonly Fact[]) {
  const records = toRecords(createMemoryStore(), () => 0);
  await records.append(facts.map((fact, nth) => ({ at: nth, fact })));
  const window = createRecordWindow();
  for (const stored of await records.newestOf('event-reported', 1000)) window.add(stored);
  const found = [];
  for (const draft of window.digest(new Set())) {
    const reporters = createReporters(records);
    found.push({
      draft,
      ...(await supportedCandidate(draft, window, reporters)),
    });
  }
  return found;
}
const passing = async (facts: readonly Fact[]) =>
  (await candidatesOf(facts)).flatMap((one) =>
    one.ok ? [{ onlyFor: one.candidate.onlyFor, doubt: one.candidate.doubt, ...one.candidate.overlay }] : [],
  );

describe('what the events of one key of the home’s own person become', () => {
  it('acts on that key’s sessions alone, with the support of its own sessions', async () => {
    const facts = ['1', '2', '3'].flatMap((one) => [...turn(one, A), event(A, one)]);
    expect(await passing(facts)).toMatchObject([{ onlyFor: A, scope: { agent: 'builder' } }]);
  });

  it('is nothing with one event of its own, however many another key reports', async () => {
    const facts = [
      ...turn('1', A),
      event(A, '1', { data: { retries: 0, headersMs: 100 } }),
      ...['2', '3'].flatMap((one) => [...turn(one, B), event(B, one)]),
    ];
    // B's own, and none for all: they do not ask for the same.
    expect((await passing(facts)).map(({ onlyFor }) => onlyFor)).toEqual([B]);
  });

  it('acts on all where two keys ask for the same, and where the owner does', async () => {
    const both = [A, B].flatMap((key) => [...turn(key, key), event(key, key)]);
    expect((await passing(both)).map(({ onlyFor, doubt }) => [onlyFor, doubt])).toEqual([
      [undefined, undefined],
    ]);
    const owners = [event(OWNER, '1'), event(OWNER, '2')];
    expect(await passing(owners)).toMatchObject([{ scope: { agent: 'builder' } }]);
    expect((await passing(owners))[0]?.onlyFor).toBeUndefined();
  });

  it('waits for a person where the agent never worked with the key', async () => {
    const facts = ['1', '2', '3'].flatMap((one) => [...turn(one, A, 'other'), event(A, one)]);
    expect(await passing(facts)).toMatchObject([
      { onlyFor: undefined, doubt: expect.stringContaining(`only the key ${A} reported it`) },
    ]);
  });

  it('acts on that key’s runs of a kind where the events name no agent', async () => {
    const facts = ['1', '2', '3'].flatMap((one) => {
      const { agent: _, ...bare } = event(A, one, { runKind: 'cron' });
      return [...turn(one, A), bare];
    });
    expect(await passing(facts)).toMatchObject([{ onlyFor: A, scope: { runKind: 'cron' } }]);
  });

  it('counts what Instar saw in the sessions of a key as that key’s, and not as a second one', async () => {
    const seen = (session: string, caller?: string) =>
      event('instar', session, {
        kind: 'budget_incident',
        data: caller === undefined ? {} : { caller },
      });
    const of = (key: string, one: string) => [...turn(one, key), seen(one, key)];
    const found = await passing([
      ...of(A, '1'),
      ...of(A, '2'),
      ...turn('3', A),
      event(A, '3', { kind: 'budget_incident', data: {} }),
    ]);
    expect(found.map(({ onlyFor }) => onlyFor)).toEqual([A]);
    expect((await passing([...of(A, '1'), ...of(B, '2')])).map(({ onlyFor }) => onlyFor)).toEqual([
      undefined,
    ]);
    // Earlier versions did not write the key down: a person decides.
    const before = ['1', '2', '3'].flatMap((one) => [...turn(one, A), seen(one)]);
    expect((await passing(before)).map(({ doubt }) => typeof doubt)).toEqual(['string']);
  });

  it('shortens no wait below three times what the agent’s slowest replies took', async () => {
    const slow = Array.from({ length: 25 }, (_, nth) => turn(`slow-${nth}`, A, 'builder', 40_000)).flat();
    const facts = ['1', '2', '3'].flatMap((one) => [
      ...turn(one, A),
      event(A, one, { data: { headersMs: 100 } }),
    ]);
    const [limit] = await passing([...slow, ...facts]);
    expect(limit).toMatchObject({ payload: { headersMs: 120_000 } });
    expect(limit?.content).toContain('Its events asked for headersMs 100');
  });
});

describe('what the events of a key that stands for itself become', () => {
  const member = A;
  it('is that key’s: its scope names the key', async () => {
    const facts = ['1', '2', '3'].map((one) => event(A, `${A}:${one}`, { member }));
    const recorded = ['1', '2', '3'].flatMap((one) => turn(`${A}:${one}`, A));
    expect(await passing([...recorded, ...facts])).toMatchObject([{ scope: { agent: 'builder', member } }]);
  });

  it.each([
    ['a member of the team', 'm_0123456789', 'k_cccccccccc'],
    ['an end user of a key', `${A}.u_0123456789abcdef`, A],
    ['an end user of the home', 'u_0123456789abcdef', A],
  ])('is nothing where %s reported them', async (_who, of, by) => {
    const facts = ['1', '2', '3'].map((one) => event(by, `${of}:${one}`, { member: of }));
    expect(await candidatesOf(facts)).toEqual([]);
  });

  it('counts no event of another principal, nor of the home’s own keys, with the same agent and label', async () => {
    const facts = [
      event(A, `${A}:1`, { member: A }),
      event(B, `${B}:1`, { member: B }),
      event('k_own0000000', 'own-1'),
    ];
    const recorded = [...turn(`${A}:1`, A), ...turn(`${B}:1`, B), ...turn('own-1', 'k_own0000000')];
    const found = await candidatesOf([...recorded, ...facts]);
    expect(found).toHaveLength(3);
    expect(found.some((one) => one.ok)).toBe(false);
  });
});

describe('drafts', () => {
  it('hold records of one principal each, and, where they are bound to a key, of that key', () => {
    const one = fc.record({
      by: fc.constantFrom(A, B, OWNER),
      member: fc.constantFrom(undefined, A, B),
      agent: fc.constantFrom('a', 'b'),
      score: fc.integer({ min: 40, max: 100 }),
    });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 40 }), (events) => {
        const records = events.flatMap(({ by, member, agent, score }, seq) => {
          const more = member === undefined ? {} : { member };
          const { session: _, ...fact } = event(by, '', { agent, score, ...more });
          return learningRecordOf({ seq, at: seq, fact }) ?? [];
        });
        const drafts = digestRecords(records, new Set(), { minScore: 60, limit: 100 });
        expect(new Set(drafts.map(({ dedupeKey }) => dedupeKey)).size).toBe(drafts.length);
        for (const { records: ids, member, key, scope } of drafts)
          for (const record of records.filter(({ id }) => ids.includes(id))) {
            expect(record.member).toBe(member);
            expect(record.scope).toEqual(scope);
            if (key !== undefined) expect(record.key).toBe(key);
            // For all of the home: the owner's, or one of several keys'.
            const alike = records.filter((other) => other.member === undefined && other.agent === scope.id);
            if (key === undefined && member === undefined && record.key !== undefined)
              expect(new Set(alike.map((other) => other.key)).size).toBeGreaterThan(1);
          }
      }),
    );
  });
});
