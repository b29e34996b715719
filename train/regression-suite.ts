import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { PACKAGE_ROOT } from '../src/base/package.ts';
import type { ChatRequest, Tool } from '../src/core/chat.ts';
import type { GatewayReply } from '../src/core/gateway-client.ts';
import {
  asArray,
  asNumber,
  asObject,
  asString,
  type Json,
  type JsonObject,
  parseJson,
} from '../src/core/json.ts';
import type { TrainingTask } from '../src/core/task-source.ts';
import { TrainingError } from '../src/core/training.ts';
import { FEWEST_QUESTIONS } from './trial-evidence.ts';

/** How a reply is checked, without a model. */
export type QuestionCheck =
  /** The whole reply, or its last line; letter case, quotes and a full stop do not matter. */
  | { readonly kind: 'exact'; readonly answer: string }
  /** The last number of the reply. */
  | { readonly kind: 'number'; readonly answer: number; readonly tolerance: number }
  | { readonly kind: 'regex'; readonly pattern: string }
  /** The letters of the options, in any order: in `\boxed{A,C}` or `\bbox{A,C}`, after "answer", or alone. */
  | { readonly kind: 'choice'; readonly letters: string }
  /** A call of a tool with these arguments, among others. */
  | { readonly kind: 'tool'; readonly name: string; readonly arguments: JsonObject };

/** A question that has nothing to do with the user's work: new weights must not forget how to answer it. */
interface RegressionQuestion {
  readonly id: string;
  readonly prompt: string;
  readonly system?: string;
  readonly tools: readonly Tool[];
  readonly check: QuestionCheck;
}

/** General questions that new weights must answer no worse; an engine may have its own, in its own language. */
export const SHIPPED_QUESTIONS = fileURLToPath(new URL('models/regression/questions.jsonl', PACKAGE_ROOT));

/** One question for each line of JSON. Rejects with a TrainingError that names the file and the line. */
export async function readRegressionSuite(file: string): Promise<readonly RegressionQuestion[]> {
  const failed = (why: string): TrainingError =>
    new TrainingError('user', `The regression suite ${file} cannot be used: ${why}.`);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw failed(
      (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : String(error),
    );
  }
  const questions = text.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return [];
    return [decodeQuestion(parseJson(line), (why) => failed(`line ${at + 1}: ${why}`))];
  });
  if (new Set(questions.map(({ id }) => id)).size < questions.length)
    throw failed('two questions have the same id');
  if (questions.length < FEWEST_QUESTIONS)
    throw failed(`it has ${questions.length} questions, and fewer than ${FEWEST_QUESTIONS} show nothing`);
  return questions;
}

/** Throws what `fault` makes of what is wrong with it. */
function decodeQuestion(line: Json | undefined, fault: (why: string) => Error): RegressionQuestion {
  const { id, prompt, system, tools, check } = asObject(line);
  const [name, asked, before] = [asString(id), asString(prompt), asString(system)];
  if (name === undefined || asked === undefined) throw fault('id and prompt must be texts');
  return {
    id: name,
    prompt: asked,
    ...(before === undefined ? {} : { system: before }),
    tools: asArray(tools).flatMap(decodeTool),
    check: decodeCheck(asObject(check), fault),
  };
}

const decodeTool = (value: Json): readonly Tool[] => {
  const { name, description, parameters } = asObject(value);
  const [called, said] = [asString(name), asString(description)];
  if (called === undefined) return [];
  return [
    { name: called, ...(said === undefined ? {} : { description: said }), parameters: asObject(parameters) },
  ];
};

function decodeCheck(check: JsonObject, fault: (why: string) => Error): QuestionCheck {
  const { kind, answer, tolerance, pattern, letters, name, arguments: given } = check;
  if (kind === 'exact' && typeof answer === 'string') return { kind, answer };
  if (kind === 'number' && typeof answer === 'number')
    return { kind, answer, tolerance: asNumber(tolerance) ?? 0 };
  if (kind === 'regex' && typeof pattern === 'string') {
    if (!isPattern(pattern)) throw fault('check.pattern is no regular expression');
    return { kind, pattern };
  }
  if (kind === 'choice' && typeof letters === 'string' && /^[A-Z]+$/.test(letters)) return { kind, letters };
  if (kind === 'tool' && typeof name === 'string') return { kind, name, arguments: asObject(given) };
  throw fault('check must be exact, number, regex, choice or tool, with what it needs');
}

function isPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'i') !== undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** 1 if the reply passes the check, else 0. */
export function gradeReply(
  check: QuestionCheck,
  { text, calls }: Pick<GatewayReply, 'text' | 'calls'>,
): 0 | 1 {
  switch (check.kind) {
    case 'exact': {
      const lines = [text, text.trim().split('\n').at(-1) ?? ''];
      return isRight(lines.some((line) => plain(line) === plain(check.answer)));
    }
    case 'number': {
      const last = text
        .replaceAll(/(\d),(?=\d{3}\b)/g, '$1')
        .match(/-?\d+(\.\d+)?/g)
        ?.at(-1);
      return isRight(last !== undefined && Math.abs(Number(last) - check.answer) <= check.tolerance + 1e-9);
    }
    case 'regex':
      return isRight(new RegExp(check.pattern, 'i').test(text));
    case 'choice':
      return isRight(chosenLetters(text) === [...check.letters].sort().join(''));
    case 'tool':
      return isRight(
        calls.some((call) => {
          if (call.name !== check.name) return false;
          const given = asObject(parseJson(call.arguments));
          return Object.entries(check.arguments).every(([key, value]) => isSame(given[key], value));
        }),
      );
  }
}

const isRight = (passed: boolean): 0 | 1 => (passed ? 1 : 0);
const plain = (text: string): string =>
  text
    .trim()
    .replaceAll(/^["'`*]+|["'`*.!]+$/g, '')
    .trim()
    .toLowerCase();
const isSame = (given: Json | undefined, wanted: Json | undefined): boolean =>
  typeof given === 'string' && typeof wanted === 'string'
    ? plain(given) === plain(wanted)
    : isDeepStrictEqual(given, wanted);

const BOXED = /\\b(?:box|oxed)\{([^}]*)\}/g;
const SAID = /answer(?:s)?(?: is| are)?:?\s*\(?([A-Z](?:(?:\s*,\s*|\s+and\s+)[A-Z])*)\b/gi;

/** Sorted; empty when no letters are marked as the answer. */
function chosenLetters(text: string): string {
  const found = [...text.matchAll(BOXED)].at(-1)?.[1] ?? [...text.matchAll(SAID)].at(-1)?.[1] ?? text;
  const letters = found.replaceAll(/\band\b/g, ' ').match(/[A-Za-z]+/g) ?? [];
  if (!letters.every((one) => one.length === 1)) return '';
  return [...new Set(letters.map((one) => one.toUpperCase()))].sort().join('');
}

/** Greedy: the answers of two versions differ by their weights alone. */
const requestOf = ({ prompt, system, tools }: RegressionQuestion): ChatRequest => ({
  model: 'policy',
  system: system === undefined ? [] : [{ type: 'text', text: system }],
  messages: [{ role: 'user', content: [{ type: 'text', text: prompt }] }],
  tools,
  temperature: 0,
  stream: false,
});

/** The questions as tasks of one reply each, without lessons. */
export const createRegressionTasks = (questions: readonly RegressionQuestion[]): readonly TrainingTask[] =>
  questions.map((question) => ({
    id: `regression/${question.id}`,
    recall: { task: question.prompt },
    open: async () => ({
      run: async ({ speak, session }, signal) => {
        const speaker = { session, agent: 'regression', runKind: 'train' };
        const reply = await speak(requestOf(question), speaker, signal);
        if (reply.failure !== undefined) return { ok: false, why: reply.failure.message };
        if (signal.aborted) return { ok: false, why: 'the attempt was stopped' };
        return { ok: true, reward: gradeReply(question.check, reply) };
      },
      close: async () => undefined,
    }),
  }));
