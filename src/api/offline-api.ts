import { existsSync, statSync } from 'node:fs';
import { systemBoot } from '../base/boot-clock.ts';
import { createIds } from '../base/ids.ts';
import { VERSION } from '../base/package.ts';
import { type Home, HomeInUseError, openHome } from '../config/home.ts';
import { noteHomeVersion, readHomeVersion } from '../config/home-version.ts';
import { hashKey, keyId } from '../config/key.ts';
import { readOwnKeys } from '../config/own-keys.ts';
import { readStoreUrl } from '../config/store-url.ts';
import { systemClock } from '../core/clock.ts';
import type { LessonsApi, OwnerApis } from '../core/daemon-api.ts';
import type { JsonObject } from '../core/json.ts';
import type { OverlayQuery } from '../core/overlay.ts';
import type { AsyncStore, Records } from '../core/store.ts';
import { decodeLessons } from '../lessons/codec.ts';
import { deferLessonsApi, type OpenLessons } from '../lessons/open-lessons.ts';
import { listOverlays } from '../overlays/active-overlays.ts';
import { createAudit } from '../record/audit-trail.ts';
import { type BackupFault, findBackupFault } from '../record/check-backup.ts';
import { findGoodCopy } from '../record/copy-files.ts';
import { withErasableCopies } from '../record/erase-from-copies.ts';
import { lockHome } from '../record/home-lock.ts';
import { openWholeStore, placeOfRecord } from '../record/open-store.ts';
import { recordsOf, toRecords } from '../record/records.ts';
import { restoreSnapshot } from '../record/snapshots.ts';
import { inspectStore } from '../record/store/inspect-store.ts';
import { createMemoryStore } from '../record/store/memory-store.ts';
import { setStoreMark } from '../record/store-mark.ts';
import { confirmTimeOf } from '../record/trusted-clock.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import { readOrCreateSalt } from '../redact/salt.ts';
import { createAdaptApi } from './adapt-api.ts';
import { followLibraryOnce, withErasedFiles } from './after-erasure.ts';
import { createKeysApi } from './keys-api.ts';
import { withShortIds } from './short-ids.ts';
import { createStoreApi } from './store-api.ts';
import { keepOldFormat } from './take-home.ts';
import { withAudit } from './with-audit.ts';

export interface OpenedApi extends OwnerApis {
  close(): void;
}

/** The API over the store itself, locked while it is open. A missing store is created only with `mayCreate`. */
export async function openOfflineApi(
  home: Home,
  env: NodeJS.ProcessEnv,
  { mayCreate, key }: { readonly mayCreate: boolean; readonly key: string | undefined },
): Promise<OpenedApi> {
  const now = systemClock.now;
  const over = (records: Records): OwnerApis => apisOver({ home, env, key }, records);
  const place = placeOfRecord(home, { url: readStoreUrl(home.configFile) });
  if (mayCreate) openHome(home.dir);
  else if (place === home.storeFile && !existsSync(place))
    return { ...over(toRecords(createMemoryStore(), now)), close: () => undefined };
  const lock = lockHome(home.lockFile);
  if (lock === undefined)
    throw new HomeInUseError(`${home.dir} is in use by another Instar process that does not answer.`);
  const opening = async (): Promise<AsyncStore> => {
    keepOldFormat(home, place);
    if (readHomeVersion(home) === undefined) noteHomeVersion(home, VERSION);
    return openWholeStore(home, place);
  };
  const store = await opening().catch((error: unknown) => {
    lock.release();
    throw error;
  });
  const redactor = openRedactor({
    salt: readOrCreateSalt(home),
    keys: () => readOwnKeys(undefined, { env, home }),
  });
  const { records } = withErasableCopies(recordsOf(Promise.resolve(store), now, redactor), home, now);
  const followLibrary = followLibraryOnce(home, records);
  return {
    ...over(withErasedFiles(records, { promptsDir: home.promptsDir, followLibrary })),
    close: () => {
      // Writes are durable: nothing waits for the end.
      void store.close();
      lock.release();
    },
  };
}

interface OfflineCaller {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly key: string | undefined;
}

function apisOver({ home, env, key }: OfflineCaller, records: Records): OwnerApis {
  const now = systemClock.now;
  const schedule = async () => {
    const { CONSOLIDATION_JOB } = await import('../learn/memory/consolidation-job.ts');
    const { describeOffline } = await import('../schedule/offline-schedule.ts');
    return describeOffline(home, env, records, CONSOLIDATION_JOB);
  };
  const store = createStoreApi(records, now, schedule);
  const lessons = openLessonsOnce(records);
  const lessonsApi = lazyLessonsApi(lessons);
  const apis = {
    api: {
      ...store,
      ...createAdaptApi(records, lessonsApi),
      consolidate: async ({ apply }: JsonObject) => {
        const { consolidateOnDemand } = await import('../learn/memory/serve-memory.ts');
        const { library, effects, comparison } = await lessons();
        const { embed, isByLetters } = comparison;
        return consolidateOnDemand(
          { library, effects, records, embed: embed.embed, isByLetters, clock: systemClock },
          apply === true,
        );
      },
      overlays: async (query: OverlayQuery) => listOverlays(decodeLessons(await lessonsApi.all()), query),
      training: async () => {
        const { config } = (await import('../config/load-config.ts')).loadConfig({
          file: home.configFile,
          env,
        });
        const { withTrainingSupply } = await import('../../train/training-supply.ts');
        const { library } = await lessons();
        const parts = {
          config,
          configFile: home.configFile,
          records,
          lessons: () => library.shown(now()),
          schedule,
          now,
        };
        return withTrainingSupply(store.training, parts)();
      },
      confirmTime: () => confirmTimeOf(home, records, systemClock, systemBoot),
      learning: async () =>
        (await import('./offline-learning.ts')).describeLearningOffline(
          records,
          (await learningSettings(home, env)).failures,
          now(),
        ),
    },
    lessonsApi,
    keysApi: createKeysApi({
      home,
      env,
      now,
      records,
      members: async (request) => {
        const { openMembers } = await import('../../team/members.ts');
        const { createMembersApi } = await import('../../team/members-api.ts');
        const members = await openMembers({ records, now });
        return createMembersApi({ members, records, library: async () => (await lessons()).library })(
          request,
        );
      },
    }),
  };
  const by = key === undefined ? 'owner' : keyId('owner', hashKey(key));
  return withShortIds(withAudit(apis, createAudit(records, now), by), records);
}

/** Folds the library on the first call: commands such as `sessions list` do not need it. */
function openLessonsOnce(records: Records): () => Promise<OpenLessons> {
  let opened: Promise<OpenLessons> | undefined;
  return () => {
    // Also the code is loaded on the first call.
    opened ??= import('../lessons/open-lessons.ts').then(async ({ openLessons }) =>
      openLessons({
        records,
        clock: systemClock,
        newId: createIds(systemClock),
        sandboxFix: async () => (await import('../agent/sandbox/find-confiner.ts')).sandboxFix(),
        onFault: (error) => {
          throw error;
        },
      }),
    );
    return opened;
  };
}

export const createLazyLessonsApi = (records: Records): LessonsApi =>
  lazyLessonsApi(openLessonsOnce(records));

const lazyLessonsApi = (lessons: () => Promise<OpenLessons>): LessonsApi =>
  deferLessonsApi(async () => (await lessons()).api);

/** The settings that reports about learning name. The code that reads them is loaded on demand; a faulty file counts as none. */
async function learningSettings(home: Home, env: NodeJS.ProcessEnv) {
  const { loadConfig } = await import('../config/load-config.ts');
  try {
    const { learn } = loadConfig({ file: home.configFile, env }).config;
    return { failures: learn.failures };
  } catch (error) {
    if (error instanceof Error && error.name === 'ConfigError') return { failures: 3 };
    throw error;
  }
}

/** Why a file cannot be restored into a home; undefined when it looks like a backup. */
export const findRestoreFault = (home: Home, file: string): BackupFault | undefined =>
  findBackupFault(file) ??
  (isSameFile(file, home.storeFile)
    ? { kind: 'foreign', why: 'is the record of this home itself, not a backup of it' }
    : undefined);

function isSameFile(one: string, other: string): boolean {
  const [a, b] = [one, other].map((file) => statSync(file, { throwIfNoEntry: false }));
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
}

/** Replaces the store with a backup, under the lock. `kept` is the path of the previous store, if there was one. */
export function restoreHome(home: Home, file: string): { readonly kept: string | undefined } {
  const lock = lockHome(home.lockFile);
  if (lock === undefined) throw new HomeInUseError(`${home.dir} is in use by another Instar process.`);
  try {
    const previous = restoreSnapshot(file, home.storeFile);
    // Else a copy that was made later would show it as the remains of a longer record.
    const { firstAt, facts, turns } = inspectStore(home.storeFile, false);
    const at = Math.round(statSync(home.storeFile).mtimeMs);
    setStoreMark(home.storeFile, { firstAt, facts, turns, at });
    return { kept: previous };
  } finally {
    lock.release();
  }
}

/** The newest sound copy of a home's store, and the newer ones that are damaged. */
export const newestCopyOf = (home: Home): ReturnType<typeof findGoodCopy> => findGoodCopy(home.snapshotDir);
