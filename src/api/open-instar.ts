import { instantiateFlow } from '../base/flow-calls.ts';
import { sleep } from '../base/sleep.ts';
import { readCallerKeys } from '../config/caller-keys.ts';
import { ConfigError } from '../config/config-error.ts';
import { findDaemon, isAlive } from '../config/daemon-file.ts';
import { type Home, HomeInUseError, homeDir, openHome } from '../config/home.ts';
import { hashKey, keyId, readOrCreateKey } from '../config/key.ts';
import { readOrCreateOwnerKey } from '../config/owner-key.ts';
import { callerOfKey } from '../config/valid-keys.ts';
import type { Caller } from '../core/caller.ts';
import { systemClock } from '../core/clock.ts';
import { asArray, asObject, compact, type JsonObject } from '../core/json.ts';
import type { OverlayPayload } from '../core/overlay.ts';
import { StoreError } from '../core/store.ts';
import type { PracticeResult } from '../learn/practice/practice-input.ts';
import { checkOverlay } from '../lessons/check-overlay.ts';
import { createEpisodes, type EpisodeRecords, EpisodeStateError } from '../mcp/episodes.ts';
import { createRemoteEpisodeRecords } from '../mcp/remote-episode-api.ts';
import { truncateMiddle } from '../text/truncate.ts';
import {
  type Episode,
  type Instar,
  InstarError,
  type InstarErrorCode,
  type InstarFeedback,
  type InstarOverlay,
  type InstarScope,
  type InstarSubject,
  type OpenOptions,
} from './instar.ts';
import type { PracticeOptions } from './practice-options.ts';
import { type OpenModels, practiseHere } from './practise.ts';
import { ApiError, askApi } from './remote-api.ts';
import { createStoreLease } from './store-lease.ts';

/** A daemon inside this process, which other processes find like any other. */
interface InProcessDaemon {
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** Rejects with `HomeInUseError` when another process has the home. */
export type StartInProcess = (home: Home, env: NodeJS.ProcessEnv) => Promise<InProcessDaemon>;

type KeyKind = 'caller' | 'owner';

const DEFAULT_AGENT = 'library';
const DEFAULT_WAIT_MS = 5000;
const TRY_AGAIN_MS = 25;
const LONGEST_TASK = 8000;
const MOST_REMEMBERED = 10_000;

/** `open` of the library API; `startInProcess` is what `learn` needs. */
export async function openInstar(
  given: string | OpenOptions | undefined,
  startInProcess: StartInProcess,
  openModels: OpenModels,
): Promise<Instar> {
  const { home: dir, learn = false, waitMs = DEFAULT_WAIT_MS, ...rest } = asOptions(given);
  const env: NodeJS.ProcessEnv = { ...(rest.env ?? process.env) };
  const scope: InstarScope = { agent: DEFAULT_AGENT, ...scopeOf(rest) };
  const home = await translated(async () => openHome(homeDir(dir, env)));
  await translated(async () => callerOf('caller', home, env));
  const own = learn ? await translated(() => startLearning(home, env, waitMs, startInProcess)) : undefined;
  const store = createStoreLease(home, env);
  /** Tasks whose lessons were handed out without a hold-out. */
  const handedOut = new Set<string>();
  const operations = createOperations();
  /** One operation, on the daemon or on the store, whichever there is now. */
  const call = async <T>(work: (records: EpisodeRecords) => Promise<T>, kind: KeyKind = 'caller') =>
    operations.run(() => translated(() => within(home, env, { kind, waitMs, store }, work)));
  const close = (): Promise<void> =>
    operations.close(() =>
      translated(async () => {
        await store.close();
        await own?.close();
      }),
    );

  return {
    home: home.dir,
    context: async (task, options = {}) => {
      const asked = { ...scope, ...scopeOf(options), task: checkTask(task) };
      const limit = checkLimit(options.limit);
      const recalled = await call((records) => createEpisodes(records).recall({ ...asked, ...limit }));
      if (handedOut.size < MOST_REMEMBERED) handedOut.add(asked.task);
      return recalled;
    },
    episode: async (task, options = {}) => {
      const asked = { ...scope, ...scopeOf(options), task: checkTask(task) };
      const isMeasured = !handedOut.has(asked.task);
      const started = await call((records) => createEpisodes(records).start({ ...asked, isMeasured }));
      return toEpisode(started.episode, started.recalled, call);
    },
    feedback: async (subject, feedback) => {
      const body = { ...checkSubject(subject), ...checkFeedback(feedback) };
      await call((records) => records.feedback(body), feedback.from === 'person' ? 'owner' : 'caller');
    },
    report: async (event) => {
      checkText(event.kind, 'kind');
      await call((records) => records.report({ ...compact(event) }));
    },
    overlays: async (query = {}) => {
      const overlays = await call((records) =>
        records.overlays({ ...compact({ agent: scope.agent }), ...query }),
      );
      return asArray(overlays).map(asObject).flatMap(readOverlay);
    },
    lessons: (query = {}) => call((records) => createEpisodes(records).list(query)),
    flows: (options = {}) =>
      call((records) => createEpisodes(records).flows({ ...scope, ...scopeOf(options) })),
    flow: async (name, values = {}, options = {}) => {
      const asked = { ...scope, ...scopeOf(options) };
      const flows = await call((records) => createEpisodes(records).flows(asked));
      const flow = flows.find((one) => one.name === name);
      if (flow === undefined) throw new InstarError('not-found', `No flow named "${name}" is in force here.`);
      const calls = instantiateFlow(flow, new Map(Object.entries(values)));
      if (calls !== undefined) return calls;
      const needed = flow.parameters.map((one) => `${one.name} (${one.type})`).join(', ');
      throw new InstarError('invalid', `The flow "${name}" needs these parameters: ${needed}.`);
    },
    practice: (options) => {
      const asked = { ...scope, ...options, agent: options.agent ?? scope.agent ?? DEFAULT_AGENT };
      return operations.run(() => translated(() => practiseAlone({ home, env, store, openModels }, asked)));
    },
    settle: async () => own?.settle(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** What is under way. Nothing begins once it is closed. */
function createOperations() {
  const running = new Set<Promise<unknown>>();
  let closed: Promise<void> | undefined;
  return {
    run: <T>(begin: () => Promise<T>): Promise<T> => {
      if (closed !== undefined) throw new InstarError('closed', 'This Instar was closed.');
      const done = begin();
      running.add(done);
      return done.finally(() => running.delete(done));
    },
    /** `end`: after the last of them. */
    close: (end: () => Promise<void>): Promise<void> => {
      closed ??= Promise.allSettled(running).then(end);
      return closed;
    },
  };
}

const asOptions = (given: string | OpenOptions | undefined): OpenOptions =>
  typeof given === 'string' ? { home: given } : (given ?? {});

/** One that this version cannot read is left out. */
function readOverlay({ lesson, name, state, payload }: JsonObject): readonly InstarOverlay[] {
  if ((state !== 'trial' && state !== 'live') || checkOverlay({ payload }) !== undefined) return [];
  // The check proves the type.
  return [
    { lesson: String(lesson), name: String(name), state, payload: payload as object as OverlayPayload },
  ];
}

const scopeOf = ({ agent, project, domain }: InstarScope): InstarScope => compact({ agent, project, domain });

type Call = <T>(work: (records: EpisodeRecords) => Promise<T>) => Promise<T>;

/** Reports of one episode are sent one after the other, in the order of the calls. */
function toEpisode(id: string, { text, lessons }: Pick<Episode, 'text' | 'lessons'>, call: Call): Episode {
  let before: Promise<unknown> = Promise.resolve();
  const next = <T>(work: () => Promise<T>): Promise<T> => {
    const done = before.then(work, work);
    before = done.catch(() => undefined);
    return done;
  };
  return {
    id,
    text,
    lessons,
    attempt: ({ action, result, ok }) =>
      next(() =>
        call((records) =>
          createEpisodes(records).attempt({
            episode: id,
            action: checkText(action, 'action'),
            result: String(result ?? ''),
            ok: ok === true,
          }),
        ),
      ),
    end: (end) =>
      next(() => {
        const outcome = 'outcome' in end ? end.outcome : end.success ? 'success' : 'failure';
        const note = end.note === undefined ? {} : { note: checkText(end.note, 'note') };
        return call((records) =>
          createEpisodes(records).end({ episode: id, outcome, ...note, wait: end.wait === true }),
        );
      }),
  };
}

/** The home's daemon, else its store, else a wait for whoever has the home. */
async function within<T>(
  home: Home,
  env: NodeJS.ProcessEnv,
  { kind, waitMs, store }: WithinOptions,
  work: (records: EpisodeRecords) => Promise<T>,
): Promise<T> {
  const until = systemClock.monotonic() + waitMs;
  for (;;) {
    const daemon = await findDaemon(home);
    const { key, caller } = callerOf(kind, home, env);
    if (daemon !== undefined && isAlive(daemon))
      return work(
        createRemoteEpisodeRecords((method, path, body) =>
          askApi({ url: daemon.url, key }, method, path, body),
        ),
      );
    const done = await store.use(caller, work);
    if (done.ok) return done.value;
    if (systemClock.monotonic() >= until)
      throw new HomeInUseError(`${home.dir} is in use by another Instar process that does not answer.`);
    await sleep(TRY_AGAIN_MS, new AbortController().signal);
  }
}

/** On the store itself: a daemon practises in quiet hours, with `instar practice`. */
async function practiseAlone(
  { home, env, store, openModels }: UnservedHome,
  options: PracticeOptions & { readonly agent: string },
): Promise<PracticeResult> {
  const daemon = await findDaemon(home);
  const held =
    daemon !== undefined && isAlive(daemon)
      ? undefined
      : await store.hold(async (opened) => {
          const models = await openModels(home, opened.config, env);
          try {
            return await practiseHere(opened, options, models);
          } finally {
            await models.close();
          }
        });
  if (held?.ok !== true)
    throw new InstarError('home-in-use', `${home.dir} is served by a daemon or used by another program.`, {
      fix: 'stop it with: instar stop, or practise there with: instar practice run',
    });
  return held.value;
}

interface UnservedHome {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly store: ReturnType<typeof createStoreLease>;
  readonly openModels: OpenModels;
}

interface WithinOptions {
  readonly kind: KeyKind;
  readonly waitMs: number;
  readonly store: ReturnType<typeof createStoreLease>;
}

/** Undefined when a daemon serves the home already: it learns. */
async function startLearning(
  home: Home,
  env: NodeJS.ProcessEnv,
  waitMs: number,
  startInProcess: StartInProcess,
): Promise<InProcessDaemon | undefined> {
  const until = systemClock.monotonic() + waitMs;
  for (;;) {
    const daemon = await findDaemon(home);
    if (daemon !== undefined && isAlive(daemon)) return undefined;
    try {
      return await startInProcess(home, env);
    } catch (error) {
      if (!(error instanceof HomeInUseError) || systemClock.monotonic() >= until) throw error;
    }
    await sleep(TRY_AGAIN_MS, new AbortController().signal);
  }
}

/** The home's key of this kind, created on first use, and what its holder may do. */
function callerOf(
  kind: KeyKind,
  home: Home,
  env: NodeJS.ProcessEnv,
): { readonly key: string; readonly caller: Caller } {
  if (kind === 'owner') {
    const { key, protection } = readOrCreateOwnerKey(home, env);
    if (key === undefined)
      throw new InstarError('forbidden', `The owner key is protected by a ${protection}.`, {
        fix: 'set INSTAR_OWNER_KEY, or rate it with: instar feedback',
      });
    return { key, caller: { kind: 'owner', id: keyId('owner', hashKey(key)), mayRate: true } };
  }
  const { key } = readOrCreateKey(home, env);
  const hash = hashKey(key);
  const entry = readCallerKeys(home).find((one) => one.hash === hash);
  if (entry?.revokedAt !== undefined)
    throw new InstarError('forbidden', `The key "${entry.name}" was revoked.`, {
      fix: 'create another with: instar team keys create NAME, and set INSTAR_KEY',
    });
  const caller: Caller =
    entry === undefined ? { kind: 'caller', id: keyId('caller', hash), mayRate: false } : callerOfKey(entry);
  return { key, caller };
}

function checkTask(task: string): string {
  return truncateMiddle(checkText(task, 'task').trim(), LONGEST_TASK, { headShare: 0.5 });
}

function checkText(text: unknown, name: string): string {
  if (typeof text === 'string' && text.trim() !== '') return text;
  throw new InstarError('invalid', `${name} must be a text that is not empty.`);
}

function checkLimit(limit: number | undefined): { readonly limit?: number } {
  if (limit === undefined) return {};
  if (Number.isInteger(limit) && limit > 0) return { limit };
  throw new InstarError('invalid', 'limit must be a whole number from 1.');
}

function checkSubject(subject: InstarSubject) {
  if ('turn' in subject) return { turn: checkText(subject.turn, 'turn') };
  return { session: checkText(subject.session, 'session') };
}

/** A note without a score, as in `instar feedback`. */
const CORRECTION = -0.5;

/** A note without a score is a correction. */
function checkFeedback({ score, note, from }: InstarFeedback) {
  if (score === undefined && note === undefined)
    throw new InstarError('invalid', 'Feedback needs a score, a note, or both.');
  return { score: score ?? CORRECTION, ...compact({ note, source: from }) };
}

const CODES: Readonly<Record<number, InstarErrorCode>> = {
  400: 'invalid',
  401: 'forbidden',
  403: 'forbidden',
  404: 'not-found',
  409: 'invalid',
  413: 'invalid',
  503: 'store',
};

/** Codes of Node for a connection that could not be made or broke. */
const BROKEN = /^(?:ECONN\w+|EPIPE|ETIMEDOUT|ABORT_ERR)$/;
const codeOf = (error: NodeJS.ErrnoException): string => error.code ?? '';

/** Every error that leaves the library is an `InstarError`. */
async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toInstarError(error);
  }
}

function toInstarError(error: unknown): InstarError {
  if (error instanceof InstarError) return error;
  const cause = error instanceof Error ? error : new Error(String(error));
  const { message } = cause;
  const make = (code: InstarErrorCode, fix?: string) =>
    new InstarError(code, message, fix === undefined ? { cause } : { cause, fix });
  if (cause instanceof HomeInUseError)
    return make('home-in-use', 'see which process it is with: instar status');
  if (cause instanceof ConfigError) return make('config', 'check it with: instar doctor');
  if (cause instanceof StoreError) return make('store', 'check it with: instar doctor');
  if (cause instanceof EpisodeStateError) return make('ended');
  if (cause instanceof ApiError) return make(CODES[cause.status] ?? 'unexpected');
  if (cause.name === 'TimeoutError' || cause.name === 'AbortError' || BROKEN.test(codeOf(cause)))
    return new InstarError('unreachable', 'The daemon of this home stopped answering.', {
      cause,
      fix: 'see: instar status',
    });
  return make('unexpected');
}
