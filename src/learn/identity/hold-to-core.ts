import type { Library } from '../../core/library.ts';
import type { Attempt, AttemptGroup, AttemptOutcome, MakeAttempt } from '../../core/practice.ts';
import { findBrokenRule } from '../../evidence/verifiers/mechanical-rules.ts';
import type { SessionAttempts } from '../practice/session-parts.ts';
import { coreLines } from './identity-lines.ts';

/** An answer that breaks a line of the core with certainty is no success, whatever a verifier says. */
function constrainOutcome(outcome: AttemptOutcome, output: string, core: readonly string[]): AttemptOutcome {
  if (outcome.is !== 'graded' || outcome.reward === 0) return outcome;
  const broken = findBrokenRule(core, output);
  if (broken === undefined) return outcome;
  const reason = `it breaks the core of the identity, “${broken.line}”: ${broken.why}`;
  return { ...outcome, reward: 0, reasons: [reason, ...outcome.reasons] };
}

/** Attempts whose answers are held to the core of their agent's identity. */
export function holdToCore(attempts: SessionAttempts, library: Pick<Library, 'lessons'>): SessionAttempts {
  const held =
    (make: MakeAttempt): MakeAttempt =>
    async (order, signal) => {
      const made = await make(order, signal);
      const outcome = constrainOutcome(made.outcome, made.output, coreLines(library, order.task.agent));
      return outcome === made.outcome ? made : { ...made, outcome };
    };
  return {
    ...attempts,
    make: held(attempts.make),
    ...(attempts.serving === undefined ? {} : { serving: held(attempts.serving) }),
  };
}

/** The same for a group that was graded after it was made. */
export function holdGroupToCore(group: AttemptGroup, core: readonly string[]): AttemptGroup {
  const attempts = group.attempts.map((attempt): Attempt => {
    const outcome = constrainOutcome(attempt.outcome, attempt.output, core);
    return outcome === attempt.outcome ? attempt : { ...attempt, outcome };
  });
  return attempts.some((attempt, at) => attempt !== group.attempts[at]) ? { ...group, attempts } : group;
}
