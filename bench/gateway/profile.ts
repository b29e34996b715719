import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { endChild, startChild } from './child.ts';
import type { Order, Tally } from './orders.ts';
import type { Model } from './replies.ts';
import type { Size } from './requests.ts';
import { startInstar } from './start-instar.ts';
import { sum } from './stats.ts';
import { createText } from './text.ts';

/** Where the CPU goes: a sampled profile of a daemon under load, each thread by itself. */
const { values: options } = parseArgs({
  options: {
    instar: { type: 'string', default: 'dist/cli/main.js' },
    seconds: { type: 'string', default: '4' },
    top: { type: 'string', default: '15' },
  },
});

interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
}

/** Waiting is not work. */
const IDLE = new Set(['(idle)', '(root)']);

async function profile(size: Size, model: Model): Promise<void> {
  const dir = mkdtempSync(path.join(tmpdir(), 'instar-profile-'));
  const upstream = await startChild('upstream');
  const loader = await startChild('load');
  const instar = await startInstar({
    main: options.instar,
    upstreamPort: upstream.port,
    block: createText(4)(2048),
    nodeArgs: ['--cpu-prof', `--cpu-prof-dir=${dir}`, '--cpu-prof-interval=200'],
  });
  const order = { model, size, headers: {}, connections: 32, openOverMs: 0, isExact: true } as const;
  const until = { ms: Number(options.seconds) * 1000 };
  loader.send({ ...order, id: 1, port: instar.port, until } satisfies Order);
  const [{ requests }] = (await once(loader, 'message')) as [Tally];
  await instar.close();
  await Promise.all([loader, upstream].map(endChild));
  process.stdout.write(`\n## ${model}, ${size}: ${requests} requests, profiles in ${dir}\n`);
  for (const file of readdirSync(dir).sort()) {
    const thread = /\.(\d+)\.\d+\.cpuprofile$/.exec(file)?.[1] ?? '?';
    const read = JSON.parse(readFileSync(path.join(dir, file), 'utf8')) as Profile;
    process.stdout.write(`\nthread ${thread}: ${describe(read, requests)}\n`);
  }
}

/** The functions that took the most time themselves, in microseconds per request. */
function describe({ nodes, samples, timeDeltas }: Profile, requests: number): string {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const took = new Map<string, number>();
  samples.forEach((id, at) => {
    const frame = frames.get(id);
    if (frame === undefined || IDLE.has(frame.functionName)) return;
    const name = `${frame.functionName || '(anonymous)'} ${shorten(frame.url)}:${frame.lineNumber + 1}`;
    took.set(name, (took.get(name) ?? 0) + (timeDeltas[at] ?? 0));
  });
  const rows = [...took].sort(([, a], [, b]) => b - a).slice(0, Number(options.top));
  const busy = sum([...took.values()]);
  const lines = rows.map(([name, us]) => {
    const share = ((us / busy) * 100).toFixed(1);
    return `${(us / requests).toFixed(1).padStart(9)} µs ${share.padStart(5)} %  ${name}`;
  });
  return [`busy ${(busy / requests).toFixed(0)} µs per request`, ...lines].join('\n');
}

const shorten = (url: string): string => url.replace(/^.*\/(?=dist\/|node_modules\/)/, '');

for (const size of ['1 KB', '64 KB'] as const) await profile(size, 'bench-json');
await profile('1 KB', 'bench-sse');
