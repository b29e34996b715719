import type { Ask } from '../../core/learn.ts';
import type { ShownLessons, Turn } from '../../gateway/turn.ts';
import { createCompressor } from '../../learn/compress/compressor.ts';
import type { PromptCache } from '../../learn/compress/prompt-cache.ts';
import { textHash } from '../recording/text-hash.ts';
import { createShortenPrompts, type ShortenPromptsOptions } from './shorten-prompts.ts';

export interface ServeShorteningOptions extends Pick<ShortenPromptsOptions, 'records' | 'now'> {
  readonly overTokens: number;
  readonly ask: Ask;
  readonly cache: PromptCache;
  readonly hasSecret: (text: string) => boolean;
  readonly newId: (prefix: string) => string;
  readonly journal: (note: string) => void;
}

export interface Shortening {
  shorten(turn: Turn): Promise<ShownLessons['shortened'] | undefined>;
  close(): Promise<void>;
}

/** Shortens long system prompts for the sessions after the one in which they were first seen. */
export function serveShortening(options: ServeShorteningOptions): Shortening {
  const { records, now, overTokens, ...parts } = options;
  const compressor = createCompressor({ ...parts, now, overTokens });
  // A token has at least one byte, so a smaller body has no prompt over the limit.
  const shorten = createShortenPrompts({
    compressor,
    records,
    now,
    hashOf: textHash,
    shortestBody: overTokens,
  });
  return { shorten, close: () => compressor.close() };
}
