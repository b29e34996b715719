import type { Appraisal, TurnEvidence } from '../../core/evidence.ts';
import type { Scope } from '../../core/lesson.ts';
import type { LiveMaterial, ToolTry } from '../../learn/live/live-material.ts';
import { digestError } from '../../signals/digest/digest-error.ts';
import { hasFailed } from '../../signals/has-failed.ts';
import { createCase, replyText } from './failure-case.ts';

export interface AppraisedTurn {
  readonly evidence: TurnEvidence;
  readonly appraisal: Appraisal;
  readonly generation: number;
}

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
    cases: of('failure').map(({ evidence, appraisal, generation }) =>
      createCase(evidence, { at, generation, scope, appraisal }),
    ),
    successes: of('success').map(({ evidence, appraisal: { reward } }) => ({
      turn: evidence.turn,
      task: evidence.task,
      text: replyText(evidence),
      ...(reward === undefined ? {} : { reward }),
    })),
    tries: turns.flatMap(({ evidence }) => triesOf(evidence)),
  };
}

function triesOf({ turn, reply, next }: TurnEvidence): readonly ToolTry[] {
  const outcomes = new Map((next?.tools ?? []).map((outcome) => [outcome.callId, outcome]));
  return reply.flatMap((part) => {
    const outcome = part.type === 'tool-call' ? outcomes.get(part.id) : undefined;
    if (part.type !== 'tool-call' || outcome === undefined) return [];
    const isOk = !hasFailed(part, outcome);
    const [digest] = isOk ? [] : digestError(outcome.text);
    return [
      { turn, tool: part.name, input: part.arguments, isOk, ...(digest === undefined ? {} : { digest }) },
    ];
  });
}
