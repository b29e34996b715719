import type { LessonsApi } from '../../core/daemon-api.ts';
import type { Change } from '../../core/lesson.ts';
import { decodeResults, encodeChange } from '../codec.ts';
import { STARTER_SKILLS } from './starter-skills.ts';

/** Adds the starter skills to the library as live; existing ones stay unchanged. Returns the number of new ones. */
export async function addStarterSkills(lessonsApi: LessonsApi): Promise<number> {
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
  const done = await lessonsApi.change({
    changes: changes.map(encodeChange),
    reason: 'the starter skills',
  });
  return decodeResults(done).applied;
}
