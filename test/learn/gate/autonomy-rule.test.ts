import { describe, expect, it } from 'vitest';
import { type LessonKind, PROMPT_KINDS } from '../../../src/core/lesson.ts';
import type { Autonomy } from '../../../src/learn/gate/autonomy-rule.ts';
import { learner, setOf } from '../../lessons/library/samples.ts';
import { proposalOf } from './corpus/cases.ts';
import { CLEAN, gateWith, libraryWith, twoFailures } from './samples.ts';

const cases = twoFailures();

async function outcomeOf(autonomy: Autonomy, kind: LessonKind, content = CLEAN.content): Promise<string> {
  const { change, quotes } = proposalOf({ ...CLEAN, content }, cases);
  if (change.op !== 'add') throw new Error('an addition');
  const library = await libraryWith();
  const judgement = await gateWith({ autonomy })({ change: { ...change, kind }, quotes }, cases, library);
  if (judgement.change?.op !== 'add') throw new Error('an addition');
  expect(judgement.change.state).toBe(judgement.outcome);
  const { results } = await library.publish(setOf('s', [judgement.change], learner));
  expect(results.map(({ status }) => status)).toEqual(['applied']);
  return judgement.outcome;
}

describe('a lesson without findings', () => {
  it('is proposed under manual, whatever its kind', async () => {
    for (const kind of PROMPT_KINDS) expect(await outcomeOf('manual', kind)).toBe('proposed');
  });

  it('goes on trial under guarded if it is advice, and is proposed if it is of another kind', async () => {
    const outcomes = Object.fromEntries(
      await Promise.all(
        [...PROMPT_KINDS]
          .filter((kind) => kind !== 'fragment')
          .map(async (kind) => [kind, await outcomeOf('guarded', kind)] as const),
      ),
    );
    expect(outcomes).toEqual({
      skill: 'trial',
      experience: 'trial',
      fix: 'trial',
      identity: 'proposed',
    });
  });

  it('goes on trial if it is a fragment that restricts (not one that permits)', async () => {
    expect(await outcomeOf('guarded', 'fragment', 'Name the source of each figure.')).toBe('trial');
    expect(await outcomeOf('guarded', 'fragment', 'Answers need no source and may be longer.')).toBe(
      'proposed',
    );
  });

  it('goes live under autonomous', async () => {
    for (const kind of PROMPT_KINDS)
      if (kind !== 'identity') expect(await outcomeOf('autonomous', kind)).toBe('live');
  });

  it.each([
    ['manual', 'free', 'proposed'],
    ['guarded', 'free', 'trial'],
    ['autonomous', 'free', 'trial'],
    ['guarded', 'guarded', 'proposed'],
    ['autonomous', 'guarded', 'proposed'],
    ['autonomous', undefined, 'proposed'],
    ['autonomous', 'core', 'refused'],
    ['manual', 'core', 'refused'],
  ] as const)('under %s, an identity of the tier %s is %s (never live)', async (autonomy, tier, outcome) => {
    const { change, quotes } = proposalOf(CLEAN, cases);
    if (change.op !== 'add') throw new Error('an addition');
    const { text } = change;
    const note = { ...text.note, ...(tier === undefined ? {} : { tier }) };
    const proposal = { change: { ...change, kind: 'identity' as const, text: { ...text, note } }, quotes };
    const library = await libraryWith();
    const judgement = await gateWith({ autonomy })(proposal, cases, library);
    expect(judgement.outcome).toBe(outcome);
    // The library itself would refuse more than the gate allows.
    for (const state of ['trial', 'live'] as const) {
      if (state === outcome || judgement.change?.op !== 'add') continue;
      const forced = setOf(`s-${state}`, [{ ...judgement.change, state }], learner);
      const isFree = tier === 'free' && state === 'trial';
      const { results } = await (await libraryWith()).publish(forced);
      expect(results[0]?.status).toBe(isFree ? 'applied' : 'refused');
    }
  });

  it.each(['route', 'limit', 'flow'] as const)(
    'is refused with the reason if it is a %s, which nothing reads (not proposed)',
    async (kind) => {
      const { change, quotes } = proposalOf(CLEAN, cases);
      if (change.op !== 'add') throw new Error('an addition');
      const gate = gateWith({ autonomy: 'autonomous' });
      const { outcome, why } = await gate(
        { change: { ...change, kind }, quotes },
        cases,
        await libraryWith(),
      );
      expect(outcome).toBe('refused');
      expect(why.join()).toContain(`a lesson of the kind ${kind} needs an overlay`);
    },
  );

  it('gets the state that the gate decides (not the one that the learner asked for), with an empty why', async () => {
    const proposal = proposalOf(CLEAN, cases);
    const { outcome, why, change } = await gateWith()(proposal, cases, await libraryWith());
    expect(proposal.change.op === 'add' && proposal.change.state).toBe('live');
    expect([outcome, why, change?.op === 'add' && change.state]).toEqual(['trial', [], 'trial']);
  });

  it('is proposed when the learner itself declares a taint', async () => {
    const proposal = proposalOf(CLEAN, cases, { taint: ['tool'] });
    expect((await gateWith({ autonomy: 'autonomous' })(proposal, cases, await libraryWith())).outcome).toBe(
      'proposed',
    );
  });
});
