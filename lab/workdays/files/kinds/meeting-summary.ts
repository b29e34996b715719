import { pick, some } from '../../draw.ts';
import { type Fields, type NewDocument, text, ticket, time } from '../plan.ts';
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

const ASKS: BySplit = {
  train: [
    'Summarise the meeting on {project} that {chair} led on {held}.',
    'Please write the summary of the {project} meeting; it was on {held} and {chair} led it.',
  ],
  gate: [
    '{chair} had the chair when {project} met on {held}; sum it up.',
    'There was a {project} meeting on {held} under {chair}, and we want a summary.',
  ],
  report: [
    'The team of {project} sat together on {held}, {chair} presiding. Write down what came of it.',
    'What remains of the {project} round of {held}, with {chair} in the chair, belongs in a summary.',
  ],
};

const FACTS: BySplit = {
  train: [
    'The topic was {project}; the outcome is "{outcome}". They meet again on {next}.',
    'It was about {project} and came out as "{outcome}"; it continues on {next}.',
  ],
  gate: [
    'Topic: {project}. They agreed on "{outcome}" and on {next} for the next time.',
    'On {project} the result is "{outcome}"; the following meeting is on {next}.',
  ],
  report: [
    'Subject {project}, result "{outcome}", and the next round is {next}.',
    '{project} was the subject, "{outcome}" the result; one sees each other again on {next}.',
  ],
};

const OPEN: BySplit = {
  train: ['Still open is ticket {ticket}.'],
  gate: ['Ticket {ticket} stays open.'],
  report: ['What was left open is ticket {ticket}.'],
};

/** A new Markdown file about a meeting. */
export const MEETING_SUMMARY: TaskKind = {
  name: 'meeting-summary',
  suits: ({ decisions, tickets }) => decisions.length > 0 && tickets.length > 0,
  make: (scene) => {
    const { day, random, folders } = scene;
    const { project, at, by, decision, reviewAt } = pick(random, day.decisions);
    const [open] = day.difficulty >= 0.3 ? some(random, day.tickets, 1) : [];
    const fields: Fields = [
      ['Topic', text(project)],
      ['Held at', time(at)],
      ['Chair', text(by)],
      ['Outcome', text(decision)],
      ['Next meeting', time(reviewAt)],
      ...(open === undefined ? [] : [['Open ticket', ticket(open.number)] as const]),
    ];
    const document: NewDocument = {
      folder: folders[0],
      format: 'md',
      about: nameWords(project, 'meeting summary'),
      ...nameFor(scene, 'meeting-summary.md'),
      fields,
    };
    return {
      kind: 'meeting-summary',
      plan: planFor(scene, { creates: [document], summary: `summed up the ${project} meeting` }),
      text: [
        leadOf(scene),
        say(scene, ASKS, { project, chair: by, held: tell(scene, at) }),
        say(scene, FACTS, { project, outcome: decision, next: tell(scene, reviewAt) }),
        ...(open === undefined ? [] : [say(scene, OPEN, { ticket: String(open.number) })]),
        formOf(scene, document),
      ].join(' '),
    };
  },
};
