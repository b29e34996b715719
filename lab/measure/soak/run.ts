import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { createRandom } from '../../../src/base/random.ts';
import { openSqliteReader } from '../../../src/record/store/sqlite-store.ts';
import { writeSection } from '../markdown.ts';
import { createDriver } from './drive-sessions.ts';
import { startFaultyProvider } from './faulty-provider.ts';
import { describeSoak, GRACE_MS } from './soak-report.ts';
import { createWatchedDaemon, type DaemonSample } from './watch-daemon.ts';

/**
 * The built daemon under a mix of faults, with learning on: does memory grow, do handles leak, does the loop stall, is an
 * acknowledged turn lost? `npm run bench:soak -- --minutes 60 [--rate 2] [--kill-every 5] [--write]`.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    rate: { type: 'string', default: '2' },
    'kill-every': { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    write: { type: 'boolean', default: false },
  },
});
const minutes = Number(values.minutes);
const rate = Number(values.rate);
const killEvery = Number(values['kill-every']);
/** The last third runs without kills, so that growth shows. */
const calmFrom = (minutes * 2) / 3;
const sampleMs = Math.max(1_000, Math.min(10_000, minutes * 1_000));

const random = createRandom(`soak/${values.seed}`);
const provider = await startFaultyProvider(random);
const folder = mkdtempSync(path.join(tmpdir(), 'instar-soak-'));
const home = path.join(folder, 'home');
mkdirSync(home, { mode: 0o700 });
mkdirSync('.cache/bench', { recursive: true });
const logFile = path.resolve('.cache/bench/soak.log');
rmSync(logFile, { force: true });
const entry = {
  wire: ['openai-chat', 'openai-responses', 'anthropic'],
  baseUrl: `http://127.0.0.1:${provider.port}/v1`,
  keyEnv: 'SOAK_PROVIDER_KEY',
};
const models = { default: 'soak/worker', evolver: 'soak/evolver' };
/** An hour of learning from every session needs more tokens than a day of a person. */
const config = { providers: { soak: entry }, models, learn: { budget: { tokensPerDay: 1_000_000_000 } } };
writeFileSync(path.join(home, 'config.json'), JSON.stringify(config), { mode: 0o600 });
const daemon = createWatchedDaemon(home, logFile, { SOAK_PROVIDER_KEY: 'the-provider-accepts-anything' });
await daemon.start();

const driver = createDriver({
  port: daemon.port,
  callerKey: () => daemon.readKey('key'),
  ownerKey: () => daemon.readKey('owner-key'),
  random,
});
const samples: DaemonSample[] = [];
const killedAt: number[] = [];
const copies = { made: 0, failed: 0 };
const began = performance.now();
const minuteNow = (): number => (performance.now() - began) / 60_000;
const isOver = (): boolean => minuteNow() >= minutes;
const until = async (minute: number): Promise<void> => {
  while (minuteNow() < Math.min(minute, minutes)) await pause(200);
};

async function drive(): Promise<void> {
  const running = new Set<Promise<void>>();
  for (let nth = 0; !isOver(); nth++) {
    const step = driver.step().finally(() => running.delete(step));
    running.add(step);
    const due = began + ((nth + 1) * 1000) / rate;
    await pause(Math.max(0, due - performance.now()));
  }
  await Promise.all(running);
}

async function watch(): Promise<void> {
  while (!isOver()) {
    await pause(sampleMs);
    const sample = await daemon.sample();
    if (sample === undefined) continue;
    samples.push(sample);
    const { minute, rssMb, heapMb, fds, lagP99, lagMax, lessons } = sample;
    process.stderr.write(
      `${minute.toFixed(1)} min  rss ${rssMb.toFixed(0)} MB  heap ${heapMb.toFixed(0)} MB  fds ${fds}  lag p99 ${lagP99.toFixed(1)} max ${lagMax.toFixed(0)} ms  turns ${driver.acknowledged.size}  lessons ${lessons}\n`,
    );
  }
}

async function killSometimes(): Promise<void> {
  for (let minute = killEvery; minute < calmFrom; minute += killEvery) {
    await until(minute);
    if (isOver()) return;
    killedAt.push(Date.now());
    await daemon.kill();
    await daemon.start();
  }
}

/** A copy of the running store, as a person makes one; also while the daemon is being killed. */
async function copySometimes(): Promise<void> {
  const every = minutes / 8;
  for (let minute = every; minute < minutes; minute += every) {
    await until(minute);
    const file = path.join(folder, `copy-${copies.made + copies.failed}.sqlite`);
    const args = [path.resolve('dist/src/cli/main.js'), 'backup', file, '--home', home];
    await promisify(execFile)(process.execPath, args, { env: { PATH: process.env.PATH, HOME: home } }).then(
      () => copies.made++,
      () => copies.failed++,
    );
    rmSync(file, { force: true });
  }
}

await Promise.all([drive(), watch(), killSometimes(), copySometimes()]);
await pause(1_000);
const exitCode = await daemon.stop();
await provider.close();

const store = openSqliteReader(path.join(home, 'instar.sqlite'));
const isRecorded = (turn: string): boolean => store.turn(turn) !== undefined;
const missing = [...driver.acknowledged].filter(([turn]) => !isRecorded(turn));
const isAtKill = (at: number): boolean => killedAt.some((kill) => at <= kill + 50 && at > kill - GRACE_MS);
const atKill = missing.filter(([, at]) => isAtKill(at)).length;
const lostFeedback = [...driver.confirmed.keys()].filter(
  (turn) => store.rewards({ turn }).length === 0,
).length;
const text = describeSoak({
  minutes,
  perSecond: rate,
  calmFrom,
  samples,
  kills: killedAt.length,
  copies,
  acknowledged: driver.acknowledged.size,
  lost: { atKill, other: missing.length - atKill },
  feedback: { confirmed: driver.confirmed.size, lost: lostFeedback },
  ends: driver.ends,
  faults: provider.counts,
  findings: store.check(),
  turns: store.totals().turns,
  exitCode,
});
store.close();
rmSync(folder, { recursive: true, force: true });
process.stdout.write(`${text}\n`);
if (values.write) {
  const when = new Date().toISOString().slice(0, 10);
  writeSection(
    'docs/reliability.md',
    'bench:soak',
    `${when}, Node ${process.versions.node}, \`npm run bench:soak -- --minutes ${minutes} --rate ${rate}\`.\n\n${text}`,
  );
}
