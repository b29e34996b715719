import { existsSync, type FSWatcher, watch } from 'node:fs';
import path from 'node:path';
import type { Log } from '../base/log.ts';

/** The name of the file in the home. Whatever is in it: while it exists, nothing learned acts and nothing is learned. */
const KILL_FILE = 'learning-off';

/** In the same folder as the record. */
export const killFileBeside = (storeFile: string): string => path.join(path.dirname(storeFile), KILL_FILE);

export interface KillSwitch {
  readonly isOff: () => boolean;
  close(): void;
}

/** How often the file is looked for where the system tells nothing about changes of a folder. */
const LOOK_MS = 5_000;

/**
 * A switch that works without the record and without the API: `touch HOME/learning-off`. It is for the moment when something learned
 * does harm and nothing else answers. Removing the file turns everything on again.
 */
export function createKillSwitch(home: string, log: Log): KillSwitch {
  const file = path.join(home, KILL_FILE);
  let isOff = existsSync(file);
  const say = (): void => {
    if (isOff) log.warn({ file }, 'everything learned is switched off: remove the file to turn it on again');
    else log.info({ file }, 'everything learned is on again');
  };
  if (isOff) say();
  const look = (): void => {
    const was = isOff;
    isOff = existsSync(file);
    if (isOff !== was) say();
  };
  const timer = setInterval(look, LOOK_MS);
  timer.unref();
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(home, { persistent: false }, (_, name) => {
      if (name === null || name === KILL_FILE) look();
    });
    watcher.on('error', (error) => log.debug({ err: error }, 'the home is looked at by a timer only'));
  } catch (error) {
    log.debug({ err: error }, 'the home is looked at by a timer only');
  }
  return {
    isOff: () => isOff,
    close: () => {
      clearInterval(timer);
      watcher?.close();
    },
  };
}
