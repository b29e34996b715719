import type { OpenTrainingOptions } from '../../train/open-training.ts';
import type { ServedTraining } from '../../train/serve-training.ts';
import { assignOwners } from '../api/assign-owners.ts';
import { createAttemptAccess } from '../api/attempt-access.ts';
import { enginePrice, hasTokenLimit, priceRules } from '../config/price-rules.ts';
import type { OpenAttemptAccess } from '../core/attempt-model.ts';
import type { PriceRules } from '../cost/prices.ts';
import { hasToolSucceeded } from '../evidence/tools/tool-outcome.ts';
import { GATEWAY_LIMITS } from '../gateway/admission.ts';
import { servePromptShortening } from '../gateway/shorten-prompts.ts';
import { sharedSchedule } from '../jobs/shared-work.ts';
import { createCompressor, LONG_PROMPT_TOKENS } from '../learn/compress/compressor.ts';
import { createPromptFiles } from '../learn/compress/prompt-files.ts';
import { createReflectionJob } from '../learn/identity/reflect.ts';
import { createConsolidationJob } from '../learn/memory/consolidation-job.ts';
import { createPracticeJob } from '../learn/practice/practice-job.ts';
import { createEarlierJob } from '../learn/recollect/index-earlier.ts';
import { localServerAddresses } from '../models/discover-local.ts';
import { PROVIDER_TIMEOUTS } from '../models/exchange.ts';
import { type ServedOverlays, serveOverlays } from '../overlays/serve-overlays.ts';
import { readStoredTurn } from '../record/stored-turn.ts';
import { serveSchedule } from '../schedule/serve-schedule.ts';
import type { DaemonBase, RecordAndKeys } from './record-and-keys.ts';
import { type ServedLearning, serveLearning } from './serve-learning.ts';
import { type ServedLessons, serveLessons } from './serve-lessons.ts';

export interface LibraryAndLearning {
  readonly library: ServedLessons;
  readonly overlays: ServedOverlays;
  readonly learning: ServedLearning;
  readonly prices: () => PriceRules;
  /** A way through the gateway for one attempt at a practice task. */
  readonly openAttempt: OpenAttemptAccess;
}

/** The library with what it changes in prompts and requests, and the thread that learns. */
export async function openLibraryAndLearning(
  base: DaemonBase,
  record: RecordAndKeys,
): Promise<LibraryAndLearning> {
  const { options, late, config, place, clock, newId, names } = base;
  const { home, env, log } = options;
  const { shared, jobs } = record;
  const { records } = record.recording;
  const library = await serveLessons({
    home,
    settings: config.library,
    usualModel: () => names.catalogue.resolve('default', 'openai-chat')[0]?.model ?? '',
    records,
    clock,
    newId,
    log,
    embed: options.embed,
    shared: shared?.prompts,
    isUnhurried: options.isUnhurried ?? false,
    recertify: async (moved) => late.learning?.recertify(moved) ?? [],
    statements: async (session) => late.learning?.statements(session) ?? [],
    recollect: async (query) => late.learning?.recollect(query) ?? [],
    checks: {
      isBehind: () => late.learning?.isBehind() ?? false,
      catchUp: async () => late.learning?.look(),
    },
  });
  late.library = library;
  await assignOwners({ home, env, records, library: library.library(), now: clock.now, log }).catch(
    (error: unknown) => log.warn({ err: error }, 'owners of lessons could not be assigned'),
  );
  record.keyAgents.reload();
  shared?.listen({ follow: library.follow, reload: record.followErasure, wake: record.onRecorded });
  const prices = () => priceRules(config, localServerAddresses(env));
  const overlays = serveOverlays({
    home: home.dir,
    library: library.library,
    records,
    lotOf: library.lotOf,
    settings: () => ({ retries: GATEWAY_LIMITS.retry.retries, ...PROVIDER_TIMEOUTS }),
    answersFlows: () => config.gateway.flows,
    hasSucceeded: hasToolSucceeded,
    router: { settings: () => config.router, served: () => late.learning?.served() ?? [] },
    catalogue: names.catalogue,
    prices,
    clock,
    log,
  });
  const openAttempt = createAttemptAccess({ keys: record.attemptKeys, records, clock, url: () => late.url });
  const learning = serveLearning({
    config,
    storeFile: home.storeFile,
    place,
    salt: record.salt,
    keys: record.keys,
    records,
    lessons: library.open,
    compareBlocks: library.compareBlocks,
    embed: library.embed,
    embedKept: library.embedKept,
    lessonsFor: library.lessonsFor,
    onWork: library.noteWork,
    training: () => late.training?.practice,
    openAttempt,
    catalogue: names.catalogue,
    jobs,
    work: options.work,
    prices,
    clock,
    log,
  });
  late.learning = learning;
  return { library, prices, overlays, openAttempt, learning };
}

export interface SlowParts {
  /** Undefined when nothing is to be trained. */
  readonly training: ServedTraining | undefined;
  readonly shortening: ReturnType<typeof servePromptShortening>;
  readonly schedule: ReturnType<typeof serveSchedule>;
}

/** Training, shorter prompts, and the schedule of the jobs that run while nobody works. */
export async function openSlowParts(
  base: DaemonBase,
  record: RecordAndKeys,
  parts: LibraryAndLearning,
): Promise<SlowParts> {
  const { options, late, config, clock, names, newId } = base;
  const { home, env, log } = options;
  const { library, learning } = parts;
  const { records, redactor } = record.recording;
  const training = await openTraining({
    config,
    settings: config.train,
    price: enginePrice(config.train),
    hasTokenLimit: () => hasTokenLimit(config, home.configFile),
    reserve: (most, work) => schedule.reserve(most, work),
    home,
    env,
    isWorker: options.work !== undefined,
    upstream: { exchange: base.exchange, retry: base.retry },
    records,
    decodeTurn: (turn) => readStoredTurn(turn, records, new Map()),
    lessonsApi: library.api,
    generation: () => library.library()?.generation ?? 0,
    lessons: () => library.library()?.shown(clock.now()) ?? [],
    forgottenAt: (lesson) => library.open()?.adherence().forgottenAt(lesson),
    hasSecret: redactor.hasSecret,
    learning: { settings: config.learn, outcomes: learning.outcomes, wake: learning.wake },
    clock,
    log,
    ...(options.training === undefined ? {} : { override: options.training }),
  });
  late.training = training;
  if (options.isWarm === true && names.describe().length === 0) training?.warm();
  const shortening = servePromptShortening({
    settings: config.learn,
    overTokens: LONG_PROMPT_TOKENS,
    open: () =>
      createCompressor({
        write: learning.shorten,
        cache: createPromptFiles(home.promptsDir),
        overTokens: LONG_PROMPT_TOKENS,
        now: () => clock.now(),
        journal: (note) => log.info(note),
      }),
    records,
    now: () => clock.now(),
  });
  const quiet = { command: learning.practice, when: () => config.practice.scheduled };
  const schedule = serveSchedule({
    settings: config.schedule,
    env,
    homeDir: home.dir,
    clock,
    newId,
    log,
    records,
    jobs: ({ history }) => [
      createConsolidationJob({ open: library.open, command: learning.practice, records }),
      createEarlierJob({ command: learning.practice }),
      createReflectionJob({ command: learning.practice }),
      createPracticeJob(quiet),
      ...(training === undefined ? [] : [training.job(history)]),
    ],
    ...(options.slowWork === undefined ? {} : { slowWork: options.slowWork }),
    ...sharedSchedule(record.jobs, learning.isLeader, options.work),
  });
  return { training, shortening, schedule };
}

/** Undefined when training is off: nothing of `train/` is loaded then. */
async function openTraining(options: OpenTrainingOptions): Promise<ServedTraining | undefined> {
  if (options.settings.engine === 'off') return undefined;
  return (await import('../../train/open-training.ts')).serveConfiguredTraining(options);
}
