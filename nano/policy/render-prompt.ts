import type { ChatRequest } from '../../src/core/chat.ts';
import type { NanoTokenizer } from './tokenizer.ts';
import { FIRST_FIGURE, FIRST_NIBBLE, MARK } from './vocabulary.ts';

/** A lesson in the short form that the nano policy reads. */
interface ShownSkill {
  readonly name: string;
  /** On one line. */
  readonly text: string;
}

const HEADING_WORDS = '## Active Skills';
const HEADING = /^## Active Skills\b.*$/m;
const WITHDRAWN = 'No longer valid, to be disregarded: ';
const STEP = /^ {0,3}\d{1,2}[.)] +(.+)$/;
/** Closing steps that learners write under every skill; they are left out. */
const CLOSING = ['Hold to this ', 'Before you say that you are done'];

/**
 * The skills in force at the end of a request, in the order in which they were given. Blocks are at the end of texts: the
 * first one of the conversation, and later updates, in which a skill replaces the earlier one of the same name.
 */
export function shownSkills({ system, messages }: ChatRequest): readonly ShownSkill[] {
  const texts = [
    ...system.map(({ text }) => text),
    ...messages.flatMap(({ role, content }) =>
      role === 'assistant' ? [] : content.flatMap((part) => (part.type === 'text' ? [part.text] : [])),
    ),
  ];
  const skills = new Map<string, string>();
  for (const block of texts.flatMap((text) => cutBlocks(text).blocks)) {
    for (const name of withdrawnIn(block)) skills.delete(name);
    for (const { name, text } of skillsIn(block)) {
      skills.delete(name);
      if (text !== '') skills.set(name, text);
    }
  }
  return [...skills].map(([name, text]) => ({ name, text }));
}

/** A text without the blocks at its end, and the blocks. Most texts have none, and some are long. */
function cutBlocks(text: string): { readonly rest: string; readonly blocks: readonly string[] } {
  if (!text.includes(HEADING_WORDS)) return { rest: text, blocks: [] };
  const [rest = '', ...blocks] = splitBefore(text, HEADING);
  return { rest, blocks };
}

function splitBefore(text: string, mark: RegExp): readonly string[] {
  const places = [...text.matchAll(new RegExp(mark, 'gm'))].map(({ index }) => index);
  return [0, ...places].map((from, at) => text.slice(from, places[at]));
}

/** Withdrawn skills are named in a paragraph before all skills. */
function withdrawnIn(block: string): readonly string[] {
  const line = block.split('\n').find((one) => one.startsWith(WITHDRAWN) || one.startsWith('### '));
  return line?.startsWith(WITHDRAWN) ? line.slice(WITHDRAWN.length).split(', ') : [];
}

const skillsIn = (block: string): readonly ShownSkill[] =>
  splitBefore(block, /^### /m)
    .slice(1)
    .map((section) => {
      const [heading = '', ...lines] = section.split('\n');
      return { name: heading.slice('### '.length).trim(), text: textOf(lines) };
    });

/** The steps, preceded by the description where that says more; without steps the description, or else the first line. */
function textOf(lines: readonly string[]): string {
  const [first = ''] = lines;
  // A lesson in a person's words has them in quotation marks.
  const description =
    first.startsWith('_') && first.endsWith('_') ? plain(first.slice(1, -1)).replace(/^"(.*)"$/, '$1') : '';
  const steps = lines
    .map((line) => STEP.exec(line)?.[1])
    .filter((step) => step !== undefined && !CLOSING.some((closing) => step.startsWith(closing)))
    .map((step) => plain(step ?? ''));
  const [lead] = steps;
  if (lead === undefined)
    return description || plain(lines.find((line) => line.trim() !== '' && !line.startsWith('#')) ?? '');
  return (saysSame(description, lead) ? steps : [description, ...steps]).join(' ');
}

const plain = (text: string): string => text.replaceAll('`', '').split(/\s/).filter(Boolean).join(' ');

/** Whether a description only repeats the step, apart from its condition: `When you write amounts: …`. */
function saysSame(description: string, step: string): boolean {
  const [longer, same] = [description, step].map((text) => text.replace(/\.$/, '').toLowerCase());
  if (longer === undefined || same === undefined || !longer.endsWith(same)) return longer === '';
  const before = longer.slice(0, longer.length - same.length);
  return before === '' || before.endsWith(': ');
}

/** What exceeds these limits is truncated as `renderTask` describes. */
export const PROMPT_LIMITS = {
  skills: 8,
  skillTokens: 72,
  taskTokens: 384,
  promptTokens: 544,
} as const;

/** In characters: a longer task has more than `taskTokens` tokens, so that it need not be encoded to be refused. */
const LONGEST_TASK = 20_000;

/** A task with more than this share of byte tokens is in a language that the policy has never seen. */
const MAX_UNKNOWN = 0.2;

type NanoPrompt =
  | { readonly is: 'prompt'; readonly tokens: Int32Array }
  /** There is no task, or none of the kind that the policy knows. */
  | { readonly is: 'foreign' };

/** The part of a request that the policy reads: the skills in force, and the user's last task. */
export function renderPrompt(request: ChatRequest, tokenizer: NanoTokenizer): NanoPrompt {
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
  tokenizer: NanoTokenizer,
): NanoPrompt {
  if (task.length > LONGEST_TASK) return { is: 'foreign' };
  const asked = tokenizer.encode(task);
  const unknown = asked.filter((token) => token >= FIRST_NIBBLE && token < FIRST_FIGURE).length;
  if (asked.length === 0 || asked.length > PROMPT_LIMITS.taskTokens || unknown > MAX_UNKNOWN * asked.length)
    return { is: 'foreign' };
  const shown = skills
    .slice(-PROMPT_LIMITS.skills)
    .map((text) => [MARK.skill, ...tokenizer.encode(text).slice(0, PROMPT_LIMITS.skillTokens)]);
  const rest = [MARK.task, ...asked, MARK.reply];
  let length = 1 + rest.length;
  const fitting = shown.toReversed().filter((skill) => {
    length += skill.length;
    return length <= PROMPT_LIMITS.promptTokens;
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
