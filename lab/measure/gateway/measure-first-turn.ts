import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MINILM } from '../../../src/embed/minilm-embed.ts';
import { STATIC } from '../../../src/embed/static-embed.ts';
import { type EngineCounts, enginesBetween, requireComparison, requireSome } from '../measured.ts';
import { createLiveSkill } from '../recall/synthetic.ts';
import { endChild, readThreads, startChild, untilQuiet } from './child-process.ts';
import {
  createFirstRequests,
  type FirstRequest,
  firstTurnLessons,
  REQUEST_KILOBYTES,
} from './first-turn-traffic.ts';
import { spreadOf } from './load-order.ts';
import { type InstarProcess, startInstar } from './start-instar.ts';
import { JSON_REPLY } from './traffic.ts';

/** First turns of conversations at a person's pace, in milliseconds; `added` is over the pass-through beside it. */
interface FirstTurns {
  readonly lessons: number;
  /** Undefined: requests of all sizes. */
  readonly kilobytes?: number;
  readonly requests: number;
  /** How many of their tasks were compared with lessons, by what compared them. */
  readonly engines: Readonly<Record<string, number>>;
  readonly p50: number;
  readonly p99: number;
  readonly bareP50: number;
  readonly bareP99: number;
  /** Shares of the conversations whose right lesson was in the prompt, with its body and in any form. */
  readonly inBody: number;
  readonly inBlock: number;
  /** With its body in the prompt of the second turn. */
  readonly inBodyByNext: number;
  readonly nextP50: number;
  /** CPU for a conversation of two turns: of all threads, of the main thread and of the busiest other one. */
  readonly cpu?: { readonly all: number; readonly main: number; readonly busiest: number };
}

/** The first turn after a start, while the sentence model is not loaded. */
interface ColdTurn {
  readonly lessons: number;
  readonly ms: number;
  readonly bareMs: number;
}

export interface FirstTurnResults {
  readonly turns: readonly FirstTurns[];
  readonly cold: readonly ColdTurn[];
}

const PAUSE_MS = 170;
const LIBRARIES = [50, 1000] as const;
const WARM_REQUESTS = 9;
const TEACH_AT_ONCE = 50;

/** Answers each request at once and keeps its last body, so that what a proxy added can be read. */
interface ReadingUpstream {
  readonly port: number;
  last(): string;
  close(): void;
}

async function openUpstream(): Promise<ReadingUpstream> {
  let last = '';
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      last = Buffer.concat(chunks).toString();
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON_REPLY);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    last: () => last,
    close: () => server.close().closeAllConnections(),
  };
}

interface Answer {
  readonly ms: number;
  readonly lessons: readonly string[];
}

function post(
  port: number,
  body: string,
  headers: Readonly<Record<string, string>>,
  agent: http.Agent,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sentAt = performance.now();
    const request = http.request(
      {
        ...{ host: '127.0.0.1', port, agent, method: 'POST', path: '/v1/chat/completions' },
        headers: { 'content-type': 'application/json', authorization: 'Bearer sk-bench', ...headers },
      },
      (response) => {
        response.resume();
        response.on('end', () => {
          const ms = performance.now() - sentAt;
          if (response.statusCode !== 200) return reject(new Error(`status ${response.statusCode}`));
          resolve({ ms, lessons: String(response.headers['x-instar-lessons'] ?? '').split(',') });
        });
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

interface Observed {
  readonly request: FirstRequest;
  readonly ms: number;
  readonly bareMs: number;
  readonly inBody: boolean;
  readonly inBlock: boolean;
  readonly inBodyByNext: boolean;
  readonly nextMs: number;
}

/** Every request begins a conversation; each goes through the pass-through and through Instar in turn, then has a second turn. */
export async function measureFirstTurn(main: string, count: number): Promise<FirstTurnResults> {
  const upstream = await openUpstream();
  const bare = await startChild('pass-through', [`http://127.0.0.1:${upstream.port}`]);
  const agent = new http.Agent({ keepAlive: true });
  const turns: FirstTurns[] = [];
  const cold: ColdTurn[] = [];
  const observe = async (instar: InstarProcess, request: FirstRequest): Promise<Observed> => {
    const headers = { ...instar.headers, 'x-instar-session': request.session };
    await sleep(PAUSE_MS);
    const { ms: bareMs } = await post(bare.port, request.body, {}, agent);
    await sleep(PAUSE_MS);
    const first = await post(instar.port, request.body, headers, agent);
    const inBody = hasBody(upstream.last(), request);
    await sleep(PAUSE_MS);
    const next = await post(instar.port, request.next, headers, agent);
    const inBodyByNext = hasBody(upstream.last(), request);
    const inBlock = first.lessons.includes(request.right.id);
    return { request, ms: first.ms, bareMs, inBody, inBlock, inBodyByNext, nextMs: next.ms };
  };
  try {
    for (const lessons of LIBRARIES) {
      const home = await openLibraryHome(main, upstream.port, lessons);
      const instar = await startInstar({ main, upstreamPort: upstream.port, home });
      const known = firstTurnLessons(lessons);
      const [first, ...warm] = createFirstRequests(known, 1 + WARM_REQUESTS, 'warm');
      if (first !== undefined) {
        const { ms, bareMs } = await observe(instar, first);
        cold.push({ lessons, ms, bareMs });
      }
      await instar.untilIndexed();
      for (const request of warm) await observe(instar, request);
      await untilQuiet(instar.pid);
      const before = readThreads(instar.pid);
      const comparedBefore = await instar.engines();
      const seen: Observed[] = [];
      for (const request of createFirstRequests(known, count, 'run'))
        seen.push(await observe(instar, request));
      await untilQuiet(instar.pid);
      const cpu = cpuSince(before, readThreads(instar.pid), instar.pid, seen.length);
      const engines = enginesBetween(comparedBefore, await instar.engines());
      requireComparison([STATIC, MINILM], engines);
      turns.push({ ...summarize(lessons, seen, engines), cpu });
      for (const kilobytes of REQUEST_KILOBYTES)
        turns.push({
          ...summarize(
            lessons,
            seen.filter(({ request }) => request.kilobytes === kilobytes),
            engines,
          ),
          kilobytes,
        });
      await instar.close();
      rmSync(home, { recursive: true, force: true });
    }
  } finally {
    agent.destroy();
    await endChild(bare);
    upstream.close();
  }
  return { turns, cold };
}

/** A line of a lesson's text as it stands in a JSON body. */
function hasBody(sent: string, { right }: FirstRequest): boolean {
  const lines = right.content.split('\n').filter((line) => line.length > 20);
  const [line = right.content] = lines.slice(-1);
  return sent.includes(JSON.stringify(line.trim()).slice(1, -1));
}

function summarize(lessons: number, seen: readonly Observed[], engines: EngineCounts): FirstTurns {
  requireSome('first turn that was served', seen.length);
  const first = spreadOf(seen.map(({ ms }) => ms));
  const bare = spreadOf(seen.map(({ bareMs }) => bareMs));
  const share = (is: (one: Observed) => boolean): number => seen.filter(is).length / seen.length;
  return {
    lessons,
    requests: seen.length,
    engines: Object.fromEntries(engines.byEngine),
    p50: first.p50,
    p99: first.p99,
    bareP50: bare.p50,
    bareP99: bare.p99,
    inBody: share(({ inBody }) => inBody),
    inBlock: share(({ inBlock }) => inBlock),
    inBodyByNext: share(({ inBodyByNext }) => inBodyByNext),
    nextP50: spreadOf(seen.map(({ nextMs }) => nextMs)).p50,
  };
}

function cpuSince(
  before: ReadonlyMap<number, number>,
  after: ReadonlyMap<number, number>,
  pid: number,
  turns: number,
): FirstTurns['cpu'] & object {
  const used = [...after].map(([thread, ms]) => ({ thread, ms: (ms - (before.get(thread) ?? 0)) / turns }));
  const others = used.filter(({ thread }) => thread !== pid).map(({ ms }) => ms);
  return {
    all: used.reduce((sum, { ms }) => sum + ms, 0),
    main: used.find(({ thread }) => thread === pid)?.ms ?? Number.NaN,
    busiest: Math.max(0, ...others),
  };
}

/** A home with these lessons and their embeddings, copied from one that is made once: embedding a thousand takes a minute. */
async function openLibraryHome(main: string, upstreamPort: number, count: number): Promise<string> {
  const build = createHash('sha256').update(path.resolve(main)).digest('hex').slice(0, 8);
  const kept = path.resolve(`.cache/bench/first-turn-${count}-${build}`);
  if (!existsSync(kept)) {
    const made = createFirstTurnHome(upstreamPort);
    const instar = await startInstar({ main, upstreamPort, home: made });
    const lessons = firstTurnLessons(count).map((lesson) => createLiveSkill(lesson));
    for (let at = 0; at < lessons.length; at += TEACH_AT_ONCE)
      await instar.teach(lessons.slice(at, at + TEACH_AT_ONCE).map(({ id, text }) => ({ id, text })));
    await instar.untilIndexed();
    await instar.close();
    cpSync(made, kept, { recursive: true });
    rmSync(made, { recursive: true, force: true });
  }
  const home = createFirstTurnHome(upstreamPort);
  const config = path.join(home, 'config.json');
  cpSync(kept, home, { recursive: true, filter: (file) => path.basename(file) !== 'config.json' });
  if (!existsSync(config)) throw new Error(`${home} has no config.json`);
  return home;
}

function createFirstTurnHome(upstreamPort: number): string {
  const home = mkdtempSync(path.join(tmpdir(), 'instar-first-turn-'));
  const baseUrl = `http://127.0.0.1:${upstreamPort}/v1`;
  const providers = { bench: { wire: ['openai-chat'], baseUrl, models: ['bench-json'] } };
  writeFileSync(path.join(home, 'config.json'), JSON.stringify({ providers }));
  return home;
}
