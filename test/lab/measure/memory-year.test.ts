import { describe, expect, it } from 'vitest';
import { withVectorMap } from '../../../lab/measure/memory/vector-map.ts';
import { reportYears } from '../../../lab/measure/memory-year/report-years.ts';
import { simulateYear } from '../../../lab/measure/memory-year/simulate-year.ts';
import { createNgramEmbed } from '../../../src/embed/ngram-embed.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';

describe('a small year of use', () => {
  it('ends with fewer lessons in use than were learned, true reports, and nothing pinned or proven lost', async () => {
    const year = await simulateYear({
      seed: 5,
      sessions: 260,
      isConsolidated: true,
      mostInUse: 300,
      store: createMemoryStore(),
      embed: withVectorMap(createNgramEmbed()),
      isByLetters: true,
    });
    const end = year.weeks.at(-1);
    expect(end?.inUse).toBeLessThan((end?.ever ?? 0) * 0.75);
    expect(year.kept.lost).toBe(0);
    expect(year.contradictions.right).toBe(year.contradictions.reported);
    const text = reportYears([{ with: year, without: year }], {
      sessions: 260,
      mostInUse: 300,
      engine: 'n-grams',
    });
    expect(text).toContain('| pinned or proven lessons lost | 0 of');
  });
});
