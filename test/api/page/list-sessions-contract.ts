import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SessionSearch } from '../../../src/api/page/list-sessions.ts';
import { openPageReads, type PageReads } from '../../../src/api/page/page-reads.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { openStore } from '../../../src/record/open-store.ts';
import { start } from '../../record/store/facts.ts';

const RULE = 'lesson-rule';

/** What each session was scored with: shown, held out, in both, shown beyond the places that are measured, and before a new text. */
const SCORED = {
  shown: { lessons: [RULE], heldOut: [] },
  without: { lessons: [], heldOut: [RULE] },
  both: { lessons: [RULE], heldOut: [RULE] },
  unmeasured: { lessons: [RULE], heldOut: [], unmeasured: [RULE] },
  old: { lessons: [RULE], heldOut: [] },
} as const;

/** `place`: where a new record may be made. */
export function describeSessionSearch(name: string, place: () => string): void {
  describe(`the sessions behind a measured effect: ${name}`, () => {
    let reads: PageReads;
    beforeAll(async () => {
      const where = place();
      const store = await openStore(where);
      for (const [index, [session, fact]] of Object.entries(SCORED).entries()) {
        const at = session === 'old' ? 1000 : 5000 + index;
        const lessons = session === 'without' ? [] : [RULE];
        await store.append({
          facts: [
            { at, fact: start(`turn-${session}`, session, { lessons }) },
            { at: at + 1, fact: { type: 'session-scored', session, score: 1, ...fact } },
          ],
        });
      }
      await store.append({ facts: [{ at: 9000, fact: start('turn-other', 'other', {}) }] });
      await store.close();
      reads = openPageReads(where);
    });
    afterAll(() => reads.close());

    const found = async (search: Omit<SessionSearch, 'limit'>): Promise<readonly unknown[]> => {
      // A search answers in parts when it takes long.
      const ids: unknown[] = [];
      for (let cursor: string | undefined, isDone = false; !isDone; ) {
        const page = await reads.sessions({ ...search, cursor, limit: 50 });
        ids.push(...(page.sessions as readonly JsonObject[]).map(({ id }) => id));
        cursor = page.next as string | undefined;
        isDone = cursor === undefined;
      }
      return ids.sort();
    };

    it('finds every session that was shown a lesson, scored or not', async () => {
      expect(await found({ lesson: RULE })).toEqual(['both', 'old', 'shown', 'unmeasured']);
      expect(await found({ lesson: 'lesson-of-nobody' })).toEqual([]);
    });

    it('finds the sessions of each arm, and those of neither in none', async () => {
      expect(await found({ lesson: RULE, arm: 'with', since: 4000 })).toEqual(['shown']);
      expect(await found({ lesson: RULE, arm: 'without', since: 4000 })).toEqual(['without']);
      expect(await found({ lesson: RULE, arm: 'with' })).toEqual(['old', 'shown']);
    });
  });
}
