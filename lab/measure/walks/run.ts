import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { requireSome } from '../measured.ts';
import { type Inspector, type Isolate, openInspector } from './inspect.ts';

/**
 * How many source files run for one chat request and for a failure that becomes a lesson, by V8's precise coverage of the
 * running daemon, thread by thread; and the size of the tree. `--root DIR` measures another checkout that is built; `--json` prints
 * the numbers for a program, `--list` also the files.
 */

const { values } = parseArgs({
  options: {
    root: { type: 'string', default: '.' },
    list: { type: 'boolean' },
    json: { type: 'boolean' },
    gate: { type: 'boolean' },
  },
});
const root = path.resolve(values.root);
/** A file for each source: what is shipped has the same code in fewer files. Earlier checkouts had no `build/`. */
const OURS = /\/(?:build|dist)\/(?!.*node_modules)(.+)\.js$/;

interface FunctionCoverage {
  readonly ranges: readonly { readonly count: number }[];
}
interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly FunctionCoverage[];
}

async function startCoverage(isolate: Isolate): Promise<void> {
  await isolate.call('Profiler.enable');
  await isolate.call('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
}

/** The files of which a function was called since the last look, by thread. */
async function takeFiles(inspector: Inspector): Promise<ReadonlyMap<string, readonly string[]>> {
  const files = new Map<string, readonly string[]>();
  for (const isolate of inspector.isolates()) {
    const { result = [] } = (await isolate.call('Profiler.takePreciseCoverage')) as {
      readonly result?: readonly ScriptCoverage[];
    };
    const called = result.flatMap(({ url, functions }) => {
      const file = OURS.exec(url)?.[1];
      const isCalled = functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0);
      return file !== undefined && isCalled ? [file] : [];
    });
    files.set(isolate.name, [...(files.get(isolate.name) ?? []), ...called]);
  }
  return files;
}

/** A provider that always gives the same answer. */
async function startProvider(): Promise<{ readonly server: Server; readonly port: number }> {
  const reply = JSON.stringify({
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'It is done.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
  });
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end(reply));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve());
  });
  const address = server.address();
  return { server, port: typeof address === 'object' && address !== null ? address.port : 0 };
}

const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

const mainFile = ['build/src/cli/main.js', 'dist/src/cli/main.js', 'dist/cli/main.js']
  .map((file) => path.join(root, file))
  .find((file) => statSync(file, { throwIfNoEntry: false }) !== undefined);
if (mainFile === undefined) throw new Error(`${root} is not built: run npm run build there`);

const provider = await startProvider();
const home = mkdtempSync(path.join(tmpdir(), 'instar-walks-'));
writeFileSync(
  path.join(home, 'config.json'),
  JSON.stringify({
    providers: { p: { wire: 'openai-chat', baseUrl: `http://127.0.0.1:${provider.port}/v1`, models: ['m'] } },
  }),
);
const child = spawn(
  process.execPath,
  ['--inspect=127.0.0.1:0', mainFile, 'up', '--port', '0', '--home', home],
  { env: { PATH: process.env.PATH }, stdio: ['ignore', 'pipe', 'pipe'] },
);
const firstMatch = (stream: NodeJS.ReadableStream, pattern: RegExp): Promise<string> =>
  new Promise((resolve) => {
    createInterface({ input: stream }).on('line', (line) => {
      const found = pattern.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
const [socket, url] = await Promise.all([
  firstMatch(child.stderr, /listening on (ws:\S+)/),
  firstMatch(child.stdout, /instar ready (\S+)/),
]);
const inspector = await openInspector(socket, startCoverage);
/** Homes of earlier versions have one key for everything. */
const keyIn = (...names: readonly string[]): string => {
  const files = names.map((name) => path.join(home, name));
  const found = files.find((file) => statSync(file, { throwIfNoEntry: false }) !== undefined);
  return found === undefined ? '' : readFileSync(found, 'utf8').trim();
};
const callerKey = keyIn('key');
const ownerKey = keyIn('owner-key', 'key');

const post = async (where: string, body: object, session: string): Promise<Response> =>
  fetch(`${url}${where}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${where === '/v1/feedback' ? ownerKey : callerKey}`,
      'x-instar-session': session,
      'x-instar-agent': 'walker',
    },
    body: JSON.stringify(body),
  });
const chat = async (session: string, text: string): Promise<string> => {
  const reply = await post(
    '/v1/chat/completions',
    { model: 'p/m', messages: [{ role: 'user', content: text }] },
    session,
  );
  await reply.text();
  return reply.headers.get('x-instar-turn') ?? '';
};

const WARM = 5;
const SETTLE_MS = 1_500;
for (let i = 0; i < WARM; i++) await chat(`warm-${i}`, `Write entry ${i} into the report.`);
// What the learning thread runs while it starts belongs to no walk: it has begun, and then nothing runs in it for a while.
let hasLearningBegun = false;
for (let tries = 0; tries < 60; tries++) {
  await sleep(SETTLE_MS);
  const isBusy = ((await takeFiles(inspector)).get('learning-thread')?.length ?? 0) > 0;
  if (hasLearningBegun && !isBusy) break;
  hasLearningBegun ||= isBusy;
}

/** The files that run for every one of some requests: timers run beside some of them. */
const REQUESTS = 3;
let request: ReadonlyMap<string, readonly string[]> | undefined;
for (let nth = 0; nth < REQUESTS; nth++) {
  await chat(`walk-${nth}`, 'Write the next entry into the report.');
  await sleep(SETTLE_MS);
  const files = await takeFiles(inspector);
  request = new Map(
    [...(request ?? files)].map(([thread, called]) => [
      thread,
      called.filter((file) => files.get(thread)?.includes(file)),
    ]),
  );
}

for (let i = 0; i < 3; i++) {
  const turn = await chat(`fail-${i}`, `Write the date of day ${i} into the log file.`);
  await post(
    '/v1/feedback',
    { turn, score: -1, note: 'Write dates as YYYY-MM-DD in log files.' },
    `fail-${i}`,
  );
}
const MOST_TRIES = 3_000;
let lessons = 0;
for (let tries = 0; lessons === 0 && tries < MOST_TRIES; tries++) {
  await sleep(100);
  // The file of the lesson, and not the API: a list of lessons is no part of learning one.
  lessons = readdirSync(path.join(home, 'skills'), { recursive: true }).filter((name) =>
    String(name).endsWith('SKILL.md'),
  ).length;
}
await sleep(SETTLE_MS);
const lesson = await takeFiles(inspector);

inspector.close();
child.kill('SIGTERM');
await new Promise((resolve) => {
  child.on('exit', resolve);
});
provider.server.close();
rmSync(home, { recursive: true, force: true });

const filesBelow = (dir: string): readonly string[] =>
  statSync(dir, { throwIfNoEntry: false }) === undefined
    ? []
    : readdirSync(dir, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => path.join(dir, name));
interface TreeSize {
  readonly files: number;
  readonly lines: number;
  readonly median: number;
}
function sizeOf(dir: string): TreeSize {
  const lines = filesBelow(path.join(root, dir))
    .map((file) => readFileSync(file, 'utf8').split('\n').length - 1)
    .sort((a, b) => a - b);
  const sum = lines.reduce((total, count) => total + count, 0);
  return { files: lines.length, lines: sum, median: lines[lines.length >> 1] ?? 0 };
}

interface Walk {
  readonly all: number;
  readonly threads: Readonly<Record<string, number>>;
}
const walkOf = (files: ReadonlyMap<string, readonly string[]>): Walk => ({
  all: new Set([...files.values()].flat()).size,
  threads: Object.fromEntries([...files].map(([thread, called]) => [thread, new Set(called).size])),
});

const sizes = Object.fromEntries(['src', 'train', 'team', 'lab', 'test'].map((dir) => [dir, sizeOf(dir)]));
const walks = { request: walkOf(request ?? new Map()), lesson: walkOf(lesson) };
requireSome('lesson that was learned', lessons);
if (values.json === true)
  process.stdout.write(`${JSON.stringify({ ...walks, lessons, sizes }, undefined, 2)}\n`);
else {
  for (const [dir, { files, lines, median }] of Object.entries(sizes))
    process.stdout.write(`${dir}: ${files} files, ${lines} lines, median ${median}\n`);
  for (const [name, { all, threads }] of Object.entries(walks)) {
    const each = Object.entries(threads).map(([thread, count]) => `${thread} ${count}`);
    process.stdout.write(`${name}: ${all} files (${each.join(', ')})\n`);
  }
}
if (values.list === true)
  for (const [thread, files] of [...(request ?? []), ...lesson])
    process.stdout.write(`${thread}\n${files.map((file) => `  ${file}`).join('\n')}\n`);

/**
 * The numbers last reached, and some for what runs beside a walk: three and seven where timers do not count, six and eleven for a lesson.
 * A change that needs more files moves something out first; one that needs fewer lowers them. Goals: request 60 and 120, lesson 80 and 160.
 */
const MOST = { request: { main: 76, all: 190 }, lesson: { main: 146, all: 311 } } as const;

if (values.gate === true)
  for (const [name, { main, all }] of Object.entries(MOST)) {
    const walk = walks[name as keyof typeof walks];
    const reached = { main: walk.threads.main ?? 0, all: walk.all };
    if (reached.main <= main && reached.all <= all) continue;
    process.stderr.write(
      `The walk "${name}" runs ${reached.main} files on the main thread and ${reached.all} in all; at most ${main} and ${all} are allowed. npm run bench:walks -- --list names them.\n`,
    );
    process.exitCode = 1;
  }
