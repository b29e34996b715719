import { systemClock } from '../../core/clock.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Change, Lesson } from '../../core/lesson.ts';
import type { LessonsDesk } from '../../core/lessons-desk.ts';
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

/** Takes skills from files into the library, all at once. */
export async function importSkillFiles(
  shelf: LessonsDesk,
  path: string,
  state: 'proposed' | 'trial' | 'live',
): Promise<SkillReport> {
  const find = finder(await shelf.all());
  const { found, faults } = await importSkills(path, { state, find, newId: createIds(systemClock) });
  const changes = found.flatMap((skill) => skill.changes);
  const published = changes.length === 0 ? {} : await publish(shelf, changes, `import of ${path}`);
  const refused = refusals(published);
  return {
    done: found.map(({ id, name, changes: own, notes }) => ({
      name,
      what: refused.has(id)
        ? `refused: ${refused.get(id)}`
        : own.length === 0
          ? 'was there already'
          : 'taken in',
      notes,
    })),
    faults,
    ...(typeof published.generation === 'number' ? { generation: published.generation } : {}),
  };
}

export async function exportSkillFiles(
  shelf: LessonsDesk,
  dir: string,
  { all, overwrite }: { readonly all: boolean; readonly overwrite: boolean },
): Promise<SkillReport> {
  const lessons = (await shelf.all()).filter(({ state }) => all || state === 'trial' || state === 'live');
  const { written, same, faults } = await exportSkills(lessons, dir, { overwrite });
  const told = (what: string) => (name: string) => ({ name, what, notes: [] });
  return { done: [...written.map(told('written')), ...same.map(told('was so already'))], faults };
}

const publish = (shelf: LessonsDesk, changes: readonly Change[], reason: string): Promise<JsonObject> =>
  shelf.change({ changes: changes as unknown as JsonObject[], reason });

function refusals({ results }: JsonObject): ReadonlyMap<string, string> {
  const list = (results ?? []) as readonly { status: string; id: string; why?: string }[];
  return new Map(list.flatMap(({ status, id, why }) => (status === 'refused' ? [[id, why ?? '']] : [])));
}

/** As `Library.find`: by id, else by the name of the one that is in use. */
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
