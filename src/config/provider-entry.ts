import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { WireName } from '../core/wire.ts';
import type { ProviderEntry } from './schema.ts';

type KeySource = Pick<ProviderEntry, 'keyEnv' | 'keyFile'>;

/** Whether Instar has a key for this provider; callers then need Instar's key. */
export const hasOwnKey = (entry: KeySource): boolean =>
  entry.keyEnv !== undefined || entry.keyFile !== undefined;

export const keyFileOf = (entry: KeySource, homeDir: string): string | undefined =>
  entry.keyFile === undefined ? undefined : resolve(homeDir, entry.keyFile);

/** The provider's current key, read on every call so that a rotated key takes effect. Undefined when it is missing. */
export function readProviderKey(
  entry: KeySource,
  from: { readonly env: NodeJS.ProcessEnv; readonly homeDir: string },
): string | undefined {
  if (entry.keyEnv !== undefined) return from.env[entry.keyEnv]?.trim() || undefined;
  const file = keyFileOf(entry, from.homeDir);
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Whether a model of the provider writes tool calls as text; undefined when none does. */
export function callWriters({
  toolCalls,
}: Pick<ProviderEntry, 'toolCalls'>): ((model: string) => boolean) | undefined {
  if (toolCalls === undefined || toolCalls === 'native') return undefined;
  if (toolCalls === 'text') return () => true;
  const names = new Set(Object.keys(toolCalls).filter((name) => toolCalls[name] === 'text'));
  return names.size === 0 ? undefined : (model) => names.has(model);
}

/** The wires of a provider entry, each once; `openai` stands for both OpenAI wires. */
export function wiresOf(entry: Pick<ProviderEntry, 'wire'>): readonly WireName[] {
  const given = typeof entry.wire === 'string' ? [entry.wire] : entry.wire;
  const wires = given.flatMap((wire): readonly WireName[] =>
    wire === 'openai' ? ['openai-chat', 'openai-responses'] : [wire],
  );
  return [...new Set(wires)];
}
