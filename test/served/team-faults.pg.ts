import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type PostgresServer, startPostgres } from '../../lab/measure/postgres-server.ts';
import { openPgReader } from '../../team/postgres/pg-store.ts';
import { ask } from '../support/client.ts';
import { makeHome, startDaemon } from '../support/daemon.ts';
import { type Life, nothingTold, runClient, type Told } from '../support/gateway-load.ts';
import { lessonText } from '../support/lesson-text.ts';
import { needPostgres } from '../support/need-postgres.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { wholeReply } from '../support/samples.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { type RunningWorker, startWorker } from '../support/worker.ts';

/** `npm run test:team-faults` is the long form. */
const ROUNDS = Number(process.env.TEAM_ROUNDS ?? 1);
const GATEWAYS = 3;
const WORKERS = 2;
/** A turn is durable within 50 ms of its last byte, within a second while the database does not answer; the rest is the machine. */
const BOUND_MS = 2_500;

const LESSON = {
  op: 'add',
  id: 'pods',
  kind: 'skill',
  state: 'live',
  text: lessonText({
    name: 'read-previous-logs',
    description: 'When a Kubernetes pod is in CrashLoopBackOff.',
    content: 'Read the logs of the previous instance first: `kubectl logs --previous`.',
  }),
};

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const bin = needPostgres();
/** A disk of its own, small enough to be filled; undefined where this user may not mount one. */
function mountDisk(): string | undefined {
  const dir = mkdtempSync(join(tmpdir(), 'instar-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=300m,mode=755', 'tmpfs', dir], { stdio: 'ignore' });
    return dir;
  } catch {
    rmSync(dir, { recursive: true });
    return undefined;
  }
}
const disk = mountDisk();

let server: PostgresServer;
let proxy: TcpProxy;
let provider: Provider;
let url = '';
const homes: ReturnType<typeof makeHome>[] = [];
const lives: (Life | undefined)[] = [];
const workers: RunningWorker[] = [];
/** The system texts of each session, in order. */
const prompts = new Map<string, string[]>();

beforeAll(async () => {
  if (disk !== undefined) mkdirSync(join(disk, 'server'), { mode: 0o755 });
  server = await startPostgres(bin, false, false, disk && join(disk, 'server'));
  proxy = await startTcpProxy(server.port);
  provider = await startProvider((request, response) => {
    const { messages } = JSON.parse(request.body.toString()) as {
      messages: { role: string; content: string }[];
    };
    const session =
      /^(\S+):/.exec(messages.findLast(({ role }) => role === 'user')?.content ?? '')?.[1] ?? '';
    const system = messages.find(({ role }) => role === 'system')?.content ?? '';
    prompts.set(session, [...(prompts.get(session) ?? []), system]);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(wholeReply('openai-chat'));
  });
  url = server.freshUrl().replace(`:${server.port}/`, `:${proxy.port}/`);
  for (let n = 0; n < GATEWAYS + WORKERS; n++)
    homes.push(
      makeHome({
        providers: { local: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } },
        models: { default: 'local/m', evolver: 'off', judge: 'off' },
        store: { url },
      }),
    );
  // The lesson is in the database before the others read the library.
  await startGateway(0);
  await untilHealthy();
  const { port = 0, ownerKey = '' } = lives[0]?.daemon ?? {};
  const added = await ask(port, {
    path: '/api/lessons',
    headers: { authorization: `Bearer ${ownerKey}` },
    body: JSON.stringify({ changes: [LESSON], reason: 'a test' }),
  });
  expect(added.status).toBe(200);
  for (let n = 1; n < GATEWAYS; n++) await startGateway(n);
  for (let n = 0; n < WORKERS; n++) workers[n] = await startWorker(homes[GATEWAYS + n]?.dir ?? '');
}, 240_000);
afterAll(async () => {
  const left = [...lives.map((life) => life?.daemon), ...workers];
  for (const one of left) one?.child.kill('SIGTERM');
  for (const one of left) await one?.exited;
  await provider?.close();
  await proxy?.close();
  await server?.stop();
  for (const home of homes) home.remove();
  if (disk !== undefined) {
    execFileSync('umount', ['-l', disk]);
    rmSync(disk, { recursive: true, force: true });
  }
}, 120_000);

async function startGateway(n: number): Promise<void> {
  lives[n] = { daemon: await startDaemon(homes[n]?.dir ?? '') };
}
async function killGateway(n: number): Promise<void> {
  const life = lives[n];
  if (life === undefined) return;
  life.killedAt = Date.now();
  lives[n] = undefined;
  life.daemon.child.kill('SIGKILL');
  await life.daemon.exited;
}
const restartGateway = async (n: number): Promise<void> => {
  await killGateway(n);
  await startGateway(n);
};
async function restartWorker(n: number): Promise<void> {
  workers[n]?.child.kill('SIGKILL');
  await workers[n]?.exited;
  workers[n] = await startWorker(homes[GATEWAYS + n]?.dir ?? '');
}
const health = async (n: number) =>
  JSON.parse((await ask(lives[n]?.daemon.port ?? 0, { method: 'GET', path: '/healthz' })).text) as {
    database?: string;
    waitingTurns?: number;
  };
/** Until every gateway has said so. */
const untilHealthy = () =>
  vi.waitFor(
    async () => {
      for (const n of lives.keys()) expect(await health(n)).toEqual({ ok: true });
    },
    { timeout: 150_000, interval: 250 },
  );
const untilAway = () =>
  vi.waitFor(
    async () => {
      for (const n of lives.keys()) expect(await health(n)).toMatchObject({ database: 'away' });
    },
    { timeout: 60_000, interval: 100 },
  );

async function fillDisk(work: () => Promise<void>): Promise<void> {
  const files: string[] = [];
  try {
    for (const size of [16_777_216, 1_048_576, 4_096])
      for (let n = 0; ; n++) {
        const file = join(disk ?? '', `filler-${size}-${n}`);
        files.push(file);
        try {
          writeFileSync(file, Buffer.alloc(size));
        } catch {
          rmSync(file, { force: true });
          break;
        }
      }
    await work();
  } finally {
    for (const file of files) rmSync(file, { force: true });
    if (!server.isRunning()) await server.start();
  }
}

const FAULTS: readonly { readonly name: string; readonly run: (nth: number) => Promise<void> }[] = [
  { name: 'kill -9 of a gateway', run: (nth) => restartGateway(nth % GATEWAYS) },
  { name: 'kill -9 of a worker', run: (nth) => restartWorker(nth % WORKERS) },
  {
    name: 'kill -9 of the database, started again',
    run: async () => {
      await server.kill();
      try {
        await untilAway();
        await pause(2_000);
      } finally {
        await server.start();
      }
    },
  },
  {
    name: 'database paused (SIGSTOP) for 8 s',
    run: async () => {
      server.pause(true);
      try {
        await pause(8_000);
        await untilAway();
      } finally {
        server.pause(false);
      }
    },
  },
  {
    name: 'network cut: connections reset',
    run: async () => {
      proxy.cut('reset');
      try {
        await untilAway();
        await pause(3_000);
      } finally {
        proxy.heal();
      }
    },
  },
  {
    name: 'network cut: silence',
    run: async () => {
      proxy.cut('silent');
      try {
        await untilAway();
        await pause(2_000);
      } finally {
        proxy.heal();
      }
    },
  },
  {
    name: 'database away, kill -9 of a gateway that starts without it, and again in the replay',
    run: async (nth) => {
      await server.kill();
      try {
        await untilAway();
        await pause(BOUND_MS);
        await restartGateway(nth % GATEWAYS);
        await pause(BOUND_MS + 1_000);
      } finally {
        await server.start();
      }
      await restartGateway((nth + 1) % GATEWAYS);
    },
  },
  ...(disk === undefined
    ? []
    : [
        {
          name: 'full disk of the database',
          run: () =>
            fillDisk(async () => {
              await untilAway();
              await pause(2_000);
            }),
        },
      ]),
];

interface Counts {
  readonly turns: number;
  readonly feedback: number;
  readonly erased: number;
  readonly refused: number;
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  readonly unrecorded: number;
}

/** Compares what the clients were told with what is in the database. */
async function compare(told: Told): Promise<Counts> {
  const reader = await openPgReader(url);
  try {
    const counts = new Map<string, number>();
    const notes = new Map<string, number>();
    for (let after = 0; ; ) {
      const page = await reader.facts(after, 2_000);
      for (const { seq, fact } of page) {
        after = seq;
        const isTurn = fact.type === 'turn-start' || (fact.type === 'turn-end' && fact.status !== 'crashed');
        if (isTurn)
          counts.set(`${fact.type} ${fact.turn}`, (counts.get(`${fact.type} ${fact.turn}`) ?? 0) + 1);
        if (fact.type === 'lessons-recalled')
          counts.set(
            `recall ${fact.turn} ${fact.why}`,
            (counts.get(`recall ${fact.turn} ${fact.why}`) ?? 0) + 1,
          );
        // What the process that learns writes, whichever process that was.
        const learned =
          fact.type === 'library-changed'
            ? `set ${fact.set}`
            : fact.type === 'turn-appraised'
              ? JSON.stringify(fact)
              : undefined;
        if (learned !== undefined) counts.set(learned, (counts.get(learned) ?? 0) + 1);
        if (fact.type === 'reward-given') notes.set(fact.note ?? '', (notes.get(fact.note ?? '') ?? 0) + 1);
      }
      if (page.length === 0) break;
    }
    const isSure = ({ life: { killedAt }, at }: Told['turns'][number]): boolean =>
      killedAt === undefined || at < killedAt - BOUND_MS;
    const kept = told.turns.filter(({ session }) => !told.unclear.has(session));
    const sure = kept.filter(isSure);
    const lost: string[] = [];
    let unrecorded = 0;
    for (const turn of kept) {
      const isThere = counts.get(`turn-end ${turn.id}`) === 1 && counts.get(`turn-start ${turn.id}`) === 1;
      if (!isThere && isSure(turn)) lost.push(`turn ${turn.id} of ${turn.session}`);
      if (!isThere && !isSure(turn)) unrecorded++;
    }
    for (const key of told.feedback)
      if (notes.get(key) !== 1) lost.push(`feedback ${key}: ${notes.get(key) ?? 0}`);
    for (const session of told.erased)
      if ((await reader.session(session))?.erased !== true) lost.push(`erasure of ${session}`);
    // In order within its session.
    for (const session of new Set(kept.map((turn) => turn.session))) {
      const recorded = (await reader.turns(session)).map(({ id }) => id);
      const asked = kept.filter((turn) => turn.session === session).map(({ id }) => id);
      const both = asked.filter((id) => recorded.includes(id));
      if (recorded.filter((id) => both.includes(id)).join() !== both.join()) lost.push(`order of ${session}`);
    }
    expect(await reader.check()).toEqual([]);
    return {
      turns: sure.length,
      feedback: told.feedback.length,
      erased: told.erased.size,
      refused: told.refused,
      lost,
      doubled: [...counts].flatMap(([name, times]) => (times > 1 ? [name] : [])),
      unrecorded,
    };
  } finally {
    await reader.close();
  }
}

describe('three gateways and two workers over one database, under load', () => {
  it.each(FAULTS)(
    '$name: nothing that was acknowledged is lost or doubled, and blocks do not change',
    async ({ name, run }) => {
      const told = nothingTold();
      let isOver = false;
      const clients = lives.flatMap((_, n) =>
        [0].map((client) =>
          runClient(`${name.replaceAll(/\W+/g, '')}-g${n}c${client}`, {
            life: () => lives[n],
            isOver: () => isOver,
            told,
          }),
        ),
      );
      try {
        for (let round = 0; round < ROUNDS; round++) {
          await expect.poll(() => told.turns.length, { timeout: 60_000 }).toBeGreaterThan(20 * (round + 1));
          await run(round);
          await pause(1_000);
          await untilHealthy();
        }
        const before = told.feedback.length;
        await expect.poll(() => told.feedback.length, { timeout: 60_000 }).toBeGreaterThan(before);
      } finally {
        isOver = true;
      }
      await Promise.all(clients);
      await pause(1_000);
      await untilHealthy();
      const counts = await compare(told);
      process.stderr.write(
        `${name} | ${ROUNDS} | ${counts.turns} | ${counts.feedback} | ${counts.erased} | ${counts.refused} | ` +
          `${counts.lost.length} | ${counts.doubled.length} | ${counts.unrecorded} | ${JSON.stringify([...told.reasons])}\n`,
      );
      expect(counts.lost).toEqual([]);
      expect(counts.doubled).toEqual([]);
      expect(told.failures).toEqual([]);
      let blocks = 0;
      for (const [session, texts] of prompts) {
        const shown = new Set(texts.filter((text) => text !== ''));
        expect(shown.size > 1 ? [...shown] : [], `the blocks of ${session}`).toEqual([]);
        blocks += shown.size;
      }
      expect(blocks).toBeGreaterThan(0);
    },
    300_000 + ROUNDS * 120_000,
  );
});
