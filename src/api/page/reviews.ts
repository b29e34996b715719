import type { LessonsApi } from '../../core/daemon-api.ts';
import type { JsonObject } from '../../core/json.ts';
import type { OpenLessons } from '../../lessons/open-lessons.ts';

/** How long a view waits for a review; the next look at it has the result. */
const PATIENCE_MS = 100;

/** Contradictions and duplicates of the library. A review compares all pairs of lessons: one is made for each change of the library. */
export function createReviews(lessons: () => OpenLessons): {
  newest(api: LessonsApi): Promise<JsonObject>;
} {
  let made: Promise<JsonObject> | undefined;
  let known: JsonObject | undefined;
  let followed: unknown;
  const follow = (): void => {
    const { library } = lessons();
    if (library === followed) return;
    followed = library;
    library.onChange(() => {
      made = undefined;
    });
  };
  const review = async (api: LessonsApi): Promise<JsonObject> => {
    const { contradictions, same, forgettable } = await api.review();
    known = { contradictions: contradictions ?? [], same: same ?? [], forgettable: forgettable ?? [] };
    return known;
  };
  return {
    newest: async (api) => {
      follow();
      if (made === undefined) {
        made = review(api);
        made.catch(() => {
          made = undefined;
        });
      }
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<undefined>((resolve) => {
        timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
      });
      const found = await Promise.race([made, late]).finally(() => clearTimeout(timer));
      if (found !== undefined) return { ...found, isReviewed: true };
      return { contradictions: [], same: [], forgettable: [], ...known, isReviewed: false };
    },
  };
}
