import { readFileSync } from 'node:fs';
import type { JsonObject } from '../core/json.ts';
import type { CheckConfigOptions, CheckedConfig } from './check-config.ts';
import { ConfigError } from './config-error.ts';
import { findJsonFault } from './json-fault.ts';
import { checkWithShared, type SharedUse } from './shared-settings.ts';

export interface LoadOptions extends CheckConfigOptions {
  readonly file: string;
  /** Whether a missing file is an error: a file named by the user must exist, the one in the home may be missing. */
  readonly required?: boolean;
  /** What the gateways of the record share: it counts where the file names nothing. */
  readonly shared?: JsonObject;
}

const MAX_BYTES = 1024 * 1024;

/** The effective settings. Throws only `ConfigError`, with every problem at once. */
export function loadConfig(options: LoadOptions): CheckedConfig & { readonly shared: SharedUse } {
  const input = readConfigFile(options.file, options.required === true);
  try {
    return checkWithShared(input ?? {}, options.shared ?? {}, options);
  } catch (error) {
    if (!(error instanceof ConfigError) || input === undefined) throw error;
    throw new ConfigError(error.problems, options.file);
  }
}

/** The file's JSON value, not validated; undefined when there is no file. */
export function readConfigFile(file: string, required = false): unknown {
  const text = readText(file, required);
  if (text === undefined) return undefined;
  const fault = findJsonFault(text);
  if (fault) {
    const place = `line ${fault.line}, column ${fault.column}`;
    throw new ConfigError([{ path: file, what: `is not valid JSON at ${place}: ${fault.what}` }]);
  }
  return JSON.parse(text);
}

function readText(file: string, required: boolean): string | undefined {
  try {
    const bytes = readFileSync(file);
    if (bytes.length > MAX_BYTES) throw new ConfigError([{ path: file, what: 'is larger than 1 MiB' }]);
    if (/^(?:fffe|feff)/.test(bytes.toString('hex', 0, 2)))
      throw new ConfigError([{ path: file, what: 'is UTF-16 text', fix: 'save it as UTF-8' }]);
    return bytes.toString('utf8').replace(/^\ufeff/, '');
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && !required) return undefined;
    throw new ConfigError([
      code === 'ENOENT'
        ? { path: file, what: 'does not exist', fix: 'create it with: instar init' }
        : { path: file, what: `cannot be read (${code ?? 'unknown error'})` },
    ]);
  }
}
