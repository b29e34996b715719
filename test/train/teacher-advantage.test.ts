import { describe, expect, it } from 'vitest';
import type { HintedRollout } from '../../train/rollout.ts';
import { teacherAdvantages } from '../../train/teacher-advantage.ts';
import { attempt } from './attempts.ts';
import { createServer, createTabularEngine, logprobAt } from './tabular-engine.ts';

const VOCABULARY = 5;
const { signal } = new AbortController();
const stamp = { policy: 0, generation: 0 };

/** A policy that answers 1 after 0, and 2 after 4: the hint is a 4 before the last token. */
async function arrange() {
  const server = createServer({ vocabulary: VOCABULARY });
  const engine = createTabularEngine(server);
  const model = await engine.createModel({ rank: 1 });
  const logits = server.models.get(model.id)?.logits ?? new Float64Array();
  const set = (before: number, last: number, next: number, logit: number): void => {
    logits[(before * VOCABULARY + last) * VOCABULARY + next] = logit;
  };
  set(3, 0, 1, 4);
  set(4, 0, 2, 4);
  return { engine, model, logits };
}

const hintedReply = (ids: readonly number[], more: Partial<HintedRollout> = {}): HintedRollout => ({
  rollout: attempt('r', {
    segments: [
      { kind: 'prompt', ids: [3, 0], ...stamp },
      { kind: 'reply', ids, logprobs: ids.map(() => -1), ...stamp },
    ],
  }),
  hinted: [[4, 0]],
  ...more,
});

describe("a teacher's advantage", () => {
  it("is each token's log-probability with the hint minus that without it, by the same weights", async () => {
    const { engine, model, logits } = await arrange();
    const [scored] = await teacherAdvantages(
      [hintedReply([2, 3])],
      { model },
      { profile: engine.profile, clip: 100 },
      signal,
    );
    const [first, second] = scored?.ofTokens?.[0] ?? [];
    const teacher = logprobAt(logits, [4, 0, 2], 1, 2, VOCABULARY);
    const student = logprobAt(logits, [3, 0, 2], 1, 2, VOCABULARY);
    expect(first).toBeCloseTo(teacher - student);
    expect(first).toBeGreaterThan(1);
    // Two tokens after the hint the table does not know it any more.
    expect(second).toBeCloseTo(0);
  });

  it('is clipped on both sides, and 0 where the hint changes nothing', async () => {
    const { engine, model } = await arrange();
    const of = async (each: HintedRollout) =>
      (await teacherAdvantages([each], { model }, { profile: engine.profile, clip: 1 }, signal))[0]
        ?.ofTokens?.[0]?.[0];
    expect(await of(hintedReply([2]))).toBe(1);
    expect(await of(hintedReply([1]))).toBe(-1);
    expect(await of(hintedReply([1], { hinted: [[3, 0]] }))).toBe(0);
  });

  it("gives the teacher's samples the student's log-probabilities: they are not weighted by a ratio", async () => {
    const { engine, model, logits } = await arrange();
    const taught = hintedReply([2], { isTaught: true });
    const [scored] = await teacherAdvantages(
      [taught],
      { model },
      { profile: engine.profile, clip: 5 },
      signal,
    );
    const reply = scored?.rollout.segments.find(({ kind }) => kind === 'reply');
    expect(reply).toMatchObject({ logprobs: [logprobAt(logits, [3, 0], 1, 2, VOCABULARY)] });
  });

  it('leaves out a rollout that does not fit the context with its hint, and one without a hinted prompt', async () => {
    const { engine, model } = await arrange();
    const profile = { ...engine.profile, contextLength: 4 };
    const long = hintedReply([2], { hinted: [[3, 3, 3, 3, 4, 0]] });
    const bare = hintedReply([2], { hinted: [] });
    expect(await teacherAdvantages([long, bare], { model }, { profile, clip: 5 }, signal)).toEqual([]);
  });
});
