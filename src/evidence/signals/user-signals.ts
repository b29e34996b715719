import type { Correction, Signal } from '../../core/evidence.ts';
import { INFRASTRUCTURE } from '../compose-reward.ts';
import { readCall } from '../tools/tool-call.ts';
import type { TurnReading } from '../turn-reading.ts';
import { type Reaction, readReaction } from './read-reaction.ts';

/** What the user said next, as signals and as a correction. */
export interface UserReaction {
  readonly signals: readonly Signal[];
  readonly correction?: Correction;
  /** See `Appraisal.remark`. */
  readonly remark?: readonly string[];
}

export const NO_REACTION: UserReaction = { signals: [] };

/**
 * The user's reaction to a turn. What they said to the agent is `chat`, as is what they said to Instar; the latter is about this answer in
 * so many words and outranks the former. The reasons hold none of the user's words, since they are stored with the signals.
 */
export function readUserReaction(turn: TurnReading): UserReaction {
  const given = turn.evidence.given.findLast(({ source }) => source === 'chat');
  // A rejection with a reason is a correction, but a tool's result is no proof of who wrote it.
  const isRejected = turn.calls.some(
    ({ outcome }) => outcome?.kind === 'rejected' && outcome.words !== undefined,
  );
  const rejected: readonly Signal[] = isRejected
    ? [{ name: 'user-corrected', source: 'signal', score: 0, weight: 3, reason: 'the user rejected a call' }]
    : [];
  const reaction = readReaction(turn);
  if (reaction === undefined) return isRejected ? { signals: rejected } : NO_REACTION;
  const correction = reaction.kind === 'wrong' ? reaction.correction : undefined;
  const isOverruled = given !== undefined && given.score > 0;
  const remark = 'remark' in reaction && reaction.remark.length > 0 ? { remark: reaction.remark } : {};
  if (reaction.kind === 'remarked') return { signals: rejected, ...remark };
  return {
    signals: given === undefined ? [...rejected, signalOf(reaction, turn)] : rejected,
    ...remark,
    ...(correction === undefined || isOverruled ? {} : { correction }),
  };
}

/**
 * The agent acts by tools that nobody here knows ("cancel_order"), and nothing has looked at what became of it: who thanks for that has
 * only read what the agent says of itself. A diff and a test run are seen by the user too.
 */
function isTakenOnTrust({ evidence, calls, answered }: TurnReading): boolean {
  const kinds = [
    ...[...calls, ...answered].map(({ view }) => view.kind),
    ...evidence.earlier.map((call) => readCall(call).kind),
  ];
  return kinds.includes('other') && !kinds.includes('shell') && !kinds.includes('edit');
}

function signalOf(reaction: Reaction, turn: TurnReading): Signal {
  const { evidence, calls } = turn;
  switch (reaction.kind) {
    case 'wrong': {
      const name = 'user-corrected';
      if (reaction.correction === undefined)
        return { name, source: 'signal', score: 0, weight: 3, reason: 'the user showed an error' };
      if (reaction.isRule)
        return { name, source: 'chat', score: 0.25, weight: 1, reason: 'the user said how it is done here' };
      return { name, source: 'chat', score: 0, weight: 3, reason: 'the user corrected it' };
    }
    case 'remarked':
    case 'doubted':
      return { name: 'user-doubted', source: 'signal', score: 0.3, weight: 1, reason: 'the user has doubts' };
    case 'outage':
      return {
        name: INFRASTRUCTURE,
        source: 'signal',
        score: 0.5,
        weight: 1,
        reason: 'the user reported an outage',
      };
    case 'thanked': {
      // Thanks after an outage are for the effort.
      const isWhole =
        evidence.status === 'complete' && !calls.some(({ outcome }) => outcome?.kind === 'outage');
      const source = isWhole ? 'chat' : 'signal';
      const weight = isTakenOnTrust(turn) ? 0 : 1;
      return { name: 'user-thanked', source, score: 0.9, weight, reason: 'the user was content' };
    }
  }
}
