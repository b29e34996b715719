import type { Log } from '../base/log.ts';
import { neutraliseLine } from '../base/printable.ts';
import type { Caller } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import { createFailure, type Failure } from '../core/failure.ts';
import type { Target } from '../core/upstream.ts';
import type { Outline } from '../core/wire.ts';
import { readString } from '../wire/json-scan.ts';
import { type CreationRecords, createCreatedObjects, type ReplyWatch } from './created-objects.ts';
import type { Turn } from './turn.ts';

/**
 * What callers reach with the owner's key at a provider. That key opens the whole account; a caller key opens the models, and what
 * the same key has created.
 */
export interface ProviderAccount {
  /** Why a request may not be sent with the owner's key; undefined: it may. */
  refuse(turn: Turn): Promise<Failure | undefined>;
  /** The provider at which the object was created that a request is about; undefined: it is about none, or its creator is unknown. */
  providerOf(turn: Turn): Promise<string | undefined>;
  /** Remembers what a request creates, from its reply. Undefined, nearly always: it creates nothing that can be asked for again. */
  watch(turn: Turn, target: Target): ReplyWatch | undefined;
}

/** `settings`: those of the gateway, as they are at the moment of asking. */
export function createProviderAccount(
  settings: { readonly forward: readonly string[] },
  records: CreationRecords,
  clock: Pick<Clock, 'now'>,
  log: Pick<Log, 'warn'>,
): ProviderAccount {
  const objects = createCreatedObjects(records, clock, (error) =>
    log.warn({ err: error }, 'which key created an object at a provider could not be recorded'),
  );
  const useOf = ({ request: { method = 'GET' }, path }: Turn): AccountUse =>
    accountUseOf(method, withoutQuery(path), settings.forward);

  /** `under`: where the provider has objects of this kind. */
  const refuseForeign = async (id: string, under: string, caller: Caller): Promise<Failure | undefined> => {
    try {
      const creation = await objects.find(id);
      return creation?.caller === creatorOf(caller) ? undefined : notCreatedByCaller(id, under);
    } catch {
      return UNKNOWN_CREATOR;
    }
  };

  /** What a model is asked about: an earlier response or a conversation is part of the prompt. */
  const refuseReferences = async (turn: Turn, caller: Caller): Promise<Failure | undefined> => {
    if (hasConversation(turn) && !isForwarded('/conversations'))
      return notForwarded('A request with a "conversation"', '/conversations');
    const earlier = textOf(turn, 'previous_response_id');
    if (earlier === undefined || isForwarded(`/responses/${earlier}`)) return undefined;
    return refuseForeign(earlier, '/responses/', caller);
  };
  const isForwarded = (path: string): boolean =>
    accountUseOf('GET', path, settings.forward).kind === 'allowed';

  return {
    refuse: async (turn) => {
      const { caller, request } = turn;
      // The owner key asks no model; what callers have created, its owner may read.
      if (!concernsAccount(turn) || caller === undefined || caller.kind === 'owner') return undefined;
      const path = withoutQuery(turn.path);
      const use = useOf(turn);
      if (use.kind === 'account') return notForwarded(`${request.method} /v1${path}`);
      if (use.kind === 'object') return refuseForeign(use.id, use.under, caller);
      return path.startsWith('/responses') ? refuseReferences(turn, caller) : undefined;
    },
    providerOf: async (turn) => {
      const use = useOf(turn);
      if (use.kind !== 'object') return undefined;
      return objects.find(use.id).then(
        (creation) => creation?.provider,
        () => undefined,
      );
    },
    watch: (turn, { access, provider }) => {
      const { caller } = turn;
      if (caller === undefined || access.kind !== 'own' || !concernsAccount(turn)) return undefined;
      if (useOf(turn).kind !== 'creates' || isNotStored(turn)) return undefined;
      return objects.watch({ caller: creatorOf(caller), provider });
    },
  };
}

/** Other chats leave nothing behind at the provider, and refer to nothing there. */
const concernsAccount = ({ kind, wire }: Turn): boolean =>
  kind === 'other' || wire.name === 'openai-responses';

/** All attempts at practice tasks have one id. */
const creatorOf = ({ id, attempt }: Caller): string =>
  attempt === undefined ? id : `${id}:${attempt.session}`;

const withoutQuery = (path: string): string => path.split('?', 1)[0] ?? '';

type ReadTurn = { readonly body: Buffer | undefined; readonly outline: Outline | undefined };

function memberText({ body, outline }: ReadTurn, name: string): string | undefined {
  const span = outline?.member(name);
  return span && body?.toString('utf8', ...span);
}

function textOf({ body, outline }: ReadTurn, name: string): string | undefined {
  const span = outline?.member(name);
  return span && body && readString(body, span);
}

/** A response that its request does not let the provider keep cannot be asked for again. */
const isNotStored = (turn: ReadTurn): boolean => memberText(turn, 'store') === 'false';

const hasConversation = (turn: ReadTurn): boolean => (memberText(turn, 'conversation') ?? 'null') !== 'null';

const NOT_FORWARDED = 'not_forwarded';

function notForwarded(what: string, path = what.replace(/^\S+ \/v1/, '')): Failure {
  const setting = JSON.stringify([path]);
  return createFailure(
    'forbidden',
    `${what} is not sent with the provider key of Instar’s owner: it concerns the whole account. Send your own provider credential (a provider entry without keyEnv passes it through), or the owner allows the path for all caller keys: instar config set gateway.forward '${setting}'.`,
    { code: NOT_FORWARDED },
  );
}

const notCreatedByCaller = (id: string, under: string): Failure =>
  createFailure(
    'forbidden',
    `"${neutraliseLine(id.slice(0, 100))}" was not created with this key, so the provider key of Instar’s owner is not used for it. Send the key that created it, or your own provider credential (a provider entry without keyEnv passes it through); or the owner allows the path for all caller keys: instar config set gateway.forward '["${under}"]'.`,
    { code: NOT_FORWARDED },
  );

const UNKNOWN_CREATOR = createFailure(
  'overloaded',
  'Instar’s record does not answer, so it is not known which key created this. Try again in a second.',
  { retryAfterMs: 1000 },
);

/** What a request would do with the provider's account behind the owner's key. */
export type AccountUse =
  /** It asks a model, or the owner has allowed its path. */
  | { readonly kind: 'allowed' }
  /** It creates a response or a batch, which its caller may use again. */
  | { readonly kind: 'creates' }
  /** It reads, cancels or deletes a response or a batch. */
  | { readonly kind: 'object'; readonly id: string; readonly under: string }
  /** Anything else: files, administration, fine-tuning, what others have created. */
  | { readonly kind: 'account' };

const ALLOWED: AccountUse = { kind: 'allowed' };
const CREATES: AccountUse = { kind: 'creates' };
const ACCOUNT: AccountUse = { kind: 'account' };

/** What is asked of models and leaves nothing behind that others could read. */
const ASKING: ReadonlySet<string> = new Set([
  '/chat/completions',
  '/completions',
  '/messages',
  '/messages/count_tokens',
  '/responses/compact',
  '/responses/input_tokens',
  '/embeddings',
  '/moderations',
]);
const CREATING: ReadonlySet<string> = new Set(['/responses', '/batches', '/messages/batches']);
const MEDIA = /^\/(?:audio|images)\/./;
const MODELS = /^\/models(?:\/.|$)/;
const OBJECT =
  /^(\/(?:responses|batches|messages\/batches)\/)([\w-]{1,256})(?:\/(?:cancel|input_items|results))?$/;

/** A provider may read an empty segment or a dot as another path than the one that is compared here. */
const isPlain = (path: string): boolean =>
  path
    .split('/')
    .slice(1)
    .every((segment) => /^[\w:@-][\w:@.-]*$/.test(segment));

/**
 * `path` is the path under a provider's base, without a query string. `forward`: what the owner allows besides, exact paths or
 * beginnings that end with a slash. What is not named is refused, in whatever spelling.
 */
export function accountUseOf(method: string, path: string, forward: readonly string[]): AccountUse {
  if (!isPlain(path)) return ACCOUNT;
  if (method === 'POST' && CREATING.has(path)) return CREATES;
  if (forward.some((entry) => isCovered(path, withoutVersion(entry)))) return ALLOWED;
  if (method === 'GET' && MODELS.test(path)) return ALLOWED;
  if (method === 'POST' && (ASKING.has(path) || MEDIA.test(path))) return ALLOWED;
  const [, under, id] = OBJECT.exec(path) ?? [];
  return under === undefined || id === undefined ? ACCOUNT : { kind: 'object', id, under };
}

const isCovered = (path: string, entry: string): boolean =>
  entry.endsWith('/') ? path.startsWith(entry) : path === entry;

/** People write the paths as they call them. */
const withoutVersion = (entry: string): string => entry.replace(/^\/v1(?=\/)/, '');
