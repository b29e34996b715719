import type { Budget, ModelPrice } from '../../../src/core/budget.ts';
import type { ChatEvent, ChatModel, ChatRequest, Usage } from '../../../src/core/chat.ts';
import { createManualClock, type ManualClock } from '../../../src/core/clock.ts';
import { createFailure, type FailureKind } from '../../../src/core/failure.ts';
import type { Json } from '../../../src/core/json.ts';
import type { Ask, Question, ReplyRead } from '../../../src/core/learn.ts';
import { createDayBudget } from '../../../src/cost/day-budget.ts';
import { type AskOptions, createAsk } from '../../../src/learn/ask.ts';

export const text = (said: string, usage?: Usage): readonly ChatEvent[] => [
  { type: 'reply-start', id: 'r1', model: 'm' },
  { type: 'text-delta', text: said },
  { type: 'reply-end', stop: 'end', ...(usage === undefined ? {} : { usage }) },
];

export const failing = (kind: FailureKind): readonly ChatEvent[] => [
  { type: 'failure', failure: createFailure(kind, `it was ${kind}`) },
];

export interface Speaker {
  readonly model: ChatModel;
  /** The requests that it received. */
  readonly requests: ChatRequest[];
}

/** A model that gives these replies in turn, and then repeats the last one. */
export function speaker(...replies: readonly (readonly ChatEvent[])[]): Speaker {
  const requests: ChatRequest[] = [];
  return {
    requests,
    model: async function* (request) {
      requests.push(request);
      yield* replies[Math.min(requests.length, replies.length) - 1] ?? [];
    },
  };
}

/** A model that never answers and ignores its signal. */
export const silent: ChatModel = () => ({
  [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }),
});

/** A budget without limits. */
export const ENDLESS: Budget = createDayBudget({
  limits: {},
  setting: 'learn.budget',
  clock: createManualClock(),
});
export const FREE: ModelPrice = { from: 'local', price: { input: 0, output: 0 }, isLocal: true };

export const asker = (
  model: ChatModel,
  over: Partial<AskOptions> = {},
): { readonly ask: Ask; readonly clock: ManualClock } => {
  const clock = createManualClock();
  return {
    clock,
    ask: createAsk({ model, name: 'test/tiny', price: FREE, budget: ENDLESS, clock, ...over }),
  };
};

export const question = (
  read: (value: Json) => ReplyRead<Json> = (value) => ({ ok: true, value }),
): Question<Json> => ({
  name: 'test',
  system: 'You answer.',
  user: 'What is it?',
  maxTokens: 100,
  read,
});

export const idle = (): AbortSignal => new AbortController().signal;
