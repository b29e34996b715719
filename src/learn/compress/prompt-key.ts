import { createHash } from 'node:crypto';
import { spokenOf } from './demands.ts';
import type { PromptKey } from './prompt-cache.ts';

/** Version of the question and the checks: increase it to shorten known prompts again. */
const EDITION = 1;

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
  const parts = JSON.stringify([EDITION, agent, limitTokens, spokenOf(text, tools), text]);
  return { agent, hash: createHash('sha256').update(parts).digest('hex') };
}
