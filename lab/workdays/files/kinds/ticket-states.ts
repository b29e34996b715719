import { between, pick, some } from '../../draw.ts';
import type { Ticket } from '../../world.ts';
import {
  type FileEdit,
  PLAIN_STYLE,
  record,
  styled,
  text,
  ticket,
  time,
  type Value,
  type ValueChange,
} from '../plan.ts';
import { type BySplit, leadOf, planFor, say, sizeFor, type TaskKind, tell } from '../scene.ts';

const ASKS: BySplit = {
  train: ['Bring {path} up to date.', 'The board in {path} has to be updated, please.'],
  gate: ['{path} lags behind; see to it.', 'Some tickets in {path} have moved.'],
  report: ['What stands in {path} is no longer true.', 'Adjust the board {path} as follows.'],
};

const STATES: BySplit = {
  train: ['Set the state of ticket {ticket} to "{state}".', 'Ticket {ticket} is now "{state}" (its state).'],
  gate: ['The state of {ticket} becomes "{state}".', 'For {ticket} the state is "{state}" from now on.'],
  report: ['{ticket} moves to the state "{state}".', 'Give {ticket} the state "{state}".'],
};

const CLOSED: BySplit = {
  train: ['It was closed on {at}: add that as closed_at.', 'Add closed_at to it: {at}.'],
  gate: ['It also gets a closed_at, which is {at}.', 'As closed_at it is given {at}.'],
  report: ['Note as its closed_at: {at}.', 'A closed_at comes with it, namely {at}.'],
};

const MOST = 6;

/** Tickets on a board change their states; on harder days it is noted when. */
export const TICKET_STATES: TaskKind = {
  name: 'ticket-states',
  suits: ({ tickets }) => tickets.length > 1,
  make: (scene) => {
    const { day, random, folders } = scene;
    const tickets = some(random, day.tickets, MOST);
    const moved = some(random, tickets, sizeFor(scene, 3));
    const isDated = day.difficulty >= 0.2;
    const lines: string[] = [];
    const changes: ValueChange[] = [];
    for (const one of moved) {
      const at = tickets.indexOf(one);
      const state = isDated ? 'closed' : pick(random, nextOf(one.state));
      lines.push(say(scene, STATES, { ticket: String(one.number), state }));
      changes.push({ at: ['tickets', at, 'state'], to: text(state) });
      if (!isDated) continue;
      const closed = { ...scene.now, hour: between(random, 8, scene.now.hour), minute: 5 * random.below(12) };
      lines.push(say(scene, CLOSED, { at: tell(scene, closed) }));
      changes.push({ at: ['tickets', at, 'closed_at'], to: time(closed) });
    }
    const edit: FileEdit = {
      path: `${folders[0]}/board.json`,
      format: 'json',
      before: boardOf(tickets),
      changes,
    };
    return {
      kind: 'ticket-states',
      plan: planFor(scene, {
        edits: [edit],
        summary: `moved ${moved.map(({ number }) => number).join(', ')} on the board`,
      }),
      text: [leadOf(scene), say(scene, ASKS, { path: edit.path }), ...lines].join(' '),
    };
  },
};

const nextOf = (state: Ticket['state']): readonly string[] =>
  ['todo', 'doing', 'done'].filter((other) => other !== state);

/** A board as it lies there in the morning. */
export const boardOf = (tickets: readonly Ticket[]): string =>
  fileOf(
    record([
      [
        'tickets',
        {
          is: 'list',
          items: tickets.map(({ number, title, owner, state, dueAt }) =>
            record([
              ['ticket', ticket(number)],
              ['title', text(title)],
              ['owner', text(owner)],
              ['state', text(state)],
              ['due', time(dueAt)],
            ]),
          ),
        },
      ],
    ]),
  );

/** A file that was there before anyone heard of rules. */
export const fileOf = (value: Value): string => `${JSON.stringify(styled(value, PLAIN_STYLE), null, 2)}\n`;
