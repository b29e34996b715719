import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/clock.ts';
import type { Ask, Budget } from '../../core/learn.ts';
import type { Catalogue, Target } from '../../core/upstream.ts';
import { createAsk } from '../../learn/ask.ts';
import { createPrices } from '../../learn/prices.ts';
import type { Log } from '../log.ts';

export interface LearningModelOptions {
  readonly models: Config['models'];
  readonly catalogue: Catalogue;
  readonly budget: Budget;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The way to the model that a role names, else, for the evolver, to the one named `default`; undefined when neither is there with a
 * key of our own: a caller's credentials are for the caller's turns, not for learning.
 */
export function learningModel(role: 'evolver' | 'judge', options: LearningModelOptions): Ask | undefined {
  const { models, catalogue, budget, clock, log } = options;
  // A judge is asked often: only one that was named.
  const names = role === 'judge' ? [role] : [role, 'default'];
  const alias = names.find((name) => Object.hasOwn(models, name));
  if (alias === undefined) return undefined;
  const target = catalogue.resolve(alias, 'openai-chat').find(isOurs);
  if (target === undefined) return undefined;
  return createAsk({
    model: target.chat,
    name: target.model === undefined ? target.provider : `${target.provider}/${target.model}`,
    prices: createPrices(),
    budget,
    clock,
    journal: (note) => log.debug({ role }, note),
  });
}

const isOurs = ({ access, provider }: Target): boolean => access.kind !== 'caller' && provider !== 'instar';
