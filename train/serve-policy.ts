import { blockHash } from '../src/base/block-hash.ts';
import type { Log } from '../src/base/log.ts';
import type { ChatModel, TurnMark } from '../src/core/chat.ts';
import type { Clock } from '../src/core/clock.ts';
import { createFailure, errorMessage, type Failure } from '../src/core/failure.ts';
import type { Records } from '../src/core/store.ts';
import type { RememberedRules } from '../src/core/task-source.ts';
import type { SampledTurn, Sampler } from '../src/core/training.ts';
import { createPolicyModel } from './policy/policy-model.ts';
import { type PolicyPointer, type PromotionSettings, versionForSession } from './promotion.ts';
import { openPromotionLog, type PromotionLog } from './promotion-log.ts';
import type { PolicyVersion, PromotionState } from './promotion-stages.ts';
import type { ServedAdapters } from './serve-adapters.ts';
import { createOpenWeights, type OpenWeights } from './served-weights.ts';
import type { PolicyEngine } from './training-plan.ts';

interface ServePolicyOptions {
  readonly engine: PolicyEngine;
  readonly adapters: ServedAdapters;
  readonly records: Records;
  readonly clock: Clock;
  readonly log: Log;
  readonly promotion: PromotionSettings;
  /** Whether a text contains a secret. Token ids are text to whoever has the vocabulary: such a turn's are not kept. */
  readonly hasSecret: (text: string) => boolean;
  /** Which of the rules that weights kept they still keep, as far as is known. */
  readonly stillKept: (remembered: RememberedRules) => ReadonlySet<string>;
  /** Makes replies reproducible: the same requests in the same order get the same replies. For benchmarks. */
  readonly seed?: number;
}

/** The policy as the gateway serves it. */
export interface ServedPolicy {
  readonly chat: ChatModel;
  /** The version that answers a session: `instar/nano@3`. A turn that starts in the same tick gets that version. */
  label(session: string): string;
  /** The lessons that the version which answers a session keeps without being shown them. */
  remembers(session: string): ReadonlySet<string>;
  promotions(): Promise<PromotionLog>;
  /** Unloads weights that no longer serve. */
  moved(): void;
  /** Replies since the start, and the milliseconds spent waiting for the engine. */
  answered(): number;
  sampledMs(): number;
  close(): Promise<void>;
}

/** The base model, the last fallback. */
const BARE: PolicyVersion = { version: 0, sampler: undefined };
const NO_RULES: ReadonlySet<string> = new Set();

/** The engine is not started before the first turn. */
export function servePolicy(options: ServePolicyOptions): ServedPolicy {
  const { engine, adapters, log } = options;
  const promotions = createPromotionReader(options);
  const serving: Serving = {
    options,
    promotions,
    weights: createOpenWeights({
      pointer: promotions.pointer,
      openSampler: async (path) => (await engine.connect()).openSampler(path),
      spares: promotions.spares,
      probed: (served, isWell, why) => reportProbe(serving, served, isWell, why),
    }),
    answered: 0,
    sampledMs: 0,
    secretTurns: new WeakSet(),
    startVersions: new WeakMap(),
  };
  let opening: Promise<ChatModel> | undefined;
  // So that the first turn's header can name the version, too.
  promotions
    .open()
    .catch((error: unknown) => log.warn({ err: error }, 'the promotion state could not be read yet'));

  return {
    chat: (request, context) => ({
      async *[Symbol.asyncIterator]() {
        const { turn } = context;
        const pointer = promotions.current()?.pointer();
        if (turn !== undefined && pointer !== undefined)
          serving.startVersions.set(turn, versionForSession(pointer, turn.session));
        if (turn !== undefined && options.hasSecret(JSON.stringify(request))) serving.secretTurns.add(turn);
        opening ??=
          adapters.chat === undefined ? openEngineModel(serving) : openOutsideModel(serving, adapters.chat);
        let model: ChatModel;
        try {
          model = await opening;
        } catch (error) {
          opening = undefined;
          const message = errorMessage(error);
          yield { type: 'failure', failure: createFailure('upstream-error', message) };
          return;
        }
        yield* model(request, context);
      },
    }),
    label: (session) => {
      const pointer = promotions.current()?.pointer();
      const version = pointer === undefined ? undefined : versionForSession(pointer, session).version;
      return `instar/${engine.name}${version === undefined ? '' : `@${version}`}`;
    },
    remembers: (session) => {
      const pointer = promotions.current()?.pointer();
      const { remembers } = pointer === undefined ? BARE : versionForSession(pointer, session);
      return remembers === undefined ? NO_RULES : options.stillKept(remembers);
    },
    promotions: promotions.open,
    moved: () => serving.weights.sweep(),
    answered: () => serving.answered,
    sampledMs: () => serving.sampledMs,
    close: async () => {
      await adapters.close();
      await serving.weights.close();
    },
  };
}

interface Serving {
  readonly options: ServePolicyOptions;
  readonly promotions: PromotionReader;
  readonly weights: OpenWeights;
  answered: number;
  sampledMs: number;
  /** Turns whose request contains a secret: their tokens are not kept. */
  readonly secretTurns: WeakSet<TurnMark>;
  /** The version a turn started with: the reply's header names the same. */
  readonly startVersions: WeakMap<TurnMark, PolicyVersion>;
}

/** Which weights serve. The base model's while the record cannot be read: an answer does not depend on the store. */
interface PromotionReader {
  /** After a failure, the next call tries again. */
  open(): Promise<PromotionLog>;
  /** Undefined until it was opened. */
  current(): PromotionLog | undefined;
  pointer(): PolicyPointer;
  /** What answers when the weights that serve cannot. */
  spares(): readonly PolicyVersion[];
  /** The pointer, read from the record where that has not happened yet. */
  readPointer(): Promise<PolicyPointer>;
}

function createPromotionReader(options: ServePolicyOptions): PromotionReader {
  const { engine, adapters, records, clock, log, promotion: settings } = options;
  let current: PromotionLog | undefined;
  let opening: Promise<PromotionLog> | undefined;
  let isFailureLogged = false;
  const open = (): Promise<PromotionLog> => {
    opening ??= openPromotionLog({ engine: engine.name, records, clock, settings, outside: adapters }).then(
      (opened) => {
        current = opened;
        return opened;
      },
    );
    opening.catch(() => {
      opening = undefined;
    });
    return opening;
  };
  return {
    open,
    current: () => current,
    pointer: () => current?.pointer() ?? { live: BARE },
    spares: () => (current === undefined ? [BARE] : sparesOf(current.state())),
    readPointer: async () => {
      try {
        return (await open()).pointer();
      } catch (error) {
        if (!isFailureLogged)
          log.warn({ err: error }, 'the promotion state cannot be read: the base model answers');
        isFailureLogged = true;
        return { live: BARE };
      }
    },
  };
}

/** Weights that fail while others answer are rolled back after the configured number of consecutive failures. */
function reportProbe(serving: Serving, served: PolicyVersion, isWell: boolean, why?: unknown): void {
  const { version, sampler } = served;
  const { log } = serving.options;
  const promotions = serving.promotions.current();
  if (promotions === undefined || (isWell && !isDoubted(promotions.state(), version))) return;
  if (!isWell)
    log.warn({ err: why, version, sampler }, 'these weights could not answer: another version answered');
  promotions
    .tell({ type: 'probed', version, isWell })
    .then((moves) => {
      for (const moved of moves) log.error({ ...moved }, `weights: version ${moved.version} is ${moved.to}`);
      if (moves.length > 0) serving.weights.sweep();
    })
    .catch((error: unknown) => log.warn({ err: error }, 'weights could not be rolled back'));
}

async function openEngineModel(serving: Serving): Promise<ChatModel> {
  const { engine, records, clock, log, seed } = serving.options;
  return createPolicyModel({
    template: await engine.template(),
    weights: async (turn) => {
      const pointer = await serving.promotions.readPointer();
      const taken = await serving.weights.take(
        (turn && serving.startVersions.get(turn)) ?? versionForSession(pointer, turn?.session ?? ''),
      );
      const sample: Sampler['sample'] = async (request, signal) => {
        const since = clock.monotonic();
        try {
          await engine.connect();
          return await taken.sampler.sample(request, signal);
        } finally {
          serving.sampledMs += clock.monotonic() - since;
        }
      };
      return {
        get version() {
          return taken.version;
        },
        sampler: { ...taken.sampler, sample },
        release: taken.release,
      };
    },
    keep: (sampled, turn) => {
      serving.answered++;
      if (turn === undefined || serving.secretTurns.has(turn)) return;
      keepTokens(records, clock, sampled, turn).catch((error: unknown) =>
        log.warn({ err: error, turn: turn.id }, "a reply's tokens could not be recorded"),
      );
    },
    ...(seed === undefined ? {} : { seed: () => seed + serving.answered }),
  });
}

/** Only the engine's sampler returns ids and log-probabilities: turns answered by another server have none recorded. */
async function openOutsideModel(
  serving: Serving,
  ask: NonNullable<ServedAdapters['chat']>,
): Promise<ChatModel> {
  const { promotions, startVersions } = serving;
  await promotions.readPointer();
  return (request, context) => {
    const { turn } = context;
    const served =
      (turn && startVersions.get(turn)) ?? versionForSession(promotions.pointer(), turn?.session ?? '');
    const spares = promotions.spares().filter(({ version }) => version !== served.version);
    const heard = (by: PolicyVersion, why: Failure | undefined): void => {
      serving.answered++;
      if (by !== served) reportProbe(serving, served, false, why?.message);
      reportProbe(serving, by, true);
    };
    return ask([served, ...spares], heard)(request, context);
  };
}

const sparesOf = ({ live, previous }: PromotionState): readonly PolicyVersion[] => [
  live,
  previous ?? BARE,
  BARE,
];

const isDoubted = ({ live, trial, waiting, failed }: PromotionState, version: number): boolean =>
  (live.version === version && failed > 0) ||
  [trial, waiting].some((one) => one?.served.version === version && one.failed > 0);

async function keepTokens(
  records: Records,
  clock: Clock,
  { prompt, tokens, logprobs, version, temperature }: SampledTurn,
  { id, session, generation }: TurnMark,
): Promise<void> {
  const text = JSON.stringify({
    prompt,
    tokens,
    logprobs: logprobs.map((value) => Number(value.toFixed(6))),
  });
  // A bare hash in a field named tokens would be redacted as a possible secret.
  const hash = `sha256:${blockHash(text)}`;
  const fact = {
    type: 'turn-sampled',
    turn: id,
    session,
    version,
    generation,
    temperature,
    tokens: hash,
  } as const;
  await records.append([{ at: Math.round(clock.now()), fact }], [{ hash, text, session }], true);
}
