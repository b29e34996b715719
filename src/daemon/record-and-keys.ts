import type { ServedTeam, ServeTeamOptions } from '../../team/serve-team.ts';
import type { ServedTraining, TrainingOverride } from '../../train/serve-training.ts';
import { withErasedFiles } from '../api/after-erasure.ts';
import { createStoreApi } from '../api/store-api.ts';
import { takeHome } from '../api/take-home.ts';
import { systemBoot } from '../base/boot-clock.ts';
import { createIds } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { sleep } from '../base/sleep.ts';
import { isForbiddenHost } from '../config/address.ts';
import { followSharedSettings } from '../config/follow-shared-settings.ts';
import type { Home } from '../config/home.ts';
import { openKeyAgents } from '../config/key-agents.ts';
import { createLiveSettings, type LiveSettings } from '../config/live-settings.ts';
import { followKeys, readModelKeys } from '../config/own-keys.ts';
import type { Config } from '../config/schema.ts';
import { openValidKeys } from '../config/valid-keys.ts';
import type { Caller } from '../core/caller.ts';
import type { ChatModel } from '../core/chat.ts';
import { type BootClock, type Clock, systemClock } from '../core/clock.ts';
import { MEMBERS_SUBJECT } from '../core/member.ts';
import type { EmbeddingModel } from '../core/recall.ts';
import type { Exchange } from '../core/upstream.ts';
import type { KeyBudgets } from '../cost/key-budgets.ts';
import { checkVerifiers } from '../evidence/verifiers/registry.ts';
import { withAttemptKeys } from '../gateway/access-control.ts';
import { GATEWAY_LIMITS } from '../gateway/admission.ts';
import { createSessionMatcher } from '../gateway/session-matcher.ts';
import { type Jobs, openJobs } from '../jobs/open-jobs.ts';
import type { WorkKinds } from '../jobs/shared-work.ts';
import { createExchange, PROVIDER_TIMEOUTS, withDateWitness } from '../models/exchange.ts';
import type { RetryOptions } from '../models/with-retry.ts';
import { placeOfRecord } from '../record/open-store.ts';
import { type SharedRecord, shareRecord } from '../record/share-record.ts';
import { openTrustedClock, type TrustedClock } from '../record/trusted-clock.ts';
import type { SlowWork } from '../schedule/serve-schedule.ts';
import { openTracedRecording } from '../traces/serve-traces.ts';
import { createDeferredPolicy, type OpenCatalogue, openCatalogue } from './catalogue.ts';
import type { ServedLearning } from './serve-learning.ts';
import type { ServedLessons } from './serve-lessons.ts';

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

/** What callbacks of earlier parts need of later ones; undefined until the daemon has come to them. */
interface LateParts {
  library?: ServedLessons;
  learning?: ServedLearning;
  training?: ServedTraining | undefined;
  /** Once a key with limits has asked. */
  keyBudgets?: KeyBudgets;
  url: string;
}

export interface DaemonBase {
  readonly options: DaemonOptions;
  readonly late: LateParts;
  readonly live: LiveSettings;
  /** The settings of `live`: they change in place. */
  readonly config: Config;
  /** Where the record is. */
  readonly place: string;
  readonly lock: ReturnType<typeof takeHome>;
  readonly clock: TrustedClock;
  readonly started: { readonly at: number; readonly monotonic: number };
  readonly pool: ReturnType<typeof createExchange>;
  readonly retry: RetryOptions;
  readonly exchange: Exchange;
  readonly names: OpenCatalogue;
  readonly newId: (prefix: string) => string;
}

/** What stands before the record is opened: the settings, the lock of the home, its clock, and the models by name. */
export async function openBase(options: DaemonOptions): Promise<DaemonBase> {
  const { home, env, log, models = {}, clocks = { clock: systemClock, boot: systemBoot } } = options;
  const late: LateParts = { url: '' };
  const live = options.settings ?? createLiveSettings(options);
  const { config } = live;
  await checkVerifiers(config.learn.verifiers);
  const place = placeOfRecord(home, config.store);
  const lock = takeHome(home, place, log);
  const clock = openTrustedClock({ home, ...clocks, log });
  const started = { at: clock.now(), monotonic: clock.monotonic() };
  const pool = createExchange({ timeouts: PROVIDER_TIMEOUTS, isForbiddenAddress: isForbiddenHost });
  const retry = { rule: () => GATEWAY_LIMITS.retry, random: Math.random, sleep };
  const exchange = withDateWitness(pool.exchange, clock);
  const policy = createDeferredPolicy(config.train, () => late.training?.policy);
  const names = await openCatalogue({ config, env, home, exchange, clock, retry, models, policy, log });
  const newId = createIds(clock);
  return { options, late, live, config, place, lock, clock, started, pool, retry, exchange, names, newId };
}

/** The record, and the keys that open it to callers. */
export interface RecordAndKeys {
  /** The HMAC key of redaction marks. */
  readonly salt: string;
  readonly callers: ReturnType<typeof openValidKeys>;
  readonly keyAgents: ReturnType<typeof openKeyAgents>;
  /** Every secret of this installation, as of now. */
  readonly keys: () => readonly string[];
  /** They are not read again. */
  readonly closeKeys: () => void;
  /** The keys of callers and of running attempts. */
  readonly attemptKeys: ReturnType<typeof withAttemptKeys>;
  readonly jobs: Jobs;
  readonly recording: ReturnType<typeof openTracedRecording>;
  readonly storeApi: ReturnType<typeof createStoreApi>;
  /** Undefined where no other gateway writes the record. */
  readonly shared: SharedRecord | undefined;
  readonly sessions: ReturnType<typeof createSessionMatcher>;
  readonly team: Pick<ServedTeam<unknown>, 'api' | 'limited' | 'refuseUnsafe'>;
  /** Takes erased texts out of the library's files. */
  readonly followErasure: (session?: string) => Promise<void>;
  readonly onRecorded: (turns: number) => void;
}

/** The record, who else writes it, the keys of callers and providers, and the sessions and members that the record has. */
export async function openRecordAndKeys({
  options,
  late,
  live,
  place,
  clock,
  newId,
}: DaemonBase): Promise<RecordAndKeys> {
  const { home, env, log } = options;
  const { config } = live;
  const { salt, gateway, follow } = await shareRecord({ place, home, clock, newId, log });
  const callers = openValidKeys(home, env, clock);
  const keyAgents = openKeyAgents({ home, env, clock, log });
  const modelKeys = followKeys(live, (now) => readModelKeys(now, { env, home }));
  const keys = () => [...callers.texts(), ...modelKeys.keys()];
  const followErasure = async (session?: string): Promise<void> => {
    if (late.library === undefined) throw new Error('the library is not open yet');
    await late.library.followErasure(session);
  };
  const onExpired = (): void =>
    void followErasure().catch((error: unknown) =>
      log.warn({ err: error }, 'expired sessions: a file kept text'),
    );
  const library = () => late.library?.library();
  const onRecorded = (turns: number): void => {
    late.keyBudgets?.settle();
    late.learning?.wake(turns);
  };
  const jobs = openJobs({ place, clock, newId });
  const recording = openTracedRecording(
    { home, place, salt, gateway, settings: config.store, keys, clock, log, onExpired, onRecorded },
    config,
    env,
    library,
  );
  const { records } = recording;
  const storeApi = createStoreApi(
    withErasedFiles(records, { promptsDir: home.promptsDir, followLibrary: followErasure, jobs: jobs.queue }),
    clock.now,
  );
  const shared = await follow(recording.recorder.append);
  const sessions = createSessionMatcher(clock, newId, shared?.chains);
  await recording.recorder.restoreChains(sessions.restore);
  await followSharedSettings({ live, records, shared, log });
  const team = await openTeam({
    records,
    keys: callers,
    gateway: config.gateway,
    now: clock.now,
    shared,
    log,
    library,
    providers: () => config.providers,
    used: (key) => late.keyBudgets?.used(key),
  });
  return {
    salt,
    callers,
    keyAgents,
    keys,
    closeKeys: modelKeys.close,
    attemptKeys: withAttemptKeys(team.keys),
    jobs,
    recording,
    storeApi,
    shared,
    sessions,
    team,
    followErasure,
    onRecorded,
  };
}

/**
 * The members of the team that a gateway serves. `team/` is loaded for a record that several gateways write, for one that has members,
 * and when a person asks about members.
 */
async function openTeam<Keys extends { find(presented: string): Caller | undefined }>(
  options: ServeTeamOptions<Keys>,
): Promise<ServedTeam<Keys>> {
  const { keys, records, shared } = options;
  let team: ServedTeam<Keys> | undefined;
  let opening: Promise<ServedTeam<Keys>> | undefined;
  const open = (): Promise<ServedTeam<Keys>> => {
    opening ??= import('../../team/serve-team.ts').then(async ({ serveTeam }) => {
      team = await serveTeam(options);
      return team;
    });
    return opening;
  };
  // A record that cannot be read now may have members.
  const hasNone = async (): Promise<boolean> =>
    records.events(MEMBERS_SUBJECT).then(
      (facts) => facts.length === 0,
      () => false,
    );
  if (shared !== undefined || !(await hasNone())) await open();
  return {
    keys: { ...keys, find: (presented) => (team?.keys ?? keys).find(presented) },
    api: async (request) => (await open()).api(request),
    limited: () => team?.limited() ?? [],
    refuseUnsafe: () => team?.refuseUnsafe(),
  };
}
