import { compact, type JsonObject } from '../../core/json.ts';
import type { Library } from '../../core/library.ts';
import { closingOf, rollbackInForce } from './closed-by.ts';

const MOST_NAMED = 20;

/** For `status`: the lessons that wait for a person, what retired the others, and the rollback that is in force. */
export function describeUse(library: Library): JsonObject {
  const proposed = library.lessons().filter(({ state }) => state === 'proposed');
  const retiredBy: Record<string, number> = {};
  for (const lesson of library.lessons()) {
    const by = closingOf(lesson, library)?.by;
    if (by !== undefined) retiredBy[by] = (retiredBy[by] ?? 0) + 1;
  }
  const rollback = rollbackInForce(library);
  return compact({
    proposed: proposed
      .slice(0, MOST_NAMED)
      .map(({ id, text, reason, createdAt }) =>
        compact({ id, name: text.name, reason, at: new Date(createdAt).toISOString() }),
      ),
    proposedCount: proposed.length,
    retiredBy,
    rollback: rollback && { ...rollback, at: new Date(rollback.at).toISOString() },
  });
}
