import { setTimeout as sleep } from 'node:timers/promises';
import { readMemory, untilQuiet } from './process-usage.ts';
import { startInstar } from './start-instar.ts';
import type { Bench } from './subjects.ts';

export interface Rung {
  readonly requests: number;
  readonly rssMb: number;
}

const QUIET_MS = 2000;

/** Memory of one process at rest after increasing numbers of requests. */
export async function climbLadder(bench: Bench, rungs: readonly number[]): Promise<readonly Rung[]> {
  const { main, upstreamPort } = bench;
  const instar = await startInstar({ main, upstreamPort });
  const seen: Rung[] = [{ requests: 0, rssMb: readMemory(instar.pid)?.rssMb ?? Number.NaN }];
  for (const requests of rungs) {
    await bench.load({
      port: instar.port,
      model: 'bench-json',
      size: '1 KB',
      headers: {},
      connections: 16,
      openOverMs: 0,
      until: { requests: requests - (seen.at(-1)?.requests ?? 0) },
      isExact: true,
    });
    await untilQuiet(instar.pid);
    await sleep(QUIET_MS);
    seen.push({ requests, rssMb: readMemory(instar.pid)?.rssMb ?? Number.NaN });
  }
  await instar.close();
  return seen;
}
