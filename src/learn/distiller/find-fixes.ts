import { asObject, parseJson } from '../../core/json.ts';
import type { FailureCase, TrajectoryStep } from '../../core/learn.ts';
import { oneLine } from '../../text/visible-text.ts';

const FEWEST_SESSIONS = 2;
const LONGEST_COMMAND = 200;
const PLAIN = /^[A-Za-z][A-Za-z0-9_ -]{2,55}$/;

interface RepeatedFix {
  /** The kind of error, without file and line. */
  readonly error: string;
  /** The agent's command that succeeded afterwards. */
  readonly command: string;
  readonly failures: readonly FailureCase[];
}

/**
 * Errors of several sessions with the command that got past them in the end. Without one there is nothing to teach. Of a tool's
 * output only the name of the error is used.
 */
export function findFixes(failures: readonly FailureCase[]): readonly RepeatedFix[] {
  const byKind = new Map<string, FailureCase[]>();
  for (const failure of failures)
    for (const kind of new Set(failure.appraisal.digests.map(kindOf))) {
      const seen = byKind.get(kind);
      if (seen === undefined) byKind.set(kind, [failure]);
      else seen.push(failure);
    }
  return [...byKind].flatMap(([error, seen]) => {
    const sessions = new Set(seen.map(({ session }) => session)).size;
    if (!PLAIN.test(error) || sessions < FEWEST_SESSIONS) return [];
    const commands = seen.flatMap(({ resolution = [] }) => resolution.flatMap(commandOf).slice(0, 1));
    const [command] = commands.toSorted((a, b) => timesOf(commands, b) - timesOf(commands, a));
    return command === undefined ? [] : [{ error, command, failures: seen }];
  });
}

const timesOf = (commands: readonly string[], one: string): number =>
  commands.filter((command) => command === one).length;

const kindOf = (digest: string): string => digest.split(' @ ', 1)[0]?.trim() ?? '';

/** The shell command of a call that succeeded. An edit is about one file and teaches nothing. */
function commandOf(step: TrajectoryStep): readonly string[] {
  if (step.kind !== 'call' || step.isOk !== true) return [];
  const { command, cmd } = asObject(parseJson(step.arguments));
  const given = command ?? cmd;
  const text = oneLine(Array.isArray(given) ? given.join(' ') : typeof given === 'string' ? given : '');
  return text === '' || text.length > LONGEST_COMMAND ? [] : [text];
}
