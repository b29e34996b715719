import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { MINILM } from '../../../src/embed/minilm-embed.ts';
import { STATIC } from '../../../src/embed/static-embed.ts';
import { endChild, startChild } from '../gateway/child-process.ts';
import { spreadOf } from '../gateway/load-order.ts';
import { storeResults } from '../gateway/stored-results.ts';
import { writeOverview } from '../gateway/write-overview.ts';
import { markdownTable, writeSection } from '../markdown.ts';
import { createEngineCounts, describeEngines, requireEngine, requireSome } from '../measured.ts';
import { readUsedWork, sumOf, type UsedWork, workBetween } from './paced-process.ts';
import { type PacedSubject, startPacedInstar, startPacedPassThrough } from './paced-subjects.ts';
import { planDay } from './person-day.ts';
import { playDay } from './play-day.ts';

/** What a turn costs at a person's pace, all work included; with `--idle` what a daemon costs that nobody uses. */
const { values: options } = parseArgs({
  options: {
    idle: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    instar: { type: 'string', default: 'dist/src/cli/main.js' },
    /** Another build of the command line, measured beside this one. */
    before: { type: 'string' },
    /** A folder for a CPU profile of each thread. */
    profile: { type: 'string' },
    /** Turns a second and how many turns, one phase after the other. */
    plan: { type: 'string', default: '25:1000,5:300,1:90' },
    /** The same before what is measured. */
    warm: { type: 'string', default: '25:400' },
    seconds: { type: 'string', default: '60' },
  },
});

interface PaceRow {
  readonly rate: number;
  readonly subject: string;
  readonly turns: number;
  readonly lost: number;
  readonly cpuMs: number;
  readonly threads: ReadonlyMap<string, number>;
  readonly writtenKb: number;
  readonly first: { readonly p50: number; readonly p99: number };
  readonly later: { readonly p50: number; readonly p99: number };
}

const phasesIn = (plan: string): readonly { readonly rate: number; readonly turns: number }[] =>
  plan.split(',').map((part) => {
    const [rate = 1, turns = 1] = part.split(':').map(Number);
    return { rate, turns };
  });
const WARM = phasesIn(options.warm);
const PHASES = phasesIn(options.quick ? '25:400' : options.plan);
const sumTurns = (phases: typeof WARM): number => phases.reduce((sum, { turns }) => sum + turns, 0);
/** Of the CPU of a proxy that only copies, at a person's pace. */
const MOST_COPIES = 6;
const PERSONS_RATE = 5;
const MOST_KB = 22;
const MOST_IDLE_SHARE = 0.001;

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const [loadBefore = 0] = os.loadavg();
const commandLine = `npm run bench:pace${options.idle ? ' -- --idle' : ''}`;
const heading = `${new Date().toISOString().slice(0, 10)}, ${os.cpus().length} × ${os.cpus()[0]?.model.trim()}, Node ${process.versions.node}, load average before ${loadBefore.toFixed(1)}. \`${commandLine}\``;

let sessions = 1;
/** All subjects at once, each turn a little later at the next: what disturbs one disturbs all. */
async function playPhase(
  subjects: readonly PacedSubject[],
  rate: number,
  turns: number,
): Promise<readonly PaceRow[]> {
  const plan = planDay(`day-${rate}`, sessions, turns);
  sessions += turns;
  const gapMs = 1000 / rate;
  const before = subjects.map(({ pid, threads }) => readUsedWork(pid, threads));
  const played = await Promise.all(
    subjects.map((subject, index) => playDay(plan, subject, gapMs, (index * gapMs) / 2 / subjects.length)),
  );
  const rows: PaceRow[] = [];
  for (const [index, { name, pid, threads, idle }] of subjects.entries()) {
    await idle();
    const known = before[index];
    if (known === undefined) continue;
    const used = workBetween(known, readUsedWork(pid, threads));
    rows.push(rowOf(rate, name, used, played[index] ?? []));
  }
  return rows;
}

function rowOf(
  rate: number,
  subject: string,
  used: UsedWork,
  played: Awaited<ReturnType<typeof playDay>>,
): PaceRow {
  const turns = played.length;
  const whole = played.filter(({ isWhole }) => isWhole);
  requireSome('turn that was served', whole.length);
  const spread = (isFirst: boolean) =>
    spreadOf(whole.filter(({ nth }) => (nth === 0) === isFirst).map(({ firstMs }) => firstMs));
  return {
    rate,
    subject,
    turns,
    lost: turns - whole.length,
    cpuMs: sumOf(used.cpu) / turns,
    threads: new Map([...used.cpu].map(([name, ms]) => [name, ms / turns])),
    writtenKb: sumOf(used.written) / 1000 / turns,
    first: spread(true),
    later: spread(false),
  };
}

/** Threads that take a share worth a column. */
const WORTH_MS = 0.02;

function paceReport(rows: readonly PaceRow[]): string {
  const names = [
    ...new Set(
      rows.flatMap(({ threads }) => [...threads].flatMap(([name, ms]) => (ms >= WORTH_MS ? name : []))),
    ),
  ];
  const head = [
    'turns a second',
    'subject',
    'turns',
    'CPU ms a turn',
    ...names,
    'kB written a turn',
    'first turn p50, p99 ms',
    'later p50, p99 ms',
    'lost',
  ];
  const table = rows.map((row) => [
    String(row.rate),
    row.subject,
    String(row.turns),
    row.cpuMs.toFixed(2),
    ...names.map((name) => row.threads.get(name)?.toFixed(2) ?? ''),
    row.writtenKb.toFixed(1),
    `${row.first.p50.toFixed(1)}, ${row.first.p99.toFixed(1)}`,
    `${row.later.p50.toFixed(1)}, ${row.later.p99.toFixed(1)}`,
    String(row.lost),
  ]);
  const goals = goalLines(rows);
  return [
    `${heading}, after ${sumTurns(WARM)} turns of warm-up.`,
    '',
    markdownTable(head, table),
    '',
    ...goals,
  ].join('\n');
}

function goalLines(rows: readonly PaceRow[]): readonly string[] {
  const rowOf = (name: string): PaceRow | undefined =>
    rows.find(({ rate, subject }) => rate === PERSONS_RATE && subject === name);
  const [own, copy] = [rowOf('instar'), rowOf('pass-through')];
  if (own === undefined || copy === undefined) return [];
  const copies = own.cpuMs / copy.cpuMs;
  return [
    `Goals at ${PERSONS_RATE} a second: at most ${MOST_COPIES} times the CPU of a copy: ${copies <= MOST_COPIES ? 'met' : 'MISSED'} (${copies.toFixed(1)}); at most ${MOST_KB} kB written a turn: ${own.writtenKb <= MOST_KB ? 'met' : 'MISSED'} (${own.writtenKb.toFixed(1)}).`,
  ];
}

function store(rows: readonly PaceRow[]): void {
  storeResults('pace', {
    date: new Date().toISOString().slice(0, 10),
    machine: `${os.cpus().length} × ${os.cpus()[0]?.model.trim()}, Node ${process.versions.node}`,
    command: `${commandLine}${options.quick ? ' -- --quick' : ''}`,
    load: loadBefore,
    rows: rows.map(({ threads: _threads, first, later, ...row }) => ({
      ...row,
      firstP50: first.p50,
      laterP50: later.p50,
    })),
  });
  writeOverview();
}

async function measurePace(upstreamPort: number): Promise<string> {
  const main = path.resolve(options.instar);
  const nodeArgs =
    options.profile === undefined
      ? []
      : ['--cpu-prof', `--cpu-prof-dir=${path.resolve(options.profile)}`, '--cpu-prof-interval=250'];
  const subjects = [
    await startPacedInstar({ name: 'instar', main, upstreamPort, isRecorded: true, nodeArgs }),
    ...(options.before === undefined
      ? []
      : [
          await startPacedInstar({
            name: 'instar before',
            main: path.resolve(options.before),
            upstreamPort,
            isRecorded: true,
          }),
        ]),
    await startPacedInstar({ name: 'record off', main, upstreamPort, isRecorded: false }),
    await startPacedPassThrough(upstreamPort),
  ];
  try {
    for (const { rate, turns } of WARM) await playPhase(subjects, rate, turns);
    const rows: PaceRow[] = [];
    for (const { rate, turns } of PHASES) {
      say(`${rate} a second …`);
      rows.push(...(await playPhase(subjects, rate, turns)));
    }
    const compared = createEngineCounts();
    for (const { engines } of subjects)
      for (const [engine, count] of (await engines?.())?.byEngine ?? []) compared.add(engine, count);
    requireEngine([STATIC, MINILM], compared);
    if (options.write) store(rows);
    return `${paceReport(rows)}\n\nLessons: ${describeEngines(Object.fromEntries(compared.byEngine))}.`;
  } finally {
    for (const subject of subjects) await subject.close();
  }
}

/** After the start and two turns: what is loaded late is loaded, and each thread has collected its garbage once. */
const SETTLE_MS = 60_000;

async function measureIdle(upstreamPort: number): Promise<string> {
  const seconds = Number(options.seconds);
  const start = (name: string, main: string, countsTimers = false) =>
    startPacedInstar({ name, main: path.resolve(main), upstreamPort, isRecorded: true, countsTimers });
  const subjects = [
    await start('instar', options.instar),
    ...(options.before === undefined ? [] : [await start('instar before', options.before)]),
    await start('with timers written down', options.instar, true),
  ];
  const lines = (file: string): readonly string[] =>
    existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  try {
    for (const subject of subjects) await playDay(planDay('idle', sessions++, 2), subject, 200, 0);
    for (const subject of subjects) await subject.idle();
    await sleep(SETTLE_MS);
    const before = subjects.map(({ pid, threads }) => readUsedWork(pid, threads));
    const counted = subjects.map(({ timers }) => (timers === undefined ? 0 : lines(timers).length));
    say(`idle for ${seconds} s …`);
    await sleep(seconds * 1000);
    const rows: string[][] = [];
    const sources = new Map<string, number>();
    for (const [index, { name, pid, threads, timers }] of subjects.entries()) {
      const known = before[index];
      if (known === undefined) continue;
      const used = workBetween(known, readUsedWork(pid, threads));
      if (timers !== undefined) {
        for (const line of lines(timers).slice(counted[index]))
          sources.set(line, (sources.get(line) ?? 0) + 1);
        continue;
      }
      const share = sumOf(used.cpu) / (seconds * 1000);
      const threadTimes = [...used.cpu]
        .filter(([, ms]) => ms >= 0.5)
        .map(([thread, ms]) => `${thread} ${ms.toFixed(1)}`);
      rows.push([
        name,
        `${(100 * share).toFixed(3)} %`,
        share < MOST_IDLE_SHARE ? 'met' : 'MISSED',
        (used.waits / seconds).toFixed(1),
        (sumOf(used.written) / 1000).toFixed(0),
        threadTimes.join(', '),
      ]);
    }
    const table = markdownTable(
      [
        '',
        'of one core',
        `goal: under ${100 * MOST_IDLE_SHARE} %`,
        'wake-ups a second',
        'kB written',
        'CPU ms by thread',
      ],
      rows,
    );
    const timers = [...sources].sort((a, b) => b[1] - a[1]).map(([source, count]) => [source, String(count)]);
    return [
      `${heading}: ${seconds} s without a request.`,
      '',
      table,
      '',
      markdownTable(['timer (thread, who set it)', `fired in ${seconds} s`], timers),
    ].join('\n');
  } finally {
    for (const subject of subjects) await subject.close();
  }
}

const upstream = await startChild('provider', [], import.meta.url);
try {
  const text = options.idle ? await measureIdle(upstream.port) : await measurePace(upstream.port);
  mkdirSync('.cache/bench', { recursive: true });
  writeFileSync(`.cache/bench/${options.idle ? 'idle' : 'pace'}.md`, text);
  if (options.write)
    writeSection('lab/results/performance.md', options.idle ? 'bench:idle' : 'bench:pace', text);
  process.stdout.write(`${text}\n`);
} finally {
  await endChild(upstream);
}
