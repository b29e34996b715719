import { asArray, type Json } from '../../core/json.ts';
import { clip } from '../../text/truncate.ts';
import { findAnswer } from './find-answer.ts';
import { findNumbers } from './find-numbers.ts';
import { compilePattern, LONGEST_TEXT } from './pattern/compile-pattern.ts';
import { graded, notRun, type Verifier } from './verifier.ts';

export interface ExactOptions {
  /** `answer`: the boxed text or the text after "answer:", else the whole output. */
  readonly from?: 'answer' | 'whole' | undefined;
  readonly isCaseSensitive?: boolean | undefined;
}

/** The answer equals the reference, or one of several, apart from white space and case. */
export function createExactVerifier({ from = 'answer', isCaseSensitive = false }: ExactOptions): Verifier {
  const fold = (text: string): string => {
    const plain = text.normalize('NFC').split(/\s+/).filter(Boolean).join(' ');
    return isCaseSensitive ? plain : plain.toLowerCase();
  };
  return async ({ output, reference }) => {
    const wanted = textsOf(reference);
    if (wanted.length === 0) return notRun('the task has no reference to compare with: add one');
    const answer = fold(from === 'whole' ? output : findAnswer(output).text);
    return wanted.some((one) => fold(one) === answer)
      ? graded(1, 'it equals the reference')
      : graded(0, `it is ${quote(answer)}, not ${quote(wanted[0] ?? '')}`);
  };
}

export interface NumberOptions {
  /** As a share of the reference. */
  readonly tolerance?: number | undefined;
  readonly absoluteTolerance?: number | undefined;
}

/** The number in the answer equals the number in the reference. Units are ignored. */
export function createNumberVerifier({
  tolerance = 1e-6,
  absoluteTolerance = 1e-9,
}: NumberOptions): Verifier {
  return async ({ output, reference }) => {
    const wanted = textsOf(reference).flatMap((text) => findNumbers(text).slice(0, 1));
    if (wanted.length === 0) return notRun('the reference has no number: add one to the task');
    const { text, isMarked } = findAnswer(output);
    const numbers = findNumbers(text.slice(-LONGEST_TEXT));
    // After a mark the answer is the first number; in free text it is the last.
    const found = isMarked ? numbers[0] : numbers.at(-1);
    if (found === undefined) return graded(0, 'there is no number in the answer');
    const isNear = wanted.some(
      (one) => Math.abs(found - one) <= Math.max(absoluteTolerance, tolerance * Math.abs(one)),
    );
    return isNear ? graded(1, `it is ${found}`) : graded(0, `it is ${found}, not ${wanted[0]}`);
  };
}

export interface RegexOptions {
  readonly pattern: string;
  readonly flags?: string | undefined;
  /** `contains`: it matches anywhere. */
  readonly match?: 'contains' | 'whole' | undefined;
}

/** The output matches a pattern. Throws a PatternError for one that cannot be matched in linear time. */
export function createRegexVerifier({ pattern, flags = '', match = 'contains' }: RegexOptions): Verifier {
  const contains = compilePattern(pattern, flags);
  const compiled = match === 'whole' ? compilePattern(`^(?:${pattern})$`, flags) : contains;
  return async ({ output }) => {
    const text = output.trim();
    if (text.length > LONGEST_TEXT)
      return notRun(
        `the output has ${text.length} characters; patterns are matched on at most ${LONGEST_TEXT}`,
      );
    return compiled.test(text)
      ? graded(1, 'the pattern matches')
      : graded(0, `the pattern ${quote(pattern)} does not match`);
  };
}

function textsOf(reference: Json | undefined): readonly string[] {
  const list = Array.isArray(reference) ? asArray(reference) : [reference];
  return list.flatMap((one) => (typeof one === 'string' || typeof one === 'number' ? [String(one)] : []));
}

const quote = (text: string): string => JSON.stringify(clip(text, 80));
