import { asNumber, asObject, asString, compact, isObject, type JsonObject } from '../../core/json.ts';
import type { LoraOptions } from '../engine.ts';

/** A model as it was requested. Stored in a file before the reply, so that a kill does not lose the request. */
export interface ModelCard {
  readonly id: string;
  readonly session: string;
  readonly lora: LoraOptions;
  /** The checkpoint that it starts from; undefined for a new adapter. */
  readonly from: { readonly path: string; readonly withOptimizer: boolean } | undefined;
  readonly metadata: JsonObject | undefined;
  readonly created: number;
  /** The fingerprint of the request that created it. */
  readonly print: string;
  /** It was unloaded or its session ended: only its checkpoints remain. */
  readonly isEnded: boolean;
}

export const loraJson = ({ rank, alpha, seed, attention, mlp }: LoraOptions): JsonObject => ({
  rank,
  alpha,
  seed,
  attention,
  mlp,
});

export function loraFrom(value: JsonObject): LoraOptions | undefined {
  const rank = asNumber(value.rank);
  const alpha = asNumber(value.alpha);
  const seed = asNumber(value.seed);
  if (rank === undefined || alpha === undefined || seed === undefined) return undefined;
  return { rank, alpha, seed, attention: value.attention === true, mlp: value.mlp === true };
}

export const cardJson = ({ lora, from, ...rest }: ModelCard): JsonObject =>
  compact({ ...rest, lora: loraJson(lora), from: from === undefined ? undefined : { ...from } });

export function cardFrom(value: unknown): ModelCard | undefined {
  const card = asObject(value);
  const id = asString(card.id);
  const session = asString(card.session);
  const lora = loraFrom(asObject(card.lora));
  if (id === undefined || session === undefined || lora === undefined) return undefined;
  const from = isObject(card.from) ? card.from : undefined;
  return {
    id,
    session,
    lora,
    from:
      from === undefined
        ? undefined
        : { path: asString(from.path) ?? '', withOptimizer: from.withOptimizer === true },
    metadata: isObject(card.metadata) ? card.metadata : undefined,
    created: asNumber(card.created) ?? 0,
    print: asString(card.print) ?? '',
    isEnded: card.isEnded === true,
  };
}
