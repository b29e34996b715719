import { some } from '../../draw.ts';
import type { Figure } from '../../world.ts';
import { amount, list, type NewDocument, record, text, time } from '../plan.ts';
import {
  type BySplit,
  formOf,
  leadOf,
  nameFor,
  nameWords,
  planFor,
  say,
  sizeFor,
  type TaskKind,
  tell,
} from '../scene.ts';

const ASKS: BySplit = {
  train: [
    'Write the figures of the week for {project} into a sheet titled "{title}".',
    'Please put together the week in figures for {project}; the sheet has the title "{title}".',
  ],
  gate: [
    'For {project} we want a sheet "{title}" with the figures of this week.',
    'Set up the figures for {project} in a sheet that is titled "{title}".',
  ],
  report: [
    'The numbers on {project} have come in: note them in a sheet with "{title}" on top.',
    'A sheet by the title "{title}" is to show how {project} is doing.',
  ],
};

const FACTS: BySplit = {
  train: [
    'The {name} came to {value} {unit}, taken from {source} on {at}.',
    'According to {source} the {name} was {value} {unit} on {at}.',
  ],
  gate: [
    'On {at} the {name} stood at {value} {unit} (source: {source}).',
    'For the {name}, {source} has {value} {unit}, as of {at}.',
  ],
  report: [
    '{value} {unit} is the {name}; it was read from {source} on {at}.',
    'As to the {name}: {value} {unit}, from {source}, noted {at}.',
  ],
};

/** A new file with some of the day's figures. */
export const WEEKLY_FIGURES: TaskKind = {
  name: 'weekly-figures',
  suits: ({ figures }) => figures.length > 0,
  make: (scene) => {
    const { day, random, folders } = scene;
    const figures = some(random, day.figures, sizeFor(scene, 4));
    const project = figures[0]?.project ?? '';
    const title = `${project} in figures`;
    const document: NewDocument = {
      folder: folders[0],
      format: 'json',
      about: nameWords(project, 'weekly figures'),
      ...nameFor(scene, 'figures.json'),
      fields: [
        ['title', text(title)],
        ['figures', list(figures.map(entry))],
      ],
    };
    const facts = figures.map(({ name, value, unit, source, at }) =>
      say(scene, FACTS, { name, value: String(value), unit, source, at: tell(scene, at) }),
    );
    return {
      kind: 'weekly-figures',
      plan: planFor(scene, { creates: [document], summary: `wrote the figures of ${project}` }),
      text: [leadOf(scene), say(scene, ASKS, { project, title }), ...facts, formOf(scene, document)].join(
        ' ',
      ),
    };
  },
};

const entry = ({ name, value, unit, source, at }: Figure) =>
  record([
    ['name', text(name)],
    ['value', amount(value, unit)],
    ['measured_at', time(at)],
    ['source', text(source)],
  ]);
