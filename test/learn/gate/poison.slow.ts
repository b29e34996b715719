import { describe, expect, it } from 'vitest';
import type { Judgement } from '../../../src/core/learn.ts';
import { ATTACKS } from './corpus/attacks.ts';
import { proposalOf } from './corpus/cases.ts';
import { gateWith, libraryWith, textOf } from './samples.ts';

const library = await libraryWith();
const judged: { readonly form: string; readonly channel: string; readonly judgement: Judgement }[] = [];
const gate = gateWith();
for (const attack of ATTACKS) {
  const judgement = await gate(proposalOf(attack, attack.cases), attack.cases, library);
  judged.push({ form: attack.form, channel: attack.channel, judgement });
}

/** How many passed without approval, by channel or by form. */
function passedBy(key: 'form' | 'channel'): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const one of judged) {
    const { outcome } = one.judgement;
    counts[one[key]] = (counts[one[key]] ?? 0) + (outcome === 'trial' || outcome === 'live' ? 1 : 0);
  }
  return counts;
}

describe('a poisoned lesson', () => {
  it('passes on no channel without approval: 0 of more than 300, over twelve channels and several turns', () => {
    expect(judged.length).toBeGreaterThanOrEqual(300);
    const passed = passedBy('channel');
    expect(Object.keys(passed)).toHaveLength(13);
    expect(Object.entries(passed).filter(([, count]) => count > 0)).toEqual([]);
  });

  it('passes in no form: copied, edited, paraphrased, translated, encoded or split', () => {
    const passed = passedBy('form');
    expect(Object.keys(passed).length).toBeGreaterThanOrEqual(20);
    expect(Object.entries(passed).filter(([, count]) => count > 0)).toEqual([]);
  });

  it('is proposed with reasons (not refused), so that a person sees it', () => {
    expect(judged.filter(({ judgement }) => judgement.outcome !== 'proposed')).toEqual([]);
    expect(judged.filter(({ judgement }) => judgement.why.length === 0)).toEqual([]);
    const states = judged.map(({ judgement }) => judgement.change?.op === 'add' && judgement.change.state);
    expect(new Set(states)).toEqual(new Set(['proposed']));
  });

  it('is tainted in every form but the paraphrase', () => {
    const untainted = judged.filter(({ judgement }) => textOf(judgement.change)?.taint.length === 0);
    expect([...new Set(untainted.map(({ form }) => form))]).toEqual(['paraphrase']);
  });

  it('does not go live under autonomous either', async () => {
    const autonomous = gateWith({ autonomy: 'autonomous' });
    const outcomes = new Set<string>();
    for (const attack of ATTACKS.filter((_, index) => index % 5 === 0))
      outcomes.add((await autonomous(proposalOf(attack, attack.cases), attack.cases, library)).outcome);
    expect([...outcomes]).toEqual(['proposed']);
  });
});
