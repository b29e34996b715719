import type { Bed, Night } from '../../bench/run/bed.ts';
import type { Config } from '../../config/schema.ts';
import type { PromotionSettings } from '../../train/promotion-settings.ts';
import type { ServedTraining } from '../training/serve-training.ts';
import type { Tuning } from '../training/training-plan.ts';

export interface NightOptions {
  readonly steps: number;
  /** `house`, `other`, or a file: the rules of the days. */
  readonly rules: string;
  readonly control?: Tuning['control'];
  readonly promotion?: Partial<PromotionSettings>;
  readonly tuning?: Omit<Tuning, 'control' | 'seed'>;
  readonly train?: Partial<Pick<Config['train'], 'batchSize' | 'groupSize' | 'loraRank'>>;
}

export interface CreateNight extends NightOptions {
  readonly seed: number;
  readonly training: ServedTraining;
  readonly generation: () => number;
}

/** Worlds for training and for measuring, of which no two seeds and no two nights share one. */
const WORLDS = { train: 1_000, heldOut: 5_000, perSeed: 100, perNight: 4 };
const TASKS = { train: 154, heldOut: 308 };

/**
 * A night after a day: weights are trained on tasks of the training split, under the rules that count by then, and with what
 * the library has learned by then. Where that is what it was at the last night, there is nothing new to train for.
 */
export function createNight(options: CreateNight): NonNullable<Bed['night']> {
  const { training, generation, seed, steps, rules, control } = options;
  let trainedFor: number | undefined;
  return async (day, signal) => {
    const since = performance.now();
    // Without lessons a generation never changes: such a control trains after every third day.
    const now = control === 'no-lessons' ? Math.floor(day / 3) : generation();
    const isNew = control === 'no-lessons' || now > 0 ? now !== trainedFor : false;
    trainedFor = now;
    const night: { -readonly [K in keyof Night]: Night[K] } = {
      steps: 0,
      pairs: 0,
      moves: [],
      serving: 0,
      ms: 0,
    };
    if (isNew) {
      const place = WORLDS.perSeed * seed + WORLDS.perNight * day;
      const choice = { rules, since: day };
      const tasks = {
        train: { ...choice, split: 'train', seed: WORLDS.train + place, count: TASKS.train },
        heldOut: { ...choice, split: 'gate', seed: WORLDS.heldOut + place, count: TASKS.heldOut },
      } as const;
      for await (const news of training.run({ steps, tasks }, signal)) {
        if (news.type === 'step-trained' || news.type === 'step-idle') {
          const { seen } = news.report;
          const how = seen && { reward: seen.reward, completion: seen.completion ?? 0 };
          if (how !== undefined) {
            night.first ??= how;
            night.last = how;
          }
          if (news.type === 'step-trained') night.steps++;
        } else if (news.type === 'pair-weighed') {
          night.pairs = news.pairs;
          night.candidate = news.candidate / news.pairs;
          night.live = news.live / news.pairs;
        } else if (news.type === 'moved')
          night.moves = [...night.moves, `version ${news.moved.version} ${news.moved.to}: ${news.moved.why}`];
        else if (news.type === 'stuck') night.moves = [...night.moves, `stuck: ${news.why}`];
        else if (news.type === 'rolled-back')
          night.moves = [...night.moves, `rewards fell: back to version ${news.to.version}`];
      }
    }
    night.serving = (await training.policy.promotions()).state().live.version;
    night.ms = Math.round(performance.now() - since);
    return night;
  };
}
