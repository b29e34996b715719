import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createFileSync } from '../base/atomic-file.ts';
import { ConfigError } from './config-error.ts';
import { checkKey } from './key.ts';

interface EngineKey {
  readonly key: string;
  /** Where a person finds it: the variable's name or the file. */
  readonly place: string;
}

const VARIABLE = 'INSTAR_ENGINE_KEY';

export const engineKeyFile = (homeDir: string): string => join(homeDir, 'engine-key');

/** The official Tinker SDK accepts keys with this prefix only. */
export const createEngineKey = (): string => `tml-${randomBytes(32).toString('base64url')}`;

/** What the clients of the embedded engine send: `INSTAR_ENGINE_KEY`, else the home's file, created on first use. */
export function readOrCreateEngineKey(homeDir: string, env: NodeJS.ProcessEnv): EngineKey {
  const given = env[VARIABLE]?.trim();
  if (given) return { key: checkKey(given, VARIABLE), place: VARIABLE };
  const file = engineKeyFile(homeDir);
  try {
    createFileSync(file, `${createEngineKey()}\n`);
    if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
    return { key: checkKey(readFileSync(file, 'utf8').trim(), file), place: file };
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new ConfigError([
      {
        path: file,
        what: `cannot be read or created (${code})`,
        fix: `chmod 600 ${file}, or set ${VARIABLE}`,
      },
    ]);
  }
}
