import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { asNumber, parseJson } from '../../src/core/json.ts';
import { TrainingError } from '../../src/core/training.ts';
import type { PromotionSettings } from '../../train/promotion.ts';
import type { ServedTraining } from '../../train/serve-training.ts';
import type { Tuning } from '../../train/training-plan.ts';
import type { TrainingEvent } from '../../train/training-window.ts';
import type { BenchEnvironment, NightResult, NightSteps } from './bench-environment.ts';
import { rulesOfSeed } from './workdays/rules/draw-rules.ts';
import { workdaysTasks } from './workdays/task-source.ts';

/** A night in progress. */
export interface NightInProgress {
  readonly night: Omit<NightResult, 'serving' | 'ms'>;
  /** Batches that have ended, however they ended. */
  readonly closed: ReadonlySet<string>;
  /** Why the weights may be promoted, once they may. */
  readonly measured?: string;
}

export const EMPTY_NIGHT: NightInProgress = {
  night: { steps: 0, pairs: 0, moves: [], attempts: 0, tokens: 0 },
  closed: new Set(),
};

/** Adds one event of the training. */
export function foldNight(open: NightInProgress, news: TrainingEvent): NightInProgress {
  const { night, closed } = open;
  const move = (words: string): NightInProgress['night'] => ({ ...night, moves: [...night.moves, words] });
  const close = (batch: string): ReadonlySet<string> => new Set(closed).add(batch);
  switch (news.type) {
    case 'step-trained':
    case 'step-idle': {
      const { seen } = news.report;
      const how = seen && { reward: seen.reward, completion: seen.completion ?? 0 };
      const steps = night.steps + Number(news.type === 'step-trained');
      const rewards = how === undefined ? {} : { first: night.first ?? how, last: how };
      const attempts = (night.attempts ?? 0) + news.report.rollouts;
      const tokens = (night.tokens ?? 0) + (news.report.start?.tokens ?? 0);
      return { ...open, night: { ...night, steps, attempts, tokens, ...rewards }, closed: close(news.batch) };
    }
    case 'step-refused':
      return { ...open, closed: close(news.batch) };
    case 'rolled-back':
      return {
        ...open,
        night: move(`rewards fell: rolled back to version ${news.to.version}`),
        closed: close(news.batch),
      };
    case 'stuck':
      return { ...open, night: move(`stuck: ${news.why}`) };
    case 'not-trained':
      return { ...open, night: move(news.why) };
    case 'pair-weighed': {
      const { pairs } = news;
      const means = { candidate: news.candidate / pairs, live: news.live / pairs };
      return { ...open, night: { ...night, pairs, ...means } };
    }
    case 'moved': {
      const { version, to, why } = news.moved;
      // Every night with training proposes a candidate: not worth reporting.
      if (to === 'candidate') return open;
      // A benchmark has no canary sessions: the measurement is the reason for serving.
      if (to === 'canary') return { ...open, measured: why };
      return { ...open, night: move(`version ${version} ${to}: ${open.measured ?? why}`) };
    }
    default:
      return open;
  }
}

export const nightSteps = ({ night, closed }: NightInProgress, steps: number): NightSteps => ({
  step: closed.size,
  steps,
  pairs: night.pairs,
});

export interface NightOptions {
  readonly steps: number;
  /** The rules of the run, as `--rules` names them. */
  readonly rules: string;
  readonly control?: Tuning['control'];
  readonly promotion?: Partial<PromotionSettings>;
  readonly tuning?: Omit<Tuning, 'control' | 'seed'>;
}

interface CreateNightOptions extends NightOptions {
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
export function createNight(options: CreateNightOptions): NonNullable<BenchEnvironment['night']> {
  const { training, generation, folder, seed, steps, rules, control } = options;
  const trainedFor = openNumber(path.join(folder, 'trained-for.json'));
  return async (day, signal, watch) => {
    const since = performance.now();
    // Without lessons the generation never changes: this control trains after every third day.
    const now = control === 'no-lessons' ? Math.floor(day / 3) : generation();
    const isNew = control === 'no-lessons' || now > 0 ? now !== trainedFor.get() : false;
    let open = EMPTY_NIGHT;
    if (isNew) {
      const place = WORLDS.perSeed * seed + WORLDS.perNight * day;
      const choice = { rules: rulesOfSeed(rules, seed), since: day };
      const tasks = workdaysTasks({
        train: { ...choice, split: 'train', seed: WORLDS.train + place, count: TASKS.train },
        heldOut: { ...choice, split: 'gate', seed: WORLDS.heldOut + place, count: TASKS.heldOut },
      });
      watch(nightSteps(open, steps));
      for await (const news of training.run({ steps, tasks }, signal)) {
        open = foldNight(open, news);
        watch(nightSteps(open, steps));
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

/** File tasks of one day of the suite. */
const TASKS_A_DAY = 11;

/**
 * The night after a day with what a deployment has: the product's training window on the tasks that the user gave so far, graded by
 * the checks that the user has for their own work. One recorded task in two is for measuring new weights. Checks of tasks that
 * nobody gave, and generated tasks, are not used.
 */
export function createServedNight(options: CreateNightOptions): NonNullable<BenchEnvironment['night']> {
  const { training, generation, folder, seed, steps, rules } = options;
  const trainedFor = openNumber(path.join(folder, 'trained-for.json'));
  return async (day, signal, watch) => {
    const since = performance.now();
    const now = generation();
    let open = EMPTY_NIGHT;
    // As the job does that trains at night: not again with the same lessons.
    if (now > 0 && now !== trainedFor.get()) {
      const count = TASKS_A_DAY * (day + 1);
      const recorded = { split: 'report', seed, count, rules: rulesOfSeed(rules, seed), since: day } as const;
      const tasks = workdaysTasks({
        train: { ...recorded, part: 'learn' },
        heldOut: { ...recorded, part: 'measure' },
      });
      watch(nightSteps(open, steps));
      try {
        for await (const news of training.run({ steps, tasks }, signal)) {
          open = foldNight(open, news);
          watch(nightSteps(open, steps));
        }
      } catch (error) {
        if (!(error instanceof TrainingError) || error.category !== 'user') throw error;
        open = { ...open, night: { ...open.night, moves: [`nothing was trained: ${error.message}`] } };
      }
      // A night that had too few tasks is made up for when there are more.
      if (open.night.steps > 0) trainedFor.set(now);
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
