import type { RecallCandidate } from './find-candidates.ts';
import { NOTE_WEIGHTS } from './relevance.ts';

/** Lessons that links add to one recall. */
const MOST_LINKED = 2;

/**
 * Spreading activation, one hop: a lesson that a clearly relevant one links to has a share of its evidence, unless it has more
 * of its own. At most two are added, and they come after all others: they fill room that is left and take none. `find` gives a
 * lesson that may be shown to this asker.
 */
export function spreadLinks(
  candidates: readonly RecallCandidate[],
  find: (id: string) => RecallCandidate | undefined,
): readonly RecallCandidate[] {
  const { linkedFrom, linkedShare } = NOTE_WEIGHTS;
  const sources = candidates.filter(
    ({ lesson, isInScope, evidence }) =>
      isInScope && evidence >= linkedFrom && lesson.text.note.links.length > 0,
  );
  if (sources.length === 0) return candidates;
  const known = new Map(candidates.map((candidate) => [candidate.lesson.id, candidate]));
  const added = new Map<string, RecallCandidate>();
  for (const source of [...sources].sort((a, b) => b.evidence - a.evidence))
    for (const id of source.lesson.text.note.links) {
      const target = known.get(id) ?? find(id);
      const evidence = linkedShare * source.evidence;
      if (target === undefined || !target.isInScope || target.isDue || target.evidence >= evidence) continue;
      if (added.size < MOST_LINKED && !added.has(id)) added.set(id, { ...target, evidence, isLinked: true });
    }
  return [...candidates.filter(({ lesson }) => !added.has(lesson.id)), ...added.values()];
}
