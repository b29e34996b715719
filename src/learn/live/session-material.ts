import type { Appraisal, Signal, TurnEvidence } from '../../core/evidence.ts';
import { compact } from '../../core/json.ts';
import type { Scope } from '../../core/lesson.ts';
import { digestError } from '../../evidence/digest/digest-error.ts';
import type { AppraisedTurn } from '../../evidence/evidence-reader.ts';
import { createFailureCase, replyText } from '../../evidence/failure-case.ts';
import { findOutage, tellingAttempts } from '../../evidence/tools/outages.ts';
import { isQuestion, isReading } from '../../evidence/tools/shell-command.ts';
import type { CallView } from '../../evidence/tools/tool-call.ts';
import type { CallOutcome } from '../../evidence/tools/tool-outcome.ts';
import { readReportedTrajectory } from '../../evidence/trajectory.ts';
import { readTurn, type ToolCallReading } from '../../evidence/turn-reading.ts';
import { separateTypedText } from '../../text/typed-text.ts';
import { ATTEMPT_WORKED, RESULT_PROVEN } from '../draft-lesson.ts';
import type { LiveMaterial, SuccessfulTurn, ToolAttempt } from './live-material.ts';
import { isReadOnlyCall, readToolInput } from './tool-input.ts';

/** An ended session as its failures, its successes and its tool calls. */
export function createLiveMaterial(
  session: string,
  scope: Scope,
  turns: readonly AppraisedTurn[],
  at: number,
): LiveMaterial {
  const [episode] = turns.filter(({ evidence: { outcome } }) => outcome !== undefined);
  if (episode !== undefined) return createEpisodeMaterial(session, scope, episode, at);
  const tries = readAttempts(turns);
  const proofs = new Map(tries.flatMap(({ turn, proof }) => (proof === undefined ? [] : [[turn, proof]])));
  return {
    session,
    scope,
    cases: turns
      .filter(({ appraisal }) => appraisal.verdict === 'failure')
      .map((turn) =>
        createFailureCase(turn.evidence, { ...turn, at, generation: Math.max(0, turn.generation), scope }),
      ),
    successes: turns
      .filter(({ appraisal }) => isSuccess(appraisal, proofs))
      .map((turn) => successOf(turn, proofs.get(turn.evidence.turn))),
    tries,
  };
}

/** An episode: its attempts that failed against those that worked, or against the note on how it was done in the end. */
function createEpisodeMaterial(
  session: string,
  scope: Scope,
  { evidence, material }: AppraisedTurn,
  at: number,
): LiveMaterial {
  const { turn, task, attempts, outcome } = evidence;
  const telling = tellingAttempts(attempts);
  const failed = telling.filter(({ ok }) => !ok);
  const worked = telling.filter(({ ok }) => ok).map(({ action }) => action);
  const ending = outcome === 'success' ? endingOf(evidence) : '';
  const signal = (name: string, score: number, reason: string): readonly Signal[] => [
    { name, source: 'signal', score, weight: 1, reason },
  ];
  const appraisal: Appraisal = {
    turn,
    verdict: 'failure',
    source: 'signal',
    reward: 0,
    signals: signal('attempt-failed', 0, `${failed.length} of ${telling.length} attempts failed`),
    digests: [...new Set(failed.flatMap(({ result }) => digestError(result)))],
  };
  const trajectory = readReportedTrajectory(evidence);
  const lost = { at, generation: 0, scope, appraisal, ...compact({ material }) };
  const success: SuccessfulTurn = {
    turn,
    task,
    text: [...worked, ending].filter((text) => text !== '').join('\n'),
    reward: 1,
    signals: worked.length === 0 ? [] : signal(ATTEMPT_WORKED, 1, 'an attempt was reported to have worked'),
    ...compact({ material }),
  };
  return {
    session,
    scope,
    isReported: true,
    cases:
      failed.length === 0
        ? []
        : [{ ...createFailureCase({ ...evidence, attempts: failed }, lost), trajectory }],
    successes: success.text === '' ? [] : [success],
    tries: attempts.map(({ action, result, ok }): ToolAttempt => {
      const isOutage = !ok && findOutage(result) !== undefined;
      const [digest] = ok ? [] : digestError(result);
      const said = compact({ digest, isOutage: isOutage ? (true as const) : undefined });
      return { turn, tool: 'attempt', input: action, isOk: ok, matter: 0, task, ...said };
    }),
  };
}

/** The agent's own words on how it was done: its answer, else the note on the outcome. */
function endingOf(evidence: TurnEvidence): string {
  const note = evidence.given.findLast(({ source }) => source === 'agent')?.note;
  return replyText(evidence) || (note ?? '');
}

/** A proven call counts also where nobody said how the turn went. */
const isSuccess = ({ turn, verdict }: Appraisal, proofs: ReadonlyMap<string, string>): boolean =>
  verdict === 'success' || (verdict === 'ambiguous' && proofs.has(turn));

function successOf({ evidence, material, appraisal }: AppraisedTurn, proof?: string): SuccessfulTurn {
  const { reward, signals } = appraisal;
  const proven: readonly Signal[] =
    proof === undefined
      ? []
      : [{ name: RESULT_PROVEN, source: 'signal', score: 0.9, weight: 1, reason: proof }];
  return {
    turn: evidence.turn,
    task: evidence.task,
    text: replyText(evidence),
    signals: [...signals.filter(({ score }) => score >= 0.5), ...proven],
    ...(material === undefined ? {} : { material }),
    ...(reward === undefined ? {} : { reward }),
  };
}

/**
 * The calls of a session with their outcomes, in order. A message of the user begins a new matter, unless it takes up an answer
 * that went wrong.
 */
function readAttempts(turns: readonly AppraisedTurn[]): readonly ToolAttempt[] {
  let matter = 0;
  let before: AppraisedTurn | undefined;
  return turns.flatMap((turn) => {
    if (before !== undefined && before.evidence.task !== turn.evidence.task && !isOpen(before)) matter++;
    before = turn;
    const { calls } = readTurn(turn.evidence);
    return calls.flatMap((call) => attemptOf(turn, call, matter));
  });
}

/** What was said next is still about the same work. */
const isOpen = ({ appraisal: { verdict, correction } }: AppraisedTurn): boolean =>
  correction !== undefined || verdict === 'failure';

function attemptOf(
  { evidence: { turn, task } }: AppraisedTurn,
  { part, view, outcome }: ToolCallReading,
  matter: number,
): readonly ToolAttempt[] {
  if (outcome === undefined || outcome.kind === 'rejected') return [];
  const isOk = outcome.kind !== 'fault' && outcome.kind !== 'red' && outcome.kind !== 'outage';
  const [digest] = isOk ? [] : digestError(outcome.text);
  const proof = proofOf(view, outcome);
  const [path] = view.paths;
  const { typed } = separateTypedText(task);
  return [
    {
      turn,
      tool: part.name,
      input: part.arguments,
      isOk,
      matter,
      task: typed === '' ? task : typed,
      ...(digest === undefined ? {} : { digest }),
      ...(outcome.kind === 'outage' ? { isOutage: true } : {}),
      ...(isLook(view, part.arguments) ? { isLook: true } : {}),
      ...(proof === undefined ? {} : { proof }),
      ...(path === undefined ? {} : { path }),
    },
  ];
}

/** It only looks something up. */
export function isLook(view: CallView, input: string): boolean {
  if (view.kind === 'read' || view.kind === 'search') return true;
  if (view.kind === 'edit') return false;
  if (view.kind === 'shell' && view.programs.length > 0)
    return view.programs.every((program) => isReading(program) || isQuestion(program));
  return isReadOnlyCall(view.name, readToolInput(input));
}

/** A tool that only says that it is done proves nothing; the shells of some clients print a status only when it is not 0. */
function proofOf(view: CallView, { kind }: CallOutcome): ToolAttempt['proof'] {
  if (kind === 'green') return 'checks passed';
  return kind === 'ok' && view.kind === 'shell' ? 'exit code 0' : undefined;
}
