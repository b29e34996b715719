import type { ToolOutcome, TurnEvidence } from '../../core/evidence.ts';
import type { ToolTry } from './live-material.ts';

export interface TryReading {
  readonly hasFailed: (
    call: { readonly name: string; readonly arguments: string },
    outcome: ToolOutcome,
  ) => boolean;
  /** The names of what went wrong in a tool's output. */
  readonly digestError: (text: string) => readonly string[];
}

/** The calls of a session whose outcome is known, and the tries that an agent reported itself, in order. */
export function readTries(
  turns: readonly TurnEvidence[],
  { hasFailed, digestError }: TryReading,
): readonly ToolTry[] {
  const failure = (text: string): Pick<ToolTry, 'digest'> => {
    const [digest] = digestError(text);
    return digest === undefined ? {} : { digest };
  };
  return turns.flatMap(({ turn, reply, next, attempts }): readonly ToolTry[] => {
    const calls = reply.flatMap((part): readonly ToolTry[] => {
      if (part.type !== 'tool-call') return [];
      const outcome = next?.tools.find(({ callId }) => callId === part.id);
      if (outcome === undefined) return [];
      const isOk = !hasFailed(part, outcome);
      const { name: tool, arguments: input } = part;
      return [{ turn, tool, input, isOk, ...(isOk ? {} : failure(outcome.text)) }];
    });
    const reported = attempts.map(
      ({ action, result, ok }): ToolTry => ({
        ...{ turn, tool: 'attempt', input: action, isOk: ok },
        ...(ok ? {} : failure(result)),
      }),
    );
    return [...calls, ...reported];
  });
}
