import { pick, some } from '../../draw.ts';
import type { Decision } from '../../world.ts';
import { list, type NewDocument, record, text, ticket, time } from '../plan.ts';
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
    'Write a log of what was decided for {project}, titled "{title}".',
    'Please put the decisions on {project} into a log with the title "{title}".',
  ],
  gate: [
    'We want the decisions about {project} on record; call the log "{title}".',
    'Draw up a decision log for {project} under the title "{title}".',
  ],
  report: [
    'Nobody has noted down what was settled for {project}: do so in a log titled "{title}".',
    'A decision log is due for {project}, with "{title}" as its title.',
  ],
};

const FACTS: BySplit = {
  train: [
    '{id}: on {at} {by} decided "{decision}" because {rationale}; it is looked at again on {review}.',
    '{by} decided "{decision}" on {at} ({id}), the reason being that {rationale}. The review is on {review}.',
  ],
  gate: [
    'Number {id} is "{decision}", settled by {by} on {at}, since {rationale}, and up for review on {review}.',
    'As {id}: "{decision}". {by} settled it on {at}, given that {rationale}; review on {review}.',
  ],
  report: [
    'Under {id}, {by} chose "{decision}" on {at}; {rationale}. To be reviewed {review}.',
    '"{decision}" ({id}) was the choice of {by}, made on {at}; {rationale}. Back on the table on {review}.',
  ],
};

const FOLLOW_UP: BySplit = {
  train: ['What follows from it is ticket {ticket}.'],
  gate: ['The work on it is ticket {ticket}.'],
  report: ['Ticket {ticket} carries it out.'],
};

/** A new file with some of the day's decisions. */
export const DECISION_LOG: TaskKind = {
  name: 'decision-log',
  suits: ({ decisions, tickets }) => decisions.length > 0 && tickets.length > 0,
  make: (scene) => {
    const { day, random, folders } = scene;
    const decisions = some(random, day.decisions, sizeFor(scene, 3));
    const project = decisions[0]?.project ?? '';
    const next = pick(random, day.tickets);
    const title = `${project} decisions`;
    const document: NewDocument = {
      folder: folders[0],
      format: 'json',
      about: nameWords(project, 'decision log'),
      ...nameFor(scene, 'decisions.json'),
      fields: [
        ['title', text(title)],
        ['decisions', list(decisions.map(entry))],
        ['follow_up', ticket(next.number)],
      ],
    };
    const facts = decisions.map((one) =>
      say(scene, FACTS, {
        ...{ id: one.id, by: one.by, decision: one.decision, rationale: one.rationale },
        at: tell(scene, one.at),
        review: tell(scene, one.reviewAt),
      }),
    );
    const follow = say(scene, FOLLOW_UP, { ticket: String(next.number) });
    return {
      kind: 'decision-log',
      plan: planFor(scene, { creates: [document], summary: `wrote the decision log of ${project}` }),
      text: [
        leadOf(scene),
        say(scene, ASKS, { project, title }),
        ...facts,
        follow,
        formOf(scene, document),
      ].join(' '),
    };
  },
};

const entry = ({ id, at, decision, rationale, by, reviewAt }: Decision) =>
  record([
    ['id', text(id)],
    ['decided_at', time(at)],
    ['decision', text(decision)],
    ['rationale', text(rationale)],
    ['decided_by', text(by)],
    ['review_at', time(reviewAt)],
  ]);
