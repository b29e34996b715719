import type { Appraisal, TurnEvidence } from '../core/evidence.ts';
import type { FailureCase, Origin, Passage, TurnMaterial } from '../core/learn.ts';
import type { Scope } from '../core/lesson.ts';
import { truncateMiddle } from '../text/truncate.ts';
import { separateTypedText } from '../text/typed-text.ts';
import type { AppraisedTurn, EvidenceReader } from './evidence-reader.ts';
import { requestAfterReaction } from './signals/read-reaction.ts';
import {
  type ConversationTail,
  readReportedTrajectory,
  readResolution,
  readTrajectory,
} from './trajectory.ts';
import { joinMaterial, notePassage, originOfResult } from './turn-material.ts';

interface CaseOrigin {
  readonly at: number;
  readonly generation: number;
  readonly scope: Scope;
  readonly appraisal: Appraisal;
  readonly material?: TurnMaterial | undefined;
  readonly conversation?: ConversationTail | undefined;
  /** The conversation of the next turn of the session that went well. */
  readonly resolved?: ConversationTail | undefined;
  /** Ids of the lessons that the turn was shown. */
  readonly shown?: readonly string[] | undefined;
}

const LONGEST_TASK = 3000;
const LONGEST_REPLY = 2000;
const LONGEST_RESULT = 1500;
const MOST_RESULTS = 4;

/** The messages around a failure, in order and cut to a length that a learner can read. */
export function createFailureCase(
  evidence: TurnEvidence,
  { at, generation, scope, appraisal, material, conversation, resolved, shown }: CaseOrigin,
): FailureCase {
  const { turn, session, next, given, attempts } = evidence;
  const task = typedIn(evidence.task);
  const calls = new Map(
    evidence.reply.flatMap((part) => (part.type === 'tool-call' ? [[part.id, part]] : [])),
  );
  const results = (next?.tools ?? []).slice(0, MOST_RESULTS).map(({ callId, text }): Passage => {
    const call = calls.get(callId);
    return passage(call === undefined ? 'tool' : originOfResult(call), text, LONGEST_RESULT);
  });
  const reported = attempts
    .slice(-MOST_RESULTS)
    .flatMap(({ action, result }) => [
      passage('assistant', action, LONGEST_RESULT),
      passage('tool', result, LONGEST_RESULT),
    ]);
  const notes = given.flatMap(({ source, note = '', by }): readonly Passage[] => {
    const passage = notePassage(source, note, by);
    return passage.origin === 'tool' ? [] : [passage];
  });
  const passages: readonly Passage[] = [
    passage(evidence.isReported ? 'tool' : 'user', task, LONGEST_TASK),
    passage('assistant', replyText(evidence), LONGEST_REPLY),
    ...results,
    ...reported,
    passage('user', typedIn(next?.user ?? ''), LONGEST_REPLY),
    ...notes,
  ].filter(({ text }) => text.trim() !== '');
  const source = appraisal.source ?? 'signal';
  const trajectory =
    evidence.isReported === true || attempts.length > 0
      ? readReportedTrajectory(evidence)
      : conversation && readTrajectory(conversation);
  const resolution = conversation && resolved && readResolution(conversation, resolved);
  return {
    turn,
    session,
    at,
    generation,
    scope,
    task: middle(task, LONGEST_TASK),
    ...(evidence.isFollowUp === true ? { request: middle(requestAfterReaction(task), LONGEST_TASK) } : {}),
    passages,
    ...(material === undefined ? {} : { material }),
    appraisal,
    source,
    ...(trajectory === undefined ? {} : { trajectory }),
    ...(resolution === undefined ? {} : { resolution }),
    ...(shown === undefined ? {} : { shown }),
  };
}

/** The person's own words; a message that a program wrote as a whole is shown as it is, so that the task is known. */
function typedIn(message: string): string {
  const { typed } = separateTypedText(message);
  return typed === '' ? message : typed;
}

const passage = (origin: Origin, text: string, most: number): Passage => ({
  origin,
  text: middle(text, most),
});

/** The text and the tool calls of a reply. */
export const replyText = ({ reply }: TurnEvidence): string =>
  reply
    .flatMap((part) => {
      if (part.type === 'text') return [part.text];
      return part.type === 'tool-call' ? [`${part.name}(${part.arguments})`] : [];
    })
    .join('\n');

/** The start states the request, the end the result. */
const middle = (text: string, most: number): string =>
  truncateMiddle(text, most, { headShare: 0.5, gap: () => '[…]' });

/** A turn by its ids, when it was, and where what is learned from it applies. */
export interface PlacedTurn {
  readonly turn: string;
  readonly session: string;
  readonly at: number;
  readonly scope: Scope;
}

/**
 * Failures with all that a learner and the gate need of them: the work that led there, and what worked later in the session. One
 * whose turn cannot be read any more is left out. Rejects with `StoreError`.
 */
export async function readCases(
  failures: readonly PlacedTurn[],
  evidence: Pick<EvidenceReader, 'turns'>,
): Promise<readonly FailureCase[]> {
  const wanted = new Map(failures.map((failure) => [failure.turn, failure]));
  const cases: FailureCase[] = [];
  for (const session of new Set(failures.map((failure) => failure.session))) {
    const turns = await evidence.turns(session);
    const latest = turns.findLast(({ material }) => material !== undefined)?.material;
    for (const [index, turn] of turns.entries()) {
      const failure = wanted.get(turn.evidence.turn);
      if (failure === undefined) continue;
      const worked = finallyWorked(turns.slice(index + 1), turn.evidence.task);
      cases.push(
        createFailureCase(turn.evidence, {
          ...turn,
          at: failure.at,
          scope: failure.scope,
          generation: Math.max(0, turn.generation),
          material: joinMaterial(turn.material, latest),
          resolved: worked?.conversation,
        }),
      );
    }
  }
  return cases;
}

const MOST_TURNS = 16;
const MOST_MESSAGES = 2;

/**
 * The turn that went well in the end, while the work was still about the failure: the user may have said two more things by then.
 * A single call that worked on the way there is not the end.
 */
function finallyWorked(later: readonly AppraisedTurn[], task: string): AppraisedTurn | undefined {
  const said = new Set<string>();
  let worked: AppraisedTurn | undefined;
  for (const turn of later.slice(0, MOST_TURNS)) {
    if (turn.evidence.task !== task) said.add(turn.evidence.task);
    if (said.size > MOST_MESSAGES) break;
    if (turn.appraisal.verdict === 'success') worked = turn;
    else if (turn.appraisal.verdict === 'failure') worked = undefined;
  }
  return worked;
}
