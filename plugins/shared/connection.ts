import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Where Instar is, and the caller key of one client; `instar connect CLIENT --native` writes it, readable by its owner alone. */
export interface NativeConnection {
  readonly client: string;
  /** `http://127.0.0.1:4600`, no path. */
  readonly url: string;
  readonly key: string;
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Undefined when the file is missing or says something else: then nothing is reported, and the client works as without Instar. */
export function readConnection(file: string): NativeConnection | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (!isRecord(value)) return undefined;
    const [client, url, key] = [textOf(value.client), textOf(value.url), textOf(value.key)];
    if (client === undefined || url === undefined || key === undefined || !URL.canParse(url))
      return undefined;
    return { client, url: new URL(url).origin, key };
  } catch {
    return undefined;
  }
}

const BASE_URLS = ['ANTHROPIC_BASE_URL', 'OPENAI_BASE_URL'];

/** Whether the client's requests go through the gateway: `instar connect` has written that, or the shell says it. */
export function isRouted(connectionFile: string, { client, url }: NativeConnection): boolean {
  const home = dirname(dirname(connectionFile));
  if (existsSync(join(home, 'connect', `${client}.json`))) return true;
  return BASE_URLS.some((name) => {
    const value = process.env[name] ?? '';
    return URL.canParse(value) && new URL(value).origin === url;
  });
}
