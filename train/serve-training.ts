import path from 'node:path';
import type { Log } from '../src/base/log.ts';
import { sleep } from '../src/base/sleep.ts';
import type { Clock } from '../src/core/clock.ts';
import type { LessonsApi } from '../src/core/daemon-api.ts';
import { errorMessage } from '../src/core/failure.ts';
import { compact, type JsonObject } from '../src/core/json.ts';
import type { Lesson } from '../src/core/lesson.ts';
import type { Job, JobContext } from '../src/core/schedule.ts';
import type { Records } from '../src/core/store.ts';
import type { RememberedRules, TaskSourceRef } from '../src/core/task-source.ts';
import { TrainingError } from '../src/core/training.ts';
import type { TrainingOutcome } from '../src/evidence/training-buffer.ts';
import { placeForModel } from '../src/text/model-size.ts';
import type { PracticeTrainingCalls } from './practice-training-calls.ts';
import { DEFAULT_PROMOTION, type PromotionSettings } from './promotion.ts';
import { countRatedSessions, type PromotionLog, readProposedAt } from './promotion-log.ts';
import { type CheckpointMoved, canaryOf, type PromotionState } from './promotion-stages.ts';
import { readingTasks } from './reading/reading-tasks.ts';
import { createRecordedTasks, type RecordedTasks, type RecordedTasksOptions } from './recorded-tasks.ts';
import { SHIPPED_QUESTIONS } from './regression-suite.ts';
import { createDaemonCalls, runTrainingThread } from './run-training-thread.ts';
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
  type PolicyEngine,
  type TrainingPlan,
  type TrainingRequest,
  type TrainSettings,
  type Tuning,
  tuningOf,
} from './training-plan.ts';
import { createTrainingView, describeVersions, sayRemembered, type TrainingView } from './training-status.ts';
import type { TrainingEvent } from './training-window.ts';
import { modelTuning, REMEMBERED_TASKS, type WindowSize, windowSize } from './window-size.ts';
import { findWindowSupply, type WindowSupply } from './window-supply.ts';

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
  /** The lessons that are shown now. */
  readonly lessons: RecordedTasksOptions['lessons'];
  /** When weights that were to keep a rule without its words last broke it; undefined: never. */
  readonly forgottenAt: (lesson: string) => number | undefined;
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

/** Tasks of the reading stage: about as many as its batches take. */
const READING_TASKS = 3_000;

/** Other tasks than those of the reading stage. */
const REPLAY_SEED = 3_000;
const GATE_SEED = 9_000;
/** Tasks of unseen values, forms and families each. */
const READING_GATE = 67;

const NOT_TRAINED = 'weights are not trained: nothing could measure them';

/** How long closing waits for a window to reach its next safe point. */
const GRACE_MS = 2_000;

/** What windows and sessions of practice share: one engine, whose weights one of them trains at a time. */
interface EngineTraining {
  readonly options: TrainingOptions;
  readonly engine: PolicyEngine;
  /** Where the engine's runs are kept. */
  readonly folder: string;
  readonly policy: ServedPolicy;
  readonly recorded: RecordedTasks;
  readonly stillKept: (remembered: RememberedRules) => ReadonlySet<string>;
  readonly view: TrainingView;
  trainedBy: RunningWindow | 'practice' | undefined;
}

interface RunningWindow {
  readonly stop: AbortController;
  readonly over: Promise<void>;
  /** Makes room for the next one. */
  end(): void;
}

/** Undefined when nothing is to be trained. */
export function serveTraining(options: TrainingOptions): ServedTraining | undefined {
  const { settings, clock, log, override = {}, engine } = options;
  if (engine === undefined) return undefined;
  const training = openEngineTraining(options, engine);
  const { policy } = training;
  let isClosed = false;
  const run: ServedTraining['run'] = (request, signal) => runWindow(training, request, signal);
  return {
    policy: Object.assign(policy, { name: engine.name }),
    run,
    practice: createPracticeCalls(training),
    job: (history) =>
      createTrainJob({
        run,
        get hasTasks() {
          const hasSource = override.tasks !== undefined || training.recorded.canGrade || settings.live;
          return hasSource && findCostFault(training) === undefined;
        },
        isUsed: () => options.isWorker === true || policy.answered() > 0,
        generation: options.generation,
        history,
        clock,
        settings: { steps: sizeOf(training).steps },
      }),
    describe: async () => {
      const { state } = await policy.promotions();
      return compact({
        engine: engine.name,
        engineState: engine.state(),
        answered: policy.answered(),
        ...describeVersions(engine.name, state(), options.home),
        remembers: describeMemory(training, state()),
        window: training.view.describe(),
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
      await stopWindow(training);
      await policy.close();
      await engine.close();
    },
  };
}

function openEngineTraining(options: TrainingOptions, engine: PolicyEngine): EngineTraining {
  const { settings, records, clock, log, hasSecret, override = {} } = options;
  const promotion: PromotionSettings = {
    ...DEFAULT_PROMOTION,
    ...override.promotion,
    get effect() {
      return override.promotion?.effect ?? settings.effect;
    },
  };
  const stillKept = createStillKept(options);
  return {
    options,
    engine,
    stillKept,
    folder: path.join(options.home.dir, 'train', engine.name),
    policy: servePolicy({
      engine,
      adapters: serveAdapters({ ...options, engine }),
      records,
      clock,
      log,
      promotion,
      hasSecret,
      stillKept,
      ...(override.policySeed === undefined ? {} : { seed: override.policySeed }),
    }),
    recorded: createRecordedTasks({
      get rows() {
        return options.learning.settings.verifiers;
      },
      lessons: options.lessons,
      records,
      decodeTurn: options.decodeTurn,
      now: clock.now,
    }),
    view: createTrainingView(),
    trainedBy: undefined,
  };
}

/** A rule that has ended, was changed, or was broken since it was measured is shown again, or stands in no prompt at all. */
function createStillKept({
  lessons,
  forgottenAt,
}: Pick<TrainingOptions, 'lessons' | 'forgottenAt'>): EngineTraining['stillKept'] {
  let known: readonly Lesson[] | undefined;
  let revisions: ReadonlyMap<string, number> = new Map();
  return ({ at, rules }) => {
    const shown = lessons();
    if (shown !== known) revisions = new Map(shown.map(({ id, revision }) => [id, revision]));
    known = shown;
    const isKept = ({ lesson, revision }: RememberedRules['rules'][number]): boolean =>
      revisions.get(lesson) === revision && (forgottenAt(lesson) ?? 0) <= at;
    return new Set(rules.filter(isKept).map(({ lesson }) => lesson));
  };
}

const describeMemory = (
  { options, stillKept }: EngineTraining,
  { live: { remembers } }: PromotionState,
): string | undefined => remembers && sayRemembered(remembers, options.lessons(), stillKept(remembers));

async function* runWindow(
  training: EngineTraining,
  request: TrainingRequest,
  signal: AbortSignal,
): AsyncGenerator<TrainingEvent> {
  const { options, engine, policy, view } = training;
  const { clock, log, override } = options;
  const { stop, end } = beginWindow(training, request);
  const both = AbortSignal.any([stop.signal, signal]);
  const tasks = request.tasks ?? override?.tasks;
  const reserve = request.reserve ?? (isFreeEngine(options.price) ? undefined : options.reserve);
  const supply = await findWindowSupply({
    tasks,
    settings: { live: options.settings.live, size: sizeOf(training) },
    recorded: training.recorded,
    folder: training.folder,
    generation: options.generation,
    readLive: async (query) => daemonCalls(training, await policy.promotions(), undefined, both).live(query),
    promotions: policy.promotions,
    gateTasks: options.gateTasks ?? (async () => 0),
    signal: both,
  });
  if (supply.is === 'nothing' || supply.is === 'unmeasurable') {
    end();
    if (supply.is === 'nothing') throw supply.fault;
    const { why } = supply;
    log.info({ why }, NOT_TRAINED);
    yield { type: 'not-trained', why };
    return;
  }
  const batches = planBatches(sizeOf(training), request, supply);
  view.begin(batches.steps);
  const cycle = beginTrainingCycle(engine.name, clock);
  try {
    const promotions = await policy.promotions();
    const shared = await planTraining(training, promotions);
    const plan: TrainingPlan = {
      ...shared,
      ...batches,
      ...(request.reading === true && { reading: planReading(training, shared.engine.baseModel) }),
      ...(request.remember === true && { remember: planRemembering(training, shared.engine.baseModel) }),
      ...(request.reading === true || request.remember === true ? planReadingGate(training, shared) : {}),
      ...(request.resume === undefined || engine.isEmbedded ? {} : { resume: request.resume }),
      ...(tasks === undefined ? {} : { tasks }),
      isBudgeted: reserve !== undefined,
      gateTasks: supply.gateTasks,
      ...(await canarySince(training, promotions)),
    };
    const calls = daemonCalls(training, promotions, reserve, both);
    for await (const event of runTrainingThread(plan, calls, both)) {
      view.hear(event);
      cycle.hear(event);
      logEvent(log, event);
      yield event;
    }
  } catch (error) {
    const why = errorMessage(error);
    view.fail(why);
    cycle.fail(why);
    throw error;
  } finally {
    await recordCycle(options, cycle, both.aborted);
    view.end();
    end();
  }
}

/** Throws a TrainingError when the weights are being trained, or the engine might cost more than a person has allowed. */
function beginWindow(training: EngineTraining, { reading, remember }: TrainingRequest): RunningWindow {
  if (training.trainedBy === 'practice')
    throw new TrainingError(
      'server',
      'a session of practice trains the weights; stop it with: instar practice stop',
    );
  if (training.trainedBy !== undefined) throw new TrainingError('user', 'weights are being trained already');
  if (reading === true && remember === true)
    throw new TrainingError('user', 'Reading comes before remembering: run them one after the other.');
  const fault = findCostFault(training) ?? (reading === true ? findReadingFault(training) : undefined);
  if (fault !== undefined) throw fault;
  let settle = (): void => undefined;
  const over = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const end = (): void => {
    training.trainedBy = undefined;
    settle();
  };
  training.trainedBy = { stop: new AbortController(), over, end };
  return training.trainedBy;
}

/** Writes in progress are finished; a window whose events nobody reads is not waited for. */
async function stopWindow({ trainedBy }: EngineTraining): Promise<void> {
  if (trainedBy === undefined || trainedBy === 'practice') return;
  trainedBy.stop.abort();
  const late = new AbortController();
  await Promise.race([trainedBy.over, sleep(GRACE_MS, late.signal)]);
  late.abort();
}

const findReadingFault = ({ engine }: EngineTraining): TrainingError | undefined =>
  engine.isEmbedded
    ? new TrainingError(
        'user',
        'The embedded policy has a vocabulary of its own and cannot learn to read lessons: set train.engine to a server.',
      )
    : undefined;

const findCostFault = ({ engine, options }: EngineTraining): TrainingError | undefined =>
  findUnlimitedCost(engine.name, options.price, options.hasTokenLimit());

const sizeOf = ({ options: { settings, override }, engine }: EngineTraining): WindowSize => ({
  ...windowSize(settings.amount, engine.isEmbedded),
  ...override?.tuning?.size,
});

/** How many batches a window trains, and of what. */
function planBatches(
  { steps: usual, groups, attempts }: WindowSize,
  request: TrainingRequest,
  supply: WindowSupply,
): Pick<TrainingPlan, 'steps' | 'batch' | 'isLiveOnly'> {
  // What is remembered is learned reply by reply: nothing is compared.
  const steps = request.remember === true ? 0 : (request.steps ?? usual);
  const size = groups * attempts;
  if (supply.is === 'live')
    return { steps: Math.min(steps, supply.steps), batch: { groups: 0, size }, isLiveOnly: true };
  return { steps, batch: { groups, size } };
}

/** The lessons stand where they stand in use for such a model. */
function planReading(
  { options, engine }: EngineTraining,
  baseModel: string,
): NonNullable<TrainingPlan['reading']> {
  const count = READING_TASKS;
  const place = placeForModel('auto', baseModel);
  return {
    tasks: readingTasks({ seed: options.override?.tuning?.seed ?? 1, count, place }),
    teachRate: modelTuning(baseModel, engine.isEmbedded).teachRate,
  };
}

/** What these stages may cost: lessons in view that decide, and files as they were asked for, on forms that were never trained. */
const planReadingGate = (
  { engine }: EngineTraining,
  { engine: { baseModel } }: Pick<TrainingPlan, 'engine'>,
): Pick<TrainingPlan, 'regressionTasks'> =>
  engine.isEmbedded
    ? {}
    : {
        regressionTasks: readingTasks({
          seed: GATE_SEED,
          count: 0,
          heldOut: READING_GATE,
          place: placeForModel('auto', baseModel),
          measured: { present: 4, contradicted: 3, absent: 2, irrelevant: 1 },
        }),
      };

/** Half of what is learned keeps the rest as it was. The embedded policy cannot read it: its own tasks do. */
function planRemembering(
  { options, engine }: EngineTraining,
  baseModel: string,
): NonNullable<TrainingPlan['remember']> {
  const count = REMEMBERED_TASKS[options.settings.amount];
  const place = placeForModel('auto', baseModel);
  const seed = (options.override?.tuning?.seed ?? 1) + REPLAY_SEED;
  const mix = { present: 5, contradicted: 3, absent: 1, irrelevant: 1 };
  const share = { count: Math.round(count * 0.28), plain: Math.round(count * 0.2) };
  return {
    count,
    rate: modelTuning(baseModel, engine.isEmbedded).rememberRate,
    at: options.clock.now(),
    ...(engine.isEmbedded ? {} : { replay: readingTasks({ seed, place, mix, ...share }) }),
  };
}

/** The part of the plan that a window and a session of practice share. The engine is up when this resolves. */
async function planTraining({ options, engine, folder }: EngineTraining, promotions: PromotionLog) {
  const { settings, records, clock, override, price } = options;
  const ratedSessions = await countRatedSessions(records, engine.name, clock.now() - WEEK_MS);
  const place = await engine.place();
  const { rank, ...suited } = modelTuning(place.engine.baseModel, engine.isEmbedded);
  return {
    ...place,
    folder,
    rank,
    tuning: tuningOf(settings, suited, override?.tuning),
    promotion: promotions.state(),
    turnedBack: promotions.turnedBack(),
    isThin: ratedSessions < THICK_TRAFFIC,
    regression: engine.regression ?? SHIPPED_QUESTIONS,
    ...(price === undefined ? {} : { price }),
  };
}

async function canarySince(
  { options, engine }: EngineTraining,
  { state }: PromotionLog,
): Promise<Pick<TrainingPlan, 'canarySince'>> {
  const canary = canaryOf(state());
  const at = canary && (await readProposedAt(options.records, engine.name, canary.served.version));
  return at === undefined ? {} : { canarySince: at };
}

const daemonCalls = (
  { options, engine, recorded, stillKept, policy }: EngineTraining,
  promotions: PromotionLog,
  reserve: TrainingRequest['reserve'],
  signal: AbortSignal,
): DaemonCalls =>
  createDaemonCalls({
    ...options,
    agent: options.override?.agent ?? 'unknown',
    recorded,
    stillKept,
    engine,
    appraised: options.learning.outcomes,
    promotions,
    budget: createStepBudget({ reserve, engine: engine.name }),
    moved: policy.moved,
    signal,
  });

function logEvent(log: Log, event: TrainingEvent): void {
  if (event.type === 'moved') logMove(log, event.moved);
  if (event.type === 'not-trained') log.info({ why: event.why }, NOT_TRAINED);
  if (event.type === 'weights-unfit') log.warn({ ...event }, 'the weights on trial cannot answer');
}

const logMove = (log: Log, moved: CheckpointMoved): void =>
  log.info({ ...moved }, `weights: version ${moved.version} is ${moved.to}`);

async function recordCycle(options: TrainingOptions, cycle: TrainingCycle, isAborted: boolean) {
  const { records, clock, learning, log } = options;
  try {
    const fact = cycle.end(options.generation(), isAborted);
    await records.append([{ at: Math.round(clock.now()), fact }]);
    learning.wake();
  } catch (error) {
    log.warn({ err: error }, 'the end of a training window could not be recorded');
  }
}

function createPracticeCalls(training: EngineTraining): PracticeTrainingCalls {
  const { options, engine, policy } = training;
  return {
    begin: async (model) => {
      if (model !== `instar/${engine.name}`) return undefined;
      if (training.trainedBy !== undefined)
        return {
          ok: false,
          why: 'weights are being trained already: nothing was trained in this session',
        };
      const fault = findCostFault(training);
      if (fault !== undefined) return { ok: false, why: fault.message };
      training.trainedBy = 'practice';
      try {
        const plan = await planTraining(training, await policy.promotions());
        const isBudgeted = !isFreeEngine(options.price);
        return { ok: true, plan: { ...plan, name: engine.name, isBudgeted } };
      } catch (error) {
        training.trainedBy = undefined;
        const why = errorMessage(error);
        return { ok: false, why: `weights are not trained: ${why}` };
      }
    },
    tell: async (event) => {
      const promotions = await policy.promotions();
      const moves = await promotions.tell(event);
      if (moves.length > 0) policy.moved();
      for (const moved of moves) logMove(options.log, moved);
      return { moves, promotion: promotions.state() };
    },
    shortage: async (clusters) => (await policy.promotions()).shortage(clusters),
    generation: async () => options.generation(),
    ...createStepBudget({ reserve: options.reserve, engine: engine.name }),
    end: async () => {
      if (training.trainedBy === 'practice') training.trainedBy = undefined;
    },
  };
}
