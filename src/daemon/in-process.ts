import type { StartInProcess } from '../api/open-instar.ts';
import { VERSION } from '../base/package.ts';
import { applyConfirmed } from '../config/confirmed-settings.ts';
import { createDaemonFile, readDaemonFile, removeDaemonFile } from '../config/daemon-file.ts';
import { HomeInUseError } from '../config/home.ts';
import { loadConfig } from '../config/load-config.ts';
import { readOwnKeys } from '../config/own-keys.ts';
import { createLog } from '../redact/create-log.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import { readOrCreateSalt } from '../redact/salt.ts';
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
