import type { Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { PracticeProposal } from './draft-proposals.ts';
import { isOpen } from './propose-operations.ts';

/**
 * Keeps the experiences of practice of each domain under a limit: for each one too many, the weakest that was not measured yet is
 * retired, or the weakest new one is left out. What measurement made live stays.
 */
export function limitDomains(
  proposals: readonly PracticeProposal[],
  library: Library,
  most: number,
): readonly PracticeProposal[] {
  const kept = [...proposals];
  for (const domain of new Set(proposals.flatMap((one) => domainOf(one) ?? []))) {
    const gone = new Set(kept.flatMap(({ proposal: { change } }) => goneBy(change)));
    const own = library.lessons().filter((lesson) => isOfPractice(lesson, domain) && !gone.has(lesson.id));
    const touched = new Set(kept.flatMap(({ proposal: { change } }) => ('id' in change ? [change.id] : [])));
    const additions = kept.filter((one) => domainOf(one) === domain);
    const spare = own
      .filter((lesson) => lesson.state !== 'live' && isOpen(lesson) && !touched.has(lesson.id))
      .sort((a, b) => strengthOf(a) - strengthOf(b) || a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
    let over = own.length + additions.length - most;
    for (const lesson of spare) {
      const by = additions.at(0);
      if (over <= 0 || by === undefined) break;
      kept.push(retirement(lesson, by, most));
      over--;
    }
    const weakest = additions.toSorted((a, b) => confidenceOfProposal(a) - confidenceOfProposal(b));
    for (const addition of weakest.slice(0, Math.max(0, over))) kept.splice(kept.indexOf(addition), 1);
  }
  return kept;
}

/** The domain of a proposed addition. */
const domainOf = ({ proposal: { change } }: PracticeProposal): string | undefined =>
  change.op === 'add' ? change.text.scope.domain : undefined;

const goneBy = (change: PracticeProposal['proposal']['change']): readonly string[] =>
  change.op === 'retire'
    ? [change.id]
    : change.op === 'merge'
      ? change.ids.filter((id) => id !== change.into)
      : [];

const isOfPractice = ({ kind, state, text }: Lesson, domain: string): boolean =>
  kind === 'experience' &&
  text.note.source === 'practice' &&
  text.scope.domain === domain &&
  (state === 'proposed' || state === 'trial' || state === 'live');

/** One that waits for a person is weaker than one in use. */
const strengthOf = ({ state, text: { note } }: Lesson): number =>
  (state === 'proposed' ? 0 : 1) + note.importance * note.confidence;

const confidenceOfProposal = ({ proposal: { change } }: PracticeProposal): number =>
  change.op === 'add' ? change.text.note.confidence : 0;

/** The attempts of a new experience show that the domain has a better use for the place. */
const retirement = (
  { id }: Lesson,
  { proposal, groups }: PracticeProposal,
  most: number,
): PracticeProposal => ({
  proposal: {
    change: {
      op: 'retire',
      id,
      reason: `the domain has more than ${most} experiences, and this was the weakest one not measured`,
    },
    quotes: [],
    turns: 'text' in proposal.change ? proposal.change.text.evidence.turns : [],
  },
  groups,
});
