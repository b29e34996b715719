import type { FailureCase } from '../core/learn.ts';
import type { Scope } from '../core/lesson.ts';
import type { AppraisedTurn, EvidenceReader } from '../evidence/evidence-reader.ts';
import { createFailureCase } from '../evidence/failure-case.ts';
import { joinMaterial } from '../evidence/turn-material.ts';

/** A failure by its ids. */
interface FailureReference {
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
  failures: readonly FailureReference[],
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
