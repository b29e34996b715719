import { between, pick } from '../../draw.ts';
import { numberFor } from '../../splits.ts';
import { amount, type Fields, type NewDocument, text, ticket, time } from '../plan.ts';
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
    'Something went wrong with {project} {version} on {environment}, so write an incident report titled "{title}".',
    'Please write up the incident with {version} of {project} on {environment}; the title is "{title}".',
  ],
  gate: [
    'For the trouble that {project} {version} gave us on {environment} we want a report, "{title}".',
    'Report on what happened with {project} ({version}, {environment}) under the title "{title}".',
  ],
  report: [
    '{environment} had an outage after {project} {version} went out: set down a report called "{title}".',
    'An account is wanted of the outage of {project} {version} on {environment}; head it "{title}".',
  ],
};

const FACTS: BySplit = {
  train: [
    'It began on {at}, lasted {minutes} minutes and was noticed by {by}; the mend is ticket {ticket}.',
    '{by} saw it first. It started on {at} and was over after {minutes} minutes; ticket {ticket} mends it.',
  ],
  gate: [
    'Start: {at}. It was down for {minutes} minutes. {by} called it in, and {ticket} is its ticket.',
    'From {at} on nothing worked for {minutes} minutes, as {by} told us. See ticket {ticket}.',
  ],
  report: [
    'The beginning was {at}, the downtime {minutes} minutes, the first to call was {by}; ticket {ticket} is about it.',
    'First call by {by}, start on {at}, {minutes} minutes of downtime, and ticket {ticket} for the repair.',
  ],
};

/** A new file about a release that went wrong. */
export const INCIDENT_REPORT: TaskKind = {
  name: 'incident-report',
  suits: ({ deploys, tickets }) => deploys.length > 0 && tickets.length > 0,
  make: (scene) => {
    const { day, random, folders, split } = scene;
    const { project, version, environment, at, by } = pick(random, day.deploys);
    const { number } = pick(random, day.tickets);
    const minutes = numberFor(between(random, 6, 90), split);
    const title = `${project} ${version} outage`;
    const fields: Fields = [
      ['title', text(title)],
      ['project', text(project)],
      ...(day.difficulty < 0.3 ? [] : [['environment', text(environment)] as const]),
      ['version', text(version)],
      ['started_at', time(at)],
      ['downtime', amount(minutes, 'minutes')],
      ['reported_by', text(by)],
      ['ticket', ticket(number)],
    ];
    const document: NewDocument = {
      folder: folders[0],
      format: 'json',
      about: nameWords(project, 'incident report'),
      ...nameFor(scene, 'incident.json'),
      fields,
    };
    const facts = { at: tell(scene, at), by, minutes: String(minutes), ticket: String(number) };
    return {
      kind: 'incident-report',
      plan: planFor(scene, { creates: [document], summary: `reported the ${project} outage` }),
      text: [
        leadOf(scene),
        say(scene, ASKS, { project, version, environment, title }),
        say(scene, FACTS, facts),
        formOf(scene, document),
      ].join(' '),
    };
  },
};
