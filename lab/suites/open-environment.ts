import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { restoreHome } from '../../src/api/offline-api.ts';
import { createRemoteApi } from '../../src/api/remote-api.ts';
import type { Log } from '../../src/base/log.ts';
import { createCallerKey } from '../../src/config/caller-keys.ts';
import { checkConfig } from '../../src/config/check-config.ts';
import { openHome } from '../../src/config/home.ts';
import { readOrCreateOwnerKey } from '../../src/config/owner-key.ts';
import { priceRules } from '../../src/config/price-rules.ts';
import type { Config } from '../../src/config/schema.ts';
import type { ChatModel } from '../../src/core/chat.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { LessonsApi } from '../../src/core/daemon-api.ts';
import { asArray, asNumber, asObject, asString } from '../../src/core/json.ts';
import { isInUse, type Lesson } from '../../src/core/lesson.ts';
import type { EmbeddingModel } from '../../src/core/recall.ts';
import { costOf, createPrices } from '../../src/cost/prices.ts';
import { type Daemon, startDaemon } from '../../src/daemon/daemon.ts';
import { decodeLessons } from '../../src/lessons/codec.ts';
import { renderBlock, renderLine } from '../../src/lessons/render-block.ts';
import { parseBaseUrl } from '../../src/models/base-url.ts';
import { createExchange, PROVIDER_TIMEOUTS } from '../../src/models/exchange.ts';
import { createHttpReport } from '../../src/pipeline/stage-report.ts';
import { wires } from '../../src/wire/wires.ts';
import type { TrainingOverride } from '../../train/serve-training.ts';
import { type Arm, armOf } from './arms.ts';
import type {
  ArmEnvironment,
  BenchEnvironment,
  EnvironmentOptions,
  OpenArmEnvironment,
  PromptLesson,
} from './bench-environment.ts';
import { createGatewayClient } from './gateway-client.ts';
import { openPromptNotes } from './prompt-notes.ts';
import { createNight, createServedNight, type NightOptions } from './training-night.ts';

/** What a home keeps beside its record: weights, training state, notes, and the keys, since what a key was told is shown to that key. */
const FILES = ['engine', 'train', 'notes', 'keys.json'];
/** Locks and the engine's address belong to the running process. */
const isKept = (file: string): boolean => !/lock|engine\.json/.test(path.basename(file));
const beside = (file: string, name: string): string => `${file}.${name}`;

/** Copies a home's other files beside a copy of its record. No training may be running. */
function saveFiles(home: string, file: string): void {
  for (const name of FILES) {
    const from = path.join(home, name);
    const to = beside(file, name);
    rmSync(to, { recursive: true, force: true });
    if (!existsSync(from)) continue;
    // The rename makes the copy atomic.
    cpSync(from, `${to}.new`, { recursive: true, filter: isKept });
    renameSync(`${to}.new`, to);
  }
}

function restoreFiles(home: string, file: string): void {
  for (const name of FILES)
    if (existsSync(beside(file, name)))
      cpSync(beside(file, name), path.join(home, name), { recursive: true });
}

/** Removes a copy that a later one has replaced. */
function removeSaved(file: string): void {
  for (const one of [file, ...FILES.map((name) => beside(file, name))])
    rmSync(one, { recursive: true, force: true });
}

/** What answers: a function of this process, or a model from the user's configuration. */
export type BenchPolicy =
  | {
      readonly kind: 'own';
      readonly model: (seed: number) => Promise<ChatModel>;
      /** The same model with room for a whole lesson, for arms where it writes them. */
      readonly writer?: (seed: number) => ChatModel;
    }
  | { readonly kind: 'configured'; readonly name: string; readonly config: Config }
  /** The model of the user's `train.engine`, by the name that follows from it: `instar/NAME`. Its weights can be trained. */
  | { readonly kind: 'engine'; readonly name: string; readonly config: Config }
  /** The policy that ships with Instar; its weights can be trained. */
  | { readonly kind: 'embedded' };

export interface ComparedTasks {
  readonly bySentences: number;
  readonly firstLooks: number;
}

interface OpenEnvironmentOptions {
  /** The run's folder, with a home for each condition and seed. */
  readonly folder: string;
  readonly policy: BenchPolicy;
  /** `learn.failures`: how many failures start the evolver. */
  readonly failures: number;
  /** Training under the arms that train. */
  readonly nights?: NightOptions;
  /** Whether the learner has learned from each verdict before the next one is given: what it learns from together is then no matter of time. */
  readonly settleReports?: boolean;
  /** A sentence model for all daemons of the run: arms ask the same questions. */
  readonly embed?: EmbeddingModel;
  /** Told, before a home closes, how many of its tasks were compared with lessons by the sentence model, and how many at a first look alone. */
  readonly onCompared?: (counts: ComparedTasks) => void;
  /** Whose turns are trained on. */
  readonly agent?: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
}

const POLICY = 'policy';
/** How long a policy may take is the gateway's matter. */
const CLIENT_TIMEOUTS = { ...PROVIDER_TIMEOUTS, headersMs: 3_600_000, firstByteMs: 3_600_000 };

/** Instar as users run it, in this process and over HTTP, in front of one policy. */
export function createOpenEnvironment(options: OpenEnvironmentOptions): OpenArmEnvironment {
  return async ({ condition, seed, after }) => {
    const { folder, policy, env, log } = options;
    const name = `${condition}-${seed}`;
    const kept = path.join(folder, 'kept');
    mkdirSync(kept, { recursive: true, mode: 0o700 });
    const dir = path.join(folder, 'homes', name);
    // What an earlier attempt left is not the state after its last complete day.
    rmSync(dir, { recursive: true, force: true });
    const home = openHome(dir);
    if (after !== undefined) {
      restoreHome(home, keptFile(kept, name, after));
      restoreFiles(home.dir, keptFile(kept, name, after));
    }
    const clock = systemClock;
    let policyMs = 0;
    const spent = (ms: number): void => {
      policyMs += ms;
    };
    // The checks of a suite speak for the person whose workday it is: what another key was told is in no prompt of a night.
    const { key } = createCallerKey(home, { name: 'lab', mayRate: true, isOwn: true, at: clock.now() });
    const owner = readOrCreateOwnerKey(home, {}).key;
    const arm = armOf(condition);
    const config = configFor(arm, options);
    const models =
      policy.kind === 'own'
        ? { [POLICY]: timed(await policy.model(seed), spent), ...writerOf(arm, policy.writer?.(seed)) }
        : {};
    const training = trainingFor(options, { condition, seed, after });
    // Each home has its own keys: those of the user's environment would replace them.
    const { INSTAR_KEY: _, INSTAR_OWNER_KEY: __, ...others } = env;
    const daemon = await startDaemon({
      home,
      config,
      env: others,
      log,
      port: 0,
      models,
      isUnhurried: true,
      ...(options.embed === undefined ? {} : { embed: options.embed }),
      training,
    });
    const prices = createPrices(priceRules(config, []));
    const pool = createExchange({ timeouts: CLIENT_TIMEOUTS, isForbiddenAddress: () => false });
    const record = { url: daemon.url, port: daemon.port, pid: process.pid, startedAt: '', version: '' };
    const { api, lessonsApi } = createRemoteApi(record, owner);
    const notes = arm.hasNotes ? openPromptNotes(path.join(dir, 'notes', 'notes.md')) : undefined;
    const library = openLibraryView(lessonsApi, daemon.generation);
    return {
      speak: createGatewayClient({
        exchange: pool.exchange,
        wire: wires['openai-chat'],
        gateway: parseBaseUrl(daemon.url, 'openai-chat'),
        credentials: () => ({ authorization: `Bearer ${key}` }),
        clock,
      }),
      model: modelOf(policy),
      judge: async (turn, score, note) => void (await api.feedback({ turn, score, note })),
      report: createHttpReport({
        url: daemon.url,
        key,
        ...(options.settleReports ? { fetch: settling(daemon.settle) } : {}),
        onProblem: (problem) => log.warn({ problem }, 'reporting a stage failed'),
      }),
      settle: daemon.settle,
      lessons: async () => decodeLessons(await lessonsApi.all()).map(describeLesson),
      library: async () => (await library()).map(describeLesson),
      shown: async (turn) => {
        const explained = arm.lessons === 'recalled' ? asObject(await lessonsApi.why(turn)).lessons : [];
        const ids = (wanted: string): readonly string[] =>
          asArray(explained)
            .map(asObject)
            .flatMap(({ id, verdict }) => (verdict === wanted ? (asString(id) ?? []) : []));
        return { bodies: ids('shown'), lines: ids('listed') };
      },
      addition: async () => {
        if (notes !== undefined) return { text: notes.section(), lessons: [] };
        if (arm.lessons !== 'all') return undefined;
        const all = await library();
        return { text: renderBlock(all), lessons: all.map(({ id }) => id) };
      },
      hear: (feedback) => notes?.add(feedback),
      learningCost: async () => {
        const { calls, tokens, usd } = asObject(asObject(await lessonsApi.today()).cost);
        return { calls: asNumber(calls) ?? 0, tokens: asNumber(tokens) ?? 0, usd: asNumber(usd) ?? 0 };
      },
      usdOf: (usage) => costOf(usage, prices(modelOf(policy))).usd,
      // The time of a model behind a provider is known to the gateway alone.
      policyMs: () =>
        policy.kind === 'configured'
          ? daemon.modelMs()
          : policyMs + (daemon.training?.policy.sampledMs() ?? 0),
      ...nightFor(arm, options, { dir, seed, daemon }),
      save: async (day) => {
        notes?.endDay();
        const file = keptFile(kept, name, day);
        rmSync(file, { force: true });
        await api.backup(file);
        saveFiles(dir, file);
        // The day before is kept until the journal has this one.
        if (day > 1) removeSaved(keptFile(kept, name, day - 2));
      },
      close: async () => {
        options.onCompared?.(await readCompared(daemon.url, owner));
        await pool.close();
        await daemon.close();
      },
    } satisfies ArmEnvironment;
  };
}

async function readCompared(url: string, owner: string | undefined): Promise<ComparedTasks> {
  const reply = await fetch(`${url}/api/status`, { headers: { authorization: `Bearer ${owner ?? ''}` } });
  const recalls = asObject(asObject(asObject(asObject(await reply.json()).library).index).recalls);
  return { bySentences: asNumber(recalls.bySentences) ?? 0, firstLooks: asNumber(recalls.firstLooks) ?? 0 };
}

const settling =
  (settle: () => Promise<void>): typeof fetch =>
  async (...call) => {
    const response = await fetch(...call);
    // Read first: a caller's time limit would end an open body while a slow model is learned with.
    const body = await response.arrayBuffer();
    await settle();
    return new Response(body, response);
  };

const keptFile = (folder: string, name: string, day: number): string =>
  path.join(folder, `${name}-day${day}.sqlite`);

/** A lesson as reports need it. */
const describeLesson = (lesson: Lesson): PromptLesson => {
  const { id, state, text } = lesson;
  const { name, description, content } = text;
  return { id, name, state, text: `${name}\n${description}\n${content}`, line: renderLine(lesson) };
};

/** The lessons that prompts may contain. Read again only when the library has a new generation. */
function openLibraryView(lessonsApi: LessonsApi, generation: () => number): () => Promise<readonly Lesson[]> {
  let held: { readonly generation: number; readonly lessons: readonly Lesson[] } | undefined;
  return async () => {
    const now = generation();
    if (held?.generation === now) return held.lessons;
    const all = decodeLessons(await lessonsApi.all());
    const lessons = all.filter(isInUse);
    held = { generation: now, lessons };
    return lessons;
  };
}

/** The night of an arm that trains. */
function nightFor(
  { training }: Arm,
  { nights }: OpenEnvironmentOptions,
  { dir, seed, daemon }: { readonly dir: string; readonly seed: number; readonly daemon: Daemon },
): Pick<BenchEnvironment, 'night'> {
  if (training === 'none' || nights === undefined || daemon.training === undefined) return {};
  const given = { ...nights, folder: path.join(dir, 'train'), seed, training: daemon.training };
  const night = { ...given, generation: daemon.generation };
  return { night: training === 'served' ? createServedNight(night) : createNight(night) };
}

/**
 * The same for all arms except for what the arm is about: with `topK: 0` the gateway shows no lesson, whoever said it, and an arm
 * may add them itself; with `manual`, nothing that a model inferred is in force without an approval, and nobody approves here. No
 * model is asked for lessons that no prompt will have.
 */
function configFor(arm: Arm, { policy, failures, nights }: OpenEnvironmentOptions): Config {
  const isBare = arm.lessons === 'off' || (arm.training === 'oracle' && nights?.control === 'no-lessons');
  const own = 'config' in policy ? policy.config : checkConfig({}, { env: {} }).config;
  const library = {
    ...own.library,
    autonomy: isBare ? 'manual' : 'guarded',
    place: arm.place === 'message' ? arm.place : own.library.place,
    ...(isBare || arm.lessons === 'all' ? { topK: 0 } : {}),
  } as const;
  const engine =
    policy.kind === 'engine' ? policy.config.train.engine : policy.kind === 'embedded' ? 'nano' : 'off';
  return {
    ...own,
    library,
    // No provider: the function of this process that is named `evolver`.
    models: {
      ...own.models,
      ...(arm.writer === 'policy' ? { evolver: [] } : {}),
      ...(isBare ? { evolver: 'off', judge: 'off' } : {}),
    },
    learn: { ...own.learn, failures },
    train: {
      ...own.train,
      engine,
      // Served turns and their feedback are all that this arm may train on.
      ...(arm.training === 'served' ? { live: true } : {}),
    },
  };
}

function writerOf({ name, writer }: Arm, model: ChatModel | undefined): Readonly<Record<string, ChatModel>> {
  if (writer === 'quotes') return {};
  if (model === undefined) throw new RangeError(`the arm ${name} needs a model that can write lessons`);
  return { evolver: model };
}

const modelOf = (policy: BenchPolicy): string =>
  policy.kind === 'own' ? POLICY : 'name' in policy ? policy.name : 'instar/nano';

/** The same questions in the same order get the same replies, also in a continued run. */
function trainingFor(
  { nights, agent = 'bench-workdays' }: OpenEnvironmentOptions,
  { seed, after = -1 }: EnvironmentOptions,
): TrainingOverride {
  return {
    policySeed: seed * 1_000_000 + (after + 1) * 10_000,
    agent,
    // Every session has one question: there is nothing to compare a canary with.
    promotion: { canarySessions: 0, ...nights?.promotion },
    tuning: {
      seed,
      ...nights?.tuning,
      ...(nights?.control === undefined ? {} : { control: nights.control }),
    },
  };
}

/** Measures the time spent in a model. */
function timed(model: ChatModel, spent: (ms: number) => void): ChatModel {
  return async function* (request, options) {
    let since = performance.now();
    for await (const event of model(request, options)) {
      spent(performance.now() - since);
      yield event;
      since = performance.now();
    }
    spent(performance.now() - since);
  };
}
