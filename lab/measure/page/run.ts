import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { PAGE_ROUTES } from '../../../src/api/router/page-routes.ts';
import { type RouteShape, routeName } from '../../../src/api/router/route-shape.ts';
import { ROUTES } from '../../../src/api/router/routes.ts';
import { markdownTable, milliseconds, writeSection } from '../markdown.ts';
import { fillHome } from './large-home.ts';

/** How long the page waits for each route, with a large record: npm run bench:page [-- --turns=N --lessons=N --events=N --write]. */
const numberOf = (name: string, usual: number): number =>
  Number(
    new RegExp(`^--${name}=(\\d+)$`).exec(
      process.argv.find((arg) => arg.startsWith(`--${name}=`)) ?? '',
    )?.[1] ?? usual,
  );
const size = {
  turns: numberOf('turns', 100_000),
  lessons: numberOf('lessons', 10_000),
  events: numberOf('events', 1_000_000),
};
const REPEATS = numberOf('repeats', 30);
/** A page must not wait longer for any view. */
const GOAL_MS = 200;

const root = mkdtempSync(path.join(tmpdir(), 'instar-page-'));
const home = path.join(root, 'home');
fillHome(home, size, (line) => process.stderr.write(`${line}\n`));

const main = path.resolve('dist/src/cli/main.js');
const child = spawn(process.execPath, [main, 'up', '--port', '0', '--home', home], {
  stdio: ['ignore', 'pipe', 'ignore'],
});
const url = await new Promise<string>((resolve) => {
  child.stdout.on('data', (chunk: Buffer) => {
    const ready = /instar ready (\S+)/.exec(chunk.toString())?.[1];
    if (ready !== undefined) resolve(ready);
  });
});
const authorization = `Bearer ${readFileSync(path.join(home, 'owner-key'), 'utf8').trim()}`;
const ask = async (place: string): Promise<{ readonly ms: number; readonly bytes: number }> => {
  const from = performance.now();
  const reply = await fetch(url + place, { headers: { authorization } });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${place}: ${reply.status} ${text.slice(0, 300)}`);
  return { ms: performance.now() - from, bytes: text.length };
};

/** Learning follows the record at the start; it is not what is measured. */
async function settle(): Promise<void> {
  for (let quiet = 0; quiet < 3; ) {
    const { ms } = await ask('/api/status');
    quiet = ms < 50 ? quiet + 1 : 0;
    await wait(1000);
  }
}

const middle = Math.floor(size.turns / 2);
const session = `s_${middle.toString(36).padStart(8, '0')}`;
const turn = `t_${middle.toString(36).padStart(20, '0')}`;
const lesson = `lesson_${Math.floor(size.lessons / 2)
  .toString(36)
  .padStart(6, '0')}`;
const IDS: Readonly<Record<string, string>> = { session, turn, lesson, generation: '1' };
/** Queries that cost more than none. */
const VARIANTS: Readonly<Record<string, readonly string[]>> = {
  '/api/page/sessions': ['', '?agent=codex', '?q=Question%20777', '?q=nowhere', '?outcome=bad'],
  '/api/page/lessons': ['', '?q=account%20777', '?state=proposed'],
  '/api/page/growth': ['', '?days=365', '?days=365&agent=codex&split=2026-06-01T00:00:00.000Z'],
  '/api/page/generations/:id/diff': ['?to=20'],
  '/api/generations/:id/diff': ['?to=20'],
  '/api/page/memory': ['', '?q=account'],
};
/** The page asks for none of these: a list of everything. */
const WHOLE = new Set<string>([
  'library',
  'lessons',
  'trajectory',
  'metrics',
  'healthz',
  'openapi',
  'episode',
  // Those of the page answer in parts.
  'review',
  'training',
  'why',
]);

const results: { readonly name: string; readonly row: readonly string[]; readonly p95: number }[] = [];
await settle();
for (const [key, route] of Object.entries({ ...ROUTES, ...PAGE_ROUTES }) as readonly (readonly [
  string,
  RouteShape,
])[]) {
  if (route.method !== 'GET' || typeof route.reply !== 'function' || WHOLE.has(key)) continue;
  for (const query of VARIANTS[route.path] ?? ['']) {
    const place = route.path.replace(':id', IDS[route.noun ?? ''] ?? '') + query;
    const first = await ask(place);
    const times: number[] = [];
    for (let n = 0; n < REPEATS; n++) times.push((await ask(place)).ms);
    times.sort((a, b) => a - b);
    const at = (share: number): number =>
      times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? 0;
    const name = `${routeName(route)}${query}`;
    const row = [
      `\`${name}\``,
      milliseconds(first.ms),
      milliseconds(at(0.5)),
      milliseconds(at(0.95)),
      `${Math.round(first.bytes / 1024)} KB`,
    ];
    results.push({ name, row, p95: at(0.95) });
    process.stderr.write(`${row.join('  ')}\n`);
  }
}
child.kill('SIGTERM');
await new Promise((resolve) => child.once('exit', resolve));

const table = markdownTable(
  ['route', 'first', 'p50', 'p95', 'reply'],
  results.map(({ row }) => row),
);
const late = results.filter(({ p95 }) => p95 >= GOAL_MS);
const verdict =
  late.length === 0
    ? `Every p95 is under ${GOAL_MS} ms.`
    : `Over ${GOAL_MS} ms at p95: ${late.map(({ name }) => name).join(', ')}.`;
const head = `${size.turns} turns in as many sessions, ${size.lessons} lessons, ${size.events} events; ${REPEATS} requests each, one after the other.`;
process.stdout.write(`${head}\n\n${table}\n\n${verdict}\n`);
mkdirSync('.cache/bench', { recursive: true });
writeFileSync('.cache/bench/page.json', JSON.stringify(results, null, 2));
if (process.argv.includes('--write')) {
  const when = new Date().toISOString().slice(0, 10);
  const command = '`npm run bench:page -- --write`';
  const text = `${when}, Node ${process.versions.node}, 2 cores. ${command}\n\n${head}\n\n${table}\n\n${verdict}\n`;
  writeSection('docs/performance.md', 'bench:page', text);
}
rmSync(root, { recursive: true, force: true });
process.exitCode = late.length === 0 ? 0 : 1;
