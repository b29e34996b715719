import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ScoredRollout } from '../../train/advantage.ts';
import { dataOf, scaleData } from '../../train/datum.ts';
import type { RolloutSegment } from '../../train/rollout.ts';
import { attempt } from './attempts.ts';

const stamp = { policy: 0, generation: 0 };
const prompt = (...ids: number[]): RolloutSegment => ({ kind: 'prompt', ids, ...stamp });
const reply = (ids: number[], isBent = false): RolloutSegment => ({
  kind: 'reply',
  ids,
  logprobs: ids.map((id) => -id / 10),
  ...stamp,
  isBent,
});
const scored = (segments: readonly RolloutSegment[], advantage = 2): ScoredRollout => ({
  rollout: attempt('a', { segments }),
  advantage,
  against: 'group',
});

describe('a datum', () => {
  it('predicts each next token, and only sampled tokens have weight', () => {
    expect(dataOf(scored([prompt(7, 8), reply([5, 6])]), 64)).toEqual({
      data: [
        {
          tokens: [7, 8, 5],
          targets: [8, 5, 6],
          weights: [0, 1, 1],
          advantages: [0, 2, 2],
          logprobs: [0, -0.5, -0.6],
        },
      ],
      tokens: 2,
      overlong: 0,
    });
  });

  it('covers a whole conversation while each prompt extends the one before', () => {
    const { data } = dataOf(scored([prompt(1), reply([2, 3]), prompt(1, 2, 3, 9), reply([4])]), 64);
    expect(data).toHaveLength(1);
    expect(data[0]).toMatchObject({ tokens: [1, 2, 3, 9], targets: [2, 3, 9, 4], weights: [1, 1, 0, 1] });
  });

  it.each([
    ['rewrote a sampled token', [1, 2, 8, 9]],
    ['dropped the end of a reply', [1, 2]],
    ['dropped the start', [2, 3, 9]],
  ])('ends where the next prompt %s: a new one begins, and nothing is tokenised anew', (_, second) => {
    const { data, tokens } = dataOf(scored([prompt(1), reply([2, 3]), prompt(...second), reply([4])]), 64);
    expect(data.map(({ targets }) => targets.at(-1))).toEqual([3, 4]);
    expect(data[0]?.weights).toEqual([1, 1]);
    expect(data[1]?.tokens).toEqual(second);
    expect(data[1]?.weights).toEqual([...second.slice(1).map(() => 0), 1]);
    expect(tokens).toBe(3);
  });

  it('is dropped and counted when it exceeds the context (not truncated)', () => {
    const segments = [prompt(1), reply([2, 3]), prompt(9, 9, 9, 9), reply([4, 5])];
    expect(dataOf(scored(segments), 5)).toMatchObject({ overlong: 0, tokens: 4 });
    const cut = dataOf(scored(segments), 4);
    expect(cut).toMatchObject({ overlong: 1, tokens: 2 });
    expect(cut.data.map(({ tokens }) => tokens)).toEqual([[1, 2]]);
  });

  it('keeps replies from another sampling distribution as context, and does not train on them', () => {
    const { data, tokens } = dataOf(
      scored([prompt(1), reply([2, 3], true), prompt(1, 2, 3, 9), reply([4])]),
      64,
    );
    expect(data[0]?.weights).toEqual([0, 0, 0, 1]);
    expect(tokens).toBe(1);
    expect(dataOf(scored([prompt(1), reply([2], true)]), 64).data).toEqual([]);
  });

  it('has every sampled id once, with its own log-prob, however prompts follow each other', () => {
    const ids = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });
    const turn = fc.record({ isNew: fc.boolean(), more: ids, said: ids });
    let splits = 0;
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 5 }), (turns) => {
        const segments: RolloutSegment[] = [];
        let history: number[] = [];
        for (const { isNew, more, said } of turns) {
          const shown = isNew ? more : [...history, ...more];
          segments.push(prompt(...shown), reply(said));
          history = [...shown, ...said];
        }
        const { data, tokens } = dataOf(scored(segments), 1000);
        splits += data.length > 1 ? 1 : 0;
        const trained = data.flatMap(({ targets, weights, logprobs, advantages }) =>
          targets.flatMap((id, at) =>
            weights[at] === 1 ? [{ id, logprob: logprobs?.[at], advantage: advantages?.[at] }] : [],
          ),
        );
        expect(trained).toEqual(
          turns.flatMap(({ said }) => said.map((id) => ({ id, logprob: -id / 10, advantage: 2 }))),
        );
        expect(tokens).toBe(trained.length);
        for (const datum of data)
          for (const values of [datum.targets, datum.weights, datum.advantages, datum.logprobs])
            expect(values).toHaveLength(datum.tokens.length);
      }),
    );
    expect(splits).toBeGreaterThan(20);
  });
});

describe('scaling', () => {
  const short = dataOf(scored([prompt(1), reply([2])]), 64);
  const long = dataOf(scored([prompt(1), reply([2, 3, 4, 5])], -1), 64);
  const firstOf = (data: ReturnType<typeof scaleData>): (number | undefined)[] =>
    data.map(({ advantages }) => advantages?.[0]);

  it('divides all attempts by one constant, so that short ones do not count more', () => {
    expect(firstOf(scaleData([short, long], { tokens: 10 }, 'sum'))).toEqual([2 / 20, -1 / 20]);
  });
  it('divides each attempt by its own length under that rule', () => {
    expect(firstOf(scaleData([short, long], 'own-length', 'sum'))).toEqual([2 / 2, -1 / 8]);
  });
  it('compensates for an engine that averages each sequence', () => {
    expect(firstOf(scaleData([short, long], { tokens: 10 }, 'mean-per-sequence'))).toEqual([2 / 20, -4 / 20]);
  });
});
