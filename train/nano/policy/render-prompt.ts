import type { ChatRequest } from '../../../src/core/chat.ts';
import { cutBlocks, shownSkills } from './shown-skills.ts';
import type { NanoTokenizer } from './tokenizer.ts';
import { FIRST_FIGURE, FIRST_NIBBLE, MARK } from './vocabulary.ts';

/**
 * What exceeds these limits is truncated as `renderTask` describes. A prompt is as long as nearly all prompts of pre-training were
 * (models/nano/CARD.md): the policy reads longer ones badly.
 */
export const PROMPT_LIMITS = {
  skills: 8,
  lines: 8,
  said: 10,
  skillTokens: 72,
  lineTokens: 56,
  saidTokens: 64,
  taskTokens: 384,
  promptTokens: 320,
} as const;

/** In characters: a longer task has more than `taskTokens` tokens, so that it need not be encoded to be refused. */
const LONGEST_TASK = 20_000;
/** The same for a line that the user said; more of it would be cut away. */
const LONGEST_SAYING = 2_000;

/** A task with more than this share of byte tokens is in a language that the policy has never seen. */
const MAX_UNKNOWN = 0.2;

type NanoPrompt =
  | { readonly is: 'prompt'; readonly tokens: Int32Array }
  /** There is no task, or none of the kind that the policy knows. */
  | { readonly is: 'foreign' };

/** What a task is read with. */
interface PromptContext {
  /** Lessons with their bodies. */
  readonly skills?: readonly string[];
  /** Lessons by one line each, the nearest to the task first. */
  readonly lines?: readonly string[];
  /** What the user said before, the newest last. */
  readonly said?: readonly string[];
}

/** The part of a request that the policy reads: the skills in force, what the user said before, and the user's last task. */
export function renderPrompt(request: ChatRequest, tokenizer: NanoTokenizer): NanoPrompt {
  const shown = shownSkills(request);
  const { task, said } = readMessages(request);
  return renderTask(
    {
      skills: shown.filter(({ isLine }) => !isLine).map(({ text }) => text),
      lines: shown.filter(({ isLine }) => isLine).map(({ text }) => text),
      said: [...notesOf(request), ...said],
    },
    task,
    tokenizer,
  );
}

/**
 * begin (skill TEXT)* (said TEXT)* task TEXT reply. The last eight skills, the first eight lines and the newest ten sayings are used; one
 * that is too long is truncated. If the prompt is still too long, lines go first, from the last on, then the oldest sayings, then
 * the first skills. A task that is too long is `foreign`, not truncated.
 */
export function renderTask(
  { skills = [], lines = [], said = [] }: PromptContext,
  task: string,
  tokenizer: NanoTokenizer,
): NanoPrompt {
  if (task.length > LONGEST_TASK) return { is: 'foreign' };
  const asked = tokenizer.encode(task);
  const unknown = asked.filter((token) => token >= FIRST_NIBBLE && token < FIRST_FIGURE).length;
  if (asked.length === 0 || asked.length > PROMPT_LIMITS.taskTokens || unknown > MAX_UNKNOWN * asked.length)
    return { is: 'foreign' };
  let room = PROMPT_LIMITS.promptTokens - asked.length - 3;
  const keep = (mark: number, texts: readonly string[], longest: number) => {
    const kept: (readonly number[])[] = [];
    for (const text of texts) {
      const tokens = [mark, ...tokenizer.encode(text.slice(0, LONGEST_SAYING)).slice(0, longest)];
      if (tokens.length > room) break;
      room -= tokens.length;
      kept.push(tokens);
    }
    return kept;
  };
  const newest = distinct(said).slice(-PROMPT_LIMITS.said).toReversed();
  const bodies = keep(
    MARK.skill,
    skills.slice(-PROMPT_LIMITS.skills).toReversed(),
    PROMPT_LIMITS.skillTokens,
  );
  const sayings = keep(MARK.said, newest, PROMPT_LIMITS.saidTokens);
  const listed = keep(MARK.skill, lines.slice(0, PROMPT_LIMITS.lines), PROMPT_LIMITS.lineTokens);
  return {
    is: 'prompt',
    tokens: Int32Array.from([
      MARK.begin,
      ...listed.flat(),
      ...bodies.toReversed().flat(),
      ...sayings.toReversed().flat(),
      MARK.task,
      ...asked,
      MARK.reply,
    ]),
  };
}

/** Each saying once, where it was said last; letters of options and figures make no other saying. */
function distinct(said: readonly string[]): readonly string[] {
  const kept = new Map<string, string>();
  for (const one of said) {
    const shape = one.replace(/\d+/g, '0').replace(/\b[A-F]\b/g, 'A');
    kept.delete(shape);
    kept.set(shape, one);
  }
  return [...kept.values()];
}

const NOTES = /^## Notes\b.*$/m;
const NOTE = /^- +(.+)$/;

/** The lines of a file of notes that is in the system prompt under a heading of its own. */
function notesOf({ system }: ChatRequest): readonly string[] {
  return system.flatMap(({ text }) => {
    const { rest } = cutBlocks(text);
    const found = NOTES.exec(rest);
    if (found === null) return [];
    const [, ...lines] = rest.slice(found.index).split('\n');
    const end = lines.findIndex((line) => /^#{1,6} /.test(line));
    return lines.slice(0, end < 0 ? undefined : end).flatMap((line) => NOTE.exec(line)?.[1]?.trim() ?? []);
  });
}

const PARAGRAPH = /\n[^\S\n]*\n/;
/** How the suite's tasks begin, and what its questions ask for. */
const ASKS = /^t\d{3,6}, |\\bbox\{/;

/**
 * The task is the last paragraph of the user's last message, without our blocks. What is before it in that message, and whatever else the
 * user said that is no task, is feedback on earlier tasks, a line each.
 */
function readMessages({ messages }: ChatRequest): {
  readonly task: string;
  readonly said: readonly string[];
} {
  const spoken = messages
    .filter(({ role }) => role === 'user')
    .map(({ content }) =>
      content
        .flatMap((part) => (part.type === 'text' ? [cutBlocks(part.text).rest.trim()] : []))
        .filter((text) => text !== '')
        .join('\n\n'),
    );
  const [last = '', ...earlier] = spoken.toReversed();
  const paragraphs = last.split(PARAGRAPH);
  const before = [
    ...earlier.toReversed().flatMap((text) => text.split(PARAGRAPH)),
    ...paragraphs.slice(0, -1),
  ];
  return {
    task: paragraphs.at(-1)?.trim() ?? '',
    said: before
      .filter((paragraph) => !ASKS.test(paragraph.trim()))
      .flatMap((paragraph) => paragraph.split('\n'))
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  };
}
