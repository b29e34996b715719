import { isObject, type Json } from '../../core/json.ts';
import type { Ask, Question, ReplyRead, TrajectoryStep } from '../../core/learn.ts';
import type { Attempt, AttemptGroup, PracticeTask } from '../../core/practice.ts';
import type { Submission, Verification } from '../../core/verifier.ts';
import { fenceData } from '../../evidence/judge/fence-data.ts';
import { createComparativeVerifier } from '../../evidence/verifiers/comparative-verifier.ts';
import { truncateMiddle } from '../../text/truncate.ts';
import { oneLine, visibleText } from '../../text/visible-text.ts';
import { cutAtSentence, fieldOf, markdownOf } from '../reply-fields.ts';
import { sessionsOf, type TaskAttempts } from './attempt-batch.ts';
import { answersOf, hideAnswers } from './find-leak.ts';
import { RunStop } from './practice-input.ts';
import type { PracticeUnits } from './practice-units.ts';

const MOST_COMPARED = 8;

/**
 * The attempts at a task as a group. What a verifier or the rules of a person graded is taken as it is, where that is at least two; else a
 * model compares the attempts with each other, each pair in both orders. Attempts that failed for reasons of our own are not in the group.
 */
export async function gradeGroup(
  id: string,
  { task, generation, attempts }: TaskAttempts,
  units: PracticeUnits,
  signal: AbortSignal,
): Promise<{ readonly group: AttemptGroup; readonly spent?: string }> {
  const graded = attempts.filter(({ outcome }) => outcome.is === 'graded');
  const compared = attempts.filter(({ outcome }) => outcome.is !== 'infrastructure').slice(0, MOST_COMPARED);
  const ask = units.askAbout(sessionsOf(task));
  const group = { id, task, generation };
  const isGraded = graded.length >= 2 || graded.length === compared.length;
  if (isGraded || compared.length < 2 || ask === undefined)
    return { group: { ...group, gradedBy: 'verifier', attempts: graded } };
  const submissions = compared.map(
    (attempt): Submission => ({ task: task.prompt, domain: task.domain, output: tellAttempt(attempt, task) }),
  );
  let spent: string | undefined;
  const judging: Ask = async (question, stop) => {
    const answer = await ask(question, stop);
    if (answer.ok || answer.cause === 'reply') return answer;
    if (stop.aborted) throw new RunStop('aborted');
    if (answer.cause !== 'budget') throw new RunStop('stuck', answer.why);
    spent ??= answer.why;
    return answer;
  };
  const grades = await createComparativeVerifier(judging)(submissions, signal);
  // A comparison of some pairs only is no grade.
  const attemptsGraded =
    spent === undefined ? compared.flatMap((attempt, at) => withGrade(attempt, grades[at])) : [];
  return {
    group: { ...group, gradedBy: 'compared', attempts: attemptsGraded },
    ...(spent === undefined ? {} : { spent }),
  };
}

function withGrade(attempt: Attempt, grade: Verification | undefined): readonly Attempt[] {
  if (grade?.status !== 'ok') return [];
  const { reward, reasons } = grade;
  return [{ ...attempt, outcome: { is: 'graded', reward, reasons } }];
}

const LONGEST_TASK = 4000;
const LONGEST_STEP = 700;
const MOST_STEPS = 60;
const LONGEST_OUTPUT = 4000;
const LONGEST_REASON = 600;
const MOST_REASONS = 8;
/** An attempt that is told in fewer characters is its own summary: no model is asked. */
const SHORT = 1600;
const LONGEST_SUMMARY = 2400;
const MAX_TOKENS = 900;

/** What happened in an attempt, step by step, with the verifier's words and scores. The right answer is not in it. */
function tellAttempt(attempt: Attempt, task: PracticeTask): string {
  const { steps, output, outcome } = attempt;
  const scores = outcome.is === 'graded' ? (outcome.stepScores ?? []) : [];
  const left = Math.max(0, steps.length - MOST_STEPS);
  const lines = steps
    .slice(0, MOST_STEPS)
    .map((step, at) => `${at + 1}. ${tellStep(step)}${tellScore(scores[at])}`);
  return [
    ...lines,
    ...(left === 0 ? [] : [`(${left} more steps)`]),
    `Its answer: ${truncateMiddle(visibleText(output), LONGEST_OUTPUT) || '(empty)'}`,
    ...tellReasons(attempt, task),
  ].join('\n');
}

/** Why it was graded as it was. */
function tellReasons({ outcome }: Attempt, task: PracticeTask): readonly string[] {
  if (outcome.is !== 'graded' || outcome.reasons.length === 0) return [];
  const answers = answersOf(task);
  const reasons = outcome.reasons
    .slice(0, MOST_REASONS)
    .map((reason) => truncateMiddle(oneLine(hideAnswers(reason, answers)), LONGEST_REASON));
  return [`The verifier: ${reasons.join('; ')}`];
}

const tellScore = (score: number | undefined): string =>
  score === undefined ? '' : ` [step score ${score.toFixed(2)}]`;

function tellStep(step: TrajectoryStep): string {
  if (step.kind === 'message')
    return `[${step.origin}] ${truncateMiddle(visibleText(step.text), LONGEST_STEP)}`;
  const { tool, arguments: given, result, isOk, origin } = step;
  const end = isOk === undefined ? '' : isOk ? ' (worked)' : ' (failed)';
  const got =
    result === undefined ? '' : ` → [${origin}] ${truncateMiddle(visibleText(result), LONGEST_STEP)}`;
  return `calls ${tool}(${truncateMiddle(oneLine(given), LONGEST_STEP)})${end}${got}`;
}

/**
 * An attempt in few sentences: what was done, with which tools, what came of it, and what was missed. Undefined when the model's
 * reply was no use. A short attempt is told as it is.
 */
export async function summariseAttempt(
  attempt: Attempt,
  task: PracticeTask,
  ask: Ask,
  signal: AbortSignal,
): Promise<Awaited<ReturnType<Ask>> | { readonly ok: true; readonly value: string }> {
  const text = tellAttempt(attempt, task);
  if (text.length <= SHORT) return { ok: true, value: text };
  return ask(questionOf(text, task), signal);
}

function questionOf(attempt: string, task: PracticeTask): Question<string> {
  const { text, rule } = fenceData([
    { label: 'the task', text: truncateMiddle(visibleText(task.prompt), LONGEST_TASK) },
    { label: 'the attempt', text: attempt },
  ]);
  return {
    name: 'summarise',
    system: `You read how an assistant attempted a task and retell it for somebody who compares several attempts: the steps in order, each with the tool or the reasoning used and what came of it; where it went wrong or what it overlooked; the approach as a whole. Keep names, options, formats and figures letter by letter. Judge nothing that cannot be seen.\n\n${rule}`,
    user: `${text}\n\nAnswer with JSON and nothing else: {"summary": "at most 1,500 characters"}`,
    maxTokens: MAX_TOKENS,
    read: readSummary,
  };
}

function readSummary(value: Json): ReplyRead<string> {
  const field = isObject(value) ? fieldOf(value, ['summary', 'text', 'steps', 'content']) : value;
  const summary = cutAtSentence(markdownOf(field ?? undefined), LONGEST_SUMMARY);
  return summary.length < 20
    ? { ok: false, why: '"summary" must be text of at least 20 characters' }
    : { ok: true, value: summary };
}
