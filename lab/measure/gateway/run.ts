import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { parseArgs } from 'node:util';
import { writeSection } from '../markdown.ts';
import { describeEngines, requireSome } from '../measured.ts';
import type { GatewayResults, PaceGoal, ProcessResults } from './gateway-goals.ts';
import { gatewayReport } from './gateway-report.ts';
import { runCells } from './load-cells.ts';
import { type FirstTurnResults, measureFirstTurn } from './measure-first-turn.ts';
import { measureGrowth, measureMemory } from './measure-growth.ts';
import { runManyStreams, runPaced } from './measure-streams.ts';
import { readResults, storeResults } from './stored-results.ts';
import { type GatewayBench, openBench } from './subjects.ts';
import { writeOverview } from './write-overview.ts';

/** The cost of the gateway, compared with a minimal proxy, a peer gateway and no proxy. */
const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    only: { type: 'string', default: 'first-turn,cells,paced,many,ladder,growth' },
    instar: { type: 'string', default: 'dist/src/cli/main.js' },
    /** An older build to compare with, interleaved: its dist/src/cli/main.js. */
    before: { type: 'string' },
    /** Other gateways, by name: see PEERS.md. */
    peers: { type: 'string', default: 'portkey' },
    /** How many processes compute without a pause beside the first turns. */
    busy: { type: 'string', default: '0' },
  },
});
const FULL = {
  firstTurns: 180,
  cells: { rounds: 5, ms: 600, warmMs: 10_000, isShort: false },
  paced: { rounds: 3, ms: 1500 },
  rungs: [2000, 4000, 10_000, 30_000],
};
const QUICK = {
  firstTurns: 30,
  cells: { rounds: 1, ms: 500, warmMs: 1000, isShort: true },
  paced: { rounds: 1, ms: 800 },
  rungs: [2000, 4000, 8000],
};
const STREAMS = 1000;
const PACED_RATE = 5;
const QUICK_NOTE =
  'a quick run measures programs that are not warm: it shows that everything works, not what it costs';

const say = (line: string): void => void process.stderr.write(`${line}\n`);

const parts = new Set(options.only.split(','));
const isAlone = options.only === 'first-turn';
const plan = options.quick ? QUICK : FULL;
/** For a run that needs none of its processes. */
const NO_BENCH: GatewayBench = {
  main: options.instar,
  upstreamPort: 0,
  subjects: [],
  notes: [],
  load: () => Promise.reject(new Error('no load process was started')),
  close: async () => undefined,
};

interface Beginning {
  readonly startedAt: number;
  readonly load: number;
  readonly firstTurn: FirstTurnResults;
  readonly earlierFirstTurn: FirstTurnResults;
}

const NO_FIRST_TURNS: FirstTurnResults = { turns: [], cold: [] };

/** With no other process of the benchmark beside it. */
async function runFirstTurn(main: string | undefined): Promise<FirstTurnResults> {
  if (!parts.has('first-turn') || main === undefined) return NO_FIRST_TURNS;
  say('first-turn …');
  const loops = Array.from({ length: Number(options.busy) }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  try {
    return await measureFirstTurn(main, plan.firstTurns);
  } finally {
    for (const loop of loops) loop.kill('SIGKILL');
  }
}

const flags = [
  ...(options.quick ? ['--quick'] : []),
  ...(isAlone ? ['--only first-turn'] : []),
  ...(options.busy === '0' ? [] : [`--busy ${options.busy}`]),
];

/** The paced goals are measured by another command. */
function readPace(): PaceGoal | undefined {
  const stored = readResults('pace');
  const rowOf = (name: string) =>
    stored?.rows.find(({ rate, subject }) => rate === PACED_RATE && subject === name);
  const [row, copy] = [rowOf('instar'), rowOf('pass-through')];
  if (stored === undefined || row === undefined || copy === undefined) return undefined;
  return { date: stored.date, cpuMs: row.cpuMs, writtenKb: row.writtenKb, copyCpuMs: copy.cpuMs };
}

/** Many sessions a second are compared at a first look, by design: the sentence model is for a person's pace. */
async function nameEngines(
  { subjects }: GatewayBench,
  firstTurn: FirstTurnResults,
): Promise<readonly string[]> {
  const notes = firstTurn.turns
    .filter(({ kilobytes }) => kilobytes === undefined)
    .map(({ lessons, engines }) => `first turns over ${lessons} lessons were ${describeEngines(engines)}`);
  for (const { name, engines } of subjects) {
    const { byEngine } = (await engines?.()) ?? {};
    if (byEngine === undefined || !parts.has('cells')) continue;
    requireSome(`task of ${name} that was compared with lessons`, byEngine.size);
    notes.push(`the lesson of "${name}" was ${describeEngines(Object.fromEntries(byEngine))}`);
  }
  return notes;
}

async function measure(bench: GatewayBench, before: Beginning): Promise<GatewayResults> {
  const run = async <T>(part: string, work: () => Promise<readonly T[]>): Promise<readonly T[]> => {
    if (!parts.has(part)) return [];
    say(`${part} …`);
    return work();
  };
  const onRound = (round: number) => say(`  round ${round + 1} of ${plan.cells.rounds}`);
  const cells = await run('cells', () => runCells(bench, { ...plan.cells, onRound }));
  const paced = await run('paced', () => runPaced(bench, plan.paced.rounds, plan.paced.ms));
  const alone = async (of: GatewayBench): Promise<ProcessResults> => ({
    many: await run('many', async () => [
      await runManyStreams(of, STREAMS, '1 KB'),
      ...(options.quick ? [] : [await runManyStreams(of, STREAMS, '64 KB')]),
    ]),
    ladder: await run('ladder', () => measureMemory(of, plan.rungs)),
  });
  const after = await alone(bench);
  const earlier = bench.before === undefined ? undefined : await alone({ ...bench, main: bench.before });
  const growth = await run('growth', async () => [await measureGrowth(bench)]);
  const pace = readPace();
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: `${os.cpus().length} × ${os.cpus()[0]?.model.trim()}, ${Math.round(os.totalmem() / 2 ** 30)} GB, ${os.type()} ${os.release().split('-')[0]}`,
    node: process.versions.node,
    command: ['npm run bench:gateway', ...(flags.length === 0 ? [] : ['--', ...flags])].join(' '),
    minutes: (performance.now() - before.startedAt) / 60_000,
    rounds: plan.cells.rounds,
    loadBefore: before.load,
    firstTurn: before.firstTurn,
    notes: [
      ...bench.notes,
      ...(await nameEngines(bench, before.firstTurn)),
      ...(options.quick ? [QUICK_NOTE] : []),
    ],
    cells,
    paced,
    ...after,
    growth,
    ...(earlier === undefined ? {} : { before: { ...earlier, firstTurn: before.earlierFirstTurn } }),
    keeps: Object.fromEntries(bench.subjects.map(({ name, keeps }) => [name, keeps])),
    ...(pace === undefined ? {} : { pace }),
  };
}

const startedAt = performance.now();
const [load = 0] = os.loadavg();
const beginning: Beginning = {
  startedAt,
  load,
  firstTurn: await runFirstTurn(options.instar),
  earlierFirstTurn: await runFirstTurn(options.before),
};
const bench = isAlone
  ? NO_BENCH
  : await openBench({
      main: options.instar,
      ...(options.before === undefined ? {} : { before: options.before }),
      peers: options.peers.split(',').filter(Boolean),
    });
try {
  const results = await measure(bench, beginning);
  const text = gatewayReport(results);
  mkdirSync('.cache/bench', { recursive: true });
  writeFileSync('.cache/bench/gateway.json', `${JSON.stringify(results, undefined, 2)}\n`);
  if (options.write) {
    writeSection('lab/results/performance.md', isAlone ? 'bench:first-turn' : 'bench:gateway', text);
    if (!isAlone) storeResults('gateway', results);
    writeOverview();
  }
  process.stdout.write(text);
} finally {
  await bench.close();
}
