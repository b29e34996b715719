import { createRecent } from '../../core/recent.ts';
import type { PromptKey } from './prompt-cache.ts';

/** So many shortenings in a row that no session came back for, and an agent's prompts are taken to differ each time. */
const MOST_UNUSED = 3;
const MOST_SEEN = 500;

export interface Waste {
  made(agent: string): void;
  used(agent: string): void;
  /** Whether a prompt is likely to be seen again. */
  isWorthIt(key: PromptKey, startedAt: number): boolean;
}

/**
 * Some agents put the date or the state of the working tree into their prompt, so that no session's is like another's
 * and each shortening is paid for nothing. From them a prompt has to be seen in a second session first.
 */
export function createWaste(): Waste {
  const unused = createRecent<string, number>(MOST_SEEN);
  const seen = createRecent<string, number>(MOST_SEEN);
  return {
    made: (agent) => unused.set(agent, (unused.get(agent) ?? 0) + 1),
    used: (agent) => unused.set(agent, 0),
    isWorthIt: ({ agent, hash }, startedAt) => {
      if ((unused.get(agent) ?? 0) < MOST_UNUSED) return true;
      const first = seen.get(hash) ?? startedAt;
      seen.set(hash, first);
      return first !== startedAt;
    },
  };
}
