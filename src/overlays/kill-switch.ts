import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Log } from '../base/log.ts';

/** The name of the file in the home. Whatever is in it: while it exists, nothing learned acts and nothing is learned. */
const KILL_FILE = 'learning-off';

/** In the same folder as the record. */
export const killFileBeside = (storeFile: string): string => path.join(path.dirname(storeFile), KILL_FILE);

const KNOWN_MS = 50;

export interface KillSwitch {
  readonly isOff: () => boolean;
}

/**
 * A switch that works without the record and without the API: `touch HOME/learning-off`. It is for the moment when something learned
 * does harm and nothing else answers. Removing the file turns everything on again. It is looked for when somebody
 * asks, and again after 50 ms: a timer would wake an idle process, and a watch of the home would report every write to the record.
 */
export function createKillSwitch(home: string, log: Log): KillSwitch {
  const file = path.join(home, KILL_FILE);
  let wasOff = false;
  let lookedAt = Number.NEGATIVE_INFINITY;
  const look = (): boolean => {
    const now = performance.now();
    if (now - lookedAt < KNOWN_MS) return wasOff;
    lookedAt = now;
    const isOff = existsSync(file);
    if (isOff && !wasOff)
      log.warn({ file }, 'everything learned is switched off: remove the file to turn it on again');
    if (!isOff && wasOff) log.info({ file }, 'everything learned is on again');
    wasOff = isOff;
    return isOff;
  };
  look();
  return { isOff: look };
}
