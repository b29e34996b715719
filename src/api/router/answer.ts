import type { OwnerApis } from '../../core/daemon-api.ts';
import { createFailure, type Failure, type Refused, refused } from '../../core/failure.ts';
import { asObject, parseJson } from '../../core/json.ts';
import { StoreError } from '../../core/store.ts';
import { TrainingError } from '../../core/training.ts';
import type { ApiReply, ApiRequest, ApiRoute, Serializable } from '../../gateway/api-router.ts';
import type { GatewayContext } from '../../gateway/context.ts';
import { receiveBody } from '../../gateway/read-body.ts';
import type { BodyOf, LazySchema, QueryOf, RouteShape } from './route-shape.ts';

/** What an answer works on. */
export interface Asked<S extends RouteShape = RouteShape> extends OwnerApis {
  readonly context: GatewayContext;
  /** As it came. */
  readonly raw: ApiRequest;
  readonly caller: ApiRequest['caller'];
  readonly id: string;
  readonly query: QueryOf<S>;
  readonly body: BodyOf<S>;
}

/** Undefined: there is nothing of this id. */
export type RouteAnswer<S extends RouteShape = RouteShape> = (
  asked: Asked<S>,
) => Promise<Serializable | Failure | WholeReply | undefined>;

/** A reply with a status or headers of its own, or one that is not JSON. */
export class WholeReply {
  readonly reply: ApiReply;

  constructor(reply: ApiReply) {
    this.reply = reply;
  }
}

/** Whether a person on the page asks, without a key: some things only a terminal may do. */
export const isByPage = ({ context, raw }: Pick<Asked, 'context' | 'raw'>): boolean =>
  context.authorize.callerOf(raw.request) === undefined;

/** An answer to each of these routes: one that is missing does not compile. */
export type AnswersTo<Shapes extends Readonly<Record<string, RouteShape>>> = {
  readonly [Name in keyof Shapes]: RouteAnswer<Shapes[Name]>;
};

/** A whole folder of skills may be sent at once. */
const MOST_BODY = 16 * 1024 * 1024;

/** A route with its answer, as the gateway runs it. */
export const toApiRoute = (shape: RouteShape, answer: RouteAnswer): ApiRoute => ({
  access: shape.access,
  run: async (context, raw) => {
    const query = readWith(shape.query, Object.fromEntries(raw.query));
    if (!query.ok) return query;
    const body =
      shape.body === undefined || shape.readsBody === true ? NOTHING_READ : await readBody(shape.body, raw);
    if (!body.ok) return body;
    const { id, caller } = raw;
    try {
      const value = await answer({
        ...context.apisFor(caller),
        context,
        raw,
        caller,
        id,
        query: query.value as undefined,
        body: body.value as undefined,
      });
      if (value === undefined)
        return refused(
          createFailure('not-found', `No ${shape.noun ?? 'session'} named "${id.slice(0, 128)}".`),
        );
      if (value instanceof WholeReply) return { ok: true, reply: value.reply };
      return isFailure(value) ? refused(value) : { ok: true, reply: { json: value } };
    } catch (error) {
      return refused(toFailure(error));
    }
  },
});

type Read = { readonly ok: true; readonly value: unknown } | Refused;

const NOTHING_READ: Read = { ok: true, value: undefined };

function readWith(schema: LazySchema | undefined, value: unknown): Read {
  if (schema === undefined) return NOTHING_READ;
  const read = schema().safeParse(value);
  if (read.success) return { ok: true, value: read.data };
  const first = read.error.issues[0];
  const where = first === undefined || first.path.length === 0 ? '' : `${first.path.join('.')}: `;
  const message = first?.message ?? 'not what this route takes';
  // Messages of our own are sentences that name their field.
  const said = message.endsWith('.') ? message : `${where}${message}.`;
  return refused(createFailure('bad-request', said));
}

async function readBody(schema: LazySchema, { request, slot }: ApiRequest): Promise<Read> {
  const received = await receiveBody(request, MOST_BODY, slot);
  if (!received.ok) return refused(received.failure);
  return readWith(schema, asObject(parseJson((received.body ?? received.raw).toString('utf8'))));
}

function toFailure(error: unknown): Failure {
  if (error instanceof StoreError) return createFailure('overloaded', error.message, { retryAfterMs: 5000 });
  if (error instanceof TrainingError)
    return createFailure(error.category === 'user' ? 'bad-request' : 'overloaded', error.message);
  if (isForbidden(error)) return createFailure('forbidden', error.message, { code: 'owner_key_required' });
  if (isRefusedRequest(error)) return createFailure('bad-request', error.message);
  throw error;
}

/** An error whose message tells the person what to change; it has the status of a wrong request. */
const isRefusedRequest = (error: unknown): error is Error =>
  error instanceof Error &&
  ((error as { readonly status?: unknown }).status === 400 || error.name === 'ConfigError');

const isForbidden = (error: unknown): error is Error =>
  error instanceof Error && (error as { readonly status?: unknown }).status === 403;

const isFailure = (value: Serializable | Failure): value is Failure =>
  typeof value === 'object' && value !== null && 'kind' in value && 'status' in value && 'message' in value;
