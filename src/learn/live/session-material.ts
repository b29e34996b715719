import type { Appraisal, TurnEvidence } from '../../core/evidence.ts';
import type { Scope } from '../../core/lesson.ts';
import { digestError } from '../../evidence/digest/digest-error.ts';
import type { AppraisedTurn } from '../../evidence/evidence-reader.ts';
import { createFailureCase, replyText } from '../../evidence/failure-case.ts';
import { hasToolFailed } from '../../evidence/tools/tool-outcome.ts';
import type { LiveMaterial, ToolAttempt } from './live-material.ts';

/** An ended session as its failures, its successes and its tool calls. */
export function createLiveMaterial(
  session: string,
  scope: Scope,
  turns: readonly AppraisedTurn[],
  at: number,
): LiveMaterial {
  const of = (verdict: Appraisal['verdict']): readonly AppraisedTurn[] =>
    turns.filter(({ appraisal }) => appraisal.verdict === verdict);
  return {
    session,
    scope,
    cases: of('failure').map((turn) =>
      createFailureCase(turn.evidence, {
        ...turn,
        at,
        generation: Math.max(0, turn.generation),
        scope,
      }),
    ),
    successes: of('success').map(({ evidence, material, appraisal: { reward } }) => ({
      turn: evidence.turn,
      task: evidence.task,
      text: replyText(evidence),
      ...(material === undefined ? {} : { material }),
      ...(reward === undefined ? {} : { reward }),
    })),
    tries: turns.flatMap(({ evidence }) => triesOf(evidence)),
  };
}

function triesOf({ turn, reply, next }: TurnEvidence): readonly ToolAttempt[] {
  const outcomes = new Map((next?.tools ?? []).map((outcome) => [outcome.callId, outcome]));
  return reply.flatMap((part) => {
    const outcome = part.type === 'tool-call' ? outcomes.get(part.id) : undefined;
    if (part.type !== 'tool-call' || outcome === undefined) return [];
    const isOk = !hasToolFailed(part, outcome);
    const [digest] = isOk ? [] : digestError(outcome.text);
    return [
      { turn, tool: part.name, input: part.arguments, isOk, ...(digest === undefined ? {} : { digest }) },
    ];
  });
}
