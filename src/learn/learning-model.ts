import { untilAborted } from '../base/until-aborted.ts';
import type { ModelPrice, Prices } from '../core/budget.ts';
import type { ChatEvent, ChatModel, ChatRequest } from '../core/chat.ts';
import type { Clock } from '../core/clock.ts';
import { createFailure } from '../core/failure.ts';
import { asObject, asString } from '../core/json.ts';
import type { Catalogue, Target } from '../core/upstream.ts';
import { isSmallModel } from '../text/model-size.ts';
import { createModelPace, type ModelPace, withPace } from './model-pace.ts';
import { type SchemaSupport, withoutSchema, withSchema } from './with-schema.ts';

/** `attempt`: attempts tasks of practice. */
export type LearningRole = 'evolver' | 'judge' | 'attempt';

/** A model that learning asks. Plain data. */
export interface LearningModel {
  /** The model's name for requests and evidence: `provider/model`. */
  readonly name: string;
  /** For people: the same, or the name of a program. */
  readonly title: string;
  readonly price: ModelPrice;
  /**
   * Nobody named this model for learning: it is shown only sessions that this provider alone has served. The name of the
   * provider, or of a program as `command/ALIAS`.
   */
  readonly onlyFor?: string;
  /** Its server is on this machine or in a private network. */
  readonly isNear?: true;
}

/** The models that learning may ask. They are called in the serving thread: it has the connections, keys and functions. */
export interface LearningModels {
  /** Undefined when there is none for the role. */
  model(role: LearningRole): LearningModel | undefined;
  /** Why the model that the config names for a role is not used; undefined when it is, or when none is named. */
  unusable(role: LearningRole): string | undefined;
  /** The whole reply, with adjacent deltas joined. Rejects only when the signal aborts. */
  chat(role: LearningRole, request: ChatRequest, signal: AbortSignal): Promise<readonly ChatEvent[]>;
}

interface LearningModelsOptions {
  /** The configured model aliases, by name; read for each call: they may change. */
  readonly settings: { readonly models: Readonly<Record<string, unknown>> };
  readonly catalogue: Catalogue;
  readonly prices: Prices;
  readonly clock: Clock;
}

/** Longer replies are not used (see `collectReply`). */
const LONGEST = 1024 * 1024;

/** The model of a role. */
interface FoundModel {
  readonly target: Target | undefined;
  readonly isNamed: boolean;
  /** Why there is none, for a person who named one. */
  readonly why?: string;
  /** The name of a model whose server is not running. It is asked again when the server is back. */
  readonly absent?: string;
}

const NONE: FoundModel = { target: undefined, isNamed: false };

/**
 * The model of a role, which may be `off`; for the evolver else the one named `default`, else the one of a local server that
 * answers when nothing is configured, unless its name says that it is a small one. Models on this machine, in a private network, and models with a configured key are
 * used: a caller's credentials are for the caller's turns, not for learning.
 */
export function createLearningModels({
  settings,
  catalogue,
  prices,
  clock,
}: LearningModelsOptions): LearningModels {
  const known = new Map<string, { readonly pace: ModelPace; readonly support: SchemaSupport }>();
  /** With time-outs by the model's measured speed, and constrained decoding where a server of the user's own offers it. */
  const chatWith = (target: Target): ChatModel => {
    const name = nameOf(target);
    const of = known.get(name) ?? { pace: createModelPace(), support: { isRefused: false } };
    known.set(name, of);
    const chat = withPace(target.chat, of.pace, clock);
    return target.isNear === true ? withSchema(chat, of.support) : withoutSchema(chat);
  };
  const isOurs = (target: Target): boolean =>
    target.access.kind !== 'caller' || target.isNear === true || prices(nameOf(target)).isLocal;
  const find = (role: LearningRole): FoundModel => {
    const { models } = settings;
    // The judge is called often, so it must be configured explicitly.
    const own = role === 'attempt' ? 'practice' : role;
    const names = role === 'judge' ? [own] : [own, 'default'];
    const alias = names.find((name) => Object.hasOwn(models, name));
    if (alias === undefined) return role === 'evolver' ? findLocal(catalogue) : NONE;
    if (models[alias] === 'off') return NONE;
    const targets = targetsOf(alias, models[alias], catalogue);
    const isNamed = alias === own;
    const isFit = (one: Target): boolean =>
      // The embedded policy attempts tasks, and draws no conclusions.
      role === 'attempt' ||
      (one.provider !== 'instar' && (isNamed || role !== 'evolver' || !isSmallModel(one.model ?? '')));
    const target = targets.find((one) => isOurs(one) && isFit(one));
    if (target !== undefined) return { target, isNamed };
    const why = whyUnusable(alias, models[alias], targets);
    const [absent] = targets.length === 0 && role !== 'attempt' ? serverModels(models[alias]) : [];
    return {
      target,
      isNamed,
      ...(isNamed || absent !== undefined ? { why } : {}),
      ...(absent === undefined ? {} : { absent }),
    };
  };
  return {
    unusable: (role) => {
      const found = find(role);
      return found.target === undefined ? found.why : undefined;
    },
    model: (role) => {
      const found = find(role);
      const name = found.target === undefined ? found.absent : nameOf(found.target);
      if (name === undefined) return undefined;
      const title = (found.target && programOf(found.target, settings.models)) ?? name;
      const more = found.isNamed ? {} : { onlyFor: servedBy(name) };
      // A server that is not running was found on this machine.
      const isNear = found.target === undefined || found.target.isNear === true;
      const near = isNear ? { isNear } : {};
      return { name, title, price: prices(name), ...near, ...more };
    },
    chat: async (role, request, signal) => {
      const found = find(role);
      if (found.target === undefined)
        return [
          { type: 'failure', failure: createFailure('unreachable', found.why ?? `no model for ${role}`) },
        ];
      return collectEvents(chatWith(found.target)(request, { signal })[Symbol.asyncIterator](), signal);
    },
  };
}

const nameOf = ({ provider, model }: Target): string =>
  model === undefined ? provider : `${provider}/${model}`;

/** A local server that answers because no model is configured. */
function findLocal(catalogue: Catalogue): FoundModel {
  const [first] = catalogue.resolve(undefined, 'openai-chat');
  const isLocal = first?.access.kind === 'open' && first.upstreams.length > 0 && first.model !== undefined;
  return isLocal && !isSmallModel(first.model ?? '') ? { target: first, isNamed: false } : NONE;
}

/** The targets that an alias names. A name that the catalogue does not know would be answered by another provider: it is left out. */
function targetsOf(alias: string, value: unknown, catalogue: Catalogue): readonly Target[] {
  const refs = referencesOf(value);
  if (refs.length === 0)
    return catalogue.resolve(alias, 'openai-chat').filter(({ model }) => model === alias);
  return refs.flatMap((ref) =>
    catalogue.resolve(ref, 'openai-chat').filter((target) => nameOf(target) === ref),
  );
}

/** `provider/model`, one or several; none for a program. */
const referencesOf = (value: unknown): readonly string[] =>
  [value].flat().flatMap((one) => (typeof one === 'string' ? [one] : []));

const serverModels = (value: unknown): readonly string[] =>
  referencesOf(value).filter((ref) => !ref.startsWith('instar/'));

function whyUnusable(alias: string, value: unknown, targets: readonly Target[]): string {
  const [first = alias] = referencesOf(value);
  const { provider } = targets[0] ?? {};
  if (provider === 'instar')
    return `models.${alias}: ${first} is the policy that is trained here, and only attempts tasks`;
  return provider === undefined
    ? `models.${alias}: the server of ${first} is not running`
    : `models.${alias}: ${first} has no key of its own (providers.${provider}.keyEnv gives it one)`;
}

const COMMAND = 'command';

/** Whom a session's words went to: the provider, or one of several programs. `name`: `provider/model`. */
export const servedBy = (name: string): string =>
  name.startsWith(`${COMMAND}/`) ? name : (name.split('/', 1)[0] ?? name);

/** `claude` for an alias of that program. */
function programOf(
  { provider, model = '' }: Target,
  models: LearningModelsOptions['settings']['models'],
): string | undefined {
  const alias = provider === COMMAND ? asObject(models[model]) : {};
  return asString(alias.command);
}

async function collectEvents(
  events: AsyncIterator<ChatEvent>,
  signal: AbortSignal,
): Promise<readonly ChatEvent[]> {
  const reply: ChatEvent[] = [];
  let length = 0;
  try {
    for (;;) {
      const next = await untilAborted(events.next(), signal);
      if (next.done === true) return reply;
      const event = next.value;
      const last = reply.at(-1);
      if (event.type === 'text-delta' || event.type === 'reasoning-delta') {
        length += event.text.length;
        if (last?.type === event.type) reply[reply.length - 1] = { ...event, text: last.text + event.text };
        else reply.push(event);
      } else reply.push(event);
      if (event.type === 'reply-end' || event.type === 'failure' || length > LONGEST) return reply;
    }
  } finally {
    // Not awaited: a model that hangs would hang here too.
    events.return?.().then(undefined, () => undefined);
  }
}
