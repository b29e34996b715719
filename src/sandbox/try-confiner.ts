import type { Confiner } from './confiner.ts';
import type { TryConfiner } from './find-confiner.ts';
import type { RunResult } from './run-confined.ts';

/** What a wall must do before anything is run behind it; each line's number is the exit code when it does not hold. */
const CLAIMS: readonly (readonly [test: string, fault: string])[] = [
  ['echo kept > kept', 'the workspace cannot be written to'],
  ['test ! -e "$CANARY"', 'a file outside of the workspace can be seen'],
  ['! (: > /usr/written) 2> /dev/null', 'system folders can be written to'],
  ['! (: > /written) 2> /dev/null', 'the root can be written to'],
  ['! (echo 1 > /proc/sys/vm/drop_caches) 2> /dev/null', "the kernel's settings can be written to"],
  ['test "$(grep -c . /proc/net/route)" -le 1', 'the network can be reached'],
  ['grep -q "^CapEff:[[:space:]]*0*$" /proc/self/status', 'rights over the system are left'],
  ['test "$(ulimit -c)" = 0', 'limits do not take effect'],
  ['test ! -e /proc/"$OUTSIDE"/environ', 'processes of the machine can be seen'],
];

const SCRIPT = CLAIMS.map(([test], index) => `{ ${test}; } || exit ${index + 1}`).join('\n');

export type RunProbe = (
  confiner: Confiner,
  script: string,
  outside: string,
) => Promise<{ readonly result: RunResult; readonly isKept: boolean }>;

/** `probe` runs a script in an empty workspace; `outside` is its name for the process that stands before the wall. */
export const createTryConfiner =
  (probe: RunProbe): TryConfiner =>
  async (confiner) => {
    const { result, isKept } = await probe(confiner, SCRIPT, String(process.pid));
    if (result.end === 'refused') return result.why;
    if (result.end === 'stopped') return `a first try was stopped (${result.why})`;
    if (result.code !== 0)
      return CLAIMS[result.code - 1]?.[1] ?? `a first try ended with ${result.code}: ${result.stderr.slice(0, 200)}`;
    return isKept ? undefined : 'what is written in the workspace is lost';
  };
