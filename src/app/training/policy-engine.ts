import type { Home } from '../../config/home.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/clock.ts';
import type { Template } from '../../core/policy.ts';
import { TrainingError } from '../../core/training.ts';
import { sleep } from '../../models/sleep.ts';
import { createNanoTemplate } from '../../nano/policy/nano-template.ts';
import { createRandom } from '../../stats/random.ts';
import { connectTinker } from '../../train/tinker/connect-tinker.ts';
import type { TinkerEngine } from '../../train/tinker/tinker-engine.ts';
import { readNano } from '../engine/read-nano.ts';
import { type SupervisedEngine, superviseEngine } from '../engine/supervise-engine.ts';
import type { Log } from '../log.ts';
import { openChatTemplate } from './open-chat-template.ts';
import { policyName } from './policy-name.ts';
import type { EnginePlace, TrainingPlan } from './training-plan.ts';

export interface PolicyEngineOptions {
  readonly settings: Config['train'];
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly log: Log;
}

/** What samples and trains, wherever it runs. Nothing is started before it is asked for. */
export interface PolicyEngine {
  /** Of the policy, as people ask for it behind `instar/`. */
  readonly name: string;
  readonly isEmbedded: boolean;
  template(): Promise<Template>;
  /** For whoever connects on its own; it is up when this resolves. */
  place(): Promise<Pick<TrainingPlan, 'engine' | 'template'>>;
  /** It is up when this resolves. Rejects with a TrainingError; the next call tries again. */
  connect(): Promise<TinkerEngine>;
  state(): 'idle' | 'starting' | 'up' | 'down';
  close(): Promise<void>;
}

/** In which it should be up, and how long it is waited for once it was not. */
const START_MS = 20_000;
const DOUBTED_MS = 500;
/** Deaths that are seen while waiting; one may be an accident. */
const MOST_DEATHS = 2;
const LOOK_MS = 50;
const NEVER = new AbortController().signal;
const WHERE = "the daemon's log has its last words, and instar doctor looks for the cause";

/** Undefined when nothing is to be trained. */
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
  let isClosed = false;
  let isDoubted = false;
  let connection: TinkerEngine | undefined;
  /** Whoever waits for an engine that does not come up is told so: there may be someone else to ask. */
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
  const place = async (): Promise<EnginePlace> => {
    if (isClosed) throw new TrainingError('server', 'the engine is closed');
    child ??= superviseEngine({ home, log, clock, env }).then((one) => {
      supervised = one;
      return one;
    });
    const { name } = await nano();
    const engine = await child;
    await untilUp(engine);
    return { url: engine.url, baseModel: name, profile: 'nano', isTested: false };
  };
  const connected = once(async () => {
    connection = await connectTo(await place(), clock, log);
    return connection;
  });
  return {
    name: 'nano',
    isEmbedded: true,
    template: once(async () => createNanoTemplate((await nano()).tokenizer)),
    place: async () => ({ engine: await place(), template: 'nano' }),
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
  const { tinker: url, keyEnv, baseModel, tokenizer } = server;
  const key = keyEnv === undefined ? undefined : env[keyEnv];
  let isUp = false;
  const keyed = key === undefined ? {} : { key };
  const place: EnginePlace = { url, baseModel, profile: 'generic', isTested: true, ...keyed };
  const folder = (): string => {
    if (tokenizer !== undefined) return tokenizer;
    const mend = 'name the folder of its tokenizer as train.engine.tokenizer';
    throw new TrainingError('user', `${baseModel} cannot be spoken with: ${mend}`);
  };
  const connect = once(async () => {
    const engine = await connectTo(place, clock, log);
    isUp = true;
    return engine;
  });
  return {
    name: policyName(settings) ?? baseModel,
    isEmbedded: false,
    template: once(async () => openChatTemplate(folder())),
    place: async () => ({ engine: place, template: { folder: folder() } }),
    connect,
    state: () => (isUp ? 'up' : 'idle'),
    close: async () => {
      if (isUp) await (await connect()).close();
    },
  };
}

const connectTo = ({ isTested, ...place }: EnginePlace, clock: Clock, log: Log): Promise<TinkerEngine> =>
  connectTinker({
    ...place,
    ...(isTested ? {} : { selfTest: false }),
    fetch,
    clock,
    random: createRandom(`engine/${clock.now()}/${process.pid}`),
    log: (line) => log.debug(line),
  });

/** The same answer for all who ask; after a failure the next asks anew. */
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
