import type { Ask } from '../../core/learn.ts';
import { writeCompressionQuestion } from './compression-question.ts';
import type { WritePrompt } from './compressor.ts';
import { readRequirements } from './prompt-requirements.ts';

interface PromptWriterOptions {
  readonly ask: Ask;
  readonly newId: (prefix: string) => string;
  /** Prompts that contain a secret are neither sent to another model nor stored. */
  readonly hasSecret: (text: string) => boolean;
}

/**
 * Has a model write a shorter prompt, and accepts it only when it keeps every requirement. Reading the requirements of the
 * longest prompt blocks the thread for a tenth of a second: it does not belong into the one that serves.
 */
export const createPromptWriter =
  ({ ask, newId, hasSecret }: PromptWriterOptions): WritePrompt =>
  async ({ text, tools }, limitTokens, signal) => {
    if (hasSecret(text))
      return { ok: false, why: 'it contains a secret', isRetryable: false, isPrivate: true };
    const demands = readRequirements(text, tools);
    const question = writeCompressionQuestion({ prompt: text, demands, limitTokens, mark: newId('mark') });
    const answer = await ask(question, signal);
    return answer.ok
      ? { ok: true, text: answer.value, model: answer.model, question: answer.prompt }
      : { ok: false, why: answer.why, isRetryable: answer.isRetryable };
  };
