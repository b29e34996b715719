import { between, some } from '../../draw.ts';
import { numberFor } from '../../splits.ts';
import { amount, type FileEdit, list, record, text, time, type ValueChange } from '../plan.ts';
import { type BySplit, leadOf, planFor, say, sizeFor, type TaskKind, tell } from '../scene.ts';
import { fileOf } from './ticket-states.ts';

const ASKS: BySplit = {
  train: ['Correct the sheet {path}.', 'A figure in {path} has been counted anew.'],
  gate: ['{path} holds an old figure.', 'There is a correction to {path}.'],
  report: ['Somebody found a mistake in {path}.', 'In {path} not all is right any more.'],
};

const FACTS: BySplit = {
  train: [
    'The value of "{name}" is {value} {unit}, measured_at {at}.',
    'Set "{name}" to {value} {unit} (value) and {at} (measured_at).',
  ],
  gate: [
    'For "{name}" the value is to be {value} {unit} and measured_at {at}.',
    '"{name}" now has {value} {unit} as value, with {at} as measured_at.',
  ],
  report: [
    'Under "{name}" put {value} {unit} as the value, and as measured_at {at}.',
    'As value of "{name}" take {value} {unit}, as measured_at {at}.',
  ],
};

const MOST = 5;

/** Figures of a sheet get other values. */
export const FIGURE_CHANGE: TaskKind = {
  name: 'figure-change',
  suits: ({ figures }) => figures.length > 1,
  make: (scene) => {
    const { day, random, folders, split } = scene;
    const figures = some(random, day.figures, MOST);
    const changed = some(random, figures, sizeFor(scene, 2));
    const lines: string[] = [];
    const changes: ValueChange[] = [];
    for (const { name, value, unit } of changed) {
      const at = figures.findIndex((figure) => figure.name === name);
      const to = numberFor(value + between(random, 4, 60), split);
      const when = { ...scene.now, hour: between(random, 7, scene.now.hour), minute: 5 * random.below(12) };
      lines.push(say(scene, FACTS, { name, value: String(to), unit, at: tell(scene, when) }));
      changes.push({ at: ['figures', at, 'value'], to: amount(to, unit) });
      changes.push({ at: ['figures', at, 'measured_at'], to: time(when) });
    }
    const before = fileOf(
      record([
        ['title', text(`figures of ${day.world.company}`)],
        [
          'figures',
          list(
            figures.map(({ name, value, unit, source, at }) =>
              record([
                ['name', text(name)],
                ['value', amount(value, unit)],
                ['measured_at', time(at)],
                ['source', text(source)],
              ]),
            ),
          ),
        ],
      ]),
    );
    const edit: FileEdit = { path: `${folders[0]}/figures.json`, format: 'json', before, changes };
    return {
      kind: 'figure-change',
      plan: planFor(scene, { edits: [edit], summary: `corrected ${changed.length} of the figures` }),
      text: [leadOf(scene), say(scene, ASKS, { path: edit.path }), ...lines].join(' '),
    };
  },
};
