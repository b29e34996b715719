import type { ChatRequest } from '../../../src/core/chat.ts';

/** A lesson in the short form that the nano policy reads. */
interface ShownSkill {
  readonly name: string;
  /** On one line. */
  readonly text: string;
  /** Listed by one line, without its body. */
  readonly isLine: boolean;
}

const HEADING_WORDS = '## Active Skills';
const HEADING = /^## Active Skills\b.*$/m;
const WITHDRAWN = 'No longer valid, to be disregarded: ';
const LINES = 'Also learned, one rule a line';
const LINE = /^- ([^\s:][^:]{0,199}): (.+)$/;
const STEP = /^ {0,3}(?:\d{1,2}[.)]|[-*]) +(.+)$/;
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
  const skills = new Map<string, ShownSkill>();
  for (const block of texts.flatMap((text) => cutBlocks(text).blocks)) {
    for (const name of withdrawnIn(block)) skills.delete(name);
    for (const skill of [...linesIn(block), ...bodiesIn(block)]) {
      // A line says less than the body that was shown before it.
      if (skill.isLine && skills.get(skill.name)?.isLine === false) continue;
      skills.delete(skill.name);
      if (skill.text !== '') skills.set(skill.name, skill);
    }
  }
  return [...skills.values()];
}

/** A text without the blocks at its end, and the blocks. Most texts have none, and some are long. */
export function cutBlocks(text: string): { readonly rest: string; readonly blocks: readonly string[] } {
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

/** The paragraph of skills by one line each, which is before all bodies. */
function linesIn(block: string): readonly ShownSkill[] {
  const [head = ''] = splitBefore(block, /^### /m);
  const paragraph = head.split('\n\n').find((one) => one.startsWith(LINES)) ?? '';
  return paragraph.split('\n').flatMap((line) => {
    const [, name = '', text = ''] = LINE.exec(line) ?? [];
    // A lesson that quotes a person is listed with its quotation twice.
    const [, quoted = text] = /^("[^\n]*"): > /.exec(text) ?? [];
    return text === '' ? [] : [{ name, text: unquoted(plain(quoted)), isLine: true }];
  });
}

const bodiesIn = (block: string): readonly ShownSkill[] =>
  splitBefore(block, /^### /m)
    .slice(1)
    .map((section) => {
      const [heading = '', ...lines] = section.split('\n');
      return { name: heading.slice('### '.length).trim(), text: textOf(lines), isLine: false };
    });

/** What was said; or the steps, preceded by the description where that says more; or else the description and the first lines. */
function textOf(lines: readonly string[]): string {
  const [first = ''] = lines;
  const description = first.startsWith('_') && first.endsWith('_') ? unquoted(plain(first.slice(1, -1))) : '';
  const said = saidIn(lines);
  if (said !== '') return said;
  const steps = lines
    .map((line) => STEP.exec(line)?.[1])
    .filter((step) => step !== undefined && !CLOSING.some((closing) => step.startsWith(closing)))
    .map((step) => plain(step ?? ''));
  if (steps.length === 0) steps.push(...proseIn(lines.slice(description === '' ? 0 : 1)));
  const [lead] = steps;
  if (lead === undefined) return description;
  return (saysSame(description, lead) ? steps : [description, ...steps]).join(' ');
}

const SAID = /^(?:The user|A check) said(?:, \d{1,4} times)?:$/;
const EARLIER = 'Said earlier on the same matter:';

/** The words of a lesson that quotes a person: those that hold now, then earlier ones. What else it quotes is left out. */
function saidIn(lines: readonly string[]): string {
  const quotes = { now: [] as string[], earlier: [] as string[] };
  let into: string[] | undefined;
  for (const line of lines) {
    if (line.startsWith('> ')) into?.push(line.slice(2));
    else if (SAID.test(line)) into = quotes.now;
    else if (line === EARLIER) into = quotes.earlier;
    else if (line.trim() !== '') into = undefined;
  }
  const [now, earlier] = [quotes.now, quotes.earlier].map((said) => plain(said.join(' ')));
  if (now === undefined || now === '') return '';
  return earlier === undefined || earlier === '' ? now : `${now} Earlier: ${earlier}`;
}

const MOST_PROSE = 3;

const proseIn = (lines: readonly string[]): readonly string[] =>
  lines
    .filter((line) => line.trim() !== '' && !/^\s{0,3}(?:#|>|```|~~~|---)/.test(line))
    .slice(0, MOST_PROSE)
    .map(plain);

const plain = (text: string): string => text.replaceAll('`', '').split(/\s/).filter(Boolean).join(' ');

/** A lesson in a person's words has them in quotation marks. */
const unquoted = (text: string): string => text.replace(/^"(.*)"$/, '$1');

/** Whether a description only repeats the step, apart from its condition: `When you write amounts: …`. */
function saysSame(description: string, step: string): boolean {
  const [longer, same] = [description, step].map((text) => text.replace(/\.$/, '').toLowerCase());
  if (longer === undefined || same === undefined || !longer.endsWith(same)) return longer === '';
  const before = longer.slice(0, longer.length - same.length);
  return before === '' || before.endsWith(': ');
}
