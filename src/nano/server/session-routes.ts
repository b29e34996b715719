import { integerAt, optionalObjectAt, optionalTextAt, textAt } from '../tinker/json-fields.ts';
import { findCheckpoint } from './checkpoints.ts';
import { parseBody, printOf } from './job.ts';
import { keyOf } from './key-of.ts';
import { Refusal } from './refusal.ts';
import { NO_CONTENT, ok, type Route } from './route.ts';
import type { ServerParts } from './server-parts.ts';

/** Feature flags for the client. Flags that are absent keep the client's default. */
const CLIENT_CONFIG = {
  pjwt_auth_enabled: false,
  credential_default_source: 'api_key',
  parallel_fwdbwd_chunks: true,
  // JSON for clients that support it; those that do not ignore this flag.
  proto_write_fwdbwd: false,
  fwd_via_fwdbwd: false,
  // Not every version of Node has zstd.
  proto_compress_fwdbwd: false,
  create_model_via_load_weights: true,
  sample_use_retrieve_futures: false,
  sample_join_sampling_session: false,
  custom_loss_server_side: false,
};

/** Sessions, and what a client requests before it has one. */
export function createSessionRoutes(parts: ServerParts): readonly Route[] {
  const { engine, keys, models, samplers, sessions } = parts;
  const { name, contextLength } = engine.model;
  return [
    { method: 'GET', path: '/api/v1/healthz', isOpen: true, answer: () => ok({ status: 'ok' }) },
    {
      method: 'GET',
      path: '/api/v1/get_server_capabilities',
      answer: () =>
        ok({
          supported_models: [
            { model_name: name, max_context_length: contextLength, trainable: true, sampleable: true },
          ],
        }),
    },
    { method: 'POST', path: '/api/v1/client/config', answer: () => ok(CLIENT_CONFIG) },
    {
      method: 'POST',
      path: '/api/v1/client/dynamic_config',
      answer: () =>
        ok({ refresh_interval_sec: 300, sample_cancel_enabled: true, sample_cancel_max_batch_size: 64 }),
    },
    { method: 'POST', path: '/api/v1/telemetry', answer: () => ok({ status: 'accepted' }) },
    {
      method: 'POST',
      path: '/api/v1/create_session',
      answer: async ({ bytes, headers }) => {
        const body = parseBody(bytes);
        const reply = await keys.once(keyOf(headers), printOf('create_session', body), async () => {
          const { id } = await sessions.create(optionalObjectAt(body, 'user_metadata'));
          return { type: 'create_session', session_id: id };
        });
        return ok(reply);
      },
    },
    {
      method: 'POST',
      path: '/api/v1/session_heartbeat',
      answer: ({ bytes }) => {
        sessions.touch(textAt(parseBody(bytes), 'session_id'));
        return ok({ type: 'session_heartbeat' });
      },
    },
    {
      method: 'POST',
      path: '/api/v1/create_sampling_session',
      answer: async ({ bytes, headers }) => {
        const body = parseBody(bytes);
        const session = sessions.touch(textAt(body, 'session_id'));
        const path = optionalTextAt(body, 'model_path');
        if (path !== undefined) findCheckpoint(path, parts.checkpoints);
        else if (optionalTextAt(body, 'base_model') !== name)
          throw new Refusal(
            400,
            `Model "${String(body.base_model).slice(0, 100)}" does not exist; the model is ${name}.`,
          );
        const number = integerAt(body, 'sampling_session_seq_id');
        const print = `${printOf('create_sampling_session', body)}/${number}`;
        const reply = await keys.once(keyOf(headers), print, async () => {
          const { id } = await samplers.create({ session: session.id, number, path });
          return { type: 'create_sampling_session', sampling_session_id: id };
        });
        return ok(reply);
      },
    },
    {
      method: 'GET',
      path: '/api/v1/samplers/:id',
      answer: ({ params: [id = ''] }) => {
        const sampler = samplers.find(id);
        if (sampler === undefined) throw new Refusal(404, `Sampler ${id.slice(0, 100)} does not exist.`);
        return ok({
          sampler_id: id,
          base_model: name,
          ...(sampler.path === undefined ? {} : { model_path: sampler.path }),
        });
      },
    },
    {
      method: 'GET',
      path: '/api/v1/sessions',
      answer: () => ok({ sessions: sessions.list().map(({ id }) => id) }),
    },
    {
      method: 'GET',
      path: '/api/v1/sessions/:id',
      answer: ({ params: [id = ''] }) => {
        const session = sessions.list().find((one) => one.id === id);
        if (session === undefined) throw new Refusal(404, `Session ${id.slice(0, 100)} does not exist.`);
        const runs = models.runs().filter((card) => card.session === id);
        return ok({
          training_run_ids: runs.map((card) => card.id),
          sampler_ids: samplers.list(id).map((sampler) => sampler.id),
          ...(session.metadata === undefined ? {} : { user_metadata: session.metadata }),
        });
      },
    },
    {
      method: 'POST',
      path: '/api/v1/sessions/:id/finish',
      answer: async ({ params: [id = ''] }) => {
        await parts.dropSession(sessions.touch(id));
        return NO_CONTENT;
      },
    },
  ];
}
