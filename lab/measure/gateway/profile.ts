import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { endChild, readThreads, startChild, untilQuiet } from './child-process.ts';
import type { LoadOrder, LoadResult } from './load-order.ts';
import { sum } from './load-order.ts';
import { startInstar } from './start-instar.ts';
import { BLOCK } from './subjects.ts';
import type { BenchModel, Size } from './traffic.ts';

/** Where the CPU time goes: a sampled profile of a warm daemon under load, for each thread. */
const { values: options } = parseArgs({
  options: {
    instar: { type: 'string', default: 'dist/src/cli/main.js' },
    requests: { type: 'string', default: '6000' },
    top: { type: 'string', default: '15' },
    /** Turn recording off: the rest is the cost of serving. */
    unrecorded: { type: 'boolean', default: false },
  },
});

interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
  /** On the clock shared by all processes of a machine, in microseconds. */
  readonly startTime: number;
}

interface ProfileNode {
  readonly id: number;
  readonly children?: readonly number[];
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
}

/** Frames that are waiting time. */
const IDLE = new Set(['(idle)', '(root)']);

const nowUs = (): number => Number(process.hrtime.bigint() / 1000n);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function profile(size: Size, model: BenchModel): Promise<void> {
  const dir = mkdtempSync(path.join(tmpdir(), 'instar-profile-'));
  const upstream = await startChild('upstream');
  const loader = await startChild('load');
  const instar = await startInstar({
    main: options.instar,
    upstreamPort: upstream.port,
    block: BLOCK,
    nodeArgs: ['--cpu-prof', `--cpu-prof-dir=${dir}`, '--cpu-prof-interval=250'],
  });
  const headers: Record<string, string> = {
    ...instar.headers,
    ...(options.unrecorded ? { 'x-instar-record': 'off' } : {}),
  };
  const order = { model, size, headers, connections: 32, openOverMs: 0, isExact: true, port: instar.port };
  const send = async (): Promise<LoadResult> => {
    loader.send({ ...order, until: { requests: Number(options.requests) } } satisfies LoadOrder);
    const [tally] = (await once(loader, 'message')) as [LoadResult];
    await untilQuiet(instar.pid);
    return tally;
  };
  await send();
  const since = nowUs();
  const before = readThreads(instar.pid);
  const { requests, lost, ms } = await send();
  const after = readThreads(instar.pid);
  const threads = [...after].map(([id, cpu]) => cpu - (before.get(id) ?? 0));
  const [main = 0, ...others] = threads;
  others.sort((a, b) => b - a);
  await instar.close();
  await Promise.all([loader, upstream].map(endChild));
  const perRequest = (cpu: number) => `${((cpu * 1000) / requests).toFixed(0)} µs`;
  say(
    `\n## ${model}, ${size}: ${requests} requests, ${lost} lost, ${((requests / ms) * 1000).toFixed(0)} a second`,
  );
  say(
    `CPU per request by thread: main ${perRequest(main)}, others ${others.filter(Boolean).map(perRequest).join(', ')}`,
  );
  for (const file of readdirSync(dir).sort()) {
    const thread = /\.(\d+)\.\d+\.cpuprofile$/.exec(file)?.[1] ?? '?';
    const read = JSON.parse(readFileSync(path.join(dir, file), 'utf8')) as Profile;
    const isMain = thread === '0';
    const cpu = ((isMain ? main : (others[0] ?? 0)) * 1000) / requests;
    // The second worker is the reader, which is idle here.
    if (isMain || thread === '1')
      say(`\n${isMain ? 'main' : 'writer'} thread: ${describe(read, since, cpu)}`);
  }
  rmSync(dir, { recursive: true, force: true });
}

/**
 * The functions with the most time: self time, and time including calls into Node and packages. A sampler counts a thread that
 * waits for a core as busy, so samples are scaled to the thread's CPU time, in microseconds per request.
 */
function describe(profiled: Profile, since: number, cpu: number): string {
  const { nodes, samples, timeDeltas, startTime } = profiled;
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const ours = nearestOurs(nodes, byId);
  const itself = new Map<string, number>();
  const charged = new Map<string, number>();
  const files = new Map<string, number>();
  let at = startTime;
  samples.forEach((id, nth) => {
    const delta = timeDeltas[nth] ?? 0;
    at += delta;
    const node = byId.get(id);
    if (at < since || node === undefined || IDLE.has(node.callFrame.functionName)) return;
    const own = ours.get(id) ?? node;
    itself.set(nameOf(node), (itself.get(nameOf(node)) ?? 0) + delta);
    charged.set(nameOf(own), (charged.get(nameOf(own)) ?? 0) + delta);
    const file = ours.has(id)
      ? fileOf(own)
      : 'no frame of ours: sockets, parsers, timers, garbage collection';
    files.set(file, (files.get(file) ?? 0) + delta);
  });
  const busy = sum([...itself.values()]);
  const rows = (took: ReadonlyMap<string, number>): string[] =>
    [...took]
      .sort(([, a], [, b]) => b - a)
      .slice(0, Number(options.top))
      .map(([name, us]) => {
        const share = us / busy;
        return `${(share * cpu).toFixed(1).padStart(9)} µs ${(share * 100).toFixed(1).padStart(5)} %  ${name}`;
      });
  return [
    `${cpu.toFixed(0)} µs CPU per request`,
    ' self time',
    ...rows(itself),
    ' including Node and packages',
    ...rows(charged),
    ' the same by file',
    ...rows(files),
  ].join('\n');
}

/** For each node of the call tree, the nearest function of ours at or above it. */
function nearestOurs(
  nodes: readonly ProfileNode[],
  byId: ReadonlyMap<number, ProfileNode>,
): ReadonlyMap<number, ProfileNode> {
  const found = new Map<number, ProfileNode>();
  const visit = (node: ProfileNode, above: ProfileNode | undefined): void => {
    const own =
      /\/dist\//.test(node.callFrame.url) && !node.callFrame.url.includes('node_modules') ? node : above;
    if (own !== undefined) found.set(node.id, own);
    for (const id of node.children ?? []) {
      const child = byId.get(id);
      if (child !== undefined) visit(child, own);
    }
  };
  const [root] = nodes;
  if (root !== undefined) visit(root, undefined);
  return found;
}

const fileOf = ({ callFrame: { url } }: ProfileNode): string =>
  url.replace(/^.*\/(?=dist\/|node_modules\/)/, '');

const nameOf = (node: ProfileNode): string =>
  `${node.callFrame.functionName || '(anonymous)'} ${fileOf(node)}:${node.callFrame.lineNumber + 1}`;

for (const size of ['1 KB', '64 KB'] as const) await profile(size, 'bench-json');
await profile('1 KB', 'bench-sse');
