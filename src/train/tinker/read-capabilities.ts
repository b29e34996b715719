import { asArray, asNumber, asObject, asString, type JsonObject } from '../../core/json.ts';
import { TrainingError } from '../../core/training.ts';
import { jsonCall, type Post, type PostOutcome } from './post.ts';

export interface Capabilities {
  /** Undefined: the server does not report one. */
  readonly contextLength: number | undefined;
  /** The server's settings for its clients; empty when it has none. */
  readonly config: JsonObject;
}

/** Rejects when the server cannot be reached or does not have the model. */
export async function readCapabilities(
  post: Post,
  baseModel: string,
  nextKey: (route: string) => string,
  signal: AbortSignal,
): Promise<Capabilities> {
  const route = 'get_server_capabilities';
  const call = { route, method: 'GET', type: 'application/json', bytes: new Uint8Array(0) } as const;
  const said = bodyIn(await post({ call, key: nextKey(route), signal }));
  const models = asArray(said.supported_models).map(asObject);
  const names = models.flatMap((model) => asString(model.model_name) ?? []);
  const own = models.find((model) => model.model_name === baseModel);
  if (own === undefined && names.length > 0)
    throw new TrainingError(
      'user',
      `the server has no model ${baseModel}; it has ${names.slice(0, 20).join(', ')}`,
    );
  const config = jsonCall('client/config', { sdk_version: '0.25.0' });
  return {
    contextLength: asNumber(own?.max_context_length),
    config: bodyIn(await post({ call: config, key: nextKey('client/config'), signal })),
  };
}

/** A server without the route has no settings; any other refusal, such as of our key, is an error. */
function bodyIn(outcome: PostOutcome): JsonObject {
  if (outcome.kind === 'answered') return outcome.body;
  if (outcome.kind === 'aborted') throw new TrainingError('unknown', 'the connection was closed');
  if (outcome.kind === 'refused' && [404, 405, 422].includes(outcome.status)) return {};
  throw outcome.error;
}
