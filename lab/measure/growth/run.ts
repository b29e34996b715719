import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os, { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { endChild, startChild } from '../gateway/child-process.ts';
import { readResults, storeResults } from '../gateway/stored-results.ts';
import { writeSection } from '../markdown.ts';
import { requireSome } from '../measured.ts';
import { fillHistory } from './fill-history.ts';
import { fillLessons } from './fill-lessons.ts';
import { type GrowthResults, growthReport } from './growth-report.ts';
import { measureHome } from './measure-home.ts';
import { measureSessions } from './measure-sessions.ts';

/** What a daemon costs beside a growing record, a growing library and a growing conversation. */
const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    only: { type: 'string', default: 'history,lessons,sessions' },
    /** Other sizes, in place of the usual ones. */
    history: { type: 'string' },
    lessons: { type: 'string' },
    sessions: { type: 'string' },
    instar: { type: 'string', default: 'dist/src/cli/main.js' },
    /** Where homes are made; they are large. */
    dir: { type: 'string', default: path.join(tmpdir(), 'instar-growth') },
    /** Filled homes stay there for the next run. */
    keep: { type: 'boolean', default: false },
    /** A folder for a CPU profile of each thread of each daemon. */
    profile: { type: 'string' },
  },
});
const SIZES = options.quick
  ? { history: '2000', lessons: '10,1000', sessions: '10,60' }
  : { history: '10000,100000,1000000', lessons: '10,1000,10000,100000', sessions: '10,100,1000' };
/** From this many on, a library of which one lesson in a hundred is for the agent is measured too. */
const MANY_LESSONS = 10_000;
/** As fast as the sentence model takes new tasks: a faster person would be measured with first looks alone. */
const PACE = options.quick
  ? { perSecond: 2, warmTurns: 10, turns: 20 }
  : { perSecond: 2, warmTurns: 50, turns: 120 };

const parts = new Set(options.only.split(','));
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const sizesOf = (part: 'history' | 'lessons' | 'sessions'): readonly number[] =>
  parts.has(part) ? (options[part] ?? SIZES[part]).split(',').map(Number) : [];

/** A copy of a filled home; with `--keep` the filled one stays for the next run. */
async function inHome<F, T>(
  name: string,
  fill: (home: string) => Promise<F>,
  work: (home: string, filled: F) => Promise<T>,
): Promise<T> {
  mkdirSync(options.dir, { recursive: true });
  const kept = path.join(options.dir, name);
  const note = `${kept}.json`;
  if (!existsSync(note)) {
    rmSync(kept, { recursive: true, force: true });
    mkdirSync(kept, { mode: 0o700 });
    writeFileSync(note, JSON.stringify({ filled: await fill(kept) }));
  }
  const { filled } = JSON.parse(readFileSync(note, 'utf8')) as { readonly filled: F };
  const home = mkdtempSync(path.join(options.dir, `${name}-`));
  cpSync(kept, home, { recursive: true });
  if (!options.keep) for (const one of [kept, note]) rmSync(one, { recursive: true, force: true });
  try {
    return await work(home, filled);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function measure(upstreamPort: number): Promise<GrowthResults> {
  const before = os.loadavg()[0] ?? 0;
  const main = path.resolve(options.instar);
  const nodeArgs =
    options.profile === undefined
      ? []
      : ['--cpu-prof', `--cpu-prof-dir=${path.resolve(options.profile)}`, '--cpu-prof-interval=500'];
  const plan = { main, upstreamPort, nodeArgs, ...PACE };
  const sessions = sizesOf('sessions');
  const ofSessions =
    sessions.length === 0 ? [] : await measureSessions(main, upstreamPort, sessions, nodeArgs);
  const lessons: GrowthResults['lessons'][number][] = [];
  for (const size of sizesOf('lessons'))
    for (const inScope of size >= MANY_LESSONS ? [size, size / 100] : [size]) {
      say(`${size} lessons, ${inScope} in scope …`);
      const cost = await inHome(
        `lessons-${size}-${inScope}`,
        (home) => fillLessons(home, { lessons: size, inScope }),
        (home) => measureHome(home, plan),
      );
      requireSome(
        `task that was compared with ${size} lessons`,
        Object.values(cost.engines).reduce((sum, count) => sum + count, 0),
      );
      lessons.push({ lessons: size, inScope, cost });
      say(JSON.stringify(cost));
    }
  const history: GrowthResults['history'][number][] = [];
  for (const turns of sizesOf('history')) {
    say(`${turns} turns of history …`);
    history.push(
      await inHome(
        `history-${turns}`,
        async (home) => fillHistory(path.join(home, 'instar.sqlite'), turns, say),
        async (home, times) => ({ turns, times, cost: await measureHome(home, plan) }),
      ),
    );
    say(JSON.stringify(history.at(-1)));
  }
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: `${os.cpus().length} × ${os.cpus()[0]?.model.trim()}, Node ${process.versions.node}`,
    command: `npm run bench:growth${options.quick ? ' -- --quick' : ''}`,
    load: [before, os.loadavg()[0] ?? 0],
    history,
    lessons,
    sessions: ofSessions,
  };
}

async function measured(): Promise<GrowthResults> {
  const upstream = await startChild('provider', [], new URL('../pace/run.js', import.meta.url).href);
  try {
    return await measure(upstream.port);
  } finally {
    await endChild(upstream);
  }
}

/** What was not measured this time stays as it was. */
function withStored(results: GrowthResults): GrowthResults {
  if (parts.size === 3) return results;
  const stored = readResults('growth');
  if (stored === undefined) throw new Error('no results are stored: measure all parts with --write first');
  const keep = <P extends 'history' | 'lessons' | 'sessions'>(part: P): GrowthResults[P] =>
    parts.has(part) ? results[part] : stored[part];
  return { ...results, history: keep('history'), lessons: keep('lessons'), sessions: keep('sessions') };
}

const results = await measured();
process.stdout.write(`${growthReport(results)}\n`);
mkdirSync('.cache/bench', { recursive: true });
writeFileSync('.cache/bench/growth.json', `${JSON.stringify(results, undefined, 2)}\n`);
if (options.write) {
  const whole = withStored(results);
  storeResults('growth', whole);
  writeSection('lab/results/performance.md', 'bench:growth', growthReport(whole));
}
