import { PatternError, type PatternNode, parsePattern } from './parse-pattern.ts';

/** What to do at a place in the text. Jumps are to places in the program. */
type Step =
  | { readonly type: 'set'; readonly has: (char: string) => boolean }
  | { readonly type: 'edge'; readonly at: 'start' | 'end' | 'word' | 'not-word' }
  | { type: 'split'; first: number; second: number }
  | { readonly type: 'done' };

export interface Pattern {
  /** Whether it fits somewhere in the text, in time that grows with the text and no faster. */
  test(text: string): boolean;
}

/** With the pattern's own size it bounds the time for one text. */
const MOST_STEPS = 500;
const MOST_VISITS = 10 * MOST_STEPS;
export const LONGEST_TEXT = 50_000;

/** A pattern that cannot be made slow by any text. Throws a PatternError for one that is not known or too large. */
export function compilePattern(source: string, flags = ''): Pattern {
  const draft: Draft = { program: [], visits: 0 };
  emit(parsePattern(source, flags), draft);
  const program: readonly Step[] = [...draft.program, { type: 'done' }];
  const isMultiline = flags.includes('m');
  const isFolded = flags.includes('i');
  return { test: (text) => isFound(program, [...text], isMultiline, isFolded) };
}

type Split = Extract<Step, { type: 'split' }>;

interface Draft {
  readonly program: Step[];
  /** Nothing, repeated often enough, is too much as well. */
  visits: number;
}

function emit(node: PatternNode, draft: Draft): void {
  if (++draft.visits > MOST_VISITS || draft.program.length > MOST_STEPS)
    throw new PatternError('it says too much: repeat less');
  if (node.type === 'all') for (const item of node.items) emit(item, draft);
  else if (node.type === 'one-of') emitChoices(node.choices, draft);
  else if (node.type === 'repeat') emitRepeat(node.item, node.min, node.max, draft);
  else draft.program.push(node);
}

function emitChoices(choices: readonly PatternNode[], draft: Draft): void {
  const { program } = draft;
  const exits: Split[] = [];
  for (const [index, choice] of choices.entries()) {
    const fork: Split = { type: 'split', first: program.length + 1, second: 0 };
    if (index < choices.length - 1) program.push(fork);
    emit(choice, draft);
    const exit: Split = { type: 'split', first: 0, second: 0 };
    program.push(exit);
    exits.push(exit);
    fork.second = program.length;
  }
  for (const exit of exits) {
    exit.first = program.length;
    exit.second = program.length;
  }
}

function emitRepeat(item: PatternNode, min: number, max: number, draft: Draft): void {
  const { program } = draft;
  for (let count = 0; count < min; count++) emit(item, draft);
  if (max === Number.POSITIVE_INFINITY) {
    const loop: Split = { type: 'split', first: program.length + 1, second: 0 };
    const start = program.push(loop) - 1;
    emit(item, draft);
    program.push({ type: 'split', first: start, second: start });
    loop.second = program.length;
    return;
  }
  const exits: Split[] = [];
  for (let count = min; count < max; count++) {
    const fork: Split = { type: 'split', first: program.length + 1, second: 0 };
    program.push(fork);
    exits.push(fork);
    emit(item, draft);
  }
  for (const exit of exits) exit.second = program.length;
}

/** All ways through the program at once, so that no text makes it go back. */
function isFound(
  program: readonly Step[],
  text: readonly string[],
  isMultiline: boolean,
  isFolded: boolean,
): boolean {
  const isWord = (char: string | undefined): boolean =>
    char !== undefined && (isFolded ? /^\w$/iu : /^\w$/).test(char);
  const isBreak = (char: string | undefined): boolean =>
    isMultiline && char !== undefined && /^[\n\r\u2028\u2029]$/.test(char);
  const holds = (edge: string, at: number): boolean => {
    if (edge === 'start') return at === 0 || isBreak(text[at - 1]);
    if (edge === 'end') return at === text.length || isBreak(text[at]);
    return (isWord(text[at - 1]) !== isWord(text[at])) === (edge === 'word');
  };
  const seenAt = new Int32Array(program.length).fill(-1);
  let here: number[] = [];
  for (let at = 0; at <= text.length; at++) {
    const waiting = [...here, 0];
    const ready: number[] = [];
    for (let pc = waiting.pop(); pc !== undefined; pc = waiting.pop()) {
      if (seenAt[pc] === at) continue;
      seenAt[pc] = at;
      const step = program[pc];
      if (step === undefined) continue;
      if (step.type === 'done') return true;
      if (step.type === 'split') waiting.push(step.second, step.first);
      else if (step.type === 'set') ready.push(pc);
      else if (holds(step.at, at)) waiting.push(pc + 1);
    }
    const char = text[at];
    if (char === undefined) return false;
    here = ready.flatMap((pc) => {
      const step = program[pc];
      return step?.type === 'set' && step.has(char) ? [pc + 1] : [];
    });
  }
  return false;
}
