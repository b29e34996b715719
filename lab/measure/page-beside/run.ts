import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endChild, readCpu, startChild } from '../gateway/child-process.ts';
import { halfRange, type LoadResult, median } from '../gateway/load-order.ts';
import { startInstar } from '../gateway/start-instar.ts';
import { markdownTable, milliseconds, writeSection } from '../markdown.ts';

/*
 * Whether serving is slower while a page is open: npm run bench:page-beside [-- --write]. One daemon, rounds in turn without a page
 * and with one that follows the feed and asks every two seconds what the view Now asks.
 */
const ROUNDS = Number(
  /^--rounds=(\d+)$/.exec(process.argv.find((arg) => arg.startsWith('--rounds=')) ?? '')?.[1] ?? 9,
);
const ROUND_MS = 3000;
const ASK_MS = 2000;
const NOW = ['/api/status', '/api/today', '/api/learning'];
const PACES = [
  { name: '50 requests a second', connections: 8, perSecond: 50 },
  { name: 'as fast as it can', connections: 32, perSecond: undefined },
];

interface BesideRound {
  readonly p50: number;
  readonly p99: number;
  /** Microseconds of the main thread for each request. */
  readonly main: number;
  /** Of all threads. */
  readonly all: number;
}

const upstream = await startChild('upstream');
const loader = await startChild('load');
const instar = await startInstar({ main: 'dist/src/cli/main.js', upstreamPort: upstream.port });
const authorization = `Bearer ${readFileSync(path.join(instar.home, 'owner-key'), 'utf8').trim()}`;
const origin = `http://127.0.0.1:${instar.port}`;
const page = await signIn();

/** A browser that is signed in: what the daemon answers to a page is not what it answers to a key. */
async function signIn(): Promise<Readonly<Record<string, string>>> {
  const post = (place: string, body: object, headers: Readonly<Record<string, string>>) =>
    fetch(origin + place, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const { code } = (await (await post('/api/code', {}, { authorization })).json()) as { code: string };
  const same = { 'sec-fetch-site': 'same-origin', origin };
  const entered = await post('/api/login', { code }, same);
  const { word } = (await entered.json()) as { word: string };
  const cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  return { ...same, cookie, 'x-instar-page': word };
}

async function askAsPage(place: string, signal: AbortSignal): Promise<void> {
  const reply = await fetch(origin + place, { headers: page, signal });
  if (!reply.ok) throw new Error(`${place}: ${reply.status}`);
  await reply.text();
}

/** A page, as far as the daemon sees it. */
async function openPage(): Promise<() => Promise<void>> {
  const stop = new AbortController();
  const feed = await fetch(`${origin}/api/feed`, { headers: page, signal: stop.signal });
  const read = async (): Promise<void> => {
    const reader = feed.body?.getReader();
    while (reader !== undefined && !(await reader.read()).done);
  };
  const look = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      for (const route of NOW) await askAsPage(route, stop.signal);
      await sleep(ASK_MS, undefined, { signal: stop.signal });
    }
  };
  const done = Promise.allSettled([read(), look()]);
  return async () => {
    stop.abort();
    await done;
  };
}

const NO_CPU = { main: Number.NaN, all: Number.NaN };

async function measureRound(pace: (typeof PACES)[number], hasPage: boolean): Promise<BesideRound> {
  const close = hasPage ? await openPage() : undefined;
  const before = readCpu(instar.pid) ?? NO_CPU;
  loader.send({
    port: instar.port,
    model: 'bench-json',
    size: '1 KB',
    headers: instar.headers,
    connections: pace.connections,
    openOverMs: 0,
    until: { ms: ROUND_MS },
    isExact: true,
    ...(pace.perSecond === undefined ? {} : { perSecond: pace.perSecond }),
  });
  const [tally] = (await once(loader, 'message')) as [LoadResult];
  const after = readCpu(instar.pid) ?? NO_CPU;
  await close?.();
  const each = (key: 'main' | 'all'): number => ((after[key] - before[key]) * 1000) / tally.requests;
  return { ...tally.latency, main: each('main'), all: each('all') };
}

const rows: string[][] = [];
for (const pace of PACES) {
  const rounds = { without: [] as BesideRound[], with: [] as BesideRound[] };
  await measureRound(pace, true);
  for (let round = 0; round < ROUNDS; round++)
    for (const arm of round % 2 === 0 ? (['without', 'with'] as const) : (['with', 'without'] as const))
      rounds[arm].push(await measureRound(pace, arm === 'with'));
  const of = (arm: keyof typeof rounds, key: keyof BesideRound): number =>
    median(rounds[arm].map((one) => one[key]));
  for (const [key, name, unit] of [
    ['p50', 'median, ms', 1],
    ['p99', '99th percentile, ms', 1],
    ['main', 'main thread, µs a request', 1],
    ['all', 'all threads, µs a request', 1],
  ] as const) {
    const [without, withPage] = [of('without', key) * unit, of('with', key) * unit];
    const unrest = Math.max(
      ...(['without', 'with'] as const).map((arm) => halfRange(rounds[arm].map((one) => one[key]))),
    );
    rows.push([
      `${pace.name}: ${name}`,
      milliseconds(without),
      milliseconds(withPage),
      (withPage / without).toFixed(2),
      `±${Math.round(unrest * 100)} %`,
    ]);
  }
}
await instar.close();
await Promise.all([loader, upstream].map(endChild));

const text = [
  `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}. \`npm run bench:page-beside -- --write\`: ${ROUNDS} rounds of ${ROUND_MS / 1000} s each in turn, requests of 1 KB, medians of rounds; the last column is half the range of the rounds.`,
  markdownTable(['', 'no page', 'a page is open', 'ratio', 'rounds'], rows),
].join('\n\n');
process.stdout.write(`${text}\n`);
if (process.argv.includes('--write')) writeSection('docs/performance.md', 'bench:page-beside', text);
