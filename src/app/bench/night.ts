import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Bed } from '../../bench/run/bed.ts';
import { workdaysTasks } from '../../bench/workdays/task-source.ts';
import type { Config } from '../../config/schema.ts';
import { asNumber, parseJson } from '../../core/json.ts';
import type { PromotionSettings } from '../../train/promotion-settings.ts';
import type { ServedTraining } from '../training/serve-training.ts';
import type { Tuning } from '../training/training-plan.ts';
import { foldNight, NO_NIGHT, soFar } from './fold-night.ts';

export interface NightOptions {
  readonly steps: number;
  /** The rules of the days: `house`, `other`, or a file. */
  readonly rules: string;
  readonly control?: Tuning['control'];
  readonly promotion?: Partial<PromotionSettings>;
  readonly tuning?: Omit<Tuning, 'control' | 'seed'>;
  readonly train?: Partial<Pick<Config['train'], 'batchSize' | 'groupSize' | 'loraRank'>>;
}

export interface CreateNight extends NightOptions {
  /** Where this home keeps its training state; copied with the home. */
  readonly folder: string;
  readonly seed: number;
  readonly training: ServedTraining;
  readonly generation: () => number;
}

/** Worlds for training and for measuring: no two seeds and no two nights share one. */
const WORLDS = { train: 1_000, heldOut: 5_000, perSeed: 100, perNight: 4 };
const TASKS = { train: 154, heldOut: 308 };

/**
 * The night after a day: weights are trained on tasks of the training split, with the rules that count by then and the lessons
 * that the library has by then. If the library has not changed since the last night, there is nothing new to train for.
 */
export function createNight(options: CreateNight): NonNullable<Bed['night']> {
  const { training, generation, folder, seed, steps, rules, control } = options;
  const trainedFor = openNumber(path.join(folder, 'trained-for.json'));
  return async (day, signal, watch) => {
    const since = performance.now();
    // Without lessons the generation never changes: this control trains after every third day.
    const now = control === 'no-lessons' ? Math.floor(day / 3) : generation();
    const isNew = control === 'no-lessons' || now > 0 ? now !== trainedFor.get() : false;
    let open = NO_NIGHT;
    if (isNew) {
      const place = WORLDS.perSeed * seed + WORLDS.perNight * day;
      const choice = { rules, since: day };
      const tasks = workdaysTasks({
        train: { ...choice, split: 'train', seed: WORLDS.train + place, count: TASKS.train },
        heldOut: { ...choice, split: 'gate', seed: WORLDS.heldOut + place, count: TASKS.heldOut },
      });
      watch(soFar(open, steps));
      for await (const news of training.run({ steps, tasks }, signal)) {
        open = foldNight(open, news);
        watch(soFar(open, steps));
      }
      trainedFor.set(now);
    }
    return {
      ...open.night,
      serving: (await training.policy.promotions()).state().live.version,
      ms: Math.round(performance.now() - since),
    };
  };
}

/** A number in a file, so that a continued run knows it. */
function openNumber(file: string): { get(): number | undefined; set(value: number): void } {
  let value = existsSync(file) ? asNumber(parseJson(readFileSync(file, 'utf8'))) : undefined;
  return {
    get: () => value,
    set: (next) => {
      value = next;
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(file, JSON.stringify(next), { mode: 0o600 });
    },
  };
}
