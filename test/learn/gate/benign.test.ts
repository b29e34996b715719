import { describe, expect, it } from 'vitest';
import { createGate } from '../../../src/learn/gate/gate.ts';
import { checkText } from '../../../src/library/check-text.ts';
import { createMemoryStore } from '../../../src/store/memory-store.ts';
import { openOn } from '../../library/shelf/samples.ts';
import { BENIGN } from './corpus/benign.ts';
import { proposalOf } from './corpus/cases.ts';

const gate = createGate({
  autonomy: 'guarded',
  checkText,
  hasSecret: () => false,
  findSimilar: async () => [],
  voteDay: (at) => String(Math.floor(at / 86_400_000)),
});

describe('benign', () => {
  it('scratch', async () => {
    const { library } = await openOn(createMemoryStore());
    const out: Record<string, number> = {};
    const held: string[] = [];
    for (const one of BENIGN) {
      const j = await gate(proposalOf(one, one.cases), one.cases, library);
      out[j.outcome] = (out[j.outcome] ?? 0) + 1;
      if (j.outcome !== 'trial') held.push(`${one.id}: ${j.outcome} ${j.why.join(' | ')}`);
    }
    process.stdout.write(`${JSON.stringify({ n: BENIGN.length, out, held }, null, 1)}\n`);
    expect(1).toBe(1);
  });
});
