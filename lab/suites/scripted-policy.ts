import { setImmediate } from 'node:timers/promises';
import { createRandom, type Random } from '../../src/base/random.ts';
import type { ChatEvent, ChatMessage, ChatModel, ChatRequest } from '../../src/core/chat.ts';
import type { ChoiceQuestion, FileQuestion, Suite, SuiteQuestion, SuiteRule } from './suite.ts';

/** The probabilities of a scripted policy. */
export interface Habits {
  /** To follow a rule that a lesson in the prompt teaches. */
  readonly obey: number;
  /** To follow a rule that nothing in the prompt teaches. */
  readonly unaided: number;
  /** To read the documents correctly. */
  readonly read: number;
}

export const ORACLE: Habits = { obey: 1, unaided: 1, read: 1 };

interface ScriptedPolicyOptions {
  readonly suite: Suite;
  readonly habits: Habits;
  readonly seed: string;
}

const HEADING = /^## Active Skills\b/m;

/**
 * A policy whose success is a known function of the lessons in its prompt: the ground truth for whether lessons reach the
 * prompt. It can do every task but does not know the house rules. Its random draws depend only on the seed and the question,
 * so that two conditions differ only by their lessons.
 */
export function createScriptedPolicy({ suite, habits, seed }: ScriptedPolicyOptions): ChatModel {
  const find = createFinder(suite);
  return async function* (request, { signal }): AsyncGenerator<ChatEvent, undefined> {
    await setImmediate();
    if (signal.aborted) return;
    const question = find(lastAsked(request.messages));
    const random = createRandom(`${seed} ${question?.id ?? ''}`);
    const lessons = lessonsIn(request);
    yield { type: 'reply-start', id: `scripted-${question?.id ?? 'none'}`, model: request.model };
    // Its command has run: it does nothing twice.
    const isDone = request.messages.at(-1)?.role === 'tool';
    if (isDone) yield { type: 'text-delta', text: 'That is done.' };
    else if (question === undefined) yield { type: 'text-delta', text: 'I do not know this task.' };
    else if (question.kind === 'choice')
      yield { type: 'text-delta', text: choose(question, suite.rules, lessons, habits, random) };
    else yield* act(question, suite.rules, lessons, habits, random);
    const stop = question?.kind === 'files' && question.reply === undefined && !isDone ? 'tool-calls' : 'end';
    yield { type: 'reply-end', stop, usage: { inputTokens: lengthOf(request), outputTokens: 60 } };
  };
}

/** A policy that does nothing: the score without any work. */
export const createNullPolicy = (): ChatModel =>
  async function* (request): AsyncGenerator<ChatEvent, undefined> {
    yield { type: 'reply-start', id: 'null', model: request.model };
    yield { type: 'text-delta', text: 'I have nothing to say.' };
    yield { type: 'reply-end', stop: 'end', usage: { inputTokens: 0, outputTokens: 6 } };
  };

/** The probability of a right answer given the taught rules: the prediction that a run is compared with. */
export function predictedChance(
  rules: readonly string[],
  taught: ReadonlySet<string>,
  kind: SuiteQuestion['kind'],
  { obey, unaided, read }: Habits,
): number {
  if (kind === 'choice' && rules.length === 0) return read;
  return rules.reduce((chance, rule) => chance * (taught.has(rule) ? obey : unaided), 1);
}

function follows(rule: string, rules: readonly SuiteRule[], lessons: string, habits: Habits, random: Random) {
  const isTaught = rules.some((one) => one.id === rule && one.isTaughtBy(lessons));
  return random.next() < (isTaught ? habits.obey : habits.unaided);
}

function choose(
  { answer, options, rule }: ChoiceQuestion,
  rules: readonly SuiteRule[],
  lessons: string,
  habits: Habits,
  random: Random,
): string {
  const isRight =
    rule === undefined ? random.next() < habits.read : follows(rule, rules, lessons, habits, random);
  const letters = Object.keys(options);
  const wrong = letters[random.below(letters.length)] ?? 'A';
  // One option is inverted.
  const chosen = isRight
    ? answer
    : letters.filter((letter) => answer.includes(letter) !== (letter === wrong));
  return `\\bbox{${chosen.join(',')}}`;
}

function* act(
  question: FileQuestion,
  rules: readonly SuiteRule[],
  lessons: string,
  habits: Habits,
  random: Random,
): Generator<ChatEvent, undefined> {
  const obeyed = new Set(question.rules.filter((rule) => follows(rule, rules, lessons, habits, random)));
  if (question.reply !== undefined) {
    yield { type: 'text-delta', text: question.reply(obeyed) };
    return;
  }
  const commands = question.solve?.(obeyed) ?? ['done'];
  const call = { type: 'tool-start', id: `call-${question.id}`, name: 'run_command' } as const;
  yield call;
  yield { type: 'tool-delta', id: call.id, json: JSON.stringify({ command: commands.join('\n') }) };
}

/** Finds a question by the end of the message; texts are unique in a suite. */
function createFinder({ days }: Suite): (message: string) => SuiteQuestion | undefined {
  const ENDING = 60;
  const byEnd = new Map<string, SuiteQuestion[]>();
  for (const question of days.flatMap(({ questions }) => questions)) {
    const end = question.text.slice(-ENDING);
    byEnd.set(end, [...(byEnd.get(end) ?? []), question]);
  }
  return (message) =>
    byEnd.get(message.slice(-ENDING))?.find(({ text }) => message.endsWith(text)) ??
    days.flatMap(({ questions }) => questions).find(({ text }) => message.includes(text));
}

/** Without a block of lessons behind it, which may quote other tasks. */
function lastAsked(messages: readonly ChatMessage[]): string {
  const last = messages.findLast(({ role }) => role === 'user');
  const text = last === undefined ? '' : textOf(last);
  const block = text.search(HEADING);
  return (block < 0 ? text : text.slice(0, block)).trimEnd();
}

const textOf = ({ content }: ChatMessage): string =>
  (content as readonly { readonly type: string; readonly text?: string }[])
    .map(({ text = '' }) => text)
    .join('\n');

/** The block of lessons, wherever the gateway put it. What users said does not count, even if it teaches a rule. */
function lessonsIn({ system, messages }: ChatRequest): string {
  const texts = [system.map(({ text }) => text).join('\n'), ...messages.map(textOf)];
  return texts.flatMap((text) => text.slice(text.search(HEADING) >>> 0)).join('\n');
}

const lengthOf = ({ system, messages }: ChatRequest): number => {
  const texts = [...system.map(({ text }) => text), ...messages.map(textOf)];
  return Math.ceil(texts.reduce((sum, text) => sum + text.length, 0) / 4);
};
