import type { Effort } from '../../core/chat.ts';

/**
 * The differences between servers of this format, chosen by the model's name, since nothing else distinguishes them. An
 * unknown name gets what most servers accept.
 */
interface Dialect {
  /** OpenAI's reasoning models refuse `max_tokens`; many local servers do not know the newer name. */
  readonly limit: 'max_tokens' | 'max_completion_tokens';
  /** OpenAI's older models refuse `reasoning_effort`. */
  readonly effort: boolean;
  /** OpenAI and Mistral refuse reasoning in a request; DeepSeek refuses a request without it. */
  readonly reasoning: boolean;
  /** DeepSeek accepts content only as one string, not as an array of parts. */
  readonly plainText: boolean;
}

const OPENAI = /^(?:gpt-\d|chatgpt|o\d)/;
const OPENAI_OLDER = /^(?:gpt-[34]|chatgpt)/;
const OPENAI_REASONING = /^(?:[\w.-]+\/)?(?:o\d(?:$|-)|gpt-(?:[5-9]|\d\d))/;
const MISTRAL = /^(?:open-)?(?:mi[sx]tral|ministral|magistral|devstral|codestral|pixtral)/;

export function dialectOf(model: string, effort: Effort | undefined): Dialect {
  const name = model.slice(0, 200).toLowerCase();
  const takesEffort = !OPENAI_OLDER.test(name);
  return {
    limit:
      OPENAI_REASONING.test(name) || (effort !== undefined && takesEffort)
        ? 'max_completion_tokens'
        : 'max_tokens',
    effort: takesEffort,
    reasoning: !OPENAI.test(name) && !MISTRAL.test(name),
    plainText: name.includes('deepseek'),
  };
}
