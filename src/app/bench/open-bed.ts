import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { Log } from '../../base/log.ts';
import type { Condition } from '../../bench/row.ts';
import type { Bed, BedOptions, OpenBed } from '../../bench/run/bed.ts';
import { checkConfig } from '../../config/check-config.ts';
import { openHome } from '../../config/home.ts';
import { readOrCreateKey } from '../../config/key.ts';
import type { Config } from '../../config/schema.ts';
import type { ChatModel } from '../../core/chat.ts';
import { systemClock } from '../../core/clock.ts';
import { decodeLessons } from '../../library/codec.ts';
import { parseBaseUrl } from '../../models/base-url.ts';
import { createExchange } from '../../models/exchange.ts';
import { createSpeakThrough } from '../../models/speak-through.ts';
import { createHttpReport } from '../../pipeline/report-over-http.ts';
import { wires } from '../../wire/wires.ts';
import { startDaemon } from '../daemon.ts';
import { createRemoteDesks } from '../remote-desk.ts';
import { restoreHome } from '../restore-home.ts';
import type { TrainingOverride } from '../training/serve-training.ts';
import { forgetKept, keepWeights, restoreWeights } from './keep-weights.ts';
import { createNight, type NightOptions } from './night.ts';

/** What answers: a function of this process, or a model from the user's configuration. */
export type Policy =
  | { readonly kind: 'own'; readonly model: (seed: number) => ChatModel | Promise<ChatModel> }
  | { readonly kind: 'configured'; readonly name: string; readonly config: Config }
  /** The policy that ships with Instar; its weights can be trained. */
  | { readonly kind: 'embedded' };

export interface OpenBedOptions {
  /** The run's folder, with a home for each condition and seed. */
  readonly folder: string;
  readonly policy: Policy;
  /** `learn.failures`: how many failures start the evolver. */
  readonly failures: number;
  /** Training under the condition `full`. */
  readonly nights?: NightOptions;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
}

const POLICY = 'policy';

/** Instar as users run it, in this process and over HTTP, in front of one policy. */
export function createOpenBed(options: OpenBedOptions): OpenBed {
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
      restoreWeights(home.dir, keptFile(kept, name, after));
    }
    const clock = systemClock;
    let policyMs = 0;
    const spent = (ms: number): void => {
      policyMs += ms;
    };
    const models = policy.kind === 'own' ? { [POLICY]: timed(await policy.model(seed), spent) } : {};
    const key = readOrCreateKey(home, {}).key;
    const config = configFor(condition, options);
    const training = trainingFor(options, { condition, seed, after });
    // Each home has its own key: INSTAR_KEY of the user's environment would replace it.
    const { INSTAR_KEY: _, ...others } = env;
    const daemon = await startDaemon({
      home,
      config,
      env: others,
      log,
      port: 0,
      models,
      isUnhurried: true,
      training,
    });
    const pool = createExchange({ timeouts: config.gateway.timeouts, isForbiddenAddress: () => false });
    const record = { url: daemon.url, port: daemon.port, pid: process.pid, startedAt: '', version: '' };
    const { desk, shelf } = createRemoteDesks(record, key);
    return {
      speak: createSpeakThrough({
        exchange: pool.exchange,
        wire: wires['openai-chat'],
        gateway: parseBaseUrl(daemon.url, 'openai-chat'),
        credentials: () => ({ authorization: `Bearer ${key}` }),
        clock,
      }),
      model: modelOf(policy),
      judge: async (turn, score, note) => void (await desk.feedback({ turn, score, note })),
      report: createHttpReport({
        url: daemon.url,
        key,
        onProblem: (problem) => log.warn({ problem }, 'reporting a stage failed'),
      }),
      settle: daemon.settle,
      lessons: async () =>
        decodeLessons(await shelf.all()).map(({ id, state, text }) => ({
          id,
          name: text.name,
          state,
          text: `${text.name}\n${text.description}\n${text.content}`,
        })),
      policyMs: () => (policy.kind === 'embedded' ? (daemon.training?.policy.sampledMs() ?? 0) : policyMs),
      ...(condition === 'full' && options.nights !== undefined && daemon.training !== undefined
        ? {
            night: createNight({
              ...options.nights,
              folder: path.join(home.dir, 'train'),
              seed,
              training: daemon.training,
              generation: daemon.generation,
            }),
          }
        : {}),
      save: async (day) => {
        const file = keptFile(kept, name, day);
        rmSync(file, { force: true });
        await desk.backup(file);
        keepWeights(dir, file);
        // The day before is kept until the journal has this one.
        if (day > 1) forgetKept(keptFile(kept, name, day - 2));
      },
      close: async () => {
        await pool.close();
        await daemon.close();
      },
    } satisfies Bed;
  };
}

const keptFile = (folder: string, name: string, day: number): string =>
  path.join(folder, `${name}-day${day}.sqlite`);

/**
 * The same for all conditions except the autonomy: with `manual`, a lesson needs a person's approval to enter a prompt, and
 * nobody approves here. No lesson is held out: the benchmark has its own comparison.
 */
function configFor(condition: Condition, { policy, failures, nights }: OpenBedOptions): Config {
  const isBare = condition === 'baseline' || (condition === 'full' && nights?.control === 'no-lessons');
  const autonomy = isBare ? 'manual' : 'guarded';
  const own = policy.kind === 'configured' ? policy.config : checkConfig({}, { env: {} }).config;
  const library = { ...own.library, autonomy, holdout: 0 } as const;
  const engine = policy.kind === 'embedded' ? 'nano' : 'off';
  return {
    ...own,
    library,
    learn: { ...own.learn, failures },
    train: { ...own.train, ...nights?.train, engine },
  };
}

const modelOf = (policy: Policy): string =>
  policy.kind === 'own' ? POLICY : policy.kind === 'configured' ? policy.name : 'instar/nano';

/** The same questions in the same order get the same replies, also in a continued run. */
function trainingFor({ nights }: OpenBedOptions, { seed, after = -1 }: BedOptions): TrainingOverride {
  return {
    policySeed: seed * 1_000_000 + (after + 1) * 10_000,
    agent: 'bench-workdays',
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
