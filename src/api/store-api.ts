import type { Caller } from '../core/caller.ts';
import type { DaemonApi } from '../core/daemon-api.ts';
import { compact } from '../core/json.ts';
import type { Records } from '../core/store.ts';
import { failedAttempts, foldEpisode, hasLearnableContrast } from '../evidence/episode.ts';
import { createTrainingBuffer, SAMPLE_CAP } from '../evidence/training-buffer.ts';
import { giveFeedback } from '../gateway/control-api.ts';
import { loadLearning, readLearningSwitch } from '../learn/learning-state.ts';
import { ApiError } from './remote-api.ts';
import { createSessionsApi, whatItTaught } from './sessions-api.ts';

/** The daemon's API on a store's records, except for what needs the clocks of the home. `schedule`: from the scheduler, where one runs. */
export function createStoreApi(
  records: Records,
  now: () => number,
  schedule: DaemonApi['schedule'] = async () => ({ state: 'off' }),
): Omit<DaemonApi, 'confirmTime'> {
  return {
    ...createSessionsApi(records),
    erase: async (id) => {
      const { turns, ...rest } = await records.erase(id, 'asked for by a person');
      return { erased: turns, ...rest };
    },
    feedback: async (body) => {
      const done = await giveFeedback({ records, now }, body, THE_OWNER);
      if (!done.ok) throw new Error(done.why.message);
      return done.answer;
    },
    episode: async (id) => {
      const episode = foldEpisode(id, await records.events(id));
      if (episode === undefined) return undefined;
      return {
        state: episode.outcome ?? 'open',
        attempts: episode.attempts.length,
        failed: failedAttempts(episode),
        learns: hasLearnableContrast(episode),
        ...compact({ learned: (await whatItTaught(id, [], records)).of }),
      };
    },
    training: async () => {
      const buffer = createTrainingBuffer({ cap: SAMPLE_CAP });
      await loadLearning(buffer, records);
      const { query, support, generation } = buffer.counts();
      return { engine: 'off', policy: '', generation, buffer: { query, support } };
    },
    startTraining: needsDaemon('Training'),
    practice: needsDaemon('Practice'),
    moveWeights: needsDaemon('Moving weights'),
    schedule,
    adaptation: needsDaemon('The adaptation engine'),
    consolidate: needsDaemon('Consolidation'),
    overlays: needsDaemon('Listing overlays'),
    backup: (file) => records.snapshot(file),
    learning: async () =>
      (await import('./offline-learning.ts')).describeLearningOffline(records, USUAL_FAILURES, now()),
    switchLearning: async (on) => {
      const was = (await readLearningSwitch(records)).isOn;
      if (on !== was) await records.append([{ at: now(), fact: { type: 'learning-switched', on } }]);
      return { on, was };
    },
  };
}

/** The default of `learn.failures`. */
const USUAL_FAILURES = 3;

/** Without a daemon, whoever can open the store is its owner. */
const THE_OWNER: Caller = { kind: 'owner', id: 'owner', mayRate: true };

const needsDaemon = (what: string) => async (): Promise<never> => {
  throw new ApiError(409, `${what} needs a running Instar; start it with: instar up.`);
};
