import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../src/core/clock.ts';
import type { Fact } from '../../src/core/fact.ts';
import { appraise } from '../../src/evidence/appraise.ts';
import { createJudgeTurns } from '../../src/learn/judge-turns.ts';
import { createLearningState } from '../../src/learn/learning-state.ts';
import { asking } from '../evidence/judge/scripted-ask.ts';
import { turnOf } from '../evidence/turn-fixtures.ts';
import { plantedScore } from '../support/planted-steps.ts';

/** Judging as learning does it: what a look returns is folded before the next one. */
function open(grade: (right: number) => number) {
  const clock = createManualClock();
  const state = createLearningState();
  const evidence = turnOf({ turn: 'real' });
  let model = 'test/judge';
  const { ask, prompts } = asking((prompt) => {
    const planted = plantedScore(prompt);
    return { reason: 'because', score: planted === undefined ? -1 : grade(planted) };
  });
  const step = createJudgeTurns({
    evidence: { turns: async () => [{ evidence, appraisal: appraise(evidence), generation: 0 }] },
    ask: async () => ({ ask, model }),
    generation: () => 0,
    clock,
    newId: (prefix) => prefix,
    signal: new AbortController().signal,
  });
  const look = async (): Promise<readonly Fact['type'][]> => {
    state.undecided.set('real', 's1');
    const facts = await step(state);
    for (const { at, fact } of facts) state.add({ seq: state.seq + 1, at, fact });
    return facts.map(({ fact }) => fact.type);
  };
  return { look, state, clock, prompts, use: (name: string) => (model = name) };
}

describe('judging', () => {
  it('begins with a test on planted steps, and then with verdicts', async () => {
    const { look, state } = open((right) => right);
    expect(await look()).toEqual(['judge-tested', 'cycle-end']);
    expect(state.undecided.has('real')).toBe(true);
    expect(await look()).toEqual(['reward-given', 'cycle-end']);
    expect(state.calibration.status().said).toContain('it was right on 16 of 16 planted steps');
  });

  it('does not begin with a judge that says yes to everything: it is not asked, and the turns wait', async () => {
    const { look, state, prompts } = open(() => 1);
    expect(await look()).toEqual(['judge-tested', 'cycle-end']);
    const asked = prompts.length;
    expect(await look()).toEqual([]);
    expect(prompts).toHaveLength(asked);
    expect(state.undecided.has('real')).toBe(true);
    expect(state.calibration.status()).toMatchObject({
      weight: 0,
      said: expect.stringContaining('it called every failure a success'),
    });
  });

  it('begins with a new test when another model is configured, and again after a month', async () => {
    const { look, clock, use } = open((right) => right);
    await look();
    expect(await look()).toEqual(['reward-given', 'cycle-end']);
    use('test/other');
    expect(await look()).toEqual(['judge-tested', 'cycle-end']);
    clock.advance(31 * 86_400_000);
    expect(await look()).toEqual(['judge-tested', 'cycle-end']);
  });

  it('ends for a judge that praises answers which broke rules, says so, and begins again with another model', async () => {
    const { look, state, clock, prompts, use } = open((right) => right);
    await look();
    const observe = (outcome: 'kept' | 'broken', more: { readonly isProvisional?: true } = {}): void => {
      for (let at = 0; at < 20; at++) {
        const turn = `${outcome}${at}`;
        const results = [{ lesson: 'iso', revision: 1, outcome, ...more }];
        for (const fact of [
          { type: 'reward-given', turn, source: 'judge', score: 1 },
          { type: 'rules-observed', session: 's1', turn, results },
        ] as const)
          state.add({ seq: state.seq + 1, at: clock.now(), fact });
      }
    };
    observe('broken', { isProvisional: true });
    expect(state.calibration.status()).toMatchObject({ turns: 0, isTrusted: true });
    observe('broken');
    expect(state.calibration.status()).toMatchObject({
      turns: 20,
      weight: 0,
      said: expect.stringMatching(
        /on 0 of 20 turns .*: it is switched off until models\.judge names another/,
      ),
    });
    const asked = prompts.length;
    expect(await look()).toEqual([]);
    expect(prompts).toHaveLength(asked);
    clock.advance(1000);
    use('test/other');
    expect(await look()).toEqual(['judge-tested', 'cycle-end']);
    expect(await look()).toEqual(['reward-given', 'cycle-end']);
  });
});
