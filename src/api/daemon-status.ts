import { callDaemon } from '../config/call-daemon.ts';
import { type DaemonRecord, findDaemon, isAlive } from '../config/daemon-file.ts';
import type { Home } from '../config/home.ts';
import { readKey } from '../config/key.ts';
import { asArray, asNumber, asObject, asString, compact, type JsonObject, parseJson } from '../core/json.ts';
import { describeLearningCost, describeServingCost } from '../cost/describe-cost.ts';
import { duration, localTime, plural } from '../text/phrases.ts';
import { describeSpool, readSpoolState } from './describe-spool.ts';

export interface StatusReport {
  readonly daemon: DaemonRecord;
  readonly providers: readonly { readonly name: string; readonly serves: string }[];
  readonly counts: Readonly<Record<'served' | 'inFlight' | 'failed' | 'refused', number | undefined>>;
  /** The state of recording; `degraded` says what is wrong. */
  readonly recording: {
    readonly degraded?: string;
    readonly lost?: number;
    readonly recorded?: number;
    readonly missing?: string;
    readonly unreadable?: number;
    /** That the database is away, what waits for it, and what happens next. */
    readonly away?: string;
  };
  /** Lines for people about daily copies, the library and learning. */
  readonly copies: readonly string[];
  readonly library: readonly string[];
  readonly learning: readonly string[];
  /** One line about the router; none while it is off. */
  readonly router: readonly string[];
  /** The processes that share the record with this one; none for a record of one home. */
  readonly gateways: readonly string[];
  /** What all gateways set, and what of it counts here. */
  readonly settings: readonly string[];
  /** What waits, and why; a clock that is not believed and a store that fails are among it. */
  readonly waiting: readonly JsonObject[];
  /** The whole reply of `GET /api/status`, for programs. */
  readonly raw: JsonObject;
}

const STATUS_TIMEOUT_MS = 5_000;

interface StatusFault {
  readonly what: string;
  readonly fix: string;
}

/**
 * The status of this home's daemon; undefined when none runs. The key is sent only while the daemon's process exists:
 * another program may have taken over the port of a dead one.
 */
export async function askStatus(
  home: Home,
  env: NodeJS.ProcessEnv,
): Promise<StatusReport | StatusFault | undefined> {
  const daemon = await findDaemon(home);
  if (daemon === undefined) return undefined;
  if (!isAlive(daemon)) {
    return {
      what: `${daemon.url} answers, but the daemon's process (pid ${daemon.pid}) is gone`,
      fix: `remove ${home.daemonFile}`,
    };
  }
  const key = readKey(home, env)?.key;
  const reply = await callDaemon(daemon, '/api/status', {
    timeoutMs: STATUS_TIMEOUT_MS,
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
  });
  if (reply.status !== 200) {
    const refused = reply.status === 401 || reply.status === 403;
    return {
      what: refused ? `${daemon.url} does not accept the key` : `${daemon.url} answers with ${reply.status}`,
      fix: refused ? 'set INSTAR_KEY to the key the daemon was started with' : 'see its log',
    };
  }
  const raw = asObject(parseJson(reply.text));
  const requests = asObject(raw.requests);
  const recording = asObject(raw.recording);
  const waits = readSpoolState(recording.spool);
  return {
    daemon,
    raw,
    providers: asArray(raw.providers).map((value) => ({
      name: asString(asObject(value).name) ?? '?',
      serves: servedBy(asObject(value)),
    })),
    waiting: asArray(raw.waiting).map(asObject),
    copies: describeCopies(asObject(raw.copies), Date.parse(asString(raw.now) ?? '')),
    library: [...describeLibrary(asObject(raw.library)), ...describeEndUsers(asNumber(raw.endUsers) ?? 0)],
    learning: describeLearning(asObject(raw.learning)),
    gateways: describeGateways(raw),
    settings: describeSharedUse(asObject(raw.settings)),
    router: [asString(asObject(raw.router).line) ?? []].flat(),
    recording: compact({
      degraded: asString(recording.degraded),
      lost: asNumber(recording.lost),
      recorded: asNumber(recording.recorded),
      missing: asString(recording.missing),
      unreadable: asNumber(recording.unreadable),
      away: waits && describeSpool(waits),
    }),
    counts: {
      served: asNumber(requests.served),
      inFlight: asNumber(requests.inFlight),
      failed: asNumber(requests.failed),
      refused: asNumber(requests.refused),
    },
  };
}

function describeCopies(copies: JsonObject, now: number): readonly string[] {
  const count = asNumber(copies.count);
  const [problem, waitsFor] = [asString(copies.problem), asString(copies.waitsFor)];
  if (copies.server === 'PostgreSQL') return ['none: back up the PostgreSQL server itself'];
  if (count === undefined) return [];
  if (copies.daily === 0) return ['off (store.snapshots is 0)'];
  const hours = Math.round((now - Date.parse(asString(copies.newest) ?? '')) / 3_600_000);
  const age = Number.isFinite(hours)
    ? `, the newest ${hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`} old`
    : '';
  return [
    count === 0 ? 'none yet' : `${count} of the record${age}`,
    ...(problem === undefined ? [] : [`problem: no new copy could be made: ${problem}`]),
    ...(waitsFor === undefined ? [] : [`old sessions are kept; erasing them waits for ${waitsFor}`]),
  ];
}

const describeEndUsers = (count: number): readonly string[] =>
  count === 0 ? [] : [`${plural(count, 'end user')} since the start, memories apart`];

function describeLibrary(library: JsonObject): readonly string[] {
  const problem = asString(library.problem);
  if (problem !== undefined) return [`cannot be read: ${problem}`];
  const states = Object.entries(asObject(library.lessons)).map(
    ([state, count]) => `${String(count)} ${state}`,
  );
  const lessons = states.length === 0 ? 'no lessons yet' : states.join(', ');
  const changes = asArray(library.fileChanges).map(asObject);
  const faults = asArray(library.skillFaults).flatMap((fault) => asString(fault) ?? []);
  return [
    `generation ${String(library.generation)}; ${lessons}`,
    ...describeRollback(library),
    ...describeRecalls(asObject(library.index)),
    ...describePractised(asObject(library.practised)),
    ...[asString(asObject(library.adherence).words) ?? []].flat(),
    ...describeFileChanges(changes),
    ...faults.map((fault) => `skills folder: ${fault}`),
  ];
}

/** What the newest rollback retired, with the command that brings it back; nothing when it retired nothing. */
export function describeRollback(library: JsonObject): readonly string[] {
  const { to, at, undo, retired } = asObject(library.rollback);
  const lessons = asNumber(retired) ?? 0;
  if (lessons === 0) return [];
  return [
    `the rollback to generation ${String(to)} retired ${plural(lessons, 'lesson')} (${localTime(Date.parse(asString(at) ?? ''))}); bring back with: instar generations rollback ${String(undo)}`,
  ];
}

/** Whether the sentence model looks again at what a first look found; nothing when it does. */
function describeRecalls({ failure }: JsonObject): readonly string[] {
  const why = asString(failure);
  return why === undefined
    ? []
    : [
        `the sentence model failed (${why}): lessons are found by a first look alone; restart with: instar up`,
      ];
}

/** Lessons that practice found and no task is shown teach nothing. */
function describePractised({ inUse, shown }: JsonObject): readonly string[] {
  const lessons = asNumber(inUse) ?? 0;
  if (lessons === 0) return [];
  return [
    `practice: ${plural(lessons, 'lesson')} in use, ${asNumber(shown) ?? 0} of them in a session that was scored`,
  ];
}

const FILE_CHANGES = [
  ['edited', 'was edited by file', 'were edited by file'],
  ['deleted', 'was retired because its file was deleted', 'were retired because their files were deleted'],
  ['waits', 'came by file and waits for approval', 'came by file and wait for approval'],
] as const;
const MAX_NAMED = 5;

/** `2 lessons were edited by file: a (14:02), b (14:05); review with: instar lessons review`. */
function describeFileChanges(changes: readonly JsonObject[]): readonly string[] {
  return FILE_CHANGES.flatMap(([what, one, many]) => {
    const own = changes.filter((change) => change.what === what);
    if (own.length === 0) return [];
    const names = own.slice(0, MAX_NAMED).map(({ name, at, reason }) => {
      const why = what === 'waits' && asString(reason) !== undefined ? `; ${asString(reason)}` : '';
      return `${String(name)} (${localTime(Date.parse(String(at)))}${why})`;
    });
    const more = own.length > MAX_NAMED ? ` and ${own.length - MAX_NAMED} more` : '';
    const verb = own.length === 1 ? `1 lesson ${one}` : `${own.length} lessons ${many}`;
    return [`${verb}: ${names.join(', ')}${more}; review with: instar lessons review`];
  });
}

/** How far the judge is trusted; nothing when there is no judge. */
function describeJudge({ models, judge }: JsonObject): readonly string[] {
  const name = asString(asObject(models).judge);
  const { said, weight, testedModel, identity } = asObject(judge);
  const ofIdentity = typeof identity === 'string' ? [`judge of identities: ${identity}`] : [];
  if (name === undefined || typeof said !== 'string') return [];
  if (testedModel !== name)
    return [
      `judge: ${name}; not tested yet: it grades planted steps before its rewards count`,
      ...ofIdentity,
    ];
  return [
    `judge: ${name}; ${said}${weight === 0.5 ? '; its rewards count half until 20 turns are compared' : ''}`,
    ...ofIdentity,
  ];
}

function describeLearning(learning: JsonObject): readonly string[] {
  const appraised = asObject(learning.appraised);
  const cycles = asObject(learning.cycles);
  const problem = asString(learning.problem);
  const writer = describeWriter(learning);
  const isElsewhere = asObject(learning.learner).isThis === false;
  if (asNumber(appraised.failures) === undefined)
    return [...writer, problem ?? (isElsewhere ? 'another process learns for all' : 'starting')];
  return [
    ...writer,
    `${plural(asNumber(appraised.failures) ?? 0, 'failure')} and ${plural(asNumber(appraised.successes) ?? 0, 'success', 'successes')} so far`,
    `learning ran ${plural(asNumber(cycles.run) ?? 0, 'time')}: ${String(cycles.published)} with a lesson now in use, ${String(cycles.queued)} with one for your decision`,
    ...describeJudge(learning),
    ...describeReflection(asObject(learning.reflection)),
    `cost: ${describeLearningCost(learning)}`,
    `serving: ${describeServingCost(learning)}`,
  ];
}

/** When it was thought over last what people said; nothing before the first time. */
const describeReflection = ({ at, said }: JsonObject): readonly string[] =>
  typeof at === 'number' ? [`reflection: ${localTime(at)}; ${asString(said) ?? ''}`] : [];

/** Who reads the sessions and writes the lessons, and what that may cost. */
function describeWriter({ writer }: JsonObject): readonly string[] {
  const sentence = asString(writer);
  return sentence === undefined ? [] : [sentence];
}

/** Longer lists of models are shown as a count. */
const MAX_LISTED = 6;

function servedBy(provider: JsonObject): string {
  const words = (value: unknown): string =>
    asArray(value)
      .flatMap((word) => asString(word) ?? [])
      .join(', ');
  const models =
    asArray(provider.models).length > MAX_LISTED
      ? `${asArray(provider.models).length} models`
      : words(provider.models);
  const keys = provider.credentials === 'caller' ? "each client's own API key" : '';
  return [words(provider.wires), models, keys].filter((text) => text !== '').join('; ');
}

/**
 * A line for each process of a record that several share, and what keeps this one from following the others: `gateway
 * http://127.0.0.1:4600 on host-a (pid 12, version 1.0.0): alive, this one; learns for all`. None for a record of one home.
 */
function describeGateways({ sharedRecord, learning }: JsonObject): readonly string[] {
  const { gateways, problem } = asObject(sharedRecord);
  const holder = asString(asObject(asObject(learning).learner).holder);
  const why = asString(problem);
  return [
    ...asArray(gateways)
      .map(asObject)
      .map((one) => describeProcess(one, holder)),
    ...(sharedRecord !== undefined && holder === undefined ? ['nobody learns at the moment'] : []),
    ...(why === undefined ? [] : [`this one is behind the others: ${why}`]),
  ];
}

function describeProcess(process: JsonObject, holder: string | undefined): string {
  const { kind, url, host, pid, version, seenMsAgo, isAlive, isThis } = process;
  const what = kind === 'worker' ? 'worker' : `gateway ${asString(url) ?? '(it does not listen yet)'}`;
  const state =
    isAlive === true ? 'alive' : `not connected, last seen ${duration(asNumber(seenMsAgo) ?? 0)} ago`;
  // The holder of a lease is named `host/pid/…`.
  const learns = holder?.startsWith(`${String(host)}/${String(pid)}/`) === true && isAlive === true;
  return [
    `${what} on ${String(host)} (pid ${String(pid)}, version ${String(version)}): ${state}${isThis === true ? ', this one' : ''}`,
    ...(learns ? ['learns for all'] : []),
  ].join('; ');
}

/** `3 of all gateways; the file here says otherwise about learn.failures`; none where nothing is shared. */
function describeSharedUse(settings: JsonObject): readonly string[] {
  if (settings.shared === undefined) return [];
  const { used, overruled, ignored } = asObject(settings.shared);
  const paths = asArray(overruled).flatMap((path) => asString(path) ?? []);
  const count = asArray(used).length + paths.length + asArray(ignored).length;
  return [
    `${plural(count, 'setting')} shared by all gateways of the record, ${asArray(used).length} in use here`,
    ...(paths.length === 0 ? [] : [`the file here wins for ${paths.join(', ')}`]),
  ];
}
