import { some } from '../../draw.ts';
import type { Ticket } from '../../world.ts';
import { amount, list, type NewDocument, record, text, ticket, time } from '../plan.ts';
import {
  type BySplit,
  formOf,
  leadOf,
  nameFor,
  nameWords,
  planFor,
  type Scene,
  say,
  sizeFor,
  type TaskKind,
  tell,
} from '../scene.ts';

const ASKS: BySplit = {
  train: [
    'Turn the list in {path} into a JSON file with the title "{title}" and an entry for each line.',
    'Please convert {path} to JSON: the title "{title}", and every line as an entry of tickets.',
  ],
  gate: [
    'From each line of {path} make an entry of tickets in a JSON file titled "{title}".',
    '{path} is only text; we want the same as JSON, titled "{title}".',
  ],
  report: [
    'What {path} has line by line is wanted as JSON under the title "{title}".',
    'Rewrite {path} as JSON, with "{title}" for a title and the lines as tickets.',
  ],
};

const LINES: BySplit = {
  train: ['{ticket}; {title}; {owner}; due {at}; {hours} hours'],
  gate: ['{ticket} / {title} / {owner} / due {at} / {hours} hours'],
  report: ['{owner} has {ticket} ({title}), due {at}, {hours} hours'],
};

/** A list that somebody typed becomes a new JSON file. */
export const CONVERT: TaskKind = {
  name: 'convert',
  suits: ({ tickets }) => tickets.length > 2,
  make: (scene) => {
    const { day, random, folders } = scene;
    const tickets = some(random, day.tickets, 1 + sizeFor(scene, 4));
    const path = `${folders[1]}/tickets.txt`;
    const title = `tickets of ${day.world.company}`;
    const document: NewDocument = {
      folder: folders[0],
      format: 'json',
      about: nameWords('open tickets'),
      ...nameFor(scene, 'tickets.json'),
      fields: [
        ['title', text(title)],
        ['tickets', list(tickets.map(entry))],
      ],
    };
    return {
      kind: 'convert',
      plan: planFor(scene, {
        creates: [document],
        given: { [path]: tickets.map((one) => `${lineOf(scene, one)}\n`).join('') },
        summary: `turned ${tickets.length} tickets into JSON`,
      }),
      text: [leadOf(scene), say(scene, ASKS, { path, title }), formOf(scene, document)].join(' '),
    };
  },
};

const lineOf = (scene: Scene, { number, title, owner, dueAt, estimateHours }: Ticket): string =>
  say(scene, LINES, {
    ...{ ticket: String(number), title, owner, at: tell(scene, dueAt), hours: String(estimateHours) },
  });

const entry = ({ number, title, owner, dueAt, estimateHours }: Ticket) =>
  record([
    ['ticket', ticket(number)],
    ['title', text(title)],
    ['owner', text(owner)],
    ['due', time(dueAt)],
    ['estimate', amount(estimateHours, 'hours')],
  ]);
