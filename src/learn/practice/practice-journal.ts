import type { Clock } from '../../core/clock.ts';
import type { Fact } from '../../core/fact.ts';
import type { Json } from '../../core/json.ts';
import type { PracticeJournal } from '../../core/practice.ts';
import { cacheSubject, practiceSubject } from '../../core/practice-fact.ts';
import type { NewFact, Records } from '../../core/store.ts';

/** The journal of one run in the store. */
export interface RunUnits extends PracticeJournal {
  units(): ReadonlyMap<string, Json>;
  /** Appends a fact once, however often it is called with the same key. Durable when it resolves. */
  record(fact: Fact, key: string): Promise<void>;
}

interface PracticeJournalOptions {
  readonly run: string;
  readonly records: Pick<Records, 'append' | 'events' | 'facts'>;
  readonly clock: Clock;
}

/** Reads what the run has done before. Rejects with `StoreError`, also later. */
export async function openPracticeJournal({
  run,
  records,
  clock,
}: PracticeJournalOptions): Promise<RunUnits> {
  const known = await readUnits(records, run);
  /** Units of other runs, for the cache. */
  const others = new Map<string, ReadonlyMap<string, Json>>();
  const linked = new Set<string>();
  const now = (): number => Math.round(clock.now());
  return {
    read: async (unit) => known.get(unit),
    write: async (unit, value, { sessions = [], key } = {}) => {
      if (known.has(unit)) return;
      const [at, of] = [now(), sessions.length === 0 ? {} : { sessions }];
      // The link is there before the value: an erasure in between finds both or scrubs the value on arrival.
      const links = sessions.filter((session) => !linked.has(session));
      const facts: readonly NewFact[] = [
        { at, fact: { type: 'practice-unit', run, unit, value, ...of }, key: `practice/${run}/unit/${unit}` },
        ...links.map(
          (session): NewFact => ({
            at,
            fact: { type: 'practice-used', session, run },
            key: `practice/${run}/used/${session}`,
          }),
        ),
        ...(key === undefined
          ? []
          : [
              {
                at,
                fact: { type: 'practice-cached', key, run, unit } as const,
                key: `practice-cache/${key}`,
              },
            ]),
      ];
      const [unitFact] = await records.append(facts);
      for (const session of links) linked.add(session);
      // What was stored counts: secrets are taken out on the way, and another process may have been first.
      const [stored] = unitFact === undefined ? [] : await records.facts(unitFact.seq - 1, 1);
      known.set(unit, stored?.fact.type === 'practice-unit' ? stored.fact.value : null);
    },
    cached: async (key) => {
      for (const { fact } of await records.events(cacheSubject(key))) {
        if (fact.type !== 'practice-cached') continue;
        const units =
          fact.run === run ? known : (others.get(fact.run) ?? (await readUnits(records, fact.run)));
        if (fact.run !== run) others.set(fact.run, units);
        const value = units.get(fact.unit);
        if (value !== undefined && value !== null) return value;
      }
      return undefined;
    },
    units: () => known,
    record: async (fact, key) => {
      await records.append([{ at: now(), fact, key }]);
    },
  };
}

async function readUnits(records: Pick<Records, 'events'>, run: string): Promise<Map<string, Json>> {
  const units = new Map<string, Json>();
  for (const { fact } of await records.events(practiceSubject(run)))
    if (fact.type === 'practice-unit' && !units.has(fact.unit)) units.set(fact.unit, fact.value);
  return units;
}
