import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRandom } from '../../src/base/random.ts';
import { createEngineKey } from '../../src/config/engine-key.ts';
import { openHome } from '../../src/config/home.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { TrainDatum } from '../../src/core/training.ts';
import { createLog } from '../../src/redact/create-log.ts';
import {
  findFreePort,
  type SupervisedEngine,
  type SuperviseOptions,
  superviseEngine,
} from '../../train/engine-process.ts';
import { connectTinker } from '../../train/tinker/connect-tinker.ts';

const signal = new AbortController().signal;
const KEY = createEngineKey();
let dir = '';
let open: SupervisedEngine[] = [];
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'instar-engine-'));
  open = [];
});
afterEach(async () => {
  for (const engine of open) await engine.close();
  rmSync(dir, { recursive: true, force: true });
});

interface LogLine {
  readonly level: string;
  readonly msg: string;
}

async function supervise(
  name = 'home',
  more: Partial<SuperviseOptions> = {},
): Promise<{ readonly engine: SupervisedEngine; readonly lines: readonly LogLine[]; readonly home: string }> {
  const lines: LogLine[] = [];
  const stream = { write: (line: string) => lines.push(JSON.parse(line) as LogLine) };
  const home = openHome(path.join(dir, name));
  const engine = await superviseEngine({
    home,
    log: createLog({ format: 'json', level: 'info', stream }),
    clock: systemClock,
    env: process.env,
    key: KEY,
    rule: { firstMs: 10, longestMs: 40 },
    ...more,
  });
  open.push(engine);
  return { engine, lines, home: home.dir };
}

/** A process that nobody has asked about yet still has a number, and is none any more. */
function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return true;
  }
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/, ''));
  } catch {
    return process.platform === 'linux';
  }
}

const kill = (engine: SupervisedEngine): number => {
  const pid = engine.pid();
  if (pid === undefined) throw new Error('there is no process to kill');
  process.kill(pid, 'SIGKILL');
  return pid;
};

const DATUM: TrainDatum = {
  tokens: [1, 3, 40, 41, 4],
  targets: [3, 40, 41, 4, 8],
  weights: [0, 1, 1, 1, 1],
  advantages: [0, 1, -0.5, 0.7, 1],
  logprobs: [0, -2, -3, -4, -1],
};

/** Two steps, and the saved weights with their optimiser. `disturb` is called in the middle of each. */
async function train({ engine, home }: Awaited<ReturnType<typeof supervise>>, disturb: () => Promise<void>) {
  await engine.ready();
  const tinker = await connectTinker({
    url: engine.url,
    key: KEY,
    baseModel: 'instar-nano',
    profile: 'nano',
    selfTest: false,
    fetch,
    clock: systemClock,
    random: createRandom('supervised'),
    pace: { backoffMs: 10, longestMs: 100 },
  });
  const model = await tinker.createModel({ rank: 4, seed: 5 });
  const losses: unknown[] = [];
  for (let step = 0; step < 2; step++) {
    const given = model.forwardBackward({ data: [DATUM, DATUM], loss: 'importance_sampling' }, signal);
    const moved = model.optimStep({ learningRate: 0.01 }, signal);
    // Once what was sent is with the engine, and once while it is on its way.
    if (step === 0) await moved.sent;
    await disturb();
    losses.push((await given.done).metrics['loss:sum'], await moved.done);
  }
  await model.saveState('end');
  await tinker.close();
  const folder = path.join(home, 'engine', 'checkpoints');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const bytes = files
    .filter((file) => file.endsWith('.bin'))
    .map((file) => readFileSync(path.join(folder, file)));
  expect(bytes).toHaveLength(1);
  return { losses, weights: bytes[0] ?? Buffer.alloc(0) };
}

describe('a supervised engine', () => {
  it('is restarted after kill -9 at the same address, and a client’s retries end at the same weights', async () => {
    const calm = await train(await supervise('calm'), async () => undefined);
    const killed = await supervise('killed');
    const { engine, lines } = killed;
    const { url } = engine;
    const pids = new Set<number>();
    const actual = await train(killed, async () => {
      await engine.ready();
      pids.add(kill(engine));
    });
    await engine.ready();
    expect(pids.size).toBe(2);
    expect(pids).not.toContain(engine.pid());
    expect(engine.url).toBe(url);
    expect(actual.losses).toEqual(calm.losses);
    expect(actual.weights.equals(calm.weights)).toBe(true);
    expect(actual.weights.length).toBeGreaterThan(10_000);
    const told = lines.map(({ msg }) => msg);
    expect(told.filter((line) => line.startsWith('the engine ended (SIGKILL)'))).toHaveLength(2);
    expect(told.filter((line) => line === 'the engine is up again')).toHaveLength(2);
  });

  it('reports its state, and ends its process when it is closed', async () => {
    const { engine } = await supervise();
    expect(engine.state()).toBe('starting');
    await engine.ready();
    await engine.ready();
    expect(engine.state()).toBe('up');
    const pid = engine.pid() ?? 0;
    expect((await fetch(`${engine.url}/api/v1/healthz`)).status).toBe(200);
    await Promise.all([engine.close(), engine.close()]);
    expect(isGone(pid)).toBe(true);
    expect(engine.state()).toBe('down');
    expect(engine.pid()).toBeUndefined();
    await expect(engine.ready()).rejects.toThrow('closed');
  });

  it('can be closed while it starts, and rejects those who wait', async () => {
    const { engine } = await supervise();
    const waiting = engine.ready();
    const refused = expect(waiting).rejects.toThrow('closed');
    await engine.close();
    await refused;
    expect(engine.pid()).toBeUndefined();
  });

  it('stops logging after repeated exits, keeps trying, and is up as soon as it can be', async () => {
    const port = await findFreePort(process.pid + 5_000);
    const squatter = createServer();
    await new Promise<void>((resolve) => squatter.listen(port, '127.0.0.1', resolve));
    const starts = new Set<number>();
    const { engine, lines } = await supervise('home', { port, rule: { firstMs: 5, longestMs: 5, told: 2 } });
    await expect
      .poll(
        () => {
          starts.add(engine.pid() ?? 0);
          return starts.size;
        },
        { timeout: 20_000, interval: 5 },
      )
      .toBeGreaterThan(4);
    const ends = lines.filter(({ msg }) => msg.startsWith('the engine ended (exit code 1)'));
    expect(ends.map(({ level }) => level)).toEqual(['warn', 'error']);
    // The reason is told as often as the death, in the words of the child itself.
    expect(lines.filter(({ msg }) => msg.includes(`port ${port} is taken`))).toHaveLength(2);
    await new Promise((resolve) => squatter.close(resolve));
    await engine.ready();
    expect(engine.url).toBe(`http://127.0.0.1:${port}`);
    expect(lines.at(-1)).toMatchObject({ level: 'info', msg: 'the engine is up again' });
  });

  it('waits while another engine uses the home, and names that engine', async () => {
    const first = await supervise();
    await first.engine.ready();
    const owner = first.engine.pid();
    const second = await supervise();
    await expect
      .poll(() => second.lines.map(({ msg }) => msg).join('\n'), { timeout: 15_000 })
      .toContain(`(pid ${owner})`);
    await first.engine.close();
    await second.engine.ready();
    expect(second.engine.url).not.toBe(first.engine.url);
  });

  it.runIf(process.platform === 'linux')('hands on no key of a provider', async () => {
    const secret = 'sk-not-for-the-engine';
    const env = {
      ...process.env,
      OPENAI_API_KEY: secret,
      INSTAR_KEY: secret.repeat(2),
      MY_OWN_TOKEN: secret,
    };
    const { engine } = await supervise('home', { env });
    await engine.ready();
    const handed = readFileSync(`/proc/${engine.pid()}/environ`, 'utf8');
    expect(handed).toContain('PATH=');
    expect(handed).not.toContain(secret);
  });

  it('exits when its supervising process is killed with -9', async () => {
    const program = path.join(import.meta.dirname, 'engine-parent.mjs');
    const home = path.join(dir, 'orphan');
    const parent = spawn(process.execPath, [program, home], { stdio: ['ignore', 'pipe', 'ignore'] });
    const line = await new Promise<string>((resolve, reject) => {
      parent.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()));
      parent.once('exit', (code) => reject(new Error(`exit ${code}`)));
    });
    const [pid = 0, url = ''] = line.split(' ').map((part, at) => (at === 0 ? Number(part) : part)) as [
      number,
      string,
    ];
    expect((await fetch(`${url}/api/v1/healthz`)).status).toBe(200);
    expect(isGone(pid)).toBe(false);
    parent.kill('SIGKILL');
    await expect.poll(() => isGone(pid), { timeout: 10_000 }).toBe(true);
    // It let go of the home as well.
    const { engine } = await supervise('orphan');
    await engine.ready();
  });
});

describe('an engine whose parent exits before it is ready', () => {
  it('exits by itself (it is not left behind)', async () => {
    const main = path.resolve(import.meta.dirname, '../../dist/src/cli/main.js');
    const args = [main, 'engine', 'up', '--port', '0', '--home', path.join(dir, 'left')];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    child.disconnect();
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
  });
});

describe('a free port', () => {
  it('is the next one when one is taken, within its own range', async () => {
    const port = await findFreePort(29_999);
    const squatter = createServer();
    await new Promise<void>((resolve) => squatter.listen(port, '127.0.0.1', resolve));
    const next = await findFreePort(port);
    await new Promise((resolve) => squatter.close(resolve));
    expect(next).not.toBe(port);
    for (const found of [port, next, await findFreePort(1), await findFreePort(4_000_000)]) {
      expect(found).toBeGreaterThanOrEqual(20_000);
      expect(found).toBeLessThan(30_000);
    }
  });
});
