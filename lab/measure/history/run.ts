import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Block, NewFact } from '../../../src/core/store.ts';
import { openSqliteStore } from '../../../src/record/store/sqlite-store.ts';
import { writeSection } from '../markdown.ts';

const DAY_MS = 86_400_000;
const TURNS_PER_SESSION = 20;
const TEXT_BYTES = 800;
/** Prose and code compress about three to one; so do these. */
const WORDS =
  'the of to and a in is it you that he was for on are with as his they be at one have this from or had by hot but some what there we can out other were all your when up use word how said an each she which do their time if will way about many then them would write like so these her long make thing see him two has look more day could go come did my sound no most number who over know water than call first people may down side been now find const return import export function async await null undefined string number boolean interface readonly'.split(
    ' ',
  );

/** Turns spread evenly over the last year, in sessions of twenty, each with a new question and a new answer. */
function createHistory(turns: number) {
  const start = Date.now() - 365 * DAY_MS;
  const step = (365 * DAY_MS) / turns;
  let n = 0;
  let seed = 1;
  const word = (): string => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return WORDS[seed % WORDS.length] ?? '';
  };
  const text = (kind: string): string => {
    let body = '';
    while (body.length < TEXT_BYTES) body += `${word()} `;
    return JSON.stringify({ kind, n, text: body });
  };
  const next = (count: number) => {
    const facts: NewFact[] = [];
    const blocks: Block[] = [];
    for (let i = 0; i < count; i++, n++) {
      const at = Math.round(start + n * step);
      const session = `s_${Math.floor(n / TURNS_PER_SESSION).toString(36)}`;
      const turn = `t_${n.toString(36).padStart(20, '0')}`;
      // The recorder's names for the bodies of a single turn.
      const [request, reply] = [`request:${turn}`, `reply:${turn}`];
      blocks.push(
        { hash: request, text: text('question'), session },
        { hash: reply, text: text('answer'), session },
      );
      const project = { id: `p${n % 7}`, label: 'shop' };
      const known = {
        agent: 'claude-code',
        role: 'main',
        wire: 'anthropic',
        model: 'claude-sonnet-5',
        generation: 3,
        policy: 'anthropic/claude-sonnet-5',
      } as const;
      facts.push(
        {
          at,
          fact: { type: 'turn-start', turn, session, project, ...known, lessons: [], request },
        },
        {
          at: at + 900,
          fact: {
            type: 'turn-end',
            turn,
            status: 'complete',
            httpStatus: 200,
            totalMs: 900,
            usage: { inputTokens: 9000, outputTokens: 300 },
            reply,
          },
        },
      );
    }
    return { facts, blocks };
  };
  return { start, next, textBytes: TEXT_BYTES };
}

/** A year of work in the store: start-up time, listing time and file size. */
const TURNS = Number(
  /^--turns=(\d+)$/.exec(process.argv.find((arg) => arg.startsWith('--turns=')) ?? '')?.[1] ?? 1_000_000,
);
const BATCH = 200;

const main = path.resolve('dist/src/cli/main.js');
const root = mkdtempSync(path.join(tmpdir(), 'instar-history-'));
const home = path.join(root, 'home');
mkdirSync(home, { mode: 0o700 });
const file = path.join(home, 'instar.sqlite');

const timed = <T>(work: () => T): { readonly ms: number; readonly value: T } => {
  const from = performance.now();
  const value = work();
  return { ms: performance.now() - from, value };
};
const milliseconds = (ms: number): string => (ms < 10 ? `${ms.toFixed(2)} ms` : `${Math.round(ms)} ms`);

const store = openSqliteStore({ file });
const history = createHistory(TURNS);
const rates: number[] = [];
let from = performance.now();
for (let n = 0; n < TURNS; n += BATCH) {
  store.append(history.next(BATCH));
  const done = n + BATCH;
  if (done % (TURNS / 10) !== 0) continue;
  rates.push(TURNS / 10 / ((performance.now() - from) / 1000));
  from = performance.now();
  process.stderr.write(`${done} turns, ${Math.round(rates.at(-1) ?? 0)} turns/s\n`);
}
const totals = store.totals();
timed(() => store.close());

const opened = timed(() => openSqliteStore({ file }));
const list = timed(() => opened.value.sessions({ limit: 50 }));
const deep = timed(() => opened.value.sessions({ limit: 50, before: history.start + 86_400_000 * 30 }));
const show = timed(() => opened.value.turns(list.value[25]?.id ?? ''));
opened.value.close();

async function start(): Promise<{ readonly ms: number; readonly rss: number }> {
  const at = performance.now();
  const child = spawn(process.execPath, [main, 'up', '--port', '0', '--home', home], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const ms = performance.now() - at;
  const rss = Number(
    /(\d+)/.exec(spawnSync('ps', ['-o', 'rss=', '-p', String(child.pid)]).stdout.toString())?.[1] ?? 0,
  );
  child.kill('SIGTERM');
  await new Promise((resolve) => child.once('exit', resolve));
  return { ms, rss: rss / 1024 };
}
const daemon = await start();
const listed = timed(() => spawnSync(process.execPath, [main, 'sessions', 'list', '--home', home]));
const size = statSync(file).size;

const rows: readonly (readonly [string, string])[] = [
  ['turns / sessions / facts', `${TURNS} / ${totals.sessions} / ${totals.facts}`],
  [
    'file',
    `${(size / 1048576).toFixed(0)} MB, ${Math.round(size / TURNS)} bytes per turn (each with two new texts of ${history.textBytes} bytes)`,
  ],
  ['recording, first tenth', `${Math.round(rates[0] ?? 0)} turns/s`],
  ['recording, last tenth', `${Math.round(rates.at(-1) ?? 0)} turns/s`],
  ['open the store', milliseconds(opened.ms)],
  ['list the 50 newest sessions', milliseconds(list.ms)],
  ['list 50 from eleven months ago', milliseconds(deep.ms)],
  ['show a session', milliseconds(show.ms)],
  ['`instar up` until ready', `${milliseconds(daemon.ms)}, ${Math.round(daemon.rss)} MB resident`],
  ['`instar sessions list`', milliseconds(listed.ms)],
];
const table = [
  '| what | measured |',
  '|---|---|',
  ...rows.map(([what, value]) => `| ${what} | ${value} |`),
].join('\n');
process.stdout.write(`${table}\n`);
mkdirSync('.cache/bench', { recursive: true });
writeFileSync('.cache/bench/history.json', JSON.stringify(Object.fromEntries(rows), null, 2));
if (process.argv.includes('--write')) {
  const when = new Date().toISOString().slice(0, 10);
  writeSection(
    'docs/performance.md',
    'bench:history',
    `${when}, Node ${process.versions.node}, 2 cores. \`npm run bench:history -- --write\`\n\n${table}\n`,
  );
}
rmSync(root, { recursive: true, force: true });
