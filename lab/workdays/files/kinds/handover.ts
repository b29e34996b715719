import { pick, some } from '../../draw.ts';
import { amount, type Fields, type FileEdit, type NewDocument, text, ticket, time } from '../plan.ts';
import {
  type BySplit,
  formOf,
  leadOf,
  nameFor,
  nameWords,
  planFor,
  say,
  type TaskKind,
  tell,
} from '../scene.ts';
import { boardOf } from './ticket-states.ts';

const ASKS: BySplit = {
  train: [
    '{from} hands ticket {ticket} over to {to}: set its owner in {path} to "{to}", then write a handover note titled "{title}".',
    'Ticket {ticket} goes from {from} to {to}. Put "{to}" as its owner in {path} and write a note on it, titled "{title}".',
  ],
  gate: [
    '{to} takes ticket {ticket} from {from}. Two things: the owner in {path} becomes "{to}", and there is to be a note "{title}".',
    'Let the owner of {ticket} in {path} be "{to}" in place of {from}, and leave a note with the title "{title}".',
  ],
  report: [
    'With ticket {ticket} passing from {from} to {to}, {path} has to name "{to}" as owner; a note called "{title}" goes with it.',
    'From {from} to {to}: that is the way of ticket {ticket}. Enter "{to}" as owner in {path} and add a note, "{title}".',
  ],
};

const FACTS: BySplit = {
  train: [
    'The note says that it was handed over on {at}, from {from} to {to}, with {hours} hours of work left on ticket {ticket}.',
    'In the note: ticket {ticket}, from {from}, to {to}, on {at}, and {hours} hours of work remain.',
  ],
  gate: [
    'It changed hands on {at}, and {hours} hours of it are still to do; name the ticket ({ticket}), {from} and {to} as well.',
    'Give ticket {ticket}, the two people ({from}, then {to}), {at} as the time and {hours} hours as what remains.',
  ],
  report: [
    'Time of the handover: {at}; remaining work: {hours} hours; and of course ticket {ticket}, {from} and {to}.',
    'What belongs in it: ticket {ticket}, giver {from}, taker {to}, {at} as the hour, {hours} hours of work remaining.',
  ],
};

/** A board is changed and a note is written, at once. */
export const HANDOVER: TaskKind = {
  name: 'handover',
  suits: ({ tickets, world }) => tickets.length > 1 && world.people.length > 1,
  make: (scene) => {
    const { day, random, folders } = scene;
    const tickets = some(random, day.tickets, 5);
    const given = pick(random, tickets);
    const { number, owner: from, estimateHours } = given;
    const to = pick(
      random,
      day.world.people.filter(({ name }) => name !== from),
    ).name;
    const at = { ...scene.now, minute: 5 * random.below(12), hour: scene.now.hour - 1 };
    const title = `handover of ${number}`;
    const edit: FileEdit = {
      path: `${folders[1]}/board.json`,
      format: 'json',
      before: boardOf(tickets),
      changes: [{ at: ['tickets', tickets.indexOf(given), 'owner'], to: text(to) }],
    };
    const fields: Fields = [
      ['title', text(title)],
      ['ticket', ticket(number)],
      ['from', text(from)],
      ['to', text(to)],
      ['handed_over_at', time(at)],
      ['remaining', amount(estimateHours, 'hours')],
    ];
    const document: NewDocument = {
      folder: folders[0],
      format: 'json',
      about: nameWords(`ticket ${number} handover`),
      ...nameFor(scene, 'handover.json'),
      fields,
    };
    const words = { from, to, ticket: String(number) };
    return {
      kind: 'handover',
      plan: planFor(scene, { creates: [document], edits: [edit], summary: `handed ${number} over to ${to}` }),
      text: [
        leadOf(scene),
        say(scene, ASKS, { ...words, path: edit.path, title }),
        say(scene, FACTS, { ...words, at: tell(scene, at), hours: String(estimateHours) }),
        formOf(scene, document),
      ].join(' '),
    };
  },
};
