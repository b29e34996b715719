import { type DaemonRecord, readDaemonFile } from '../config/daemon-file.ts';
import type { Home } from '../config/home.ts';
import { readKey } from '../config/key.ts';
import { asArray, asNumber, asObject, asString, compact, type JsonObject, parseJson } from '../core/json.ts';

export interface StatusReport {
  readonly daemon: DaemonRecord;
  readonly providers: readonly { readonly name: string; readonly serves: string }[];
  readonly counts: Readonly<Record<'served' | 'inFlight' | 'failed' | 'refused', number | undefined>>;
  /** How the record is doing; `degraded` says what is wrong. */
  readonly recording: { readonly degraded?: string; readonly lost?: number; readonly recorded?: number };
  /** What is known and shown, and what was learned lately, in words. */
  readonly library: readonly string[];
  readonly learning: readonly string[];
  /** Everything the daemon told, for programs. */
  readonly told: JsonObject;
}

interface StatusFault {
  readonly what: string;
  readonly mend: string;
}

/**
 * What the daemon of this home says of itself; undefined when none runs. The key is shown only to a daemon whose
 * process still lives: a dead one's port may be anyone's by now.
 */
export async function askStatus(
  home: Home,
  env: NodeJS.ProcessEnv,
): Promise<StatusReport | StatusFault | undefined> {
  const daemon = await findDaemon(home);
  if (daemon === undefined) return undefined;
  if (!isAlive(daemon)) {
    return {
      what: `${daemon.url} answers, but pid ${daemon.pid}, which should serve it, is gone`,
      mend: `remove ${home.daemonFile}`,
    };
  }
  const key = readKey(home, env)?.key;
  const reply = await askDaemon(
    daemon,
    '/api/status',
    key === undefined ? {} : { authorization: `Bearer ${key}` },
  );
  if (reply.status !== 200) {
    const refused = reply.status === 401 || reply.status === 403;
    return {
      what: refused ? `${daemon.url} does not accept the key` : `${daemon.url} answers with ${reply.status}`,
      mend: refused ? 'INSTAR_KEY must be what it was started with' : 'see its log',
    };
  }
  const told = asObject(parseJson(await reply.text()));
  const requests = asObject(told.requests);
  const recording = asObject(told.recording);
  return {
    daemon,
    told,
    providers: asArray(told.providers).map((value) => ({
      name: asString(asObject(value).name) ?? '?',
      serves: servedBy(asObject(value)),
    })),
    library: describeLibrary(asObject(told.library)),
    learning: describeLearning(asObject(told.learning)),
    recording: compact({
      degraded: asString(recording.degraded),
      lost: asNumber(recording.lost),
      recorded: asNumber(recording.recorded),
    }),
    counts: {
      served: asNumber(requests.served),
      inFlight: asNumber(requests.inFlight),
      failed: asNumber(requests.failed),
      refused: asNumber(requests.refused),
    },
  };
}

function describeLibrary(library: JsonObject): readonly string[] {
  const problem = asString(library.problem);
  if (problem !== undefined) return [`cannot be read: ${problem}`];
  const states = Object.entries(asObject(library.lessons)).map(
    ([state, count]) => `${String(count)} ${state}`,
  );
  const lessons = states.length === 0 ? 'nothing learned yet' : states.join(', ');
  const faults = asArray(library.skillFaults).flatMap((fault) => asString(fault) ?? []);
  return [
    `generation ${String(library.generation)}; ${lessons}`,
    ...faults.map((fault) => `skills folder: ${fault}`),
  ];
}

function describeLearning(learning: JsonObject): readonly string[] {
  const appraised = asObject(learning.appraised);
  const cycles = asObject(learning.cycles);
  const cost = asObject(learning.cost);
  const spent = asObject(cost.learning);
  const served = asObject(cost.serving);
  const problem = asString(learning.problem);
  if (asNumber(appraised.failures) === undefined) return [problem ?? 'starting'];
  return [
    `${String(appraised.failures)} failures, ${String(appraised.successes)} successes seen; ${String(learning.support)} failures wait`,
    `${String(cycles.run)} cycles: ${String(cycles.published)} published, ${String(cycles.queued)} for you to look at`,
    `cost ${dollars(spent.usdToday)} today; serving ${dollars(served.usd)} since the start`,
    ...(problem === undefined ? [] : [`trouble: ${problem}`]),
  ];
}

const dollars = (usd: unknown): string => `$${(asNumber(usd) ?? 0).toFixed(2)}`;

const FEW = 6;

function servedBy(provider: JsonObject): string {
  const words = (value: unknown): string =>
    asArray(value)
      .flatMap((word) => asString(word) ?? [])
      .join(', ');
  const models =
    asArray(provider.models).length > FEW
      ? `${asArray(provider.models).length} models`
      : words(provider.models);
  const keys = provider.credentials === 'caller' ? "callers' own keys" : '';
  return [words(provider.wires), models, keys].filter((text) => text !== '').join('; ');
}

/** The daemon that serves this home and answers now; a record that a killed one left behind is not it. */
export async function findDaemon(home: Home): Promise<DaemonRecord | undefined> {
  const record = readDaemonFile(home);
  if (record === undefined) return undefined;
  try {
    const reply = await askDaemon(record, '/healthz');
    await reply.body?.cancel();
    return reply.status === 200 ? record : undefined;
  } catch {
    return undefined;
  }
}

/** Rejects when nothing answers within two seconds. */
const askDaemon = (
  record: DaemonRecord,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  fetch(new URL(path, record.url), { headers, redirect: 'manual', signal: AbortSignal.timeout(2_000) });

/** Whether the process that wrote the record still exists: its port may meanwhile be someone else's. */
export function isAlive(record: DaemonRecord): boolean {
  try {
    return process.kill(record.pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
