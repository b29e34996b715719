import { readCpu, untilQuiet } from '../gateway/child-process.ts';
import { spreadOf } from '../gateway/load-order.ts';
import { requireSome } from '../measured.ts';
import { type ChatPlace, type SentTurn, sendTurns } from './send-turns.ts';
import type { TeamGateway } from './start-team.ts';

/** What a number of gateways did with one load. */
export interface TeamRow {
  readonly subject: string;
  readonly turns: number;
  readonly lost: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Of all gateways together, for a turn. */
  readonly gatewayMs: number;
  /** CPU of the server's processes, for a turn. */
  readonly databaseMs: number;
  /** Time that the server spent in statements, waits for locks and the disk included, for a turn. */
  readonly statementMs: number;
}

/** The server's own counters; undefined for a file. */
export interface DatabaseUse {
  readonly pid: number;
  statementMs(): Promise<number>;
}

interface LoadPlan {
  readonly name: string;
  readonly ms: number;
  readonly lanes: number;
  readonly perSecond?: number;
}

/** The load, and then the wait until no process of it has work left. */
export async function measureLoad(
  subject: string,
  gateways: readonly TeamGateway[],
  database: DatabaseUse | undefined,
  plan: LoadPlan,
): Promise<TeamRow> {
  const pids = gateways.map(({ instar }) => instar.pid);
  const cpu = (list: readonly number[]): number =>
    list.reduce((total, pid) => total + (readCpu(pid)?.all ?? 0), 0);
  const server = database === undefined ? [] : [database.pid];
  const recordedBefore = await recordedBy(gateways);
  const before = {
    gateways: cpu(pids),
    database: cpu(server),
    statements: (await database?.statementMs()) ?? 0,
  };
  const startedAt = performance.now();
  const sent = await sendTurns(gateways, plan);
  const seconds = (performance.now() - startedAt) / 1000;
  for (const pid of pids) await untilQuiet(pid);
  const turns = sent.length;
  const used = {
    gateways: cpu(pids) - before.gateways,
    database: cpu(server) - before.database,
    statements: ((await database?.statementMs()) ?? 0) - before.statements,
  };
  const recorded = (await recordedBy(gateways)) - recordedBefore;
  const whole = sent.filter(({ isWhole }) => isWhole);
  requireSome('request that was served', whole.length);
  const { p50, p99 } = spreadOf(whole.map(({ ms }) => ms));
  return {
    subject,
    turns,
    lost: turns - Math.min(whole.length, recorded),
    perSecond: turns / seconds,
    p50,
    p99,
    gatewayMs: used.gateways / turns,
    databaseMs: used.database / turns,
    statementMs: used.statements / turns,
  };
}

/** The same load through a place that records nothing. */
export async function measurePlain(
  subject: string,
  place: ChatPlace & { readonly pid: number },
  plan: LoadPlan,
): Promise<TeamRow> {
  const before = readCpu(place.pid)?.all ?? 0;
  const startedAt = performance.now();
  const sent: readonly SentTurn[] = await sendTurns([place], plan);
  const seconds = (performance.now() - startedAt) / 1000;
  await untilQuiet(place.pid);
  const used = (readCpu(place.pid)?.all ?? 0) - before;
  const { p50, p99 } = spreadOf(sent.map(({ ms }) => ms));
  return {
    subject,
    turns: sent.length,
    lost: sent.filter(({ isWhole }) => !isWhole).length,
    perSecond: sent.length / seconds,
    p50,
    p99,
    gatewayMs: used / sent.length,
    databaseMs: 0,
    statementMs: 0,
  };
}

async function recordedBy(gateways: readonly TeamGateway[]): Promise<number> {
  let count = 0;
  for (const { instar } of gateways) count += (await instar.kept()).recorded;
  return count;
}
