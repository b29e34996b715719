import { untilAborted } from '../base/until-aborted.ts';
import type { ChatEvent, ChatRequest } from '../core/chat.ts';
import { createFailure } from '../core/failure.ts';
import type { Catalogue, Target } from '../core/upstream.ts';

export type LearningRole = 'evolver' | 'judge';

/** The models that learning may ask. They are called in the serving thread: it has the connections, keys and functions. */
export interface LearningModels {
  /** The model's name for requests, prices and evidence; undefined when there is none for the role. */
  name(role: LearningRole): string | undefined;
  /** The whole reply, with adjacent deltas joined. Rejects only when the signal aborts. */
  chat(role: LearningRole, request: ChatRequest, signal: AbortSignal): Promise<readonly ChatEvent[]>;
}

export interface LearningModelsOptions {
  /** The configured model aliases, by name; read for each call: they may change. */
  readonly settings: { readonly models: Readonly<Record<string, unknown>> };
  readonly catalogue: Catalogue;
}

/** Longer replies are not used (see `collectReply`). */
const LONGEST = 1024 * 1024;

/**
 * The model of a role, which may be `off`; for the evolver else the one named `default`. Only models with a configured key are used: a
 * caller's credentials are for the caller's turns, not for learning.
 */
export function createLearningModels({ settings, catalogue }: LearningModelsOptions): LearningModels {
  const find = (role: LearningRole): Target | undefined => {
    const { models } = settings;
    // The judge is called often, so it must be configured explicitly.
    const names = role === 'judge' ? [role] : [role, 'default'];
    const alias = names.find((name) => Object.hasOwn(models, name));
    if (alias === undefined || models[alias] === 'off') return undefined;
    return catalogue.resolve(alias, 'openai-chat').find(isOurs);
  };
  return {
    name: (role) => {
      const target = find(role);
      if (target === undefined) return undefined;
      return target.model === undefined ? target.provider : `${target.provider}/${target.model}`;
    },
    chat: async (role, request, signal) => {
      const target = find(role);
      if (target === undefined)
        return [{ type: 'failure', failure: createFailure('unreachable', `no model for ${role}`) }];
      return collectEvents(target.chat(request, { signal })[Symbol.asyncIterator](), signal);
    },
  };
}

const isOurs = ({ access, provider }: Target): boolean => access.kind !== 'caller' && provider !== 'instar';

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
