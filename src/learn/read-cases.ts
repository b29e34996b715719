import type { FailureCase } from '../core/learn.ts';
import type { Scope } from '../core/lesson.ts';
import type { EvidenceReader } from '../evidence/evidence-reader.ts';
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
      const worked = turns.slice(index + 1).find(({ appraisal }) => appraisal.verdict === 'success');
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
