import path from 'node:path';
import type { Log } from '../src/base/log.ts';
import { sleep } from '../src/base/sleep.ts';
import type { Clock } from '../src/core/clock.ts';
import type { LessonsApi } from '../src/core/daemon-api.ts';
import { compact, type JsonObject } from '../src/core/json.ts';
import type { Job, JobContext } from '../src/core/schedule.ts';
import type { Records } from '../src/core/store.ts';
import type { TaskSourceRef } from '../src/core/task-source.ts';
import { TrainingError } from '../src/core/training.ts';
import type { TrainingOutcome } from '../src/evidence/training-buffer.ts';
import { createDaemonCalls } from './daemon-calls.ts';
import type { PracticeTrainingCalls } from './practice-training-calls.ts';
import { DEFAULT_PROMOTION, type PromotionSettings } from './promotion.ts';
import { countRatedSessions, type PromotionLog, readProposedAt } from './promotion-log.ts';
import { canaryOf } from './promotion-stages.ts';
import { createRecordedTasks, type RecordedTasksOptions } from './recorded-tasks.ts';
import { SHIPPED_QUESTIONS } from './regression-suite.ts';
import { runTrainingThread } from './run-training-thread.ts';
import { type ServeAdaptersOptions, serveAdapters } from './serve-adapters.ts';
import { type ServedPolicy, servePolicy } from './serve-policy.ts';
import { createStepBudget, findUnlimitedCost, isFreeEngine, type StepPrice } from './step-budget.ts';
import {
  beginTrainingCycle,
  createTrainJob,
  type TrainingCycle,
  type TrainJobHistory,
} from './training-job.ts';
import {
  type DaemonCalls,
  groupsOf,
  LORA_RANK,
  type PolicyEngine,
  type TrainingPlan,
  type TrainingRequest,
  type TrainSettings,
  type Tuning,
  tuningOf,
} from './training-plan.ts';
import { createTrainingView, describeVersions } from './training-status.ts';
import type { TrainingEvent } from './training-window.ts';
import { createWindowSupply } from './window-supply.ts';

export interface TrainingOptions {
  readonly settings: TrainSettings;
  /** Undefined when nothing is to be trained. */
  readonly engine: PolicyEngine | undefined;
  /** What the engine charges; undefined when it is not known. */
  readonly price: StepPrice | undefined;
  /** Whether a person has limited the tokens of a day, so that a server of unknown price may be called. */
  readonly hasTokenLimit: () => boolean;
  /** The day's budget of background jobs. */
  readonly reserve: JobContext['reserve'];
  readonly home: { readonly dir: string };
  /** It serves nobody: gateways do, so whether the policy is asked is not known here. */
  readonly isWorker?: boolean;
  readonly env: NodeJS.ProcessEnv;
  /** To a server that answers in the engine's place. */
  readonly upstream: ServeAdaptersOptions['upstream'];
  readonly records: Records;
  readonly decodeTurn: RecordedTasksOptions['decodeTurn'];
  readonly lessonsApi: LessonsApi;
  readonly generation: () => number;
  /** Tasks on which a session of practice can measure this policy's weights, counted by origin; none by default. */
  readonly gateTasks?: () => Promise<number>;
  /** Whether a text contains a secret: its tokens are not kept then. */
  readonly hasSecret: (text: string) => boolean;
  /** The configured verifiers, the samples so far, and how to make learning read the record. */
  readonly learning: {
    readonly settings: { readonly verifiers: RecordedTasksOptions['rows'] };
    readonly outcomes: () => readonly TrainingOutcome[];
    readonly wake: () => void;
  };
  readonly clock: Clock;
  readonly log: Log;
  readonly override?: TrainingOverride;
}

/** Deviations from the product's behaviour, for benchmarks and tests. */
export interface TrainingOverride {
  readonly promotion?: Partial<PromotionSettings>;
  readonly policySeed?: number;
  readonly tuning?: Tuning;
  /** The agent whose lessons are shown with tasks that belong to nobody. */
  readonly agent?: string;
  /** Tasks besides the recorded ones. */
  readonly tasks?: TaskSourceRef;
}

/** Training in the daemon: windows, promotions and the served policy. */
export interface ServedTraining {
  readonly policy: ServedPolicy & { readonly name: string };
  /** Runs one window now. Only one at a time: a second is refused. */
  run(request: TrainingRequest, signal: AbortSignal): AsyncIterable<TrainingEvent>;
  readonly job: (history: (job: string) => Promise<TrainJobHistory>) => Job;
  /** The training part of `GET /api/train`. */
  describe(): Promise<JsonObject>;
  /** Promotes or rolls back by one stage on a person's request. Returns the moves. */
  move(to: 'promote' | 'rollback'): Promise<readonly JsonObject[]>;
  /** Training in sessions of practice. One session at a time, and no window meanwhile. */
  readonly practice: PracticeTrainingCalls;
  /** A person or a verifier scored a turn of the session, −1 to 1. */
  heard(session: string, score: number): Promise<void>;
  /** Starts the engine before it is needed. */
  warm(): void;
  close(): Promise<void>;
}

/** From as many rated sessions in a week on, they decide about a canary: one in ten is its own. */
const THICK_TRAFFIC = 60;
const WEEK_MS = 7 * 24 * 3_600_000;

const NOT_TRAINED = 'weights are not trained: nothing could measure them';

/** How long closing waits for a window to reach its next safe point. */
const GRACE_MS = 2_000;

/** Undefined when nothing is to be trained. */
export function serveTraining(options: TrainingOptions): ServedTraining | undefined {
  const { settings, records, clock, log, override = {} } = options;
  if (options.engine === undefined) return undefined;
  const { engine } = options;
  const promotion: PromotionSettings = {
    ...DEFAULT_PROMOTION,
    ...override.promotion,
    get effect() {
      return override.promotion?.effect ?? settings.effect;
    },
  };
  const { policySeed } = override;
  const policy = servePolicy({
    engine,
    adapters: serveAdapters({ ...options, engine }),
    records,
    clock,
    log,
    promotion,
    hasSecret: options.hasSecret,
    ...(policySeed === undefined ? {} : { seed: policySeed }),
  });
  const view = createTrainingView();
  const folder = path.join(options.home.dir, 'train', engine.name);
  let running: { readonly stop: AbortController; readonly over: Promise<void> } | undefined;
  let isClosed = false;
  let isPractising = false;

  const recorded = createRecordedTasks({
    get rows() {
      return options.learning.settings.verifiers;
    },
    records,
    decodeTurn: options.decodeTurn,
    now: clock.now,
  });
  const dutiesOf = (
    promotions: PromotionLog,
    reserve: TrainingRequest['reserve'],
    signal: AbortSignal,
  ): DaemonCalls =>
    createDaemonCalls({
      ...options,
      agent: override.agent ?? 'unknown',
      recorded,
      engine,
      appraised: options.learning.outcomes,
      promotions,
      budget: createStepBudget({ reserve, engine: engine.name }),
      moved: policy.moved,
      signal,
    });
  const keepCycle = async (cycle: TrainingCycle, isAborted: boolean): Promise<void> => {
    try {
      const fact = cycle.end(options.generation(), isAborted);
      await records.append([{ at: Math.round(clock.now()), fact }]);
      options.learning.wake();
    } catch (error) {
      log.warn({ err: error }, 'the end of a training window could not be recorded');
    }
  };

  const priced = options.price === undefined ? {} : { price: options.price };
  const isFree = isFreeEngine(options.price);
  const findFault = (): TrainingError | undefined =>
    findUnlimitedCost(engine.name, options.price, options.hasTokenLimit());

  const findSupply = createWindowSupply({
    settings,
    recorded,
    folder,
    generation: options.generation,
    readLive: async (query, signal) => dutiesOf(await policy.promotions(), undefined, signal).live(query),
    promotions: policy.promotions,
    gateTasks: options.gateTasks ?? (async () => 0),
  });

  async function* run(request: TrainingRequest, signal: AbortSignal): AsyncGenerator<TrainingEvent> {
    if (running !== undefined) throw new TrainingError('user', 'weights are being trained already');
    if (isPractising)
      throw new TrainingError(
        'server',
        'a session of practice trains the weights; stop it with: instar practice stop',
      );
    const fault = findFault();
    if (fault !== undefined) throw fault;
    const tasks = request.tasks ?? override.tasks;
    const reserve = request.reserve ?? (isFree ? undefined : options.reserve);
    const stop = new AbortController();
    let end = (): void => undefined;
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    running = { stop, over };
    const both = AbortSignal.any([stop.signal, signal]);
    const supply = await findSupply(tasks, both).catch((fault: Error) => ({ is: 'nothing' as const, fault }));
    if (supply.is === 'nothing' || supply.is === 'unmeasurable') {
      running = undefined;
      end();
      if (supply.is === 'nothing') throw supply.fault;
      const { why } = supply;
      log.info({ why }, NOT_TRAINED);
      yield { type: 'not-trained', why };
      return;
    }
    const { batchSize } = settings;
    const asked = request.steps ?? settings.steps;
    const isLiveOnly = supply.is === 'live';
    const steps = isLiveOnly ? Math.min(asked, supply.steps) : asked;
    const groups = isLiveOnly ? 0 : groupsOf(batchSize);
    view.begin(steps);
    const cycle = beginTrainingCycle(engine.name, clock);
    try {
      const promotions = await policy.promotions();
      const plan: TrainingPlan = {
        ...(await engine.place()),
        folder,
        ...(request.resume === undefined || engine.isEmbedded ? {} : { resume: request.resume }),
        ...(tasks === undefined ? {} : { tasks }),
        steps,
        rank: LORA_RANK,
        batch: { groups, size: batchSize },
        isLive: settings.live,
        isDistilled: settings.distill,
        ...(isLiveOnly ? { isLiveOnly: true } : {}),
        isBudgeted: reserve !== undefined,
        ...priced,
        tuning: tuningOf(settings, override.tuning),
        promotion: promotions.state(),
        turnedBack: promotions.turnedBack(),
        gateTasks: supply.gateTasks,
        ...(await canarySince(promotions)),
        ...(await measuredWith()),
      };
      for await (const news of runTrainingThread(plan, dutiesOf(promotions, reserve, both), both)) {
        view.hear(news);
        cycle.hear(news);
        if (news.type === 'moved')
          log.info({ ...news.moved }, `weights: version ${news.moved.version} is ${news.moved.to}`);
        if (news.type === 'not-trained') log.info({ why: news.why }, NOT_TRAINED);
        if (news.type === 'weights-unfit') log.warn({ ...news }, 'the weights on trial cannot answer');
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

  const canarySince = async ({ state }: PromotionLog): Promise<Pick<TrainingPlan, 'canarySince'>> => {
    const canary = canaryOf(state());
    const at = canary && (await readProposedAt(records, engine.name, canary.served.version));
    return at === undefined ? {} : { canarySince: at };
  };

  /** What new weights are measured with besides tasks. */
  const measuredWith = async (): Promise<Pick<TrainingPlan, 'regression' | 'isThin'>> => {
    const rated = await countRatedSessions(records, engine.name, clock.now() - WEEK_MS);
    return { isThin: rated < THICK_TRAFFIC, regression: engine.regression ?? SHIPPED_QUESTIONS };
  };

  /** Why a session of practice may not train now. */
  const whyUntrained = (): string | undefined => {
    if (running !== undefined || isPractising)
      return 'weights are being trained already: nothing was trained in this session';
    return findFault()?.message;
  };
  const practice: PracticeTrainingCalls = {
    begin: async (model) => {
      if (model !== `instar/${engine.name}`) return undefined;
      const why = whyUntrained();
      // Looked at again: a window may have begun meanwhile.
      if (why !== undefined || running !== undefined) return why ?? whyUntrained();
      isPractising = true;
      try {
        const promotions = await policy.promotions();
        return {
          ...(await engine.place()),
          name: engine.name,
          folder,
          rank: LORA_RANK,
          tuning: tuningOf(settings, override.tuning),
          promotion: promotions.state(),
          turnedBack: promotions.turnedBack(),
          isBudgeted: !isFree,
          ...priced,
          ...(await measuredWith()),
        };
      } catch (error) {
        isPractising = false;
        return `weights are not trained: ${error instanceof Error ? error.message : String(error)}`;
      }
    },
    tell: async (event) => {
      const promotions = await policy.promotions();
      const moves = await promotions.tell(event);
      if (moves.length > 0) policy.moved();
      for (const moved of moves) log.info({ ...moved }, `weights: version ${moved.version} is ${moved.to}`);
      return { moves, promotion: promotions.state() };
    },
    shortage: async (clusters) => (await policy.promotions()).shortage(clusters),
    generation: async () => options.generation(),
    ...createStepBudget({ reserve: options.reserve, engine: engine.name }),
    end: async () => {
      isPractising = false;
    },
  };

  return {
    policy: Object.assign(policy, { name: engine.name }),
    run,
    practice,
    job: (history) =>
      createTrainJob({
        run,
        get hasTasks() {
          const isFed = override.tasks !== undefined || recorded.canGrade || settings.live;
          return isFed && findFault() === undefined;
        },
        isUsed: () => options.isWorker === true || policy.answered() > 0,
        generation: options.generation,
        history,
        clock,
        settings,
      }),
    describe: async () => {
      const { state } = await policy.promotions();
      return compact({
        engine: engine.name,
        engineState: engine.state(),
        answered: policy.answered(),
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
      // The policy has not answered yet: there is nothing to compare.
      if (policy.answered() === 0) return;
      const moves = await (await policy.promotions()).tell({
        type: 'session-scored',
        session,
        score: (score + 1) / 2,
      });
      if (moves.length > 0) policy.moved();
    },
    warm: () =>
      void engine.connect().catch((error: unknown) => {
        if (!isClosed) log.warn({ err: error }, 'the engine is not up yet');
      }),
    close: async () => {
      isClosed = true;
      if (running !== undefined) {
        running.stop.abort();
        // Writes in progress are finished; a window whose events nobody reads is not waited for.
        const late = new AbortController();
        await Promise.race([running.over, sleep(GRACE_MS, late.signal)]);
        late.abort();
      }
      await policy.close();
      await engine.close();
    },
  };
}
