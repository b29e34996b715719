import type { Appraisal, RewardSource } from '../../core/evidence.ts';
import type { EvidenceCase, Origin, Passage, RunCommand } from '../../core/learn.ts';
import type { Scope } from '../../core/lesson.ts';
import type { Attempt, AttemptGroup, GradedBy, PracticeTask } from '../../core/practice.ts';
import { answersOf, hideAnswers } from './find-leak.ts';

const SHELLS = /^(?:bash|shell|sh|run|exec|run_command|execute|terminal|local_shell)$/i;
const MOST_DIGESTS = 12;

/**
 * The attempts of a group as evidence for the gate: each text with its author. The prompt is the user's, unless a model wrote the
 * task; what tools gave is outside text; the agent's own words are the agent's; a verifier's reasons are the verifier's, unless a
 * program's output or a model's opinion is what it says.
 */
export const casesOf = (group: AttemptGroup, at: number): readonly EvidenceCase[] =>
  group.attempts.flatMap((attempt) => caseOf(attempt, group, at));

function caseOf(attempt: Attempt, { task, gradedBy }: AttemptGroup, at: number): readonly EvidenceCase[] {
  const { outcome } = attempt;
  if (outcome.is !== 'graded') return [];
  const { passages, commands } = readWork(attempt, task, reasonOrigin(task, gradedBy));
  const source = sourceOf(task, gradedBy);
  return [
    {
      turn: attempt.id,
      // All attempts at a task and its variations speak with one voice.
      session: `practice/${task.root}`,
      at,
      scope: scopeOfTask(task),
      task: task.prompt,
      passages,
      material: { passages, commands, missing: [] },
      appraisal: appraise(attempt, outcome.reward, source),
      source,
      trajectory: attempt.steps,
      ...(task.from === undefined || attempt.from !== undefined ? {} : { from: task.from.turn }),
    },
  ];
}

/** Where what is learned from a task applies. */
export const scopeOfTask = ({ agent, project, domain }: PracticeTask): Scope => ({
  ...(agent === undefined ? {} : { agent }),
  ...(project === undefined ? {} : { project }),
  domain,
});

/** A check that was concluded from the record, and attempts that a model compared, are less than a verifier. */
function sourceOf({ isApproximate }: PracticeTask, gradedBy: GradedBy): RewardSource {
  if (gradedBy === 'person') return 'person';
  if (gradedBy === 'compared') return 'judge';
  if (gradedBy === 'recorded') return 'signal';
  return isApproximate === true ? 'judge' : 'verifier';
}

function reasonOrigin({ check }: PracticeTask, gradedBy: GradedBy): Origin {
  if (gradedBy === 'person') return 'person';
  if (gradedBy !== 'verifier' || check?.kind === 'rubric') return 'assistant';
  return check?.kind === 'command' ? 'tool' : 'verifier';
}

function readWork(
  { steps, output, outcome }: Attempt,
  task: PracticeTask,
  reasonsBy: Origin,
): { readonly passages: readonly Passage[]; readonly commands: readonly RunCommand[] } {
  const isWrittenByModel = task.origin === 'gap' || task.origin === 'variation';
  const asker: Origin = isWrittenByModel ? 'assistant' : 'user';
  const passages: Passage[] = [
    ...(task.history ?? []).map(
      ({ role, text }): Passage => ({ origin: role === 'user' ? asker : role, text }),
    ),
    { origin: asker, text: task.prompt },
    ...(task.followUps ?? []).map((text): Passage => ({ origin: asker, text })),
  ];
  const commands: RunCommand[] = [];
  if (task.system !== undefined) passages.push({ origin: 'client', text: task.system });
  for (const step of steps) {
    if (step.kind === 'message')
      passages.push({ origin: step.origin === 'user' ? asker : step.origin, text: step.text });
    else {
      passages.push({ origin: 'assistant', text: step.arguments });
      if (SHELLS.test(step.tool))
        commands.push({ text: step.arguments, isOk: step.isOk === true, after: passages.length });
      if (step.result !== undefined && step.result !== '')
        passages.push({ origin: step.origin === 'web' ? 'web' : 'tool', text: step.result });
    }
  }
  if (output.trim() !== '') passages.push({ origin: 'assistant', text: output });
  if (outcome.is === 'graded') {
    const answers = answersOf(task);
    for (const reason of outcome.reasons)
      if (reason.trim() !== '') passages.push({ origin: reasonsBy, text: hideAnswers(reason, answers) });
  }
  return { passages, commands };
}

function appraise({ id, steps }: Attempt, reward: number, source: RewardSource): Appraisal {
  const isFailure = reward < 0.5;
  const digests = steps.flatMap((step) => (step.kind === 'call' ? step.digests : []));
  return {
    turn: id,
    verdict: isFailure ? 'failure' : 'success',
    reward,
    source,
    signals: [
      {
        name: isFailure ? 'attempt-failed' : 'attempt-succeeded',
        source,
        score: reward,
        weight: 1,
        reason: `reward ${reward.toFixed(2)}`,
      },
    ],
    digests: [...new Set(digests)].slice(0, MOST_DIGESTS),
  };
}
