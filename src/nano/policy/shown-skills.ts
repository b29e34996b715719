import type { ChatRequest } from '../../core/chat.ts';

/** A lesson in the short form that the nano policy reads. */
export interface ShownSkill {
  readonly name: string;
  /** On one line. */
  readonly text: string;
}

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

/** A text without the blocks at its end, and the blocks. */
export function cutBlocks(text: string): { readonly rest: string; readonly blocks: readonly string[] } {
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
  const description = first.startsWith('_') && first.endsWith('_') ? plain(first.slice(1, -1)) : '';
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
