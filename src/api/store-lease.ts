import { existsSync } from 'node:fs';
import { createIds } from '../base/ids.ts';
import { applyConfirmed } from '../config/confirmed-settings.ts';
import type { Home } from '../config/home.ts';
import { loadConfig } from '../config/load-config.ts';
import { readOwnKeys } from '../config/own-keys.ts';
import type { Config } from '../config/schema.ts';
import { readStoreUrl } from '../config/store-url.ts';
import type { Caller } from '../core/caller.ts';
import { systemClock } from '../core/clock.ts';
import { compact, type JsonObject } from '../core/json.ts';
import type { Records } from '../core/store.ts';
import { type ControlAction, giveFeedback, reportEvent } from '../gateway/control-api.ts';
import { createRecollect } from '../learn/recollect/recollect.ts';
import { decodeLessons } from '../lessons/codec.ts';
import type { OpenLessons } from '../lessons/open-lessons.ts';
import { createStandaloneRecall, type StandaloneRecall } from '../lessons/recall/standalone-recall.ts';
import type { EpisodeRecords } from '../mcp/episodes.ts';
import { killFileBeside, listOverlays } from '../overlays/active-overlays.ts';
import { lockHome } from '../record/home-lock.ts';
import { openWholeStore, placeOfRecord } from '../record/open-store.ts';
import { recordsOf } from '../record/records.ts';
import { readStoredTurn } from '../record/stored-turn.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import type { Redactor } from '../redact/redact.ts';
import { readOrCreateSalt } from '../redact/salt.ts';
import { ApiError } from './remote-api.ts';
import { createStoreApi } from './store-api.ts';
import { keepOldFormat } from './take-home.ts';

/** What the work returned, unless another process has the home. */
type LeaseResult<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: string };

/** The store of a home that no daemon serves, opened while calls need it and given back shortly after the last one. */
interface StoreLease {
  /** `by`: the key under which `work` writes. */
  use<T>(by: Caller, work: (records: EpisodeRecords) => Promise<T>): Promise<LeaseResult<T>>;
  /** The store itself, for as long as `work` takes: no other process can use the home meanwhile. */
  hold<T>(work: (store: HeldStore) => Promise<T>): Promise<LeaseResult<T>>;
  /** Waits for running calls. */
  close(): Promise<void>;
}

/** What practice needs of a home that no daemon serves. */
export interface HeldStore {
  readonly records: Records;
  readonly config: Config;
  readonly redactor: Pick<Redactor, 'hasSecret'>;
  readonly embed: StandaloneRecall['model']['embed'];
  lessons(): Promise<OpenLessons>;
}

interface OpenedStore {
  readonly redactor: HeldStore['redactor'];
  readonly records: Records;
  lessons(): Promise<OpenLessons>;
  close(): Promise<void>;
}

/** Calls that follow each other share one opening; another process that wants the home waits no longer than this. */
const LINGER_MS = 50;
/** The sentence model is loaded by the first question. */
const LONGEST_LOAD_MS = 10_000;

export function createStoreLease(home: Home, env: NodeJS.ProcessEnv): StoreLease {
  let opened: OpenedStore | undefined;
  let closing: Promise<void> = Promise.resolve();
  let isClosing = false;
  let users = 0;
  let timer: NodeJS.Timeout | undefined;
  const isOff = (): boolean => existsSync(killFileBeside(home.storeFile));

  /** The settings are read when they are first needed, and again by a new process. */
  const readConfig = (): Config =>
    applyConfirmed(loadConfig({ file: home.configFile, env }).config, home).config;
  const recall = createRecallOnce(home, readConfig);
  const openRecalled: OpenRecalled = (records, { hasSecret }) => {
    const standalone = recall.get();
    const recollect = createRecollect({
      records,
      decode: (view) => readStoredTurn(view, records, new Map()),
      hasSecret,
      clock: systemClock,
      model: standalone.model,
      vectorMs: LONGEST_LOAD_MS,
    });
    return standalone.open(records, recollect);
  };
  const giveBack = (): void => {
    clearTimeout(timer);
    const last = opened;
    opened = undefined;
    if (last === undefined) return;
    isClosing = true;
    closing = recall
      .pause()
      .then(last.close)
      .finally(() => {
        isClosing = false;
      });
    closing.catch(() => undefined);
  };
  const run = async <T>(work: (store: OpenedStore) => Promise<T>): Promise<LeaseResult<T>> => {
    const store = enter();
    if (store === undefined) return { ok: false, why: `${home.dir} is in use by another process` };
    try {
      return { ok: true, value: await work(store) };
    } finally {
      users--;
      if (users === 0) {
        timer = setTimeout(giveBack, LINGER_MS);
        // A program that does nothing else may end; the system releases the lock then.
        timer.unref();
      }
    }
  };
  const enter = (): OpenedStore | undefined => {
    if (isClosing) return undefined;
    opened ??= openLocked(home, env, openRecalled);
    if (opened === undefined) return undefined;
    users++;
    clearTimeout(timer);
    return opened;
  };
  return {
    use: (by, work) => run((store) => work(toEpisodeRecords(store, by, isOff))),
    hold: (work) =>
      run(async (store) =>
        work({ ...store, config: readConfig(), embed: (texts) => recall.get().model.embed(texts) }),
      ),
    close: async () => {
      giveBack();
      await closing;
      await recall.close();
    },
  };
}

/** What recalls lessons, made by the first question. */
function createRecallOnce(home: Home, readConfig: () => Config) {
  let recall: StandaloneRecall | undefined;
  const newId = createIds(systemClock);
  return {
    get: (): StandaloneRecall => {
      if (recall === undefined) {
        const { library: settings } = readConfig();
        const patterns = settings.domains.map((pattern) => compact(pattern));
        const { vectorFile } = home;
        recall = createStandaloneRecall({ settings, patterns, vectorFile, clock: systemClock, newId });
      }
      return recall;
    },
    pause: async (): Promise<void> => recall?.pause(),
    close: async (): Promise<void> => recall?.close(),
  };
}

type OpenRecalled = (
  records: Records,
  redactor: Pick<ReturnType<typeof openRedactor>, 'hasSecret'>,
) => Promise<OpenLessons>;

/** Undefined when another process has the home. */
function openLocked(home: Home, env: NodeJS.ProcessEnv, openLessons: OpenRecalled): OpenedStore | undefined {
  const lock = lockHome(home.lockFile);
  if (lock === undefined) return undefined;
  try {
    const place = placeOfRecord(home, { url: readStoreUrl(home.configFile) });
    keepOldFormat(home, place);
    const store = openWholeStore(home, place);
    const redactor = openRedactor({
      salt: readOrCreateSalt(home),
      keys: () => readOwnKeys(undefined, { env, home }),
    });
    const records = recordsOf(store, systemClock.now, redactor);
    let lessons: Promise<OpenLessons> | undefined;
    return {
      records,
      redactor,
      lessons: () => {
        lessons ??= openLessons(records, redactor);
        return lessons;
      },
      close: async () => {
        // One that could not be opened needs no end.
        await store.then((one) => one.close()).catch(() => undefined);
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** What a daemon would do for the holder of a key, on the store itself. */
function toEpisodeRecords(
  { records, lessons }: OpenedStore,
  by: Caller,
  isOff: () => boolean,
): EpisodeRecords {
  const { now } = systemClock;
  const api = createStoreApi(records, now);
  const control = async (action: ControlAction, body: JsonObject): Promise<JsonObject> => {
    const done = await action({ records, now }, body, by);
    if (!done.ok) throw new ApiError(done.why.status, done.why.message);
    return done.answer;
  };
  return {
    report: (event) => control(reportEvent, event),
    feedback: (body) => control(giveFeedback, body),
    episode: async (id) => {
      const episode = await api.episode(id);
      if (episode === undefined) throw new ApiError(404, `No episode named "${id}".`);
      return episode;
    },
    recall: async (query) => (await lessons()).api.recall({ ...query, by: by.id }),
    lessons: async (query) => (await lessons()).api.list(query),
    overlays: async (query) =>
      isOff() ? [] : listOverlays(decodeLessons(await (await lessons()).api.all()), query),
  };
}
