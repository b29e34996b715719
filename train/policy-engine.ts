import type { Log } from '../src/base/log.ts';
import { createRandom } from '../src/base/random.ts';
import { sleep } from '../src/base/sleep.ts';
import { createEngineKey } from '../src/config/engine-key.ts';
import type { Home } from '../src/config/home.ts';
import { policyName } from '../src/config/model-ref.ts';
import type { Config } from '../src/config/schema.ts';
import type { Clock } from '../src/core/clock.ts';
import { TrainingError } from '../src/core/training.ts';
import { type SupervisedEngine, superviseEngine } from './engine-process.ts';
import { NANO_QUESTIONS, NANO_TEMPLATE, readNano } from './nano/shipped-policy.ts';
import type { TinkerEngine } from './tinker/tinker-engine.ts';
import type { EngineAddress, PolicyEngine } from './training-plan.ts';

interface PolicyEngineOptions {
  readonly settings: Config['train'];
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly log: Log;
}

/** How long the first start may take, and how long to wait once a start has failed. */
const START_MS = 20_000;
const DOUBTED_MS = 500;
/** Exits of the process while waiting after which the start has failed. */
const MOST_DEATHS = 2;
const LOOK_MS = 50;
const NEVER = new AbortController().signal;
const WHERE = "the daemon's log has its last words, and instar doctor looks for the cause";

/** Undefined when training is off. */
export function openPolicyEngine(options: PolicyEngineOptions): PolicyEngine | undefined {
  const { engine } = options.settings;
  if (engine === 'off') return undefined;
  return engine === 'nano' ? openEmbedded(options) : openRemote(options, engine);
}

function openEmbedded({ home, env, clock, log }: PolicyEngineOptions): PolicyEngine {
  const nano = once(() =>
    readNano().catch((error: Error) => {
      throw new TrainingError('user', error.message);
    }),
  );
  let child: Promise<SupervisedEngine> | undefined;
  let supervised: SupervisedEngine | undefined;
  const key = env.INSTAR_ENGINE_KEY?.trim() || createEngineKey();
  let isClosed = false;
  let isDoubted = false;
  let connection: TinkerEngine | undefined;
  /** Rejects when the engine does not start, so that the caller can use another model. */
  const untilUp = async (engine: SupervisedEngine): Promise<void> => {
    const until = clock.monotonic() + (isDoubted ? DOUBTED_MS : START_MS);
    let deaths = 0;
    let before = engine.state();
    while (engine.state() !== 'up') {
      if (isClosed) throw new TrainingError('server', 'the engine is closed');
      const state = engine.state();
      if (state === 'down' && before !== 'down') deaths++;
      before = state;
      isDoubted = deaths >= MOST_DEATHS || clock.monotonic() >= until;
      if (isDoubted) throw new TrainingError('server', `the embedded engine does not start: ${WHERE}`);
      await sleep(LOOK_MS, NEVER);
    }
    isDoubted = false;
  };
  const place = async (): Promise<EngineAddress> => {
    if (isClosed) throw new TrainingError('server', 'the engine is closed');
    child ??= superviseEngine({ home, log, clock, env, key }).then((one) => {
      supervised = one;
      return one;
    });
    const { name } = await nano();
    const engine = await child;
    await untilUp(engine);
    return { url: engine.url, key, baseModel: name, profile: 'nano', isTested: false };
  };
  const connected = once(async () => {
    connection = await connectTo(await place(), clock, log);
    return connection;
  });
  return {
    name: 'nano',
    isEmbedded: true,
    regression: NANO_QUESTIONS,
    template: once(async () => {
      const { createNanoTemplate } = await import('./nano/policy/nano-template.ts');
      return createNanoTemplate((await nano()).tokenizer);
    }),
    place: async () => ({ engine: await place(), template: { module: NANO_TEMPLATE } }),
    connect: async () => {
      await place();
      return connected();
    },
    state: () => (child === undefined ? 'idle' : (supervised?.state() ?? 'starting')),
    close: async () => {
      isClosed = true;
      await connection?.close();
      await (await child)?.close();
    },
  };
}

type Server = Exclude<Config['train']['engine'], string>;

function openRemote({ settings, env, clock, log }: PolicyEngineOptions, server: Server): PolicyEngine {
  const { tinker: url, keyEnv, baseModel, profile, tokenizer } = server;
  const key = keyEnv === undefined ? undefined : env[keyEnv];
  let isUp = false;
  const keyed = key === undefined ? {} : { key };
  const place: EngineAddress = { url, baseModel, profile, isTested: true, ...keyed };
  const folder = (): string => {
    if (tokenizer !== undefined) return tokenizer;
    const fix = 'set train.engine.tokenizer to the folder of its tokenizer';
    throw new TrainingError('user', `${baseModel} has no chat template: ${fix}`);
  };
  const connect = once(async () => {
    const engine = await connectTo(place, clock, log);
    isUp = true;
    return engine;
  });
  return {
    name: policyName(settings) ?? baseModel,
    isEmbedded: false,
    template: once(async () => {
      const { openChatTemplate } = await import('./policy/open-chat-template.ts');
      return openChatTemplate(folder());
    }),
    place: async () => ({ engine: place, template: { folder: folder() } }),
    connect,
    state: () => (isUp ? 'up' : 'idle'),
    close: async () => {
      if (isUp) await (await connect()).close();
    },
  };
}

async function connectTo(
  { isTested, ...place }: EngineAddress,
  clock: Clock,
  log: Log,
): Promise<TinkerEngine> {
  const { connectTinker } = await import('./tinker/connect-tinker.ts');
  return connectTinker({
    ...place,
    ...(isTested ? {} : { selfTest: false }),
    fetch,
    clock,
    random: createRandom(`engine/${clock.now()}/${process.pid}`),
    log: (line) => log.debug(line),
  });
}

/** Runs `make` once and shares its result; after a failure the next call tries again. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    made.catch(() => {
      made = undefined;
    });
    return made;
  };
}
