import type { Home } from '../config/home.ts';
import { readKey } from '../config/key.ts';
import { createRedactor } from '../store/redact.ts';
import { readOrCreateSalt } from './recording/salt.ts';

/** The second look at what leaves the house: known keys and everything that has the shape of one. */
export function createSecretScan(home: Home, env: NodeJS.ProcessEnv): (text: string) => boolean {
  const key = readKey(home, env)?.key;
  const redactor = createRedactor({
    known: () => (key === undefined ? [] : [key]),
    salt: readOrCreateSalt(home),
  });
  return (text) => redactor.hasSecret(text);
}
