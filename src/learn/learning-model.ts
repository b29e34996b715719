import type { Log } from '../base/log.ts';
import type { Clock } from '../core/clock.ts';
import type { Ask, Budget } from '../core/learn.ts';
import type { Catalogue, Target } from '../core/upstream.ts';
import { createAsk } from './ask.ts';
import { createPrices } from './model-cost.ts';

export interface LearningModelOptions {
  /** The configured model aliases, by name. */
  readonly models: Readonly<Record<string, unknown>>;
  readonly catalogue: Catalogue;
  readonly budget: Budget;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The model of a role; for the evolver else the one named `default`. Undefined when there is none with a configured key:
 * a caller's credentials are for the caller's turns, not for learning.
 */
export function learningModel(role: 'evolver' | 'judge', options: LearningModelOptions): Ask | undefined {
  const { models, catalogue, budget, clock, log } = options;
  // The judge is called often, so it must be configured explicitly.
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
