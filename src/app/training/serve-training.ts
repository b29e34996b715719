import path from 'node:path';
import type { Home } from '../../config/home.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/clock.ts';
import type { Job } from '../../core/job.ts';
import { compact, type JsonObject } from '../../core/json.ts';
import type { LessonsDesk } from '../../core/lessons-desk.ts';
import type { Records } from '../../core/records.ts';
import { TrainingError } from '../../core/training.ts';
import { sleep } from '../../models/sleep.ts';
import type { JobHistory } from '../../schedule/fold-job.ts';
import { DEFAULT_PROMOTION, type PromotionSettings } from '../../train/promotion-settings.ts';
import type { ServedLearning } from '../learning/serve-learning.ts';
import type { Log } from '../log.ts';
import { describeVersions } from './describe-versions.ts';
import { openPolicyEngine, type PolicyEngine } from './policy-engine.ts';
import type { Promotions } from './promotions.ts';
import { createRecordedTasks } from './recorded-tasks.ts';
import { runTrainingThread } from './run-training-thread.ts';
import { type ServeAdaptersOptions, serveAdapters } from './serve-adapters.ts';
import { type ServedPolicy, servePolicy } from './serve-policy.ts';
import type { TrainingDuties } from './thread-messages.ts';
import { createTrainJob } from './train-job.ts';
import type { TrainNews } from './train-weights.ts';
import { beginTrainingCycle, type TrainingCycle } from './training-cycle.ts';
import { createTrainingDuties } from './training-duties.ts';
import type { TrainingPlan, Tuning } from './training-plan.ts';
import { createTrainingView } from './training-view.ts';

export interface TrainingOptions {
  readonly settings: Config['train'];
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  /** To a server that answers in the engine's place. */
  readonly upstream: ServeAdaptersOptions['upstream'];
  readonly records: Records;
  readonly shelf: LessonsDesk;
  readonly generation: () => number;
  /** Who grades the answers of a domain, and what was learned from so far; it looks at the record when it is woken. */
  readonly learning: Pick<ServedLearning, 'samples' | 'wake'> & {
    readonly verifiers: Config['learn']['verifiers'];
  };
  readonly clock: Clock;
  readonly log: Log;
  readonly override?: TrainingOverride;
}

/** Other than what people get. For benchmarks and tests. */
export interface TrainingOverride {
  readonly promotion?: Partial<PromotionSettings>;
  readonly policySeed?: number;
  readonly tuning?: Tuning;
  /** Whose lessons are shown with the tasks. */
  readonly agent?: string;
  readonly engine?: PolicyEngine;
}

export interface TrainRequest {
  readonly steps?: number;
  readonly tasks?: TrainingPlan['tasks'];
}

/** The training of weights as the daemon has it. */
export interface ServedTraining {
  readonly policy: ServedPolicy & { readonly name: string };
  /** One window, now. At most one at a time: a second is refused. */
  run(request: TrainRequest, signal: AbortSignal): AsyncIterable<TrainNews>;
  readonly job: (history: (job: string) => Promise<JobHistory>) => Job;
  /** What `GET /api/train` adds. */
  describe(): Promise<JsonObject>;
  /** One stage on, or back, because a person says so. Answers with what moved. */
  move(to: 'promote' | 'rollback'): Promise<readonly JsonObject[]>;
  /** A person or a check has said how good a turn was, −1 to 1. */
  heard(session: string, score: number): Promise<void>;
  /** Starts the engine before it is needed. */
  warm(): void;
  close(): Promise<void>;
}

/** Tasks that can be checked without anyone: the training split of the workdays, and its gate to be measured on. */
const USUAL_TASKS: TrainingPlan['tasks'] = {
  train: { split: 'train', seed: 1000, count: 600 },
  heldOut: { split: 'gate', seed: 5000, count: 1000 },
};

/** For a window to come to its next safe place when we close. */
const GRACE_MS = 2_000;

/** Undefined when nothing is to be trained. */
export function serveTraining(options: TrainingOptions): ServedTraining | undefined {
  const { settings, records, clock, log, override = {} } = options;
  const opened = override.engine ?? openPolicyEngine(options);
  if (opened === undefined) return undefined;
  const engine: PolicyEngine = opened;
  const promotion = { ...DEFAULT_PROMOTION, ...override.promotion };
  const { policySeed } = override;
  const policy = servePolicy({
    engine,
    adapters: serveAdapters({ ...options, engine }),
    records,
    clock,
    log,
    promotion,
    ...(policySeed === undefined ? {} : { seed: policySeed }),
  });
  const view = createTrainingView();
  let running: { readonly stop: AbortController; readonly over: Promise<void> } | undefined;

  const recorded = createRecordedTasks({ rows: options.learning.verifiers, records, now: clock.now });
  const dutiesOf = (promotions: Promotions, signal: AbortSignal): TrainingDuties =>
    createTrainingDuties({
      ...options,
      agent: override.agent ?? 'unknown',
      recorded,
      samples: options.learning.samples,
      promotions,
      moved: policy.moved,
      signal,
    });
  const keepCycle = async (cycle: TrainingCycle, isAborted: boolean): Promise<void> => {
    try {
      const fact = cycle.end(options.generation(), isAborted);
      await records.append([{ at: Math.round(clock.now()), fact }]);
      options.learning.wake(0);
    } catch (error) {
      log.warn({ err: error }, 'the end of a window of training could not be kept');
    }
  };

  async function* run(request: TrainRequest, signal: AbortSignal): AsyncGenerator<TrainNews> {
    if (running !== undefined) throw new TrainingError('user', 'weights are being trained already');
    const stop = new AbortController();
    let end = (): void => undefined;
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    running = { stop, over };
    const { groupSize, batchSize, loraRank } = settings;
    const steps = request.steps ?? settings.steps;
    view.begin(steps);
    const cycle = beginTrainingCycle(engine.name, clock);
    const both = AbortSignal.any([stop.signal, signal]);
    try {
      const promotions = await policy.promotions();
      const plan: TrainingPlan = {
        ...(await engine.place()),
        folder: path.join(options.home.dir, 'train', engine.name),
        tasks: request.tasks ?? USUAL_TASKS,
        steps,
        rank: loraRank,
        batch: { groups: Math.max(1, Math.round(batchSize / groupSize)), size: batchSize },
        isLive: settings.live,
        tuning: override.tuning ?? {},
        promotion: promotions.state(),
        turnedBack: promotions.turnedBack(),
      };
      for await (const news of runTrainingThread(plan, dutiesOf(promotions, both), both)) {
        view.hear(news);
        cycle.hear(news);
        if (news.type === 'moved')
          log.info({ ...news.moved }, `weights: version ${news.moved.version} is ${news.moved.to}`);
        if (news.type === 'weights-unfit') log.warn({ ...news }, 'weights on trial cannot answer');
        yield news;
      }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      view.fail(why);
      cycle.fail(why);
      throw error;
    } finally {
      await keepCycle(cycle, both.aborted);
      view.end();
      running = undefined;
      end();
    }
  }

  return {
    policy: Object.assign(policy, { name: engine.name }),
    run,
    job: (history) =>
      createTrainJob({ run, policy, generation: options.generation, history, clock, settings }),
    describe: async () => {
      const { state } = await policy.promotions();
      return compact({
        engine: engine.name,
        engineState: engine.state(),
        ...describeVersions(engine.name, state(), options.home),
        window: view.describe(),
      });
    },
    move: async (to) => {
      const type = to === 'promote' ? 'person-promoted' : 'person-rolled-back';
      const moves = await (await policy.promotions()).tell({ type });
      policy.moved();
      return moves.map((moved) => compact({ ...moved }));
    },
    heard: async (session, score) => {
      // Nothing was served by the policy yet: there is nothing to hold this against.
      if (policy.answered() === 0) return;
      const moves = await (await policy.promotions()).tell({
        type: 'session-scored',
        session,
        score: (score + 1) / 2,
      });
      if (moves.length > 0) policy.moved();
    },
    warm: () =>
      void engine.connect().catch((error: unknown) => log.warn({ err: error }, 'the engine is not up yet')),
    close: async () => {
      if (running !== undefined) {
        running.stop.abort();
        // What it has begun to write it ends; one whose news nobody reads is not waited for.
        const late = new AbortController();
        await Promise.race([running.over, sleep(GRACE_MS, late.signal)]);
        late.abort();
      }
      await policy.close();
      await engine.close();
    },
  };
}
