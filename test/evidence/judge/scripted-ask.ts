import type { ChatRequest } from '../../../src/core/chat.ts';
import { createManualClock } from '../../../src/core/clock.ts';
import { createFailure } from '../../../src/core/failure.ts';
import type { Ask, Budget } from '../../../src/core/learn.ts';
import { createAsk } from '../../../src/learn/ask.ts';
import { createPrices } from '../../../src/learn/model-cost.ts';
import { createScriptedModel } from '../../../src/models/scripted-model.ts';

export interface Asking {
  readonly ask: Ask;
  /** The prompts, system and user, in order. */
  readonly prompts: { readonly system: string; readonly user: string }[];
}

/** A scripted model; undefined means that it is unavailable. */
export function asking(answer: (user: string, count: number) => unknown, budget?: Budget): Asking {
  const prompts: { readonly system: string; readonly user: string }[] = [];
  const model = createScriptedModel((request) => {
    const prompt = { system: request.system.map(({ text }) => text).join(''), user: userOf(request) };
    prompts.push(prompt);
    const said = answer(prompt.user, prompts.length);
    if (said === undefined) return [{ type: 'failure', failure: createFailure('overloaded', 'too busy') }];
    return typeof said === 'string' ? said : JSON.stringify(said);
  });
  const free: Budget = { refusal: () => undefined, spend: () => undefined };
  const ask = createAsk({
    model,
    name: 'test/judge',
    prices: createPrices(),
    budget: budget ?? free,
    clock: createManualClock(),
  });
  return { ask, prompts };
}

const userOf = ({ messages }: ChatRequest): string =>
  messages
    .flatMap((message): readonly object[] => message.content)
    .map((part) => ('text' in part && typeof part.text === 'string' ? part.text : ''))
    .join('\n');
