import path from 'node:path';
import type { Log } from '../../../src/base/log.ts';
import { sleep } from '../../../src/base/sleep.ts';
import { openHome } from '../../../src/config/home.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { EmbeddingModel } from '../../../src/core/recall.ts';
import { TrainingError } from '../../../src/core/training.ts';
import { createPolicyAttempts } from '../../../train/policy-attempts.ts';
import { openPolicyEngine } from '../../../train/policy-engine.ts';
import { createPracticeTraining } from '../../../train/practice-training.ts';
import { DEFAULT_PROMOTION } from '../../../train/promotion.ts';
import { openPromotionLog } from '../../../train/promotion-log.ts';
import type { PolicyEngine } from '../../../train/training-plan.ts';
import { LORA_RANK } from '../../../train/training-plan.ts';
import { makeCuratedWork } from '../../suites/workdays/curated-tasks.ts';
import { rulesOfSeed, UNTUNED_RULES } from '../../suites/workdays/drawn-rules.ts';
import { openRules } from '../../suites/workdays/rules/open-rules.ts';
import type { HouseRule } from '../../suites/workdays/rules/rule-set.ts';
import type { Split } from '../../suites/workdays/world.ts';
import { type ArmRow, giftsOf, measureArm, provenGift } from './arms.ts';
import {
  countSpread,
  type NightEnd,
  type NightSize,
  runLessonTrials,
  runNight,
  type SpreadCount,
  type TrialsEnd,
} from './night.ts';
import { openPracticeHome } from './practice-home.ts';
import { createWorkAttempts } from './work-attempts.ts';

/** How much is measured for each seed. */
export interface SeedSize extends NightSize {
  /** Tasks of the report split. */
  readonly report: number;
  /** Tasks of the gate split, the most pairs for each lesson on trial, and the most attempts of all trials. */
  readonly gate: number;
  readonly pairs: number;
  readonly trialAttempts: number;
  /** Tasks without anything that was said before, to see whether attempts at them differ. */
  readonly bare: number;
}

interface SeedParts {
  readonly seed: number;
  readonly size: SeedSize;
  /** A new folder for the home of this seed. */
  readonly folder: string;
  readonly embed: EmbeddingModel;
  readonly log: Log;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Everything that was measured for one seed. */
export interface SeedResult {
  readonly seed: number;
  readonly rules: readonly HouseRule[];
  readonly bare: SpreadCount;
  readonly night: NightEnd;
  readonly trials: TrialsEnd;
  readonly rows: readonly ArmRow[];
  /** Recalls by the engine that answered them. */
  readonly engines: Readonly<Record<string, number>>;
  readonly ms: number;
}

/** The first world of each part: no two parts, and no two seeds, share one. */
const WORLDS: Readonly<Record<'night' | 'bare' | 'gate' | 'report', readonly [Split, number]>> = {
  night: ['train', 20_000],
  bare: ['train', 25_000],
  gate: ['gate', 20_000],
  report: ['report', 20_000],
};
const WORLDS_PER_SEED = 20;
const AGENT = 'bench-practice';
/** Tasks before each task of the night, with what the user said to them. */
const EARLIER = 2;

const MOST_TRIES = 5;

/** Several engines begin at the same time, and may want the same port. */
async function connectPatiently(
  engine: PolicyEngine,
  signal: AbortSignal,
): ReturnType<PolicyEngine['connect']> {
  for (let tries = 1; ; tries++)
    try {
      return await engine.connect();
    } catch (error) {
      if (!(error instanceof TrainingError) || tries >= MOST_TRIES) throw error;
      await sleep(1000 * tries, signal);
    }
}

/** The rules of the seed, an empty library and the weights that ship; a night, the arms, the trials. */
export async function measureSeed(parts: SeedParts): Promise<SeedResult> {
  const { seed, size, folder, embed, log, say, signal } = parts;
  const since = performance.now();
  const rules = openRules(rulesOfSeed(UNTUNED_RULES, seed));
  const workOf = (part: keyof typeof WORLDS, count: number, earlier = 0) => {
    const [split, first] = WORLDS[part];
    const world = first + WORLDS_PER_SEED * seed;
    return makeCuratedWork({ split, seed: world, count, rules, agent: AGENT, earlier });
  };
  const work = {
    night: workOf('night', size.tasks, EARLIER),
    bare: workOf('bare', size.bare),
    gate: workOf('gate', size.gate),
    report: workOf('report', size.report),
  };
  const home = await openPracticeHome(folder, embed);
  const engine = openPolicyEngine({
    settings: { ...home.config.train, engine: 'nano' },
    home: openHome(path.join(folder, 'engine')),
    env: process.env,
    clock: systemClock,
    log,
  });
  if (engine === undefined) throw new Error('the embedded engine is off');
  const template = await engine.template();
  const connection = await connectPatiently(engine, signal);
  const base = await connection.openSampler(undefined);
  const training = createPracticeTraining({
    engine: connection,
    template,
    name: 'nano',
    promotions: await openPromotionLog({
      engine: 'nano',
      records: home.records,
      clock: systemClock,
      settings: DEFAULT_PROMOTION,
    }),
    folder: path.join(folder, 'train'),
    generation: async () => home.library.generation,
    rank: LORA_RANK,
    seed,
    signal,
  });
  const shipped = createPolicyAttempts({
    template,
    name: 'nano',
    weights: async () => ({ version: 0, sampler: base, release: () => undefined }),
  });
  const newest = createPolicyAttempts({ template, name: 'nano', weights: training.weights });
  const attempts = createWorkAttempts({
    work: Object.values(work).flat(),
    agents: new Map([
      ['newest', newest],
      ['base', shipped],
    ]),
    clock: systemClock,
  });
  try {
    const bare = await countSpread({ work: work.bare, attempts, size, seed, signal });
    say(`without anything said before, ${bare.differing} of ${bare.groups} groups differ`);
    const night = await runNight({ home, training, attempts, work: work.night, size, seed, say, signal });
    say(`night: ${night.lessons.length} lessons, ${minutes(night.ms)}`);
    const tokens = Math.floor((night.tokens.attempts + night.tokens.learner) / size.report);
    const rows: ArmRow[] = [];
    const measure = async (arm: ArmRow['arm'], gift: Parameters<typeof measureArm>[0]['gift']) => {
      const began = performance.now();
      const measured = await measureArm({ seed, arm, gift, work: work.report, attempts, signal });
      rows.push(...measured);
      const complete = measured.filter(({ isComplete }) => isComplete).length;
      say(`${arm}: ${complete} of ${measured.length} complete, ${minutes(performance.now() - began)}`);
    };
    for (const [arm, gift] of giftsOf({ ...home, ...night, tokens })) await measure(arm, gift);
    const trials = await runLessonTrials({
      home,
      attempts,
      gate: work.gate,
      pairs: size.pairs,
      most: size.trialAttempts,
      seed,
      signal,
    });
    say(`trials: ${trials.verdicts.size} of ${night.lessons.length} decided, ${minutes(trials.ms)}`);
    const isHelpful = (id: string): boolean => trials.verdicts.get(id)?.outcome === 'helpful';
    await measure('proven', provenGift(home.lessonsFor, night.lessons, isHelpful));
    const engines = Object.fromEntries(home.engines.byEngine);
    return { seed, rules: rules.rules, bare, night, trials, rows, engines, ms: performance.now() - since };
  } finally {
    await attempts.close();
    await training.close();
    await base.close();
    await engine.close();
    await home.close();
  }
}

const minutes = (ms: number): string => `${(ms / 60_000).toFixed(1)} min`;
