import path from 'node:path';
import type { Config } from '../config/schema.ts';
import { isClientName } from '../core/client-name.ts';
import { planConnection } from './clients.ts';
import { renderEdit } from './file-edit.ts';

interface HeadlessPlace {
  /** The gateway as the client sees it. */
  readonly url: string;
  /** The client's home folder as it sees it. */
  readonly homeDir: string;
  readonly config: Config;
  readonly model?: string;
}

/** Stands where a key would stand: whoever passes the requests on has the right one. */
const NO_KEY = 'practice';

/**
 * The settings of a client that runs by itself in a new home: the same that `connect` writes, by path in that home. Undefined
 * for a client without a plan. Throws `ConfigError` when the config names no model for it.
 */
export function headlessSettings(
  name: string,
  { url, homeDir, config, model }: HeadlessPlace,
): Readonly<Record<string, string>> | undefined {
  if (!isClientName(name)) return undefined;
  const connection = {
    url,
    key: NO_KEY,
    keyFile: '',
    config,
    ...(model === undefined ? {} : { model }),
  };
  const { edits } = planConnection(name, connection, { env: {}, homeDir, read: () => undefined });
  return Object.fromEntries(edits.map((edit) => [path.relative(homeDir, edit.file), renderEdit(edit)]));
}
