import { randomInt, randomUUID } from 'node:crypto';
import type { JsonObject } from '../../core/json.ts';
import { flagAt, integerAt, optionalObjectAt, optionalTextAt, textAt } from '../tinker/json-fields.ts';
import { decodeLoraConfig } from '../tinker/lora-config.ts';
import { findCheckpoint } from './checkpoints.ts';
import { JOB_KINDS, type JobKind, parseBody, printOf, readJob } from './job.ts';
import { keyOf } from './key-of.ts';
import type { ModelCard } from './model-card.ts';
import { failureOf } from './outcome.ts';
import { Refusal } from './refusal.ts';
import { type Call, ok, type Reply, type Route } from './route.ts';
import type { ServerParts } from './server-parts.ts';

const SEEDS = 2 ** 32;

/** Creates, trains, saves and loads models. All but get_info reply with a future. */
export function createTrainingRoutes(parts: ServerParts): readonly Route[] {
  const { checkpoints, clock, engine, futures, keys, models, sessions } = parts;

  const cardOf = (body: JsonObject, print: string): Omit<ModelCard, 'lora' | 'from'> => {
    const session = sessions.touch(textAt(body, 'session_id'));
    const number = integerAt(body, 'model_seq_id');
    const name = optionalTextAt(body, 'base_model');
    if (name !== undefined && name !== engine.model.name)
      throw new Refusal(
        400,
        `Model "${name.slice(0, 100)}" does not exist; the model is ${engine.model.name}.`,
      );
    const optimizer = optionalTextAt(optionalObjectAt(body, 'optimizer_config') ?? {}, 'type') ?? 'adamw';
    if (optimizer !== 'adamw')
      throw new Refusal(400, `The optimizer "${optimizer.slice(0, 64)}" is not supported.`);
    return {
      id: `${session.id}:train:${number}`,
      session: session.id,
      metadata: optionalObjectAt(body, 'user_metadata'),
      created: clock.now(),
      print,
      isEnded: false,
    };
  };
  const make = async (headers: Call['headers'], card: ModelCard): Promise<Reply> => {
    const reply = await keys.once(keyOf(headers), card.print, async () => ({
      request_id: await models.create(card),
      model_id: card.id,
    }));
    return ok(reply);
  };

  const submit = async (kind: JobKind, { bytes, headers }: Call): Promise<Reply> => {
    const isProto = (headers['content-type'] ?? '').includes('application/x-protobuf');
    const job = readJob(kind, bytes, isProto);
    const key = keyOf(headers);
    const model = models.get(job.modelId);
    sessions.touch(model.card.session);
    const reply = await keys.once(key, job.print, async () => ({
      request_id: await model.submit(job, key),
      model_id: job.modelId,
    }));
    return ok(reply);
  };

  return [
    {
      method: 'POST',
      path: '/api/v1/create_model',
      answer: async ({ bytes, headers }) => {
        const body = parseBody(bytes);
        const lora = decodeLoraConfig(body, randomInt(SEEDS));
        return make(headers, { ...cardOf(body, printOf('create_model', body)), lora, from: undefined });
      },
    },
    ...JOB_KINDS.map(
      (kind): Route => ({
        method: 'POST',
        path: `/api/v1/${kind}`,
        answer: async (call) => {
          if (kind !== 'load_weights') return submit(kind, call);
          const body = parseBody(call.bytes);
          if (optionalTextAt(body, 'session_id') === undefined) return submit(kind, call);
          // With a session id this creates a model from a checkpoint.
          const path = textAt(body, 'path');
          const { lora } = findCheckpoint(path, checkpoints);
          const from = { path, withOptimizer: flagAt(body, 'optimizer', false) };
          return make(call.headers, { ...cardOf(body, printOf('load_weights', body)), lora, from });
        },
      }),
    ),
    {
      method: 'POST',
      path: '/api/v1/get_info',
      answer: async ({ bytes }) => {
        const id = textAt(parseBody(bytes), 'model_id');
        const model = models.get(id);
        const { name } = engine.model;
        return ok({
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
        const id = textAt(body, 'model_id');
        const reply = await keys.once(keyOf(headers), printOf('unload_model', body), async () => {
          const model = models.get(id);
          const request = `unload:${randomUUID()}`;
          futures.open(request);
          void models.end(model).then(
            () => futures.settle(request, { kind: 'json', body: { type: 'unload_model', model_id: id } }),
            (error: unknown) => futures.settle(request, failureOf(error)),
          );
          return { request_id: request, model_id: id };
        });
        return ok(reply);
      },
    },
  ];
}
