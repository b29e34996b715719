import { createHash } from 'node:crypto';
import type { ChatModel, TurnMark } from '../../core/chat.ts';
import type { Clock } from '../../core/clock.ts';
import { createFailure } from '../../core/failure.ts';
import type { SampledTurn } from '../../core/policy.ts';
import type { Records } from '../../core/records.ts';
import type { Sampler } from '../../core/training.ts';
import { createPolicyModel } from '../../policy/policy-model.ts';
import { servedBy } from '../../train/policy-pointer.ts';
import type { PromotionSettings } from '../../train/promotion-settings.ts';
import type { Log } from '../log.ts';
import type { PolicyEngine } from './policy-engine.ts';
import { openPromotions, type Promotions } from './promotions.ts';
import { createWeightsRoom, type WeightsRoom } from './served-weights.ts';

export interface ServePolicyOptions {
  readonly engine: PolicyEngine;
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
  /** What a session is answered by: `instar/nano@3`. */
  label(session: string): string;
  promotions(): Promise<Promotions>;
  /** Weights that serve no more may be let go of. */
  moved(): void;
  /** Replies since the start, and the milliseconds for which the engine was waited for. */
  answered(): number;
  sampledMs(): number;
  close(): Promise<void>;
}

/** Nothing is opened before the first turn. */
export function servePolicy(options: ServePolicyOptions): ServedPolicy {
  const { engine, records, clock, log, promotion, seed: firstSeed } = options;
  let promotions: Promotions | undefined;
  let room: WeightsRoom | undefined;
  let opening: Promise<Promotions> | undefined;
  let answered = 0;
  let sampledMs = 0;
  const open = (): Promise<Promotions> => {
    opening ??= openPromotions({ engine: engine.name, records, clock, settings: promotion }).then(
      (opened) => {
        promotions = opened;
        room = createWeightsRoom({
          pointer: opened.pointer,
          openSampler: async (path) => (await engine.connect()).openSampler(path),
        });
        return opened;
      },
    );
    opening.catch(() => {
      opening = undefined;
    });
    return opening;
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
        await open();
        if (room === undefined) throw new Error('the policy is closed');
        const taken = await room.take(turn);
        const timed = async (...asked: Parameters<Sampler['sample']>) => {
          const since = clock.monotonic();
          try {
            return await taken.sampler.sample(...asked);
          } finally {
            sampledMs += clock.monotonic() - since;
          }
        };
        return { ...taken, sampler: { ...taken.sampler, sample: timed } };
      },
      keep,
      ...(firstSeed === undefined ? {} : { seed: () => firstSeed + answered }),
    });
  let made: Promise<ChatModel> | undefined;

  return {
    chat: (request, context) => ({
      async *[Symbol.asyncIterator]() {
        made ??= model();
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
    close: async () => room?.close(),
  };
}

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
  const hash = createHash('sha256').update(text).digest('hex');
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
