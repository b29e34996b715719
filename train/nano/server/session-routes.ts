import { integerField, optionalObjectField, optionalTextField, textField } from '../tinker/json-fields.ts';
import { findCheckpoint } from './checkpoints.ts';
import { HttpRefusal, idempotencyKeyOf, NO_CONTENT, okReply, type Route } from './http.ts';
import { parseBody, requestFingerprint } from './model-request.ts';
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
  const { keys, models, samplers, sessions } = parts;
  return [
    ...createGreetingRoutes(parts),
    {
      method: 'POST',
      path: '/api/v1/create_session',
      answer: async ({ bytes, headers }) => {
        const body = parseBody(bytes);
        const reply = await keys.once(
          idempotencyKeyOf(headers),
          requestFingerprint('create_session', body),
          async () => {
            const { id } = await sessions.create(optionalObjectField(body, 'user_metadata'));
            return { type: 'create_session', session_id: id };
          },
        );
        return okReply(reply);
      },
    },
    {
      method: 'POST',
      path: '/api/v1/session_heartbeat',
      answer: async ({ bytes }) => {
        sessions.touch(textField(parseBody(bytes), 'session_id'));
        return okReply({ type: 'session_heartbeat' });
      },
    },
    ...createSamplerRoutes(parts),
    {
      method: 'GET',
      path: '/api/v1/sessions',
      answer: async () => okReply({ sessions: sessions.list().map(({ id }) => id) }),
    },
    {
      method: 'GET',
      path: '/api/v1/sessions/:id',
      answer: async ({ params: [id = ''] }) => {
        const session = sessions.list().find((one) => one.id === id);
        if (session === undefined) throw new HttpRefusal(404, `Session ${id.slice(0, 100)} does not exist.`);
        const runs = models.runs().filter((card) => card.session === id);
        return okReply({
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

/** What a client requests before it has a session. */
function createGreetingRoutes({ engine }: ServerParts): readonly Route[] {
  const { name, contextLength } = engine.model;
  return [
    { method: 'GET', path: '/api/v1/healthz', isOpen: true, answer: async () => okReply({ status: 'ok' }) },
    {
      method: 'GET',
      path: '/api/v1/get_server_capabilities',
      answer: async () =>
        okReply({
          supported_models: [
            { model_name: name, max_context_length: contextLength, trainable: true, sampleable: true },
          ],
        }),
    },
    { method: 'POST', path: '/api/v1/client/config', answer: async () => okReply(CLIENT_CONFIG) },
    {
      method: 'POST',
      path: '/api/v1/client/dynamic_config',
      answer: async () =>
        okReply({ refresh_interval_sec: 300, sample_cancel_enabled: true, sample_cancel_max_batch_size: 64 }),
    },
    { method: 'POST', path: '/api/v1/telemetry', answer: async () => okReply({ status: 'accepted' }) },
  ];
}

function createSamplerRoutes({
  engine,
  keys,
  samplers,
  sessions,
  checkpoints,
}: ServerParts): readonly Route[] {
  const { name } = engine.model;
  return [
    {
      method: 'POST',
      path: '/api/v1/create_sampling_session',
      answer: async ({ bytes, headers }) => {
        const body = parseBody(bytes);
        const session = sessions.touch(textField(body, 'session_id'));
        const path = optionalTextField(body, 'model_path');
        if (path !== undefined) findCheckpoint(path, checkpoints);
        else if (optionalTextField(body, 'base_model') !== name)
          throw new HttpRefusal(
            400,
            `Model "${String(body.base_model).slice(0, 100)}" does not exist; the model is ${name}.`,
          );
        const number = integerField(body, 'sampling_session_seq_id');
        const print = `${requestFingerprint('create_sampling_session', body)}/${number}`;
        const reply = await keys.once(idempotencyKeyOf(headers), print, async () => {
          const { id } = await samplers.create({ session: session.id, number, path });
          return { type: 'create_sampling_session', sampling_session_id: id };
        });
        return okReply(reply);
      },
    },
    {
      method: 'GET',
      path: '/api/v1/samplers/:id',
      answer: async ({ params: [id = ''] }) => {
        const sampler = samplers.find(id);
        if (sampler === undefined) throw new HttpRefusal(404, `Sampler ${id.slice(0, 100)} does not exist.`);
        return okReply({
          sampler_id: id,
          base_model: name,
          ...(sampler.path === undefined ? {} : { model_path: sampler.path }),
        });
      },
    },
  ];
}
