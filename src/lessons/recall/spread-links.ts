import type { Lesson, LinkType } from '../../core/lesson.ts';
import type { LessonLinks } from '../links.ts';
import { NOTE_WEIGHTS } from './relevance.ts';

/** What links need to know of a candidate. */
interface LinkingCandidate {
  readonly lesson: Lesson;
  readonly evidence: number;
  readonly isInScope: boolean;
  readonly isDue: boolean;
  readonly linked?: number;
}

/** Lessons that links add to one recall. */
const MOST_LINKED = 2;

/** What is about the same belongs to a request, too; what contradicts a lesson, or came before it, does not. */
const FOLLOWED: ReadonlySet<LinkType> = new Set(['about']);

/**
 * Spreading activation, one hop: a lesson that a clearly relevant one is linked with has a share of its evidence, unless it has more
 * of its own. At most two get one. Its own evidence stays as it is: the selection adds it where room is left, and it takes none
 * from another lesson. `find` gives a lesson that may be shown to this asker.
 */
export function spreadLinks<Candidate extends LinkingCandidate>(
  candidates: readonly Candidate[],
  links: LessonLinks,
  find: (id: string) => Candidate | undefined,
): readonly Candidate[] {
  const { linkedFrom, linkedShare } = NOTE_WEIGHTS;
  const sources = candidates.filter(({ isInScope, evidence }) => isInScope && evidence >= linkedFrom);
  if (sources.length === 0) return candidates;
  const known = new Map(candidates.map((candidate) => [candidate.lesson.id, candidate]));
  const added = new Map<string, Candidate>();
  for (const source of [...sources].sort((a, b) => b.evidence - a.evidence))
    for (const { type, to: id } of links.of(source.lesson.id)) {
      if (!FOLLOWED.has(type)) continue;
      const target = known.get(id) ?? find(id);
      const evidence = linkedShare * source.evidence;
      if (target === undefined || !target.isInScope || target.isDue || target.evidence >= evidence) continue;
      if (added.size < MOST_LINKED && !added.has(id)) added.set(id, { ...target, linked: evidence });
    }
  return [...candidates.filter(({ lesson }) => !added.has(lesson.id)), ...added.values()];
}
