import { type IdentityTier, isInUse, type Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { tierOf } from '../../lessons/identity-tier.ts';
import { isInScope, reachOf } from '../../lessons/scope.ts';

const MOST_LINES = 40;

/** The lines of some identities, without headings and marks of lists. */
const linesOf = (lessons: readonly Lesson[]): readonly string[] =>
  [
    ...new Set(
      lessons
        .flatMap(({ text }) => text.content.split('\n'))
        .map((line) => line.replace(/^\s*(?:[-*•]|\d{1,2}[.)])\s+/, '').trim())
        .filter((line) => line !== '' && !line.startsWith('#')),
    ),
  ].slice(0, MOST_LINES);

/** The parts of an agent's identity that are in use, of these tiers. */
const partsOf = (
  library: Pick<Library, 'lessons'>,
  agent: string,
  tiers: readonly IdentityTier[],
): readonly Lesson[] =>
  library
    .lessons()
    .filter((lesson) => lesson.kind === 'identity' && isInUse(lesson))
    .filter((lesson) => tiers.includes(tierOf(lesson) ?? 'guarded'))
    .filter(({ text }) => isInScope(reachOf(text), { agent }, undefined));

/** What an agent never breaks. */
export const coreLines = (library: Pick<Library, 'lessons'>, agent: string | undefined): readonly string[] =>
  linesOf(partsOf(library, agent ?? '', ['core']));

/** What an agent's attempts are compared with, where the owner weighs its identity. */
export const identityLines = (
  library: Pick<Library, 'lessons'>,
  agent: string | undefined,
): readonly string[] => linesOf(partsOf(library, agent ?? '', ['core', 'guarded']));

/** What a judge compares answers with: the core and the guarded lines, with a proposal in the place of what it replaces. */
export function proposedLines(
  library: Pick<Library, 'lessons'>,
  proposal: Lesson,
  replaced: Lesson | undefined,
): readonly string[] {
  const inUse = partsOf(library, proposal.text.scope.agent ?? '', ['core', 'guarded']);
  return linesOf([...inUse.filter(({ id }) => id !== replaced?.id), proposal]);
}
