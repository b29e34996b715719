import type { OpenModels } from '../api/practise.ts';
import { sleep } from '../base/sleep.ts';
import { isForbiddenHost } from '../config/address.ts';
import { priceRules } from '../config/price-rules.ts';
import { systemClock } from '../core/clock.ts';
import { createPrices } from '../cost/prices.ts';
import { GATEWAY_LIMITS } from '../gateway/admission.ts';
import { createLearningModels } from '../learn/learning-model.ts';
import { createModelPace, withPace } from '../learn/model-pace.ts';
import { withoutSchema } from '../learn/with-schema.ts';
import { createExchange, PROVIDER_TIMEOUTS } from '../models/exchange.ts';
import { createLog } from '../redact/create-log.ts';
import { openCatalogue } from './catalogue.ts';

/** The configured models, for a program that practises without a daemon. */
export const openLibraryModels: OpenModels = async (home, config, env) => {
  const pool = createExchange({ timeouts: PROVIDER_TIMEOUTS, isForbiddenAddress: isForbiddenHost });
  const retry = { rule: () => GATEWAY_LIMITS.retry, random: Math.random, sleep };
  const log = createLog({ format: 'auto', level: 'warn', env });
  const settings = { config, env, home, exchange: pool.exchange, clock: systemClock, retry, log };
  const { catalogue, close } = await openCatalogue(settings);
  const prices = createPrices(priceRules(config, []));
  const learner = createLearningModels({ settings: config, catalogue, prices, clock: systemClock }).model(
    'evolver',
  );
  return {
    model: (name) => {
      const [target] = catalogue.resolve(name, 'openai-chat');
      return (
        target && {
          chat: withoutSchema(withPace(target.chat, createModelPace(), systemClock)),
          price: prices(name),
        }
      );
    },
    learner: learner?.name,
    close: async () => {
      close();
      await pool.close();
    },
  };
};
