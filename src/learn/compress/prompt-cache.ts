/** Which prompt of which agent. The hash covers all that a shortening depends on, the agent included. */
export interface PromptKey {
  readonly agent: string;
  readonly hash: string;
}

/** What became of a prompt. */
export interface ShortenedPrompt {
  /** Milliseconds since the epoch: sessions that began later may be given it. */
  readonly at: number;
  /** Absent when it could not be shortened. */
  readonly text?: string;
  /** Why not. */
  readonly why?: string;
  /** The model that wrote it, and the hash of what it was asked. */
  readonly model?: string;
  readonly question?: string;
}

/** Keeps what was shortened. It may reject; the original goes out then. What was put is never changed. */
export interface PromptCache {
  get(key: PromptKey): Promise<ShortenedPrompt | undefined>;
  put(key: PromptKey, prompt: ShortenedPrompt): Promise<void>;
}

/** For one process: what it holds is gone with it. */
export function createMemoryPromptCache(): PromptCache {
  const agents = new Map<string, Map<string, ShortenedPrompt>>();
  return {
    get: async ({ agent, hash }) => agents.get(agent)?.get(hash),
    put: async ({ agent, hash }, prompt) => {
      const prompts = agents.get(agent) ?? new Map<string, ShortenedPrompt>();
      agents.set(agent, prompts);
      if (!prompts.has(hash)) prompts.set(hash, prompt);
    },
  };
}
