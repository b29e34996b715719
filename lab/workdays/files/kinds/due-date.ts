import { pick, some } from '../../draw.ts';
import { type FileEdit, list, record, text, time, type ValueChange } from '../plan.ts';
import { type BySplit, leadOf, planFor, say, sizeFor, type TaskKind, tell } from '../scene.ts';
import { fileOf } from './ticket-states.ts';

const ASKS: BySplit = {
  train: ['The plan in {path} has shifted.', 'Please change the plan in {path}.'],
  gate: ['There is a new schedule for {path}.', 'We had to move something in {path}.'],
  report: ['{path} needs other deadlines.', 'In the plan {path} the calendar has moved on.'],
};

const MOVES: BySplit = {
  train: ['The due of "{name}" is now {at}.', 'Move the due of "{name}" to {at}.'],
  gate: ['"{name}" gets {at} as its due.', 'For "{name}" put {at} under due.'],
  report: ['As due for "{name}" enter {at}.', 'What is due for "{name}" is due on {at}.'],
};

const OWNERS: BySplit = {
  train: ['Its owner is {owner} from now on.'],
  gate: ['{owner} takes it over as owner.'],
  report: ['The owner of it becomes {owner}.'],
};

const MOST = 5;

/** Milestones of a plan move to another time. */
export const DUE_DATE: TaskKind = {
  name: 'due-date',
  suits: ({ tickets, decisions, world }) =>
    tickets.length > 1 && decisions.length > 0 && world.people.length > 1,
  make: (scene) => {
    const { day, random, folders } = scene;
    const steps = some(random, day.tickets, MOST);
    const project = pick(random, day.world.projects);
    const moved = some(random, steps, sizeFor(scene, 2));
    const lines: string[] = [];
    const changes: ValueChange[] = [];
    for (const one of moved) {
      const at = steps.indexOf(one);
      const to = laterThan(one.dueAt, pick(random, day.decisions).reviewAt);
      lines.push(say(scene, MOVES, { name: one.title, at: tell(scene, to) }));
      changes.push({ at: ['milestones', at, 'due'], to: time(to) });
      if (day.difficulty < 0.5) continue;
      const owner = pick(
        random,
        day.world.people.filter(({ name }) => name !== one.owner),
      ).name;
      lines.push(say(scene, OWNERS, { owner }));
      changes.push({ at: ['milestones', at, 'owner'], to: text(owner) });
    }
    const before = fileOf(
      record([
        ['title', text(`${project} plan`)],
        [
          'milestones',
          list(
            steps.map(({ title, owner, dueAt }) =>
              record([
                ['name', text(title)],
                ['owner', text(owner)],
                ['due', time(dueAt)],
              ]),
            ),
          ),
        ],
      ]),
    );
    const edit: FileEdit = { path: `${folders[0]}/plan.json`, format: 'json', before, changes };
    return {
      kind: 'due-date',
      plan: planFor(scene, { edits: [edit], summary: `moved ${moved.length} due in the ${project} plan` }),
      text: [leadOf(scene), say(scene, ASKS, { path: edit.path }), ...lines].join(' '),
    };
  },
};

/** Never the time that is there already. */
const laterThan = <T extends { readonly hour: number }>(old: T, other: T): T =>
  JSON.stringify(old) === JSON.stringify(other) ? { ...other, hour: (other.hour + 1) % 24 } : other;
