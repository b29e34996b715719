import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { WireName } from '../core/wire.ts';
import type { ProviderEntry } from './schema.ts';

type KeySource = Pick<ProviderEntry, 'keyEnv' | 'keyFile'>;

/** Whether the entry has a key of its own, so that callers must show Instar's. */
export const hasOwnKey = (entry: KeySource): boolean =>
  entry.keyEnv !== undefined || entry.keyFile !== undefined;

export const keyFileOf = (entry: KeySource, homeDir: string): string | undefined =>
  entry.keyFile === undefined ? undefined : resolve(homeDir, entry.keyFile);

/** The provider's key as it is now: read each time, so that a rotated key counts. Undefined when it is not there. */
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

/** The wires a provider entry speaks, each once; `openai` stands for both of that maker's. */
export function wiresOf(entry: Pick<ProviderEntry, 'wire'>): readonly WireName[] {
  const given = typeof entry.wire === 'string' ? [entry.wire] : entry.wire;
  const wires = given.flatMap((wire): readonly WireName[] =>
    wire === 'openai' ? ['openai-chat', 'openai-responses'] : [wire],
  );
  return [...new Set(wires)];
}
