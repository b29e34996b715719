import { systemClock } from '../../core/clock.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Change, Lesson } from '../../core/lesson.ts';
import type { LessonsDesk } from '../../core/lessons-desk.ts';
import { decodeLessons, decodeResults, encodeChange } from '../../library/codec.ts';
import { exportSkills } from '../../library/skill-file/export-skills.ts';
import { importSkills } from '../../library/skill-file/import-skills.ts';
import { createIds } from '../ids.ts';

export interface SkillReport {
  readonly done: readonly {
    readonly name: string;
    readonly what: string;
    readonly notes: readonly string[];
  }[];
  readonly faults: readonly { readonly file: string; readonly why: string }[];
  readonly generation?: number;
}

/** Imports skills from files in one change set. */
export async function importSkillFiles(
  lessonsApi: LessonsDesk,
  path: string,
  state: 'proposed' | 'trial' | 'live',
): Promise<SkillReport> {
  const find = finder(decodeLessons(await lessonsApi.all()));
  const { found, faults } = await importSkills(path, { state, find, newId: createIds(systemClock) });
  const changes = found.flatMap((skill) => skill.changes);
  const published = changes.length === 0 ? {} : await publish(lessonsApi, changes, `import of ${path}`);
  const { refused } = decodeResults(published);
  return {
    done: found.map(({ id, name, changes: own, notes }) => ({
      name,
      what: refused.has(id) ? `refused: ${refused.get(id)}` : own.length === 0 ? 'unchanged' : 'imported',
      notes,
    })),
    faults,
    ...(typeof published.generation === 'number' ? { generation: published.generation } : {}),
  };
}

export async function exportSkillFiles(
  lessonsApi: LessonsDesk,
  dir: string,
  { all, overwrite }: { readonly all: boolean; readonly overwrite: boolean },
): Promise<SkillReport> {
  const lessons = decodeLessons(await lessonsApi.all()).filter(
    ({ state }) => all || state === 'trial' || state === 'live',
  );
  const { written, same, faults } = await exportSkills(lessons, dir, { overwrite });
  const report = (what: string) => (name: string) => ({ name, what, notes: [] });
  return { done: [...written.map(report('written')), ...same.map(report('unchanged'))], faults };
}

const publish = (lessonsApi: LessonsDesk, changes: readonly Change[], reason: string): Promise<JsonObject> =>
  lessonsApi.change({ changes: changes.map(encodeChange), reason });

/** As `Library.find`: by id, else by the name of the active lesson. */
function finder(lessons: readonly Lesson[]): (idOrName: string) => Lesson | undefined {
  return (idOrName) => {
    const byId = lessons.find(({ id }) => id === idOrName);
    if (byId !== undefined) return byId;
    const named = lessons.filter(
      ({ text, state }) => text.name === idOrName && state !== 'retired' && state !== 'rejected',
    );
    return named.length === 1 ? named[0] : undefined;
  };
}
