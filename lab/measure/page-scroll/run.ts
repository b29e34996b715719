import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { fillHome } from '../page/large-home.ts';

/** The list of sessions of a large record in a real browser, scrolled from its beginning to its end: npm run bench:page-scroll [-- --sessions=N]. */
const sessions = Number(/--sessions=(\d+)/.exec(process.argv.join(' '))?.[1] ?? 100_000);
/** A longer task of the page's main thread is felt as a stop. */
const GOAL_MS = 200;
const MOST_ROWS = 100;
const LONGEST_MS = 400_000;

const browserFile = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
  (file) => file !== undefined && existsSync(file),
);
if (browserFile === undefined) throw new Error('No chromium was found. Name it: CHROMIUM=/path/to/chromium');

const root = mkdtempSync(path.join(tmpdir(), 'instar-scroll-'));
const home = path.join(root, 'home');
fillHome(home, { turns: sessions, lessons: 100, events: 100 }, (line) => process.stderr.write(`${line}\n`));
const child = spawn(
  process.execPath,
  [path.resolve('dist/src/cli/main.js'), 'up', '--port', '0', '--home', home],
  { stdio: ['ignore', 'pipe', 'ignore'] },
);
const url = await new Promise<string>((resolve) => {
  child.stdout.on('data', (chunk: Buffer) => {
    const ready = /instar ready (\S+)/.exec(chunk.toString())?.[1];
    if (ready !== undefined) resolve(ready);
  });
});
const authorization = `Bearer ${readFileSync(path.join(home, 'owner-key'), 'utf8').trim()}`;
const reply = await fetch(`${url}/api/code`, {
  method: 'POST',
  headers: { authorization, 'content-type': 'application/json' },
  body: '{}',
});
const { url: address } = (await reply.json()) as { readonly url: string };

/** Learning follows the record at the start; it is not what is measured. */
for (let quiet = 0; quiet < 3; ) {
  const from = performance.now();
  await (await fetch(`${url}/api/status`, { headers: { authorization } })).text();
  quiet = performance.now() - from < 50 ? quiet + 1 : 0;
  await wait(1000);
}

const browser = await chromium.launch({
  executablePath: browserFile,
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
await page.goto(address);
await page.waitForSelector('main h1');
await page.goto(`${url}/#/sessions`);
await page.waitForSelector('tr[data-row="20"]');

interface Scrolled {
  /** What stands below the list. */
  readonly end: string;
  readonly most: number;
  readonly tasks: readonly number[];
  readonly frames: readonly number[];
  readonly isWhole: boolean;
  readonly seconds: number;
}

/** As text: the browser runs it, and types of the browser are not among those of this program. */
const scroll = `(async () => {
  const tasks = [];
  const watch = new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => tasks.push(duration)));
  watch.observe({ type: 'longtask' });
  const frames = [];
  let most = 0;
  let last = performance.now();
  const begun = last;
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const isWhole = () => document.querySelector('.list-end').textContent.includes('that is all.');
  // To the end, page after page; then to many places of the whole list.
  const look = async () => {
    await frame();
    const now = performance.now();
    frames.push(now - last);
    last = now;
    most = Math.max(most, document.querySelectorAll('tr[data-row]').length);
  };
  for (let n = 0; ; n++) {
    scrollTo(0, document.documentElement.scrollHeight);
    await look();
    if (n % 30 === 0 && (isWhole() || performance.now() - begun > ${LONGEST_MS})) break;
  }
  const height = document.documentElement.scrollHeight;
  for (let n = 0; n < 300; n++) {
    scrollTo(0, ((n * 7919) % 1000) / 1000 * height);
    await look();
  }
  return {
    end: document.querySelector('.list-end').textContent,
    most, tasks, frames, isWhole: isWhole(), seconds: (performance.now() - begun) / 1000,
  };
})()`;
const seen = (await page.evaluate(scroll)) as Scrolled;
await browser.close();
child.kill('SIGTERM');
await new Promise((resolve) => child.once('exit', resolve));
rmSync(root, { recursive: true, force: true });

const frames = seen.frames.toSorted((a, b) => a - b);
const at = (share: number): string =>
  (frames[Math.min(frames.length - 1, Math.floor(share * frames.length))] ?? 0).toFixed(0);
const longest = Math.max(0, ...seen.tasks);
process.stdout.write(
  `${sessions} sessions${seen.isWhole ? ', scrolled to the end' : `, not to the end (${seen.end})`} in ${seen.seconds.toFixed(0)} s, ${frames.length} frames.
Rows in the document: at most ${seen.most}. Time between frames: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms.
Tasks over 50 ms: ${seen.tasks.length}, the longest ${longest.toFixed(0)} ms (goal: none over ${GOAL_MS} ms).\n`,
);
process.exitCode = seen.most <= MOST_ROWS && longest <= GOAL_MS && seen.isWhole ? 0 : 1;
