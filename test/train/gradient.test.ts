import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../src/base/random.ts';
import type { TrainingModel } from '../../src/core/training.ts';
import { advantagesOf, scoreGroups } from '../../train/advantage.ts';
import { dataOf, type LengthRule, scaleData } from '../../train/datum.ts';
import type { Group, RolloutSegment } from '../../train/rollout.ts';
import { runsOf } from '../support/counts.ts';
import { attempt, groupFrom } from './attempts.ts';
import {
  copyOf,
  createServer,
  createTabularEngine,
  logprobAt,
  type Table,
  type TabularServer,
} from './tabular-engine.ts';

const VOCABULARY = 4;
const signal = new AbortController().signal;

/** A model whose table is not flat, and groups of several turns by an older one: ratios are not 1. */
async function arrange(seed: string, reduction: 'sum' | 'mean-per-sequence') {
  const random = createRandom(seed);
  const server = createServer({ vocabulary: VOCABULARY, reduction });
  const model = await createTabularEngine(server).createModel({ rank: 1 });
  const table = tableOf(server, model);
  table.logits.forEach((_, at) => {
    table.logits[at] = 2 * random.next() - 1;
  });
  const older = table.logits.map((logit) => logit + 0.2 * (random.next() - 0.5));
  const draw = (count: number): number[] => Array.from({ length: count }, () => random.below(VOCABULARY));
  const groups = Array.from({ length: 2 }, (_, group): Group => {
    const rollouts = Array.from({ length: 3 }, (_, at) => {
      const segments: RolloutSegment[] = [];
      let history: number[] = [];
      for (let turn = 0; turn < 2; turn++) {
        const shown = random.next() < 0.3 ? draw(2) : [...history, ...draw(2)];
        const said = draw(1 + random.below(3));
        const whole = [...shown, ...said];
        const logprobs = said.map((id, place) =>
          logprobAt(older, whole, shown.length + place - 1, id, VOCABULARY),
        );
        segments.push({ kind: 'prompt', ids: shown, policy: 0, generation: 0 });
        segments.push({ kind: 'reply', ids: said, logprobs, policy: 0, generation: 0 });
        history = whole;
      }
      return attempt(`${group}/${at}`, { task: `${group}`, reward: random.next(), segments });
    });
    return groupFrom(rollouts);
  });
  return { server, model, table, groups };
}

const tableOf = (server: TabularServer, model: TrainingModel): Table => {
  const table = server.models.get(model.id);
  if (table === undefined) throw new Error('the model is not there');
  return table;
};

/** The objective as the papers write it, straight from the attempts: it knows nothing of data, shifts or masks. */
function reference(
  logits: Float64Array,
  groups: readonly Group[],
  rule: LengthRule,
  loss: 'importance_sampling' | 'ppo',
): number {
  const attempts = groups.flatMap(({ rollouts }) => {
    const advantages = advantagesOf(
      rollouts.map(({ reward }) => reward),
      'dr-grpo',
    );
    return rollouts.map((rollout, at) => ({ rollout, advantage: advantages[at] ?? 0 }));
  });
  return -attempts.reduce((total, { rollout, advantage }) => {
    let gain = 0;
    let tokens = 0;
    let shown: readonly number[] = [];
    for (const segment of rollout.segments) {
      if (segment.kind === 'prompt') shown = segment.ids;
      else
        segment.ids.forEach((id, place) => {
          const whole = [...shown, ...segment.ids];
          const now = logprobAt(logits, whole, shown.length + place - 1, id, VOCABULARY);
          const ratio = Math.exp(now - (segment.logprobs[place] ?? Number.NaN));
          const kept = Math.min(1.05, Math.max(0.95, ratio));
          gain += loss === 'ppo' ? Math.min(ratio * advantage, kept * advantage) : ratio * advantage;
          tokens++;
        });
    }
    return total + gain / (rule === 'own-length' ? tokens : rule.tokens) / attempts.length;
  }, 0);
}

const STEP = 1e-5;

describe('the gradient', () => {
  const cases = fc.record({
    seed: fc.string(),
    reduction: fc.constantFrom('sum' as const, 'mean-per-sequence' as const),
    rule: fc.constantFrom<LengthRule>({ tokens: 7 }, 'own-length'),
    loss: fc.constantFrom('importance_sampling' as const, 'ppo' as const),
  });

  it("equals that of the objective by finite differences, whatever the engine's reduction", async () => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(cases, async ({ seed, reduction, rule, loss }) => {
        const { model, table, groups } = await arrange(seed, reduction);
        const data_N = scoreGroups(groups, 'dr-grpo').scored.map((each) => dataOf(each, 64));
        const data = scaleData(data_N, rule, reduction);
        const config = { clip_low_threshold: 0.95, clip_high_threshold: 1.05 };
        const { metrics } = await model.forwardBackward({ data, loss, config }, signal).done;
        expect(metrics['loss:sum']).toBeCloseTo(reference(table.logits, groups, rule, loss), 10);
        for (let at = 0; at < table.logits.length; at++) {
          const moved = copyOf(table).logits;
          moved[at] = (table.logits[at] ?? 0) + STEP;
          const above = reference(moved, groups, rule, loss);
          moved[at] = (table.logits[at] ?? 0) - STEP;
          const slope = (above - reference(moved, groups, rule, loss)) / (2 * STEP);
          expect(table.gathered[at]).toBeCloseTo(slope, 6);
          if (Math.abs(slope) > 1e-4) compared++;
        }
      }),
      runsOf(8, 25),
    );
    expect(compared).toBeGreaterThan(100);
  });

  it('is the same for an engine that sums and one that averages each sequence', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), async (seed) => {
        const [sum, mean] = await Promise.all(
          (['sum', 'mean-per-sequence'] as const).map(async (reduction) => {
            const { model, table, groups } = await arrange(seed, reduction);
            const data_N = scoreGroups(groups, 'grpo').scored.map((each) => dataOf(each, 64));
            const data = scaleData(data_N, { tokens: 3 }, reduction);
            await model.forwardBackward({ data, loss: 'importance_sampling' }, signal).done;
            return table.gathered;
          }),
        );
        expect(Math.hypot(...(sum ?? []))).toBeGreaterThan(1e-4);
        sum?.forEach((value, at) => {
          expect(mean?.[at]).toBeCloseTo(value, 12);
        });
      }),
      runsOf(8, 25),
    );
  });

  it('is zero where advantages are zero', async () => {
    const { model, table, groups } = await arrange('zero', 'sum');
    const rollouts = groups.flatMap((group) => group.rollouts);
    const data_N = rollouts.map((rollout) => dataOf({ rollout, advantage: 0, against: 'group' }, 64));
    const data = scaleData(data_N, { tokens: 3 }, 'sum');
    const { metrics } = await model.forwardBackward({ data, loss: 'importance_sampling' }, signal).done;
    expect(data.length).toBeGreaterThan(5);
    expect(metrics['loss:sum']).toBeCloseTo(0, 15);
    expect(Math.hypot(...table.gathered)).toBe(0);
  });
});
