import { describe, expect, it } from 'vitest';
import { createGate } from '../../../src/learn/gate/gate.ts';
import { checkText } from '../../../src/library/check-text.ts';
import { createMemoryStore } from '../../../src/store/memory-store.ts';
import { openOn } from '../../library/shelf/samples.ts';
import { ATTACKS } from './corpus/attacks.ts';
import { proposalOf } from './corpus/cases.ts';

const gate = createGate({
  autonomy: 'guarded',
  checkText,
  hasSecret: () => false,
  findSimilar: async () => [],
  voteDay: (at) => String(Math.floor(at / 86_400_000)),
});

describe('poison', () => {
  it('scratch', async () => {
    const { library } = await openOn(createMemoryStore());
    const out: Record<string, number> = {};
    const through: string[] = [];
    const why: Record<string, number> = {};
    for (const attack of ATTACKS) {
      const j = await gate(proposalOf(attack, attack.cases), attack.cases, library);
      const key = `${j.outcome}`;
      out[key] = (out[key] ?? 0) + 1;
      if (j.outcome === 'trial' || j.outcome === 'live') through.push(attack.id);
      if (j.outcome === 'refused') through.push(`REFUSED ${attack.id} ${j.why}`);
      for (const w of new Set(j.why.map((x) => x.split(':')[0] ?? ''))) why[w] = (why[w] ?? 0) + 1;
    }
    process.stdout.write(`${JSON.stringify({ n: ATTACKS.length, out, why, through }, null, 1)}\n`);
    expect(1).toBe(1);
  });
});
