import { isForbiddenHost } from '../config/address.ts';
import type { Home } from '../config/home.ts';
import type { Config } from '../config/schema.ts';
import type { ChatModel } from '../core/chat.ts';
import { systemClock } from '../core/clock.ts';
import { compact } from '../core/json.ts';
import type { Ask } from '../core/learn.ts';
import type { Records } from '../core/records.ts';
import { defaultRetryRule } from '../core/retry.ts';
import { createAdmission } from '../gateway/admission.ts';
import { createAuthorize } from '../gateway/authorize.ts';
import { isLoopbackName } from '../gateway/door.ts';
import { createGateway } from '../gateway/gateway.ts';
import { createIdentify } from '../gateway/identify.ts';
import { createMetrics } from '../gateway/metrics.ts';
import { createSessions } from '../gateway/sessions.ts';
import type { TurnReport } from '../gateway/turn.ts';
import { NO_COST } from '../learn/cost.ts';
import { createExchange } from '../models/exchange.ts';
import { sleep } from '../models/sleep.ts';
import { createVerifiers } from '../signals/verifiers/registry.ts';
import { lockHome } from '../store/home-lock.ts';
import { createRedactor } from '../store/redact.ts';
import { openCatalogue } from './catalogue.ts';
import { HomeTakenError } from './home-taken-error.ts';
import { createIds } from './ids.ts';
import { createKeyInForce } from './key-in-force.ts';
import { createEvidenceReader } from './learning/evidence-reader.ts';
import { createPromptFiles } from './learning/prompt-files.ts';
import { type ServedLearning, serveLearning } from './learning/serve-learning.ts';
import { type Shortening, serveShortening } from './learning/serve-shortening.ts';
import { type ServedLibrary, serveLibrary } from './library/serve-library.ts';
import type { Log } from './log.ts';
import { openRecording } from './recording/open-recording.ts';
import { readOrCreateSalt } from './recording/salt.ts';
import { createReviewJob } from './schedule/review-job.ts';
import { type SlowWork, serveSchedule } from './schedule/serve-schedule.ts';
import { watchAdmission } from './schedule/watch-admission.ts';
import { VERSION } from './version.ts';

export interface Daemon {
  readonly url: string;
  readonly port: number;
  /** When all that was recorded so far has been learned from, and what was learned can be recalled. */
  settle(): Promise<void>;
  /** Drains running streams, then lets go of everything. */
  close(): Promise<void>;
}

export interface DaemonOptions {
  readonly home: Home;
  readonly config: Config;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
  /** Instead of the configured one; 0 picks a free one. */
  readonly port?: number;
  /** Models that are functions of this process, by name. They need Instar's key. */
  readonly models?: Readonly<Record<string, ChatModel>>;
  /** Recall waits for the sentence model however long it takes. For benchmarks. */
  readonly isUnhurried?: boolean;
  readonly slowWork?: SlowWork;
}

const GRACE_MS = 30_000;
const NO_ASK: Ask = async () => ({ ok: false, why: 'not asked', isRetryable: true, cost: NO_COST });
/** Within this time of its last byte a turn is in the record. */
const TURN_IS_KEPT_MS = 60;

/** Everything that `instar up` runs, wired together. Rejects when the port is taken. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { home, config, env, log, port, models = {} } = options;
  const { gateway: settings } = config;
  const clock = systemClock;
  // One that cannot be made is an error now, not a grade that is missing later.
  await createVerifiers(config.learn.verifiers, { ask: NO_ASK });
  const lock = lockHome(home.lockFile);
  if (lock === undefined) throw new HomeTakenError(`${home.dir} belongs to another daemon.`);
  const startedAt = clock.now();
  const pool = createExchange({ timeouts: settings.timeouts, isForbiddenAddress: isForbiddenHost });
  const rule = { ...defaultRetryRule, retries: settings.retries };
  const retry = { rule, random: Math.random, sleep };
  const { exchange } = pool;
  const names = await openCatalogue({ config, env, home, exchange, clock, retry, models, log });
  const maxBodyBytes = settings.maxBodyMb * 1024 * 1024;
  const key = createKeyInForce(home, env, clock);
  const keys = () => [key(), ...names.keys()];
  const recording = openRecording({ home, settings: config.store, keys, clock, log });
  const newId = createIds(clock);
  const sessions = createSessions(clock, newId);
  sessions.restore(await recording.recorder.chains);
  const admission = createAdmission(settings.maxInFlight, 8 * maxBodyBytes);
  const onLoopback = isLoopbackName(settings.host);
  let learning: ServedLearning | undefined;
  const library = await serveLibrary({
    home,
    settings: config.library,
    records: recording.records,
    clock,
    newId,
    log,
    isUnhurried: options.isUnhurried ?? false,
    recertify: async (moved) => learning?.recertify(moved) ?? [],
  });
  const redactor = createRedactor({ known: keys, salt: readOrCreateSalt(home) });
  const follower = serveLearning({
    config,
    records: recording.records,
    evidence: createEvidenceReader(home.storeFile),
    shelf: library.shelf,
    embed: library.embed,
    catalogue: names.catalogue,
    hasSecret: (text) => redactor.hasSecret(text),
    clock,
    newId,
    log,
  });
  learning = follower;
  const shortening =
    config.learn.compress &&
    serveShortening({
      overTokens: config.learn.compress.overTokens,
      ask: follower.ask,
      cache: createPromptFiles(home.promptsDir),
      records: recording.records,
      hasSecret: (text) => redactor.hasSecret(text),
      now: () => clock.now(),
      newId,
      journal: (note) => log.info(note),
    });
  const metrics = createMetrics(() => admission.inFlight, follower.counts);
  /** What is said of a turn is learned from at once. */
  const records: Records = {
    ...recording.records,
    append: async (...args) => {
      const appended = await recording.records.append(...args);
      follower.wake(0);
      return appended;
    },
  };
  const schedule = serveSchedule({
    settings: config.schedule,
    env,
    homeDir: home.dir,
    records: recording.records,
    clock,
    newId,
    log,
    jobs: ({ history }) => [
      createReviewJob({ shelf: library.shelf, embed: library.embed, now: clock.now, history }),
    ],
    ...(options.slowWork === undefined ? {} : { slowWork: options.slowWork }),
  });
  const gateway = createGateway({
    admission: watchAdmission(admission, schedule.noticeTraffic),
    allowedHosts: settings.allowedHosts,
    onRefused: metrics.refused,
    onFault: (error) => log.error({ err: error }, 'a request failed inside Instar'),
    context: {
      catalogue: names.catalogue,
      exchange: pool.exchange,
      authorize: createAuthorize({ key, onLoopback, clock }),
      clock,
      random: Math.random,
      retry: rule,
      maxBodyBytes,
      newId,
      pause: sleep,
      lessons: shortening === undefined ? library.lessons : withShorter(library.lessons, shortening),
      shelf: library.desk,
      identify: createIdentify(),
      sessions,
      sessionEnded: (session) => {
        const fact = { type: 'session-end', session, reason: 'said by the client' } as const;
        records.append([{ at: clock.now(), fact }]).catch((error: unknown) => {
          log.warn({ err: error, session }, 'the end of a session could not be kept');
        });
      },
      recorder: recording.recorder,
      records,
      desk: { ...recording.desk, schedule: schedule.describe },
      report: (report) => {
        metrics.report(report);
        logTurn(log, report);
        follower.wake(TURN_IS_KEPT_MS);
      },
      status: () => ({
        version: VERSION,
        pid: process.pid,
        startedAt: new Date(startedAt).toISOString(),
        uptimeMs: clock.now() - startedAt,
        providers: names.describe(),
        requests: { ...metrics.totals, inFlight: admission.inFlight },
        recording: compact({ ...recording.state() }),
        library: library.status(),
        learning: follower.status(),
        memoryBytes: process.memoryUsage.rss(),
      }),
      metrics: async () => `${await metrics.text()}\n${await schedule.text()}`,
    },
  });
  const close = async () => {
    await gateway.close(GRACE_MS);
    await letGo();
  };
  const letGo = async () => {
    await schedule.close();
    names.close();
    await shortening?.close();
    await follower.close();
    await pool.close();
    await library.close();
    await recording.close();
    lock.release();
  };
  try {
    const bound = await gateway.listen(port ?? settings.port, settings.host);
    const shown = settings.host.includes(':') ? `[${settings.host}]` : settings.host;
    const settle = async (): Promise<void> => {
      await follower.settle();
      await library.settle();
    };
    return { url: `http://${shown}:${bound}`, port: bound, settle, close };
  } catch (error) {
    await letGo();
    throw error;
  }
}

type Lessons = ServedLibrary['lessons'];

const withShorter =
  (lessons: Lessons, { shorten }: Shortening): Lessons =>
  async (turn) => {
    const [shown, shortened] = await Promise.all([lessons(turn), shorten(turn)]);
    return compact({ ...shown, shortened });
  };

function logTurn(log: Log, report: TurnReport): void {
  const { failure, ...fields } = report;
  if (failure === undefined) log.debug(fields, 'turn ended');
  else log.warn({ ...fields, failure: failure.kind, message: failure.message }, 'turn failed');
}
