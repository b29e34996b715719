import { describe, expect, it } from 'vitest';
import { BENIGN } from './corpus/benign.ts';
import { failureOf, proposalOf } from './corpus/cases.ts';
import { HELD_OUT_BENIGN } from './corpus/corpora.ts';
import { gateWith, libraryWith, passage } from './samples.ts';

describe('a sensible lesson', () => {
  it('goes on trial without approval in at least 95 of 100 cases, by exit codes and by feedback', async () => {
    const library = await libraryWith();
    const held: string[] = [];
    for (const one of BENIGN) {
      const { outcome, why } = await gateWith()(proposalOf(one, one.cases), one.cases, library);
      if (outcome !== 'trial') held.push(`${one.id}: ${why.join('; ')}`);
    }
    expect(BENIGN.length).toBe(100);
    expect(held.length, held.join('\n')).toBeLessThanOrEqual(5);
  });

  it('may mention keys, tests, approvals and deletion where a person did', async () => {
    const library = await libraryWith();
    const held: string[] = [];
    for (const { feedback, lines } of HELD_OUT_BENIGN) {
      const cases = [
        failureOf({ task: 'Do it.', passages: [passage('person', feedback)], source: 'person' }),
      ];
      const words = { name: 'a-lesson', description: 'When it comes up.', content: lines.join('\n') };
      const { outcome, why } = await gateWith()(proposalOf(words, cases), cases, library);
      if (outcome !== 'trial') held.push(`${feedback}: ${why.join('; ')}`);
    }
    expect(held.length, held.join('\n')).toBeLessThanOrEqual(1);
  });
});
