import { pick, some } from '../../draw.ts';
import type { Deploy, Ticket } from '../../world.ts';
import { type FileEdit, list, record, text, ticket, time, type Value } from '../plan.ts';
import { type BySplit, keysOf, leadOf, planFor, say, sizeFor, type TaskKind, tell } from '../scene.ts';
import { fileOf } from './ticket-states.ts';

const ASKS: BySplit = {
  train: [
    'Append a record to the list deploys in {path}.',
    'One more record belongs at the end of deploys in {path}.',
  ],
  gate: [
    'In {path}, the list deploys gets another record.',
    'The list deploys of {path} is one record short.',
  ],
  report: [
    'Add what went out to the list deploys in {path}.',
    'A release is not yet among the deploys of {path}.',
  ],
};

const FACTS: BySplit = {
  train: [
    '{by} brought {project} {version} to {environment} on {at}; it {outcome}. It had the tickets {tickets}.',
    '{project} {version} went to {environment} on {at}, by {by}, with the tickets {tickets}, and {outcome}.',
  ],
  gate: [
    'Version {version} of {project} reached {environment} on {at} through {by} and {outcome}; tickets: {tickets}.',
    'It is {project} {version} for {environment}, on {at}, by {by}. It {outcome}, and the tickets in it are {tickets}.',
  ],
  report: [
    'On {at}, {by} released {version} of {project} to {environment}, which {outcome}. Inside: tickets {tickets}.',
    'What {by} released on {at} was {project} {version}, to {environment}; it {outcome} and contained the tickets {tickets}.',
  ],
};

const KEYS: BySplit = {
  train: ['The keys are {keys}; the outcome is "{outcome}".'],
  gate: ['It has the members {keys}, where outcome is "{outcome}".'],
  report: ['Record it with {keys}, giving "{outcome}" as outcome.'],
};

const SPOKEN: Readonly<Record<Deploy['outcome'], string>> = {
  succeeded: 'went well',
  'rolled back': 'had to be rolled back',
  failed: 'failed',
};

/** A record more in a log of deploys. */
export const DEPLOY_RECORD: TaskKind = {
  name: 'deploy-record',
  suits: ({ deploys, tickets }) => deploys.length > 1 && tickets.length > 0,
  make: (scene) => {
    const { day, random, folders } = scene;
    const fresh = pick(random, day.deploys);
    const older = day.deploys.filter((deploy) => deploy !== fresh).slice(0, 3);
    const tickets = some(random, day.tickets, sizeFor(scene, 3));
    const adds = entry(fresh, tickets);
    const edit: FileEdit = {
      path: `${folders[0]}/deploys.json`,
      format: 'json',
      before: fileOf(record([['deploys', list(older.map((deploy) => entry(deploy, [])))]])),
      changes: [{ at: ['deploys'], adds }],
    };
    const { version, project, environment, by, at, outcome } = fresh;
    const facts = { version, project, environment, by, at: tell(scene, at), outcome: SPOKEN[outcome] };
    const keys = keysOf(adds.is === 'record' ? adds.fields : []);
    return {
      kind: 'deploy-record',
      plan: planFor(scene, { edits: [edit], summary: `recorded ${project} ${version}` }),
      text: [
        leadOf(scene),
        say(scene, ASKS, { path: edit.path }),
        say(scene, FACTS, { ...facts, tickets: tickets.map(({ number }) => number).join(', ') }),
        say(scene, KEYS, { keys, outcome }),
      ].join(' '),
    };
  },
};

const entry = (deploy: Deploy, tickets: readonly Ticket[]): Value =>
  record([
    ['version', text(deploy.version)],
    ['project', text(deploy.project)],
    ['environment', text(deploy.environment)],
    ['deployed_at', time(deploy.at)],
    ['by', text(deploy.by)],
    ['outcome', text(deploy.outcome)],
    ...(tickets.length === 0
      ? []
      : [['tickets', list(tickets.map(({ number }) => ticket(number)))] as const]),
  ]);
