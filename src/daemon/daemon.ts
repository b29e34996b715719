import { isDeepStrictEqual } from 'node:util';
import type { OpenTrainingOptions } from '../../train/open-training.ts';
import type { ServedTraining, TrainingOverride } from '../../train/serve-training.ts';
import type { withTrainingSupply } from '../../train/training-supply.ts';
import { createAdaptApi } from '../api/adapt-api.ts';
import { withErasedFiles } from '../api/after-erasure.ts';
import { assignOwners } from '../api/assign-owners.ts';
import { createAttemptAccess } from '../api/attempt-access.ts';
import { createConsolidateApi, createLibraryJobs } from '../api/consolidate-api.ts';
import { createKeysApi } from '../api/keys-api.ts';
import { createApisFor } from '../api/member-apis.ts';
import { servePage } from '../api/page/serve-page.ts';
import { withShortIds } from '../api/short-ids.ts';
import { createStoreApi } from '../api/store-api.ts';
import { takeHome } from '../api/take-home.ts';
import { createTrainingApi, scoreCanarySessions } from '../api/training-api.ts';
import { learningOf, withWaiting } from '../api/what-waits.ts';
import { systemBoot } from '../base/boot-clock.ts';
import { createIds } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { VERSION } from '../base/package.ts';
import { sleep } from '../base/sleep.ts';
import { isForbiddenHost } from '../config/address.ts';
import { followSharedSettings } from '../config/follow-shared-settings.ts';
import type { Home } from '../config/home.ts';
import { openKeyAgents } from '../config/key-agents.ts';
import { createLiveSettings, type LiveSettings } from '../config/live-settings.ts';
import { readModelKeys, withFormerKeys } from '../config/own-keys.ts';
import { enginePrice, hasTokenLimit, priceRules } from '../config/price-rules.ts';
import type { Config } from '../config/schema.ts';
import { openValidKeys } from '../config/valid-keys.ts';
import type { OpenAttemptAccess } from '../core/attempt-model.ts';
import type { ChatModel } from '../core/chat.ts';
import { CLIENT_NAMES } from '../core/client-name.ts';
import { type BootClock, type Clock, systemClock } from '../core/clock.ts';
import type { DaemonApi } from '../core/daemon-api.ts';
import { compact, type JsonObject } from '../core/json.ts';
import type { OverlayQuery } from '../core/overlay.ts';
import type { EmbeddingModel } from '../core/recall.ts';
import { hasToolSucceeded } from '../evidence/tools/tool-outcome.ts';
import { checkVerifiers } from '../evidence/verifiers/registry.ts';
import { createAuthorizer, isLoopbackName } from '../gateway/access-control.ts';
import { createAdmission, watchAdmission } from '../gateway/admission.ts';
import { withAttemptKeys } from '../gateway/attempt-keys.ts';
import { reportChecks } from '../gateway/check-reply.ts';
import type { GatewayContext } from '../gateway/context.ts';
import { createGateway } from '../gateway/gateway.ts';
import { countPersons, createIdentify, createPersonHash, createPersonOf } from '../gateway/identify.ts';
import { type GatewayLimits, limitsOf } from '../gateway/limits.ts';
import { createMetrics } from '../gateway/metrics.ts';
import { createProviderAccount } from '../gateway/provider-account.ts';
import { createSessionMatcher } from '../gateway/session-matcher.ts';
import { servePromptShortening, withShortenedPrompts } from '../gateway/shorten-prompts.ts';
import { logTurn, NOTHING_SHOWN, overlayQueryOf } from '../gateway/turn.ts';
import { openJobs } from '../jobs/open-jobs.ts';
import { sharedSchedule, type WorkKinds } from '../jobs/shared-work.ts';
import { createCompressor } from '../learn/compress/compressor.ts';
import { createPromptFiles } from '../learn/compress/prompt-files.ts';
import { createReflectionJob } from '../learn/identity/reflection-job.ts';
import { createPracticeApi, createPracticeJob } from '../learn/practice/practice-job.ts';
import { withDateWitness } from '../models/date-witness.ts';
import { localServerAddresses } from '../models/discover-local.ts';
import { createExchange } from '../models/exchange.ts';
import { serveOverlays } from '../overlays/serve-overlays.ts';
import { createAudit } from '../record/audit-trail.ts';
import { createWorkTreeKeeper } from '../record/keep-work-trees.ts';
import { recordSessionEnd, withAppendListener } from '../record/open-recording.ts';
import { placeOfRecord } from '../record/open-store.ts';
import { shareRecord } from '../record/share-record.ts';
import { readStoredTurn } from '../record/stored-turn.ts';
import { openTrustedClock } from '../record/trusted-clock.ts';
import { type SlowWork, serveSchedule } from '../schedule/serve-schedule.ts';
import { openTracedRecording } from '../traces/traced-recording.ts';
import { openCatalogue } from './catalogue.ts';
import { createDeferredPolicy } from './deferred-policy.ts';
import { openTeam } from './open-team.ts';
import { type ServedLearning, serveLearning } from './serve-learning.ts';
import { serveLessons } from './serve-lessons.ts';

export interface Daemon {
  readonly url: string;
  readonly port: number;
  /** When all that was recorded so far has been learned from, and what was learned can be recalled. */
  settle(): Promise<void>;
  /** Undefined when nothing is to be trained. */
  readonly training: ServedTraining | undefined;
  /** What prompts may contain now. */
  generation(): number;
  /** Milliseconds that turns have waited for models so far. */
  modelMs(): number;
  /** A way through the gateway for one attempt at a practice task. */
  readonly openAttempt: OpenAttemptAccess;
  /** A path of `url` that signs a browser in on the page, once; undefined without a page. */
  pageCode(): string | undefined;
  /** Drains running streams, then lets go of everything. */
  close(): Promise<void>;
}

export interface DaemonOptions {
  readonly home: Home;
  readonly config: Config;
  /** In place of `config`: settings that can change while the daemon runs. */
  readonly settings?: LiveSettings;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
  /** Instead of the configured one; 0 picks a free one. */
  readonly port?: number;
  /** Models that are functions of this process, by name. They need Instar's key. */
  readonly models?: Readonly<Record<string, ChatModel>>;
  /** Recall waits for the sentence model however long it takes. For benchmarks. */
  readonly isUnhurried?: boolean;
  /** A sentence model that several daemons of this process share; its owner closes it. */
  readonly embed?: EmbeddingModel;
  readonly slowWork?: SlowWork;
  readonly training?: TrainingOverride;
  /** Whether the embedded engine is started before it is asked for. */
  readonly isWarm?: boolean;
  /** A worker: it listens nowhere, and does this of the work that the processes of a store share. */
  readonly work?: WorkKinds | undefined;
  /** Instead of the clocks of this machine. */
  readonly clocks?: { readonly clock: Clock; readonly boot: BootClock };
}

const GRACE_MS = 30_000;

/** Everything that `instar up` runs, wired together. Rejects when the port is taken. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { home, env, log, port, models = {} } = options;
  const live = options.settings ?? createLiveSettings(options);
  const { config } = live;
  const { gateway: settings } = config;
  await checkVerifiers(config.learn.verifiers);
  const place = placeOfRecord(home, config.store);
  const lock = takeHome(home, place, log);
  const { clocks = { clock: systemClock, boot: systemBoot } } = options;
  const clock = openTrustedClock({ home, ...clocks, log });
  const [startedAt, begunAt] = [clock.now(), clock.monotonic()];
  const pool = createExchange({ timeouts: () => settings.timeouts, isForbiddenAddress: isForbiddenHost });
  const limits = limitsOf(settings);
  const retry = { rule: () => limits.retry, random: Math.random, sleep };
  const exchange = withDateWitness(pool.exchange, clock);
  let training: ServedTraining | undefined;
  const policy = createDeferredPolicy(config.train, () => training?.policy);
  const names = await openCatalogue({ config, env, home, exchange, clock, retry, models, policy, log });
  const newId = createIds(clock);
  const { salt, gateway, follow } = await shareRecord({ place, home, clock, newId, log });
  const callers = openValidKeys(home, env, clock);
  const persons = countPersons(createPersonHash(salt));
  const keyAgents = openKeyAgents({ home, env, clock, log });
  const modelKeys = withFormerKeys(live, (now) => readModelKeys(now, { env, home }));
  const keys = () => [...callers.texts(), ...modelKeys()];
  const followLibrary = async (session?: string): Promise<void> => library.followErasure(session);
  const onExpired = (): void =>
    void followLibrary().catch((error: unknown) =>
      log.warn({ err: error }, 'expired sessions: a file kept text'),
    );
  let learning: ServedLearning | undefined;
  const onRecorded = (turns: number): void => learning?.wake(turns);
  const jobs = openJobs({ place, clock, newId });
  const recorded = { home, place, salt, gateway, settings: config.store, keys, clock, log };
  const traced = { ...recorded, onExpired, onRecorded };
  const recording = openTracedRecording(traced, config, env, () => library.open()?.library);
  const { redactor } = recording;
  const storeApi = createStoreApi(
    withErasedFiles(recording.records, { promptsDir: home.promptsDir, followLibrary, jobs: jobs.queue }),
    clock.now,
  );
  const shared = await follow(recording.recorder.append);
  const sessions = createSessionMatcher(clock, newId, shared?.chains);
  await recording.recorder.restoreChains(sessions.restore);
  await followSharedSettings({ live, records: recording.records, shared, log });
  const team = await openTeam({
    ...{ records: recording.records, keys: callers, gateway: settings, now: clock.now, shared, log },
    library: () => library.open()?.library,
  });
  const attemptKeys = withAttemptKeys(team.keys);
  const admission = createAdmission(Object.assign(limitsOf(settings), { monotonic: clock.monotonic }));
  const library = await serveLessons({
    ...{ home, clock, newId, log, embed: options.embed, shared: shared?.prompts },
    ...{ settings: config.library, records: recording.records },
    isUnhurried: options.isUnhurried ?? false,
    recertify: async (moved) => learning?.recertify(moved) ?? [],
    statements: async (session) => learning?.statements(session) ?? [],
  });
  await assignOwners({
    home,
    env,
    records: recording.records,
    library: library.open()?.library,
    now: clock.now,
    log,
  }).catch((error: unknown) => log.warn({ err: error }, 'owners of lessons could not be assigned'));
  keyAgents.reload();
  shared?.listen({ follow: library.follow, reload: followLibrary, wake: onRecorded });
  const prices = () => priceRules(config, localServerAddresses(env));
  const overlays = serveOverlays({
    home: home.dir,
    library: () => library.open()?.library,
    records: recording.records,
    holdout: () => config.library.holdout,
    settings: () => ({ retries: settings.retries, ...settings.timeouts }),
    answersFlows: () => settings.flows,
    hasSucceeded: hasToolSucceeded,
    router: { settings: () => config.router, served: () => learning?.served() ?? [] },
    ...{ catalogue: names.catalogue, prices, clock, log },
  });
  let url = '';
  const access = { keys: attemptKeys, records: recording.records, clock, url: () => url };
  const openAttempt = createAttemptAccess(access);
  const follower = serveLearning({
    config,
    ...{ storeFile: home.storeFile, place },
    salt,
    keys,
    records: recording.records,
    ...{ lessons: library.open, compareBlocks: library.compareBlocks },
    ...{ embed: library.embed, embedKept: library.embedKept, lessonsFor: library.lessonsFor },
    training: () => training?.practice,
    ...{ openAttempt, catalogue: names.catalogue, jobs, work: options.work, prices, clock, log },
  });
  learning = follower;
  const generation = (): number => library.open()?.library.generation ?? 0;
  training = await openTraining({
    config,
    settings: config.train,
    price: enginePrice(config.train),
    hasTokenLimit: () => hasTokenLimit(config, home.configFile),
    reserve: (most, work) => schedule.reserve(most, work),
    ...{ home, env, isWorker: options.work !== undefined },
    upstream: { exchange, retry },
    records: recording.records,
    decodeTurn: (turn) => readStoredTurn(turn, recording.records, new Map()),
    lessonsApi: library.api,
    shaping: { weights: () => config.learn.identity.reward, rule: follower.practice },
    generation,
    hasSecret: redactor.hasSecret,
    learning: { settings: config.learn, outcomes: follower.outcomes, wake: follower.wake },
    ...{ clock, log },
    ...(options.training === undefined ? {} : { override: options.training }),
  });
  if (options.isWarm === true && names.describe().length === 0) training?.warm();
  const shortening = servePromptShortening({
    overTokens: () => config.learn.compress?.overTokens,
    open: (overTokens) =>
      createCompressor({
        ...{ write: follower.shorten, cache: createPromptFiles(home.promptsDir), overTokens },
        ...{ now: () => clock.now(), journal: (note) => log.info(note) },
      }),
    records: recording.records,
    now: () => clock.now(),
  });
  const kept = { isOn: () => config.practice.snapshots, records: recording.records, clock, log };
  const workTrees = createWorkTreeKeeper({ ...kept, hasSecret: redactor.hasSecret });
  const counts = () => ({ ...follower.counts(), ...library.counts() });
  const metrics = createMetrics(() => admission.inFlight, counts, recording.state, follower.served);
  /** What is said of a turn is learned from at once. */
  const records = withAppendListener(recording.records, (facts) => {
    follower.wake();
    void scoreCanarySessions(facts, recording.records, training, log);
  });
  const quiet = { command: follower.practice, when: () => config.practice.scheduled };
  const schedule = serveSchedule({
    ...{ settings: config.schedule, env, homeDir: home.dir, clock, newId, log },
    records: recording.records,
    jobs: ({ history }) => [
      ...createLibraryJobs({ ...library, ...quiet, records: recording.records, now: clock.now, history }),
      createReflectionJob({ command: follower.practice, clock, history }),
      createPracticeJob(quiet),
      ...(training === undefined ? [] : [training.job(history)]),
    ],
    ...(options.slowWork === undefined ? {} : { slowWork: options.slowWork }),
    ...sharedSchedule(jobs, follower.isLeader, options.work),
  });
  const parts = { config, configFile: home.configFile, records: recording.records, now: clock.now };
  const supply = { ...parts, schedule: () => schedule.describe(), shortage: training?.practice.shortage };
  const api = {
    ...storeApi,
    schedule: async () => redactor.redactObject(await schedule.describe()),
    confirmTime: async () => {
      const confirmed = await clock.confirm();
      void recording.retention.run();
      return confirmed;
    },
    learning: async () => learningOf(status()),
    switchLearning: async (on: boolean) => {
      const done = await storeApi.switchLearning(on);
      await follower.look();
      return done;
    },
    practice: createPracticeApi(follower.practice, log),
    overlays: async (query: OverlayQuery) => overlays.describe(query),
    ...createAdaptApi(recording.records, library.api, () => config.learn.adapt),
    ...createConsolidateApi(follower.practice),
    ...createTrainingApi(training, createSupplied(storeApi.training, supply), log),
  };
  const status = (): JsonObject =>
    redactor.redactObject(
      withWaiting({
        version: VERSION,
        pid: process.pid,
        startedAt: new Date(startedAt).toISOString(),
        now: new Date(clock.now()).toISOString(),
        uptimeMs: Math.round(clock.monotonic() - begunAt),
        providers: names.describe(),
        requests: { ...metrics.totals, inFlight: admission.inFlight },
        recording: compact({ ...recording.state() }),
        copies: recording.describeCopies(),
        time: clock.describe(),
        library: library.status(),
        endUsers: persons.count(),
        ...compact({ sharedRecord: shared?.describe(), router: overlays.router.describe() }),
        learning: follower.status(),
        settings: live.describe(),
        memoryBytes: process.memoryUsage.rss(),
      }),
    );
  const keysApi = createKeysApi({
    home,
    env,
    now: clock.now,
    records: recording.records,
    settings: live,
    members: team.api,
    lessons: library.open,
    onChanged: keyAgents.reload,
  });
  const apis = withShortIds({ api, lessonsApi: library.api, keysApi }, recording.records);
  const audit = createAudit(recording.records, clock.now);
  const page = servePage({
    ...{ home, env, place, owner: callers.owner, records, lessons: library.open, prices, status, clock, log },
    training: () => training,
    adapt: () => config.learn.adapt,
    clients: CLIENT_NAMES,
  });
  const server = createGateway({
    api: page.router,
    admission: watchAdmission(admission, schedule.noticeTraffic),
    allowedHosts: () => settings.allowedHosts,
    isBehindProxy: settings.trustedProxy,
    onRefused: metrics.refused,
    onFault: (error) => log.error({ err: error }, 'a request failed inside Instar'),
    context: Object.assign(limits, {
      catalogue: names.catalogue,
      exchange,
      authorize: createAuthorizer({
        keys: attemptKeys,
        onLoopback: isLoopbackName(settings.host),
        clock,
        account: createProviderAccount(settings, recording.records, clock, log),
      }),
      clock,
      random: Math.random,
      newId,
      pause: sleep,
      lessons: withShortenedPrompts(
        (turn, most) => (overlays.isOff() ? NOTHING_SHOWN : library.lessons(turn, most)),
        shortening,
      ),
      overlays: (turn) => overlays.apply({ ...overlayQueryOf(turn), key: turn.caller?.id }),
      flows: overlays.flows,
      router: overlays.router,
      identify: createIdentify({ redact: redactor.redactName, hashPerson: persons.hash }),
      personOf: createPersonOf(persons.hash),
      agents: keyAgents,
      sessions,
      sessionEnded: (session) => recordSessionEnd(session, records, clock, log),
      recorder: recording.recorder,
      records,
      apisFor: createApisFor({
        apis,
        records,
        lessons: library.open,
        audit,
        now: clock.now,
        agents: keyAgents,
      }),
      begunWork: workTrees.begun,
      report: (report) => {
        metrics.report(report);
        logTurn(log, report);
      },
      status,
      chatWord: metrics.chatWord,
      checked: reportChecks(metrics, log),
      metrics: () => recording.metricsWith([metrics.text, schedule.text]),
    } satisfies Omit<GatewayContext, keyof GatewayLimits>),
  });
  live.onChange(async ({ before, applied }) => {
    log.info({ applied }, 'settings reloaded');
    recording.followKeys();
    names.rebuild();
    server.refreshHosts();
    if (!isDeepStrictEqual(before.schedule, { ...config.schedule })) schedule.reload();
    await follower.reload();
  });
  const close = async () => {
    await server.close(GRACE_MS);
    await letGo();
  };
  const letGo = async () => {
    keyAgents.flush();
    await page.close();
    await schedule.close();
    await shortening.close();
    // Before the engine: what practice attempts meanwhile would count as failed.
    await follower.close();
    await jobs.close();
    await training?.close();
    names.close();
    await workTrees.settle();
    await pool.close();
    await library.close();
    await shared?.close();
    await recording.close();
    clock.close();
    lock.release();
  };
  try {
    team.refuseUnsafe();
    const bound = options.work === undefined ? await server.listen(port ?? settings.port, settings.host) : 0;
    const shown = settings.host.includes(':') ? `[${settings.host}]` : settings.host;
    const settle = async (): Promise<void> => {
      await workTrees.settle();
      await follower.settle();
      await library.settle();
    };
    url = `http://${shown}:${bound}`;
    shared?.announce(options.work === undefined ? url : undefined);
    const served = { modelMs: metrics.modelMs, openAttempt, pageCode: page.newCode };
    return { url, port: bound, settle, training, generation, ...served, close };
  } catch (error) {
    await letGo();
    throw error;
  }
}

/** Undefined when training is off: nothing of `train/` is loaded then. */
async function openTraining(options: OpenTrainingOptions): Promise<ServedTraining | undefined> {
  if (options.settings.engine === 'off') return undefined;
  return (await import('../../train/open-training.ts')).serveConfiguredTraining(options);
}

/** The training status with what there is to train on, counted when it is asked for. */
function createSupplied(
  recorded: DaemonApi['training'],
  supply: Parameters<typeof withTrainingSupply>[1],
): DaemonApi['training'] {
  let described: DaemonApi['training'] | undefined;
  return async () => {
    described ??= (await import('../../train/training-supply.ts')).withTrainingSupply(recorded, supply);
    return described();
  };
}
