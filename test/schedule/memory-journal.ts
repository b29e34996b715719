import type { Clock } from '../../src/core/clock.ts';
import type { Fact } from '../../src/core/fact.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import type { JobJournal } from '../../src/schedule/leases.ts';

/** A journal over the real store in memory, as the daemon has it over its own. */
export function createMemoryJournal(clock: Clock): JobJournal & { facts(): readonly Fact[] } {
  const store = createMemoryStore();
  return {
    append: async (fact, key) =>
      store.append({ facts: [{ at: clock.now(), fact, ...(key === undefined ? {} : { key }) }] })[0]?.isNew ??
      false,
    ofJob: async (job) => store.events(`job/${job}`),
    ofRun: async (run) => store.events(`run/${run}`),
    facts: () => store.facts(0, 1_000_000).map(({ fact }) => fact),
  };
}
