import type { ChatRequest } from '../../core/chat.ts';

/** A lesson as far as a small policy reads it. */
export interface ShownSkill {
  readonly name: string;
  /** In a line. */
  readonly text: string;
}

const HEADING = /^## Active Skills\b.*$/m;
const WITHDRAWN = 'No longer valid, to be disregarded: ';
const STEP = /^ {0,3}\d{1,2}[.)] +(.+)$/;
/** What learners write under every skill alike: it says nothing of the skill. */
const CLOSING = ['Hold to this ', 'Before you say that you are done'];

/**
 * The skills that hold at the end of a request, in the order in which they were given. Blocks stand at the ends of texts: what
 * the thread began with, and later updates, in which a skill replaces the earlier one of its name.
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

/** They stand in a paragraph before all skills. */
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

/** Its steps, with the description before them where that says more; without steps the description, or else the first line. */
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

/** Whether a description has nothing that the step has not, save for when to take it: `When you write amounts: …`. */
function saysSame(description: string, step: string): boolean {
  const [told, same] = [description, step].map((text) => text.replace(/\.$/, '').toLowerCase());
  if (told === undefined || same === undefined || !told.endsWith(same)) return told === '';
  const before = told.slice(0, told.length - same.length);
  return before === '' || before.endsWith(': ');
}
