import type { ChatRequest } from '../../core/chat.ts';
import { cutBlocks, type ShownSkill, shownSkills } from './shown-skills.ts';
import type { Tokenizer } from './tokenizer.ts';
import { FIRST_FIGURE, FIRST_NIBBLE, MARK } from './vocabulary.ts';

/** What exceeds these limits is truncated as `renderTask` describes. */
export const LIMITS = {
  skills: 8,
  skillTokens: 72,
  taskTokens: 384,
  promptTokens: 544,
} as const;

/** A task with more than this share of byte tokens is in a language that the policy has never seen. */
const MAX_UNKNOWN = 0.2;

export type Prompt =
  | { readonly is: 'prompt'; readonly tokens: Int32Array }
  /** There is no task, or none of the kind that the policy knows. */
  | { readonly is: 'foreign' };

/** The part of a request that the policy reads: the skills in force, and the user's last task. */
export function renderPrompt(request: ChatRequest, tokenizer: Tokenizer): Prompt {
  return renderTask(
    shownSkills(request).map(({ text }) => text),
    lastTask(request),
    tokenizer,
  );
}

/**
 * begin (skill TEXT)* task TEXT reply. The last eight skills are used; a skill that is too long is truncated; if the prompt is
 * still too long, the first skills are left out. A task that is too long is `foreign`, not truncated.
 */
export function renderTask(
  skills: readonly ShownSkill['text'][],
  task: string,
  tokenizer: Tokenizer,
): Prompt {
  const asked = tokenizer.encode(task);
  const unknown = asked.filter((token) => token >= FIRST_NIBBLE && token < FIRST_FIGURE).length;
  if (asked.length === 0 || asked.length > LIMITS.taskTokens || unknown > MAX_UNKNOWN * asked.length)
    return { is: 'foreign' };
  const shown = skills
    .slice(-LIMITS.skills)
    .map((text) => [MARK.skill, ...tokenizer.encode(text).slice(0, LIMITS.skillTokens)]);
  const rest = [MARK.task, ...asked, MARK.reply];
  let length = 1 + rest.length;
  const fitting = shown.toReversed().filter((skill) => {
    length += skill.length;
    return length <= LIMITS.promptTokens;
  });
  return { is: 'prompt', tokens: Int32Array.from([MARK.begin, ...fitting.toReversed().flat(), ...rest]) };
}

/**
 * The last message of the user without our blocks. Of several paragraphs it is the last, since those before it are feedback
 * on the previous task.
 */
function lastTask({ messages }: ChatRequest): string {
  const last = messages.findLast(({ role }) => role === 'user');
  const texts = (last?.role === 'user' ? last.content : []).flatMap((part) =>
    part.type === 'text' ? [cutBlocks(part.text).rest.trim()] : [],
  );
  const message = texts.filter((text) => text !== '').join('\n\n');
  return (
    message
      .split(/\n[^\S\n]*\n/)
      .at(-1)
      ?.trim() ?? ''
  );
}
