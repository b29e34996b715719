import type { JsonObject } from '../../core/json.ts';
import type { Change } from '../../core/lesson.ts';
import type { LessonsDesk } from '../../core/lessons-desk.ts';
import { STARTER_SKILLS } from '../../library/starter/starter-skills.ts';

/** Puts the starter skills into the library, live; those that are there stay as they are. How many are new. */
export async function addStarter(shelf: LessonsDesk): Promise<number> {
  const changes = STARTER_SKILLS.map(
    ({ name, description, content, category, keywords }): Change => ({
      op: 'add',
      id: `starter-${name}`,
      kind: 'skill',
      state: 'live',
      text: {
        name,
        description,
        content,
        category,
        scope: {},
        note: {
          keywords,
          tags: ['starter'],
          importance: 0.5,
          confidence: 0.5,
          source: 'told',
          visibility: 'shared',
          halfLifeDays: 180,
          links: [],
        },
        evidence: { turns: [], quotes: [], learner: 'starter' },
        taint: [],
      },
    }),
  );
  const done = await shelf.change({
    changes: changes as unknown as JsonObject[],
    reason: 'the starter skills',
  });
  return (done.results as readonly { status: string }[]).filter(({ status }) => status === 'applied').length;
}
