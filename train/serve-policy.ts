import { blockHash } from '../src/base/block-hash.ts';
import type { Log } from '../src/base/log.ts';
import type { ChatModel, TurnMark } from '../src/core/chat.ts';
import type { Clock } from '../src/core/clock.ts';
import { createFailure, type Failure } from '../src/core/failure.ts';
import type { Records } from '../src/core/store.ts';
import type { SampledTurn, Sampler } from '../src/core/training.ts';
import { createPolicyModel } from './policy/policy-model.ts';
import type { PromotionSettings } from './promotion.ts';
import { type PolicyPointer, versionForSession } from './promotion.ts';
import { openPromotionLog, type PromotionLog } from './promotion-log.ts';
import type { PolicyVersion, PromotionState } from './promotion-stages.ts';
import type { ServedAdapters } from './serve-adapters.ts';
import { createOpenWeights, type OpenWeights } from './served-weights.ts';
import type { PolicyEngine } from './training-plan.ts';

export interface ServePolicyOptions {
  readonly engine: PolicyEngine;
  readonly adapters: ServedAdapters;
  readonly records: Records;
  readonly clock: Clock;
  readonly log: Log;
  readonly promotion: PromotionSettings;
  /** Whether a text contains a secret. Token ids are text to whoever has the vocabulary: such a turn's are not kept. */
  readonly hasSecret: (text: string) => boolean;
  /** Makes replies reproducible: the same requests in the same order get the same replies. For benchmarks. */
  readonly seed?: number;
}

/** The policy as the gateway serves it. */
export interface ServedPolicy {
  readonly chat: ChatModel;
  /** The version that answers a session: `instar/nano@3`. A turn that starts in the same tick gets that version. */
  label(session: string): string;
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

/** The engine is not started before the first turn. */
export function servePolicy(options: ServePolicyOptions): ServedPolicy {
  const { engine, adapters, records, clock, log, promotion, seed: firstSeed } = options;
  let promotions: PromotionLog | undefined;
  let isOpenLogged = false;
  let opening: Promise<PromotionLog> | undefined;
  let answered = 0;
  let sampledMs = 0;
  const open = (): Promise<PromotionLog> => {
    const followed = { settings: promotion, outside: adapters };
    opening ??= openPromotionLog({ engine: engine.name, records, clock, ...followed }).then((opened) => {
      promotions = opened;
      return opened;
    });
    opening.catch(() => {
      opening = undefined;
    });
    return opening;
  };
  /** Weights that fail while others answer are rolled back after the configured number of consecutive failures. */
  const probed = ({ version, sampler }: PolicyVersion, isWell: boolean, why?: unknown): void => {
    const state = promotions?.state();
    if (promotions === undefined || state === undefined || (isWell && !isDoubted(state, version))) return;
    if (!isWell)
      log.warn({ err: why, version, sampler }, 'these weights could not answer: another version answered');
    promotions
      .tell({ type: 'probed', version, isWell })
      .then((moves) => {
        for (const moved of moves)
          log.error({ ...moved }, `weights: version ${moved.version} is ${moved.to}`);
        if (moves.length > 0) room.sweep();
      })
      .catch((error: unknown) => log.warn({ err: error }, 'weights could not be rolled back'));
  };
  const room: OpenWeights = createOpenWeights({
    pointer: () => promotions?.pointer() ?? { live: BARE },
    openSampler: async (path) => (await engine.connect()).openSampler(path),
    spares: () => (promotions === undefined ? [BARE] : sparesOf(promotions.state())),
    probed,
  });
  /** Which weights serve. The base model's while the record cannot be read: an answer does not depend on the store. */
  const pointerNow = async (): Promise<PolicyPointer> => {
    try {
      return (await open()).pointer();
    } catch (error) {
      if (!isOpenLogged)
        log.warn({ err: error }, 'the promotion state cannot be read: the base model answers');
      isOpenLogged = true;
      return { live: BARE };
    }
  };
  const keep = (sampled: SampledTurn, turn: TurnMark | undefined): void => {
    answered++;
    if (turn === undefined || secretive.has(turn)) return;
    keepTokens(records, clock, sampled, turn).catch((error: unknown) =>
      log.warn({ err: error, turn: turn.id }, "a reply's tokens could not be recorded"),
    );
  };
  const model = async (): Promise<ChatModel> =>
    createPolicyModel({
      template: await engine.template(),
      weights: async (turn) => {
        const pointer = await pointerNow();
        const read = turn && readAt.get(turn);
        const taken = await room.take(read ?? versionForSession(pointer, turn?.session ?? ''));
        const timed = async (...asked: Parameters<Sampler['sample']>) => {
          const since = clock.monotonic();
          try {
            await engine.connect();
            return await taken.sampler.sample(...asked);
          } finally {
            sampledMs += clock.monotonic() - since;
          }
        };
        return {
          get version() {
            return taken.version;
          },
          sampler: { ...taken.sampler, sample: timed },
          release: taken.release,
        };
      },
      keep,
      ...(firstSeed === undefined ? {} : { seed: () => firstSeed + answered }),
    });
  /** Only the engine's sampler returns ids and log-probabilities: turns answered by another server have none recorded. */
  const modelOutside = async (ask: NonNullable<ServedAdapters['chat']>): Promise<ChatModel> => {
    await pointerNow();
    const pointer = (): PolicyPointer => promotions?.pointer() ?? { live: BARE };
    return (request, context) => {
      const { turn } = context;
      const served = (turn && readAt.get(turn)) ?? versionForSession(pointer(), turn?.session ?? '');
      const spares = (promotions === undefined ? [BARE] : sparesOf(promotions.state())).filter(
        ({ version }) => version !== served.version,
      );
      const heard = (by: PolicyVersion, why: Failure | undefined): void => {
        answered++;
        if (by !== served) probed(served, false, why?.message);
        probed(by, true);
      };
      return ask([served, ...spares], heard)(request, context);
    };
  };
  let made: Promise<ChatModel> | undefined;
  const secretive = new WeakSet<TurnMark>();
  /** The version a turn started with: the reply's header names the same. */
  const readAt = new WeakMap<TurnMark, PolicyVersion>();
  // So that the first turn's header can name the version, too.
  open().catch((error: unknown) => log.warn({ err: error }, 'the promotion state could not be read yet'));

  return {
    chat: (request, context) => ({
      async *[Symbol.asyncIterator]() {
        const { turn } = context;
        if (turn !== undefined && promotions !== undefined)
          readAt.set(turn, versionForSession(promotions.pointer(), turn.session));
        if (turn !== undefined && options.hasSecret(JSON.stringify(request))) secretive.add(turn);
        made ??= adapters.chat === undefined ? model() : modelOutside(adapters.chat);
        let chat: ChatModel;
        try {
          chat = await made;
        } catch (error) {
          made = undefined;
          const message = error instanceof Error ? error.message : String(error);
          yield { type: 'failure', failure: createFailure('upstream-error', message) };
          return;
        }
        yield* chat(request, context);
      },
    }),
    label: (session) => {
      const pointer = promotions?.pointer();
      const version = pointer === undefined ? undefined : versionForSession(pointer, session).version;
      return `instar/${engine.name}${version === undefined ? '' : `@${version}`}`;
    },
    promotions: open,
    moved: () => room.sweep(),
    answered: () => answered,
    sampledMs: () => sampledMs,
    close: async () => {
      await adapters.close();
      await room.close();
    },
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
