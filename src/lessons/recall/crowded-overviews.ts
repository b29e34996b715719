import type { Lesson } from '../../core/lesson.ts';
import type { RecallOutcome } from '../../core/recall.ts';

interface OverviewCandidate {
  readonly lesson: Lesson;
}

/** An overview whose members fit a task and do not all have room, with those members. */
interface CrowdedOverview<Candidate> {
  readonly overview: Lesson;
  readonly members: readonly Candidate[];
}

const PLACED: ReadonlySet<RecallOutcome> = new Set(['shown', 'held-out']);
const CROWDED_OUT: ReadonlySet<RecallOutcome> = new Set(['over-limit', 'over-budget']);
const LEAST_MEMBERS = 2;

/** The overviews that would show more of their members than have room with their bodies, in the order of the candidates. */
export function crowdedOverviews<Candidate extends OverviewCandidate>(
  verdicts: ReadonlyMap<Candidate, RecallOutcome>,
  overviewOf: (lessonId: string) => Lesson | undefined,
): readonly CrowdedOverview<Candidate>[] {
  const found = new Map<
    string,
    { readonly overview: Lesson; readonly members: Candidate[]; isCrowded: boolean }
  >();
  for (const [candidate, verdict] of verdicts) {
    if (!PLACED.has(verdict) && !CROWDED_OUT.has(verdict)) continue;
    const overview = overviewOf(candidate.lesson.id);
    if (overview === undefined) continue;
    const group = found.get(overview.id) ?? { overview, members: [], isCrowded: false };
    group.members.push(candidate);
    group.isCrowded ||= CROWDED_OUT.has(verdict);
    found.set(overview.id, group);
  }
  return [...found.values()].filter(({ members, isCrowded }) => isCrowded && members.length >= LEAST_MEMBERS);
}
