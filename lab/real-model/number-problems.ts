import { createRandom } from '../../src/base/random.ts';
import { asString, isObject, parseJson } from '../../src/core/json.ts';
import type { PracticeTask } from '../../src/core/practice.ts';
import { findNumbers } from '../../src/evidence/verifiers/answer-verifiers.ts';
import { shuffle } from '../../train/reading/family.ts';

/** A question in words whose answer is a number. */
export interface NumberProblem {
  /** Its line in the file, from 0. */
  readonly index: number;
  readonly question: string;
  readonly answer: number;
}

/** JSON lines with `question` and an `answer` that ends in `#### N`, as GSM8K has them. Throws at a line that is none. */
export function readProblems(text: string): readonly NumberProblem[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line, index) => {
    const row = parseJson(line);
    const question = isObject(row) ? asString(row.question) : undefined;
    const worked = isObject(row) ? asString(row.answer) : undefined;
    const answer = worked?.includes(MARK) === true ? findNumbers(after(worked, MARK)).at(0) : undefined;
    if (question === undefined || answer === undefined)
      throw new Error(`line ${index + 1} is no problem: it needs "question", and "answer" with "#### N"`);
    return { index, question, answer };
  });
}

const MARK = '####';
const BOX = '\\boxed{';
const after = (text: string, mark: string): string => text.slice(text.lastIndexOf(mark) + mark.length);

/** No problem is in both parts. */
export function splitProblems(
  problems: readonly NumberProblem[],
  { practise, measure, seed }: { readonly practise: number; readonly measure: number; readonly seed: number },
): { readonly practised: readonly NumberProblem[]; readonly measured: readonly NumberProblem[] } {
  const order = shuffle(createRandom(`problems/${seed}`), problems);
  return { practised: order.slice(0, practise), measured: order.slice(practise, practise + measure) };
}

/** The number that a reply ends with: behind its last `####` or in its last box, else the last one in it. */
export function lastNumber(reply: string): number | undefined {
  const plain = reply.replaceAll('{,}', ',').replace(/\\[,!]/g, '');
  const marks = [MARK, BOX].filter((mark) => plain.includes(mark));
  const mark = marks.toSorted((a, b) => plain.lastIndexOf(b) - plain.lastIndexOf(a)).at(0);
  const marked = mark === undefined ? undefined : findNumbers(after(plain, mark)).at(0);
  return marked ?? findNumbers(plain).at(-1);
}

export const isRight = (reply: string, answer: number): boolean =>
  Math.abs((lastNumber(reply) ?? Number.NaN) - answer) < 1e-6;

const FORM =
  'Solve the problem step by step. End with a line "#### N", where N is the answer as a number without its unit.';

/** The same words for practice and for every arm. */
export const numberTask = ({ index, question, answer }: NumberProblem): PracticeTask => ({
  id: `problem/${index}`,
  root: `problem/${index}`,
  origin: 'curated',
  // Where a user would say it: a system prompt is a program's, and lessons near to it wait for a person.
  prompt: `${question}\n\n${FORM}`,
  domain: 'arithmetic',
  check: { kind: 'number', expected: answer },
  reference: answer,
});
