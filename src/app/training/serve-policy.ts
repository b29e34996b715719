import type { ChatModel, TurnMark } from '../../core/chat.ts';
import type { Clock } from '../../core/clock.ts';
import { createFailure, type Failure } from '../../core/failure.ts';
import type { SampledTurn } from '../../core/policy.ts';
import type { Records } from '../../core/records.ts';
import type { Sampler } from '../../core/training.ts';
import { createPolicyModel } from '../../policy/policy-model.ts';
import { type Served, servedBy } from '../../train/policy-pointer.ts';
import type { Promotion } from '../../train/promotion.ts';
import type { PromotionSettings } from '../../train/promotion-settings.ts';
import type { Log } from '../log.ts';
import { textHash } from '../recording/text-hash.ts';
import type { PolicyEngine } from './policy-engine.ts';
import { openPromotions, type Promotions } from './promotions.ts';
import type { ServedAdapters } from './serve-adapters.ts';
import { createWeightsRoom, type WeightsRoom } from './served-weights.ts';

export interface ServePolicyOptions {
  readonly engine: PolicyEngine;
  readonly adapters: ServedAdapters;
  readonly records: Records;
  readonly clock: Clock;
  readonly log: Log;
  readonly promotion: PromotionSettings;
  /** The same requests in the same order get the same replies. For benchmarks. */
  readonly seed?: number;
}

/** The policy as the gateway serves it. */
export interface ServedPolicy {
  readonly chat: ChatModel;
  /** What a session is answered by: `instar/nano@3`. Who asks for a turn in the same breath is answered by that. */
  label(session: string): string;
  promotions(): Promise<Promotions>;
  /** Weights that serve no more may be let go of. */
  moved(): void;
  /** Replies since the start, and the milliseconds for which the engine was waited for. */
  answered(): number;
  sampledMs(): number;
  close(): Promise<void>;
}

/** What answers when nothing that was trained can. */
const BARE: Served = { version: 0, sampler: undefined };

/** No engine is asked for anything before the first turn. */
export function servePolicy(options: ServePolicyOptions): ServedPolicy {
  const { engine, adapters, records, clock, log, promotion, seed: firstSeed } = options;
  let promotions: Promotions | undefined;
  let room: WeightsRoom | undefined;
  let opening: Promise<Promotions> | undefined;
  let answered = 0;
  let sampledMs = 0;
  const open = (): Promise<Promotions> => {
    const followed = { settings: promotion, outside: adapters };
    opening ??= openPromotions({ engine: engine.name, records, clock, ...followed }).then((opened) => {
      promotions = opened;
      room = createWeightsRoom({
        pointer: opened.pointer,
        openSampler: async (path) => (await engine.connect()).openSampler(path),
        spares: () => sparesOf(opened.state()),
        probed,
      });
      return opened;
    });
    opening.catch(() => {
      opening = undefined;
    });
    return opening;
  };
  /** Weights that cannot answer while others can are turned back, after as many times in a row as the settings say. */
  const probed = ({ version, sampler }: Served, isWell: boolean, why?: unknown): void => {
    const state = promotions?.state();
    if (promotions === undefined || state === undefined || (isWell && !isDoubted(state, version))) return;
    if (!isWell)
      log.warn({ err: why, version, sampler }, 'these weights could not answer: others did in their place');
    promotions
      .tell({ type: 'probed', version, isWell })
      .then((moves) => {
        for (const moved of moves)
          log.error({ ...moved }, `weights: version ${moved.version} is ${moved.to}`);
        if (moves.length > 0) room?.sweep();
      })
      .catch((error: unknown) => log.warn({ err: error }, 'weights could not be turned back'));
  };
  const keep = (sampled: SampledTurn, turn: TurnMark | undefined): void => {
    answered++;
    if (turn === undefined) return;
    keepTokens(records, clock, sampled, turn).catch((error: unknown) =>
      log.warn({ err: error, turn: turn.id }, "a reply's tokens could not be kept"),
    );
  };
  const model = async (): Promise<ChatModel> =>
    createPolicyModel({
      template: await engine.template(),
      weights: async (turn) => {
        const { pointer } = await open();
        if (room === undefined) throw new Error('the policy is closed');
        const read = turn && readAt.get(turn);
        const taken = await room.take(read ?? servedBy(pointer(), turn?.session ?? ''));
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
  /** Only the engine's sampler tells ids and log-probabilities: of a turn that another server answered none are kept. Attempts that train are the engine's own. */
  const modelOutside = async (ask: NonNullable<ServedAdapters['chat']>): Promise<ChatModel> => {
    const { pointer, state } = await open();
    return (request, context) => {
      const { turn } = context;
      const served = (turn && readAt.get(turn)) ?? servedBy(pointer(), turn?.session ?? '');
      const spares = sparesOf(state()).filter(({ version }) => version !== served.version);
      const heard = (by: Served, why: Failure | undefined): void => {
        answered++;
        if (by !== served) probed(served, false, why?.message);
        probed(by, true);
      };
      return ask([served, ...spares], heard)(request, context);
    };
  };
  let made: Promise<ChatModel> | undefined;
  /** What the pointer said when a turn began: the head of its reply says the same. */
  const readAt = new WeakMap<TurnMark, Served>();
  // So that the first turn, too, can say by whom it is answered.
  open().catch((error: unknown) => log.warn({ err: error }, 'which weights serve is not known yet'));

  return {
    chat: (request, context) => ({
      async *[Symbol.asyncIterator]() {
        const { turn } = context;
        if (turn !== undefined && promotions !== undefined)
          readAt.set(turn, servedBy(promotions.pointer(), turn.session));
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
      const version = pointer === undefined ? undefined : servedBy(pointer, session).version;
      return `instar/${engine.name}${version === undefined ? '' : `@${version}`}`;
    },
    promotions: open,
    moved: () => room?.sweep(),
    answered: () => answered,
    sampledMs: () => sampledMs,
    close: async () => {
      await adapters.close();
      await room?.close();
    },
  };
}

const sparesOf = ({ live, previous }: Promotion): readonly Served[] => [live, previous ?? BARE, BARE];

const isDoubted = ({ live, trial, failed }: Promotion, version: number): boolean =>
  (live.version === version && failed > 0) || (trial?.served.version === version && trial.failed > 0);

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
  // Of a bare hash in a field called tokens nobody can say that it is no secret: it would not be kept.
  const hash = `sha256:${textHash(text)}`;
  const fact = {
    type: 'turn-sampled',
    turn: id,
    session,
    version,
    generation,
    temperature,
    tokens: hash,
  } as const;
  await records.append([{ at: Math.round(clock.now()), fact }], [{ hash, text, session }]);
}
