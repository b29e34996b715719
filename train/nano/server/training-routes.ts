import { randomInt, randomUUID } from 'node:crypto';
import type { JsonObject } from '../../../src/core/json.ts';
import { decodeLoraConfig } from '../tinker/engine-input.ts';
import {
  flagField,
  integerField,
  optionalObjectField,
  optionalTextField,
  textField,
} from '../tinker/json-fields.ts';
import { decodeSampleRequest } from '../tinker/sample-request.ts';
import { findCheckpoint, type ModelCard } from './checkpoints.ts';
import { failureOf, renderOutcome } from './futures.ts';
import {
  HttpRefusal,
  idempotencyKeyOf,
  NO_CONTENT,
  okReply,
  type Route,
  type RouteCall,
  type RouteReply,
} from './http.ts';
import {
  decodeModelRequest,
  MODEL_REQUEST_KINDS,
  type ModelRequestKind,
  parseBody,
  requestFingerprint,
} from './model-request.ts';
import type { ServerParts } from './server-parts.ts';

const SEEDS = 2 ** 32;

/** Creates, trains, saves and loads models. All but get_info reply with a future. */
export function createTrainingRoutes(parts: ServerParts): readonly Route[] {
  const { checkpoints, engine, futures, keys, models } = parts;
  return [
    {
      method: 'POST',
      path: '/api/v1/create_model',
      answer: async ({ bytes, headers }) => {
        const body = parseBody(bytes);
        const lora = decodeLoraConfig(body, randomInt(SEEDS));
        const card = readCard(parts, body, requestFingerprint('create_model', body));
        return createModel(parts, headers, { ...card, lora, from: undefined });
      },
    },
    ...MODEL_REQUEST_KINDS.map(
      (kind): Route => ({
        method: 'POST',
        path: `/api/v1/${kind}`,
        answer: async (call) => {
          if (kind !== 'load_weights') return submitRequest(parts, kind, call);
          const body = parseBody(call.bytes);
          if (optionalTextField(body, 'session_id') === undefined) return submitRequest(parts, kind, call);
          // With a session id this creates a model from a checkpoint.
          const path = textField(body, 'path');
          const { lora } = findCheckpoint(path, checkpoints);
          const from = { path, withOptimizer: flagField(body, 'optimizer', false) };
          const card = readCard(parts, body, requestFingerprint('load_weights', body));
          return createModel(parts, call.headers, { ...card, lora, from });
        },
      }),
    ),
    {
      method: 'POST',
      path: '/api/v1/get_info',
      answer: async ({ bytes }) => {
        const id = textField(parseBody(bytes), 'model_id');
        const model = models.get(id);
        const { name } = engine.model;
        return okReply({
          type: 'get_info',
          model_data: { arch: 'instar-nano', model_name: name, tokenizer_id: name },
          model_id: id,
          is_lora: true,
          lora_rank: (model.state?.lora ?? model.card.lora).rank,
          model_name: name,
        });
      },
    },
    {
      method: 'POST',
      path: '/api/v1/unload_model',
      answer: async ({ bytes, headers }) => {
        const body = parseBody(bytes);
        const id = textField(body, 'model_id');
        const reply = await keys.once(
          idempotencyKeyOf(headers),
          requestFingerprint('unload_model', body),
          async () => {
            const model = models.get(id);
            const request = `unload:${randomUUID()}`;
            futures.open(request);
            void models.end(model).then(
              () => futures.settle(request, { kind: 'json', body: { type: 'unload_model', model_id: id } }),
              (error: unknown) => futures.settle(request, failureOf(error)),
            );
            return { request_id: request, model_id: id };
          },
        );
        return okReply(reply);
      },
    },
  ];
}

/** The model that a request describes. Throws a Refusal for one that this engine does not have. */
function readCard(
  { sessions, engine, clock }: ServerParts,
  body: JsonObject,
  print: string,
): Omit<ModelCard, 'lora' | 'from'> {
  const session = sessions.touch(textField(body, 'session_id'));
  const number = integerField(body, 'model_seq_id');
  const name = optionalTextField(body, 'base_model');
  if (name !== undefined && name !== engine.model.name)
    throw new HttpRefusal(
      400,
      `Model "${name.slice(0, 100)}" does not exist; the model is ${engine.model.name}.`,
    );
  const optimizer = optionalTextField(optionalObjectField(body, 'optimizer_config') ?? {}, 'type') ?? 'adamw';
  if (optimizer !== 'adamw')
    throw new HttpRefusal(400, `The optimizer "${optimizer.slice(0, 64)}" is not supported.`);
  return {
    id: `${session.id}:train:${number}`,
    session: session.id,
    metadata: optionalObjectField(body, 'user_metadata'),
    created: clock.now(),
    print,
    isEnded: false,
  };
}

async function createModel(
  { keys, models }: ServerParts,
  headers: RouteCall['headers'],
  card: ModelCard,
): Promise<RouteReply> {
  const reply = await keys.once(idempotencyKeyOf(headers), card.print, async () => ({
    request_id: await models.create(card),
    model_id: card.id,
  }));
  return okReply(reply);
}

async function submitRequest(
  { keys, models, sessions }: ServerParts,
  kind: ModelRequestKind,
  { bytes, headers }: RouteCall,
): Promise<RouteReply> {
  const isProto = (headers['content-type'] ?? '').includes('application/x-protobuf');
  const job = decodeModelRequest(kind, bytes, isProto);
  const key = idempotencyKeyOf(headers);
  const model = models.get(job.modelId);
  sessions.touch(model.card.session);
  const reply = await keys.once(key, job.print, async () => ({
    request_id: await model.submit(job, key),
    model_id: job.modelId,
  }));
  return okReply(reply);
}

/** Sampling, and the results of requests that were answered with a future. */
export function createFutureRoutes(parts: ServerParts): readonly Route[] {
  const { futures, keys, limits, models, samplers, sampling, sessions } = parts;

  /** An id of the right form that is unknown had a result that is no longer kept. */
  const explain = (id: string): HttpRefusal => {
    const isOurs = /^(s-[0-9a-f-]{36}:(train|sample):x?\d+:\d+|(sample|unload):[0-9a-f-]{36})$/.test(id);
    if (!isOurs) return new HttpRefusal(404, `Request ${id.slice(0, 100)} does not exist.`);
    return new HttpRefusal(410, `The result of ${id} is no longer kept.`);
  };
  const waitingFor = (id: string): string | undefined => {
    const model = models.live().find(({ card }) => id.startsWith(`${card.id}:`));
    return model?.missing === undefined
      ? undefined
      : `It waits for request ${model.missing}, which has not arrived.`;
  };

  return [
    {
      method: 'POST',
      path: '/api/v1/retrieve_future',
      answer: async ({ bytes, headers, signal }) => {
        const body = parseBody(bytes);
        const id = textField(body, 'request_id');
        const outcome = await futures.read(id, limits.pollMs, signal);
        if (outcome === undefined) throw explain(id);
        if (outcome === 'pending') {
          const reason = waitingFor(id);
          const queue =
            reason === undefined
              ? { queue_state: 'active' }
              : { queue_state: 'paused_capacity', queue_state_reason: reason };
          return { status: 408, body: { type: 'try_again', request_id: id, ...queue } };
        }
        const payload = renderOutcome(outcome, (headers.accept ?? '').includes('application/x-protobuf'));
        if (payload.bytes.length > limits.inlineBytes && flagField(body, 'allow_metadata_only', false))
          return okReply({ status: 'complete_metadata', response_payload_size: payload.bytes.length });
        return { status: 200, body: payload };
      },
    },
    {
      method: 'POST',
      path: '/api/v1/cancel_future',
      answer: async ({ bytes }) => {
        sampling.cancel(textField(parseBody(bytes), 'request_id'));
        return NO_CONTENT;
      },
    },
    {
      method: 'POST',
      path: '/api/v1/asample',
      answer: async ({ bytes, headers }) => {
        const body = parseBody(bytes);
        const ask = decodeSampleRequest(body);
        const sampler = ask.samplerId === undefined ? undefined : samplers.find(ask.samplerId);
        if (ask.samplerId !== undefined && sampler === undefined)
          throw new HttpRefusal(404, `Sampling session ${ask.samplerId.slice(0, 100)} does not exist.`);
        if (sampler !== undefined) sessions.touch(sampler.session);
        const print = requestFingerprint('asample', body);
        const reply = await keys.once(idempotencyKeyOf(headers), print, async () => {
          const id = sampling.submit(ask, print);
          // Newer clients refer to each sequence before it exists.
          const names = Array.from({ length: Math.max(0, Math.min(ask.count, 256)) }, (_, i) => `${id}/${i}`);
          return { request_id: id, sample_sequence_ids: names };
        });
        return okReply(reply);
      },
    },
  ];
}
