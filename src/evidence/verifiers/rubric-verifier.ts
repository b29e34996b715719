import { asArray, isObject, type Json } from '../../core/json.ts';
import type { Ask, Question, ReplyRead } from '../../core/learn.ts';
import { notRun, type Submission, type Verifier } from '../../core/verifier.ts';
import { truncateMiddleBytes } from '../../text/truncate.ts';
import { type DataSection, fenceData } from '../judge/fence-data.ts';

export interface Criterion {
  readonly text: string;
  readonly weight?: number | undefined;
}

interface Marks {
  readonly scores: readonly number[];
  readonly reasons: readonly string[];
  readonly steps: readonly number[];
}

const LONGEST_TASK = 6000;
const LONGEST_OUTPUT = 18_000;
const MOST_STEPS = 40;

/** A model grades the output on each criterion; the reward is the weighted mean. */
export function createRubricVerifier(ask: Ask, criteria: readonly Criterion[]): Verifier {
  const weights = criteria.map(({ weight = 1 }) => weight);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return async (submission, signal) => {
    const steps = (submission.steps ?? []).slice(0, MOST_STEPS);
    const answer = await ask(questionOf(submission, criteria, steps), signal);
    if (!answer.ok) return notRun(`the model returned no grade: ${answer.why}`);
    const { scores, reasons, steps: stepScores } = answer.value;
    const reward = scores.reduce((sum, score, index) => sum + score * (weights[index] ?? 0), 0) / total;
    return { status: 'ok', reward, reasons, ...(steps.length === 0 ? {} : { stepScores }) };
  };
}

function questionOf(
  { task, output, reference }: Submission,
  criteria: readonly Criterion[],
  steps: readonly string[],
): Question<Marks> {
  const sections: readonly DataSection[] = [
    { label: 'the task', text: truncateMiddleBytes(task, LONGEST_TASK) },
    {
      label: 'a right answer',
      text: reference === undefined ? '' : truncateMiddleBytes(textOf(reference), LONGEST_TASK),
    },
    { label: 'the attempt', text: truncateMiddleBytes(output, LONGEST_OUTPUT) },
    ...steps.map((step, index) => ({ label: `step ${index + 1}`, text: truncateMiddleBytes(step, 600) })),
  ];
  const { text, rule } = fenceData(sections);
  const list = criteria.map((one, index) => `${index + 1}. ${one.text}`).join('\n');
  const perStep =
    steps.length === 0
      ? ''
      : `, "steps": [${steps.length} numbers from 0 to 1, how much each step helped, in their order]`;
  return {
    name: 'rubric',
    system: `You grade an attempt at a task, point by point, by what it achieves and not by how it sounds. Where a right answer is given, it decides.\n\n${rule}`,
    user: `${text}\n\nThe points:\n${list}\n\nFor each point, in this order, give a score from 0 (not met) to 1 (fully met) and one sentence why. Answer with JSON and nothing else: {"points": [{"score": 0.5, "reason": "…"}]${perStep}}`,
    maxTokens: 400 + 120 * criteria.length + 12 * steps.length,
    temperature: 0,
    read: (value) => readMarks(value, criteria.length, steps.length),
  };
}

function readMarks(value: Json, points: number, steps: number): ReplyRead<Marks> {
  if (!isObject(value)) return { ok: false, why: 'it is not an object with "points"' };
  const given = asArray(value.points).map((point) => (isObject(point) ? point : {}));
  const scores = given.map(({ score }) => score).filter(isScore);
  if (scores.length !== points || given.length !== points)
    return { ok: false, why: `"points" must have ${points} members, each with a "score" from 0 to 1` };
  const stepScores = steps === 0 ? [] : asArray(value.steps).filter(isScore);
  if (stepScores.length !== steps)
    return { ok: false, why: `"steps" must have ${steps} numbers from 0 to 1` };
  const reasons = given.map(({ reason, score }, index) => {
    const said = typeof reason === 'string' ? reason.split(/\s+/).join(' ').slice(0, 300) : '';
    return `${index + 1}: ${Number(score)}${said === '' ? '' : `, ${said}`}`;
  });
  return { ok: true, value: { scores, reasons, steps: stepScores } };
}

export const isScore = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value <= 1;

const textOf = (reference: Json): string =>
  typeof reference === 'string' ? reference : JSON.stringify(reference, undefined, 1);
