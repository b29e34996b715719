import type { DaemonApi, LessonsApi } from '../core/daemon-api.ts';
import type { Records } from '../core/store.ts';
import type { AdaptRules } from '../learn/adapt/adapt-step.ts';
import { decodeLessons } from '../lessons/codec.ts';

/** The adaptation engine's records and candidates, with the lessons that candidates became. Loaded on demand: rarely called. */
export const createAdaptApi = (
  records: Records,
  lessonsApi: Pick<LessonsApi, 'all'>,
  settings: () => AdaptRules | Promise<AdaptRules>,
): Pick<DaemonApi, 'adaptation'> => ({
  adaptation: async () => {
    const { readAdaptation } = await import('../learn/adapt/read-adaptation.ts');
    return readAdaptation(records, decodeLessons(await lessonsApi.all()), await settings());
  },
});
