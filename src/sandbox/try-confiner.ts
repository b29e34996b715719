import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Confiner } from './confiner.ts';
import { giveAway } from './give-away.ts';
import { createHolder } from './holder.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { runConfined } from './run-confined.ts';

/** What a sandbox must guarantee before a command is run in it. The number of the first failed check is the exit code. */
const CLAIMS: readonly (readonly [test: string, fault: string])[] = [
  ['echo kept > kept', 'the workspace is not writable'],
  ['test ! -e "$OUTSIDE"', 'folders outside of the workspace are visible'],
  ['test ! -w /usr', 'system folders are writable'],
  ['test ! -w /', 'the root folder is writable'],
  ['test ! -w /proc/sys/kernel/core_pattern', "the kernel's settings are writable"],
  ['test "$(grep -c . /proc/net/route)" -le 1', 'the network can be reached'],
  ['grep -q "^CapEff:[[:space:]]*0*$" /proc/self/status', 'the command keeps capabilities'],
  ['test "$(ulimit -c)" = 0', 'resource limits have no effect'],
  ['test "$(ls /proc | grep -c "^[0-9]")" -lt 10', 'processes of the host are visible'],
];

const SCRIPT = CLAIMS.map(([test], index) => `{ ${test}; } || exit ${index + 1}`).join('\n');

/** Runs the checks in a sandbox: undefined when all pass, else what is wrong. */
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
    if (result.end === 'stopped') return `the check was stopped (${result.why})`;
    const fault = CLAIMS[result.code - 1]?.[1];
    if (result.code !== 0)
      return fault ?? `the check ended with exit code ${result.code}: ${result.stderr.slice(0, 200)}`;
    const kept = await readFile(path.join(holder.files, 'kept'), 'utf8').catch(() => '');
    return kept === 'kept\n' ? undefined : 'files written in the workspace are lost';
  } finally {
    await holder.remove();
  }
}
