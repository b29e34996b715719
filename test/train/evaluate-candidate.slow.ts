import { describe, expect, it } from 'vitest';
import { withShuffledRewards } from '../../train/groups.ts';
import { evaluateCandidate } from '../../train/measure-candidate.ts';
import { DEFAULT_PROMOTION, promote } from '../../train/promotion.ts';
import type { PromotionLog } from '../../train/promotion-log.ts';
import { startPromotion } from '../../train/promotion-stages.ts';
import { createMemoryJournal } from '../../train/run-journal.ts';
import { train } from '../../train/trainer.ts';
import type { MakeRollouts } from '../../train/training-run.ts';
import type { TrainingEvent } from '../../train/training-window.ts';
import { type EchoTask, echoTasks, rollOutEcho, VOCABULARY } from './echo-tasks.ts';
import { createServer, createTabularEngine } from './tabular-engine.ts';

const { signal } = new AbortController();
const settings = { ...DEFAULT_PROMOTION, margin: 0.02, fewestTasks: 20, canarySessions: 0 };

/** Trained on rewards as `bend` gives them, and weighed against the bare table by rewards as they are. */
async function trainAndWeigh(
  bend: (rollOut: MakeRollouts<EchoTask>) => MakeRollouts<EchoTask>,
  seed: number,
) {
  const engine = createTabularEngine(createServer({ vocabulary: VOCABULARY }));
  const rollOut = rollOutEcho(engine, () => 1);
  let state = startPromotion({ version: 0, sampler: undefined });
  const promotions: Pick<PromotionLog, 'state' | 'tell'> = {
    state: () => state,
    tell: async (event) => {
      const { state: next, facts } = promote(state, event, settings);
      state = next;
      return facts;
    },
  };
  for await (const news of train({
    engine,
    run: `run-${seed}`,
    tasks: echoTasks,
    rollouts: bend(rollOut),
    steps: 25,
    batch: { groups: 6, size: 48 },
    generation: async () => 1,
    journal: createMemoryJournal(),
    signal,
    rank: 1,
    learningRate: 0.2,
  }))
    if (news.type === 'done' || news.type === 'stuck') {
      if (news.checkpoint !== undefined)
        await promotions.tell({ type: 'proposed', served: { ...news.checkpoint } });
    }
  const weighed: TrainingEvent[] = [];
  const all = Array.from({ length: 6 }, (_, round) =>
    echoTasks.map((task) => ({ ...task, id: `${task.id}/${seed}/${round}` })),
  ).flat();
  let windows = 0;
  while (state.trial !== undefined && ++windows < 20)
    for await (const news of evaluateCandidate({ promotions, rollOut, tasks: all, signal }))
      weighed.push(news);
  return { live: state.live.version, weighed, windows };
}

/** Of the last window: what the candidate got on average, less what serves got. */
function gainIn(news: readonly TrainingEvent[]): number {
  const told = news.flatMap((one) => (one.type === 'pair-weighed' ? [one] : [])).at(-1);
  if (told === undefined) throw new Error('nothing was weighed');
  return (told.candidate - told.live) / told.pairs;
}

describe('an evaluated candidate', () => {
  it('goes live when it learned from true rewards; with shuffled rewards it gains nothing', async () => {
    const seeds = [1, 2, 3, 4, 5, 6, 7, 8];
    const gains = { real: [] as number[], shuffled: [] as number[] };
    for (const seed of seeds) {
      const real = await trainAndWeigh((same) => same, seed);
      expect(real.live, `seed ${seed}`).toBeGreaterThan(0);
      gains.real.push(gainIn(real.weighed));
      gains.shuffled.push(gainIn((await trainAndWeigh(withShuffledRewards, seed)).weighed));
    }
    const mean = (of: readonly number[]) => of.reduce((sum, gain) => sum + gain, 0) / of.length;
    expect(Math.min(...gains.real)).toBeGreaterThan(Math.max(...gains.shuffled));
    expect(Math.abs(mean(gains.shuffled))).toBeLessThan(0.1);
  });

  it('is decided in one window: used tasks are not used again to look like more', async () => {
    const { weighed, windows } = await trainAndWeigh(withShuffledRewards, 4);
    const pairs = weighed.filter(({ type }) => type === 'pair-weighed').length;
    expect(windows).toBe(1);
    expect(pairs).toBeLessThanOrEqual(6 * echoTasks.length);
    expect(weighed.at(-1)).toMatchObject({ type: 'moved', moved: { to: 'rejected' } });
  });
});
