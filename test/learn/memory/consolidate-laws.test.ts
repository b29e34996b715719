import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isInUse, type Lesson } from '../../../src/core/lesson.ts';
import {
  applyConsolidation,
  type MemoryState,
  planConsolidation,
} from '../../../src/learn/memory/consolidate.ts';
import { runsOf } from '../../support/counts.ts';
import { DAY, type MemoryLibrary, openMemoryLibrary } from './memory-library.ts';

/** Every text has its near neighbours: the same, a rewording, the contrary. */
const CONTENTS = [
  'Commit the lockfile.',
  'Commit the  lockfile.',
  'Never commit the lockfile.',
  'Always commit the lockfile. Squash before a release.',
  'Set the timeout to 30 seconds.',
  'Set the timeout to 60 seconds.',
  'Write the report in English.',
  'Write the report in German.',
];

const drawn = fc.record({
  content: fc.constantFrom(...CONTENTS),
  age: fc.integer({ min: 0, max: 500 }),
  isTold: fc.boolean(),
  learner: fc.constantFrom('distiller', 'evolver', 'person', 'import'),
  state: fc.constantFrom('trial', 'live', 'proposed'),
  kind: fc.constantFrom('skill', 'experience'),
  visibility: fc.constantFrom('private', 'scoped', 'shared'),
  project: fc.constantFrom(undefined, 'x', 'y'),
  mark: fc.constantFrom('', '', 'pinned', 'frozen'),
  isHelpful: fc.boolean(),
  uses: fc.integer({ min: 0, max: 3 }),
  halfLifeDays: fc.constantFrom(7, 30, 60),
});
type Drawn = typeof drawn extends fc.Arbitrary<infer One> ? One : never;

const NOW_DAY = 500;

async function build(all: readonly Drawn[]): Promise<{ library: MemoryLibrary; state: MemoryState }> {
  const library = await openMemoryLibrary();
  const placed = all.map((one, at) => ({ ...one, id: `l${at}` })).sort((a, b) => b.age - a.age);
  let day = 0;
  for (const one of placed) {
    library.clock.advance((NOW_DAY - one.age - day) * DAY);
    day = NOW_DAY - one.age;
    await library.add(
      one.id,
      {
        content: one.content,
        description: 'When you work.',
        scope: one.project === undefined ? {} : { project: one.project },
        evidence: { turns: [], quotes: [], learner: one.learner },
        note: {
          source: one.isTold ? 'told' : 'experience',
          visibility: one.visibility,
          halfLifeDays: one.halfLifeDays,
        },
      },
      { state: one.state, kind: one.kind },
    );
    if (one.mark !== '') await library.change({ op: 'mark', id: one.id, [one.mark]: true });
  }
  library.clock.advance((NOW_DAY - day) * DAY);
  const by = new Map(placed.map((one) => [one.id, one]));
  const state: MemoryState = {
    library: library.library,
    trials: { of: () => undefined },
    effects: {
      verdict: (id) => (by.get(id)?.isHelpful === true ? 'helpful' : 'unknown'),
      usefulness: (id) => {
        const { uses = 0, age = 0, isHelpful = false } = by.get(id) ?? {};
        const at = library.clock.now() - (age / 2) * DAY;
        return {
          uses: Array.from({ length: uses }, () => ({ at, weight: 1 })),
          count: uses,
          isProven: isHelpful,
        };
      },
    },
  };
  return { library, state };
}

/** Texts that share a word are near: all rules are tried on nearly all pairs. */
const embed = async (texts: readonly string[]): Promise<Float32Array[]> =>
  texts.map((text) => {
    const angle = text.includes('lockfile') ? 0 : text.includes('timeout') ? 0.2 : 0.4;
    return Float32Array.from([Math.cos(angle), Math.sin(angle)]);
  });

const oneLine = (text: string): string => text.split(/\s+/).join(' ');

describe('consolidation of any library', () => {
  it('loses nothing pinned, frozen, live and proven, waiting, or told within 90 days, and comes to rest', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(drawn, { minLength: 2, maxLength: 9 }),
        fc.boolean(),
        async (all, isAsked) => {
          const { library, state } = await build(all);
          const before = new Map(library.library.lessons().map((lesson) => [lesson.id, lesson]));
          const now = library.clock.now();
          let changes = Number.POSITIVE_INFINITY;
          for (let run = 0; run < 10 && changes > 0; run++) {
            const plan = await planConsolidation(state, { now, embed, isByLetters: false, isAsked });
            changes = plan.changes.length;
            const results = await applyConsolidation(plan, library.library, { isAsked });
            expect(results.filter(({ status }) => status === 'refused')).toEqual([]);
          }
          expect(changes).toBe(0);
          for (const [id, was] of before) {
            const is = library.lesson(id);
            expect(is.text.content).toBe(was.text.content);
            if (is.state === was.state) continue;
            expect(is.state).toBe('retired');
            expect(was.pinned || was.frozen || was.state === 'proposed').toBe(false);
            expect(was.state === 'live' && state.effects.verdict(id) === 'helpful').toBe(false);
            if (!isAsked) expect(['person', 'import']).not.toContain(was.text.evidence.learner);
            if (was.text.note.source === 'told' && now - was.createdAt < 90 * DAY)
              expect(staysOrWasReplaced(is, library)).toBe(true);
          }
        },
      ),
      runsOf(8, 25),
    );
  });
});

/** A person's fresh words stay in use, word for word in the lesson that absorbed them; or newer words of a person took their place. */
function staysOrWasReplaced(lesson: Lesson, library: MemoryLibrary): boolean {
  if (isInUse(lesson)) return true;
  if (lesson.mergedInto !== undefined) {
    const into = library.lesson(lesson.mergedInto);
    return oneLine(into.text.content) === oneLine(lesson.text.content) && staysOrWasReplaced(into, library);
  }
  const by = lesson.supersededBy === undefined ? undefined : library.lesson(lesson.supersededBy);
  return by !== undefined && by.text.note.source === 'told' && by.createdAt > lesson.createdAt;
}
