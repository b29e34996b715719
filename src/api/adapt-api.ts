import type { DaemonApi, LessonsApi } from '../core/daemon-api.ts';
import type { JsonObject } from '../core/json.ts';
import type { Lesson } from '../core/lesson.ts';
import type { Records } from '../core/store.ts';
import { decodeLessons } from '../lessons/codec.ts';

/** The adaptation engine's records and candidates, with the lessons that candidates became, and the figures of reported pipelines. */
export const createAdaptApi = (
  records: Records,
  lessonsApi: Pick<LessonsApi, 'all'>,
): Pick<DaemonApi, 'adaptation'> => ({
  adaptation: async () => describeAdaptation(records, decodeLessons(await lessonsApi.all())),
});

/** What reads it is loaded on demand: rarely asked for. */
export async function describeAdaptation(
  records: Pick<Records, 'newestOf' | 'session' | 'sessions' | 'turns'>,
  lessons: readonly Lesson[],
): Promise<JsonObject> {
  const { readAdaptation } = await import('../learn/adapt/read-adaptation.ts');
  const { readPipelines } = await import('../pipeline/read-pipelines.ts');
  const pipelines = [...(await readPipelines(records))];
  return { ...(await readAdaptation(records, lessons)), pipelines };
}
