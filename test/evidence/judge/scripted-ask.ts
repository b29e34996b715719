import type { Budget } from '../../../src/core/budget.ts';
import type { ChatRequest } from '../../../src/core/chat.ts';
import { createManualClock } from '../../../src/core/clock.ts';
import { createFailure } from '../../../src/core/failure.ts';
import type { Ask } from '../../../src/core/learn.ts';
import { createAsk } from '../../../src/learn/ask.ts';
import { createScriptedModel } from '../../../src/models/scripted-model.ts';
import { ENDLESS, FREE } from '../../learn/ask/samples.ts';

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
  const ask = createAsk({
    model,
    name: 'test/judge',
    price: FREE,
    budget: budget ?? ENDLESS,
    clock: createManualClock(),
  });
  return { ask, prompts };
}

const userOf = ({ messages }: ChatRequest): string =>
  messages
    .flatMap((message): readonly object[] => message.content)
    .map((part) => ('text' in part && typeof part.text === 'string' ? part.text : ''))
    .join('\n');
