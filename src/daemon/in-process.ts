import type { StartInProcess } from '../api/open-instar.ts';
import type { OpenModels } from '../api/practise.ts';
import { VERSION } from '../base/package.ts';
import { sleep } from '../base/sleep.ts';
import { isForbiddenHost } from '../config/address.ts';
import { applyConfirmed } from '../config/confirmed-settings.ts';
import { createDaemonFile, readDaemonFile, removeDaemonFile } from '../config/daemon-file.ts';
import { HomeInUseError } from '../config/home.ts';
import { loadConfig } from '../config/load-config.ts';
import { readOwnKeys } from '../config/own-keys.ts';
import { priceRules } from '../config/price-rules.ts';
import { systemClock } from '../core/clock.ts';
import { createPrices } from '../cost/prices.ts';
import { GATEWAY_LIMITS } from '../gateway/admission.ts';
import { createLearningModels } from '../learn/learning-model.ts';
import { createModelPace, withPace } from '../learn/model-pace.ts';
import { withoutSchema } from '../learn/with-schema.ts';
import { createExchange, PROVIDER_TIMEOUTS } from '../models/exchange.ts';
import { createLog } from '../redact/create-log.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import { readOrCreateSalt } from '../redact/salt.ts';
import { openCatalogue } from './catalogue.ts';
import { startDaemon } from './daemon.ts';

/** A daemon in a program that uses the library, on a free port of loopback. Its warnings go to standard error. */
export const startInProcess: StartInProcess = async (home, env) => {
  const loaded = loadConfig({ file: home.configFile, env });
  const { config } = applyConfirmed(loaded.config, home);
  const redactor = openRedactor({
    salt: readOrCreateSalt(home),
    keys: () => readOwnKeys(config, { env, home }),
  });
  const log = createLog({ format: 'auto', level: 'warn', env, redactor });
  const gateway = { ...config.gateway, host: '127.0.0.1' };
  const daemon = await startDaemon({ home, config: { ...config, gateway }, env, log, port: 0 });
  const { url, port } = daemon;
  const record = { pid: process.pid, port, url, startedAt: new Date().toISOString(), version: VERSION };
  // This process has the lock, so that a record that is there belongs to a daemon that was killed.
  removeDaemonFile(home, readDaemonFile(home));
  if (!createDaemonFile(home, record)) {
    await daemon.close();
    throw new HomeInUseError(`${home.dir} belongs to another daemon.`);
  }
  return {
    settle: daemon.settle,
    close: async () => {
      await daemon.close();
      removeDaemonFile(home, record);
    },
  };
};

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
