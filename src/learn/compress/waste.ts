import { createRecent } from '../../core/recent.ts';
import type { PromptKey } from './prompt-cache.ts';

/** After this many shortenings in a row that no later session used, an agent's prompts are taken to differ each time. */
const MOST_UNUSED = 3;
const MOST_SEEN = 500;

export interface Waste {
  shortened(agent: string): void;
  used(agent: string): void;
  /** Whether a later session is likely to send the same prompt. */
  isLikely(key: PromptKey, startedAt: number): boolean;
}

/**
 * Tracks which agents reuse their prompts. Some put the date or the state of the working tree into the prompt, so that no
 * two sessions send the same one and shortening is wasted. A prompt of such an agent must be seen in a second session first.
 */
export function createWaste(): Waste {
  const unused = createRecent<string, number>(MOST_SEEN);
  const seen = createRecent<string, number>(MOST_SEEN);
  return {
    shortened: (agent) => unused.set(agent, (unused.get(agent) ?? 0) + 1),
    used: (agent) => unused.set(agent, 0),
    isLikely: ({ agent, hash }, startedAt) => {
      if ((unused.get(agent) ?? 0) < MOST_UNUSED) return true;
      const first = seen.get(hash) ?? startedAt;
      seen.set(hash, first);
      return first !== startedAt;
    },
  };
}
