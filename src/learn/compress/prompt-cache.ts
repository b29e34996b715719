import { createHash } from 'node:crypto';
import { mentionedTools } from './prompt-requirements.ts';

/** Identifies a prompt. The hash covers everything that a shortening depends on, the agent included. */
export interface PromptKey {
  readonly agent: string;
  readonly hash: string;
}

/** The result of shortening a prompt. */
export interface ShortenedPrompt {
  /** Milliseconds since the epoch: only sessions that began later get it. */
  readonly at: number;
  /** Absent when it could not be shortened. */
  readonly text?: string;
  /** Why not. */
  readonly why?: string;
  /** The model that wrote it, and the hash of the question. */
  readonly model?: string;
  readonly question?: string;
}

/** Stores shortened prompts. It may reject; then the original is used. An entry is never replaced. */
export interface PromptCache {
  get(key: PromptKey): Promise<ShortenedPrompt | undefined>;
  put(key: PromptKey, prompt: ShortenedPrompt): Promise<void>;
}

/** In memory, for one process. */
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

/** Version of the question and the checks: increase it to shorten known prompts again. */
const EDITION = 2;

/** A prompt as an agent's request carries it. */
export interface AgentPrompt {
  readonly agent: string;
  readonly text: string;
  /** The names of the tools that the request offers. */
  readonly tools: readonly string[];
}

/**
 * Two agents never share a key. Tools that the prompt does not mention do not count; when the others change, it is another
 * prompt, and during a session the provider's cache is invalid then anyway.
 */
export function promptKey({ agent, text, tools }: AgentPrompt, limitTokens: number): PromptKey {
  const parts = JSON.stringify([EDITION, agent, limitTokens, mentionedTools(text, tools), text]);
  return { agent, hash: createHash('sha256').update(parts).digest('hex') };
}
