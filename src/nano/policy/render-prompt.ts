import type { ChatRequest } from '../../core/chat.ts';
import { cutBlocks, type ShownSkill, shownSkills } from './shown-skills.ts';
import type { Tokenizer } from './tokenizer.ts';
import { FIRST_FIGURE, FIRST_NIBBLE, MARK } from './vocabulary.ts';

/** How much is read at most. What is over is cut as `renderPrompt` says. */
export const LIMITS = {
  skills: 8,
  skillTokens: 72,
  taskTokens: 384,
  promptTokens: 544,
} as const;

/** More than this share of a task spelt in bytes is a language that the policy has never seen. */
const MOST_UNKNOWN = 0.2;

export type Prompt =
  | { readonly is: 'prompt'; readonly tokens: Int32Array }
  /** Nothing was asked, or what was asked cannot be one of the tasks that the policy knows. */
  | { readonly is: 'foreign' };

/** What a policy that reads only lines is given of a request: the skills that hold, and what the user asked last. */
export function renderPrompt(request: ChatRequest, tokenizer: Tokenizer): Prompt {
  return renderTask(
    shownSkills(request).map(({ text }) => text),
    lastTask(request),
    tokenizer,
  );
}

/**
 * begin (skill TEXT)* task TEXT reply. Of more than eight skills the last eight are read; a skill that is too long loses its end;
 * when all together are too long, the first skills go. A task that is too long is none of ours, and is not cut.
 */
export function renderTask(
  skills: readonly ShownSkill['text'][],
  task: string,
  tokenizer: Tokenizer,
): Prompt {
  const asked = tokenizer.encode(task);
  const unknown = asked.filter((token) => token >= FIRST_NIBBLE && token < FIRST_FIGURE).length;
  if (asked.length === 0 || asked.length > LIMITS.taskTokens || unknown > MOST_UNKNOWN * asked.length)
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
 * The last thing the user said, without our blocks; of several paragraphs the last, since what stands before it is what the
 * user had to say of the task before.
 */
function lastTask({ messages }: ChatRequest): string {
  const last = messages.findLast(({ role }) => role === 'user');
  const texts = (last?.role === 'user' ? last.content : []).flatMap((part) =>
    part.type === 'text' ? [cutBlocks(part.text).rest.trim()] : [],
  );
  const said = texts.filter((text) => text !== '').join('\n\n');
  return (
    said
      .split(/\n[^\S\n]*\n/)
      .at(-1)
      ?.trim() ?? ''
  );
}
