import type { AppraisedTurn } from '../../evidence/evidence-reader.ts';
import { readClaim, type SentenceClaim } from './write/claim.ts';
import { compareClaims } from './write/compare-claims.ts';
import { readStatements, type Statement } from './write/read-statements.ts';

/** Something that the person stated in a session, with the turn that it was said in. */
export interface SessionStatement extends Statement {
  readonly turn: string;
  readonly claim: SentenceClaim;
}

/** Of one session. */
export const MOST_OF_SESSION = 12;
const MOST_MESSAGES = 400;

/**
 * What a person has stated in a session so far, oldest first: the session's working memory. It is read from the record each time, so that
 * it is gone when the session is erased, and other sessions see nothing of it before the session has ended. Of statements on the same
 * thing the newest is left.
 */
export function readWorkingMemory(turns: readonly AppraisedTurn[]): readonly SessionStatement[] {
  const seen = new Set<string>();
  let held: readonly SessionStatement[] = [];
  for (const { evidence } of turns.slice(-MOST_MESSAGES)) {
    // What an agent reported itself is nobody's word; a heartbeat repeats itself.
    if (evidence.isReported || evidence.askedBefore !== undefined || seen.has(evidence.task)) continue;
    seen.add(evidence.task);
    for (const statement of readStatements(evidence.task)) {
      const one = { ...statement, turn: evidence.turn, claim: readClaim(statement.quote) };
      const isOlder = (other: SessionStatement): boolean =>
        other.kind !== 'forget' && other.turn !== one.turn && isOver(compareClaims(one.claim, other.claim));
      held = [...held.filter((other) => !isOlder(other)), one];
    }
  }
  return held.slice(-MOST_OF_SESSION);
}

const isOver = (relation: ReturnType<typeof compareClaims>): boolean =>
  relation === 'same' || relation === 'replaces';
