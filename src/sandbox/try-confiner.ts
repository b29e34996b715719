import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Confiner } from './confiner.ts';
import { giveAway } from './give-away.ts';
import { createHolder } from './holder.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { runConfined } from './run-confined.ts';

/** What a wall must do before anything is run behind it. The first that does not hold is the script's exit code. */
const CLAIMS: readonly (readonly [test: string, fault: string])[] = [
  ['echo kept > kept', 'the workspace cannot be written to'],
  ['test ! -e "$OUTSIDE"', 'folders outside of the workspace can be seen'],
  ['test ! -w /usr', 'system folders can be written to'],
  ['test ! -w /', 'the root can be written to'],
  ['test ! -w /proc/sys/kernel/core_pattern', "the kernel's settings can be written to"],
  ['test "$(grep -c . /proc/net/route)" -le 1', 'the network can be reached'],
  ['grep -q "^CapEff:[[:space:]]*0*$" /proc/self/status', 'rights over the system are left'],
  ['test "$(ulimit -c)" = 0', 'limits do not take effect'],
  ['test "$(ls /proc | grep -c "^[0-9]")" -lt 10', 'processes of the machine can be seen'],
];

const SCRIPT = CLAIMS.map(([test], index) => `{ ${test}; } || exit ${index + 1}`).join('\n');

/** Runs something behind a wall and looks whether it holds: undefined when it does, else what is wrong. */
export async function tryConfiner(confiner: Confiner): Promise<string | undefined> {
  const holder = await createHolder();
  try {
    await giveAway(holder, confiner.owner);
    const result = await runConfined({
      confiner,
      place: { ...holder, readable: [] },
      limits: DEFAULT_LIMITS,
      command: ['sh', '-c', SCRIPT],
      options: { env: { OUTSIDE: holder.files }, timeoutMs: 20_000 },
      isOverSize: async () => false,
      signal: new AbortController().signal,
    });
    if (result.end === 'refused') return result.why;
    if (result.end === 'stopped') return `a first try was stopped (${result.why})`;
    const fault = CLAIMS[result.code - 1]?.[1];
    if (result.code !== 0)
      return fault ?? `a first try ended with ${result.code}: ${result.stderr.slice(0, 200)}`;
    const kept = await readFile(path.join(holder.files, 'kept'), 'utf8').catch(() => '');
    return kept === 'kept\n' ? undefined : 'what is written in the workspace is lost';
  } finally {
    await holder.remove();
  }
}
