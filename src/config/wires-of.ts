import type { WireName } from '../core/wire.ts';
import type { ProviderEntry } from './schema.ts';

/** The wires a provider entry speaks, each once; `openai` stands for both of that maker's. */
export function wiresOf(entry: Pick<ProviderEntry, 'wire'>): readonly WireName[] {
  const given = typeof entry.wire === 'string' ? [entry.wire] : entry.wire;
  const wires = given.flatMap((wire): readonly WireName[] =>
    wire === 'openai' ? ['openai-chat', 'openai-responses'] : [wire],
  );
  return [...new Set(wires)];
}
