import { createHash } from 'node:crypto';
import { spokenOf } from './demands.ts';
import type { PromptKey } from './prompt-cache.ts';

/** Of the question and the checks: a change there makes what was tried before worth trying again. */
const EDITION = 1;

/** A prompt as an agent's request carries it. */
export interface AgentPrompt {
  readonly agent: string;
  readonly text: string;
  /** The names of the tools that the request offers. */
  readonly tools: readonly string[];
}

/**
 * Two agents never share a key, whatever their prompts. Tools that the prompt does not speak of change nothing; a change
 * of the others is another prompt, and in the middle of a session one that the provider has to read anew anyway.
 */
export function promptKey({ agent, text, tools }: AgentPrompt, limitTokens: number): PromptKey {
  const parts = JSON.stringify([EDITION, agent, limitTokens, spokenOf(text, tools), text]);
  return { agent, hash: createHash('sha256').update(parts).digest('hex') };
}
