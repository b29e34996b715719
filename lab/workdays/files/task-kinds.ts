import { between, forSplit, numberFor, pick, some } from '../draw.ts';
import { TAGS } from '../make-world/pools.ts';
import type { Deploy, LocalTime, Ticket } from '../world.ts';
import {
  amount,
  countValue,
  date,
  type Fields,
  list,
  record,
  share,
  text,
  ticket,
  time,
  type ValueChange,
} from './plan.ts';
import {
  keysOf,
  nameWords,
  type Scene,
  type SplitWordings,
  say,
  sizeFor,
  type TaskKind,
  tellTime,
} from './scene.ts';
import { tellDate } from './spoken-time.ts';
import {
  boardFileOf,
  colleagueOf,
  decisionEntry,
  deployEntry,
  documentOf,
  earlierToday,
  figureEntry,
  fileOf,
  numbersOf,
  planFileOf,
  taskKind,
  ticketEntry,
} from './task-parts.ts';

const OUTCOMES: Readonly<Record<Deploy['outcome'], string>> = {
  succeeded: 'went well',
  'rolled back': 'had to be rolled back',
  failed: 'failed',
};

/** The kinds of tasks in their full form. Their order decides which task comes when. */
export const FULL_TASK_KINDS: readonly TaskKind[] = [
  taskKind(
    'decision-log',
    ({ decisions, tickets }) => decisions.length > 0 && tickets.length > 0,
    (scene, { facts, followUp }) => {
      const { day, random } = scene;
      const decisions = some(random, day.decisions, sizeFor(scene, 3));
      const project = decisions[0]?.project ?? '';
      const { number } = pick(random, day.tickets);
      const title = `${project} decisions`;
      const document = documentOf(scene, nameWords(project, 'decision log'), 'decisions.json', [
        ['title', text(title, 'title')],
        ['decisions', list(decisions.map(decisionEntry))],
        ['follow_up', ticket(number)],
      ]);
      const entries = decisions.map(({ id, by, decision, rationale, at, reviewAt }) => {
        const when = { at: tellTime(scene, at), review: tellTime(scene, reviewAt) };
        return say(scene, facts, { id, by, decision, rationale, ...when });
      });
      return {
        document,
        summary: `wrote the decision log of ${project}`,
        asks: () => ({ project, title }),
        lines: [...entries, say(scene, followUp, { ticket: String(number) })],
      };
    },
  ),
  taskKind(
    'ticket-states',
    ({ tickets }) => tickets.length > 1,
    (scene, { states, closed }) => {
      const { day, random, folders } = scene;
      const tickets = some(random, day.tickets, 6);
      const moved = some(random, tickets, sizeFor(scene, 3));
      // On harder days it is also noted when a ticket was closed.
      const isDated = day.difficulty >= 0.2;
      const lines: string[] = [];
      const changes: ValueChange[] = [];
      for (const one of moved) {
        const at = tickets.indexOf(one);
        const others = ['todo', 'doing', 'done'].filter((other) => other !== one.state);
        const state = isDated ? 'closed' : pick(random, others);
        lines.push(say(scene, states, { ticket: String(one.number), state }));
        changes.push({ at: ['tickets', at, 'state'], to: text(state, 'state') });
        if (!isDated) continue;
        const when = earlierToday(scene, 8);
        lines.push(say(scene, closed, { at: tellTime(scene, when) }));
        changes.push({ at: ['tickets', at, 'closed_at'], to: time(when) });
      }
      const path = `${folders[0]}/board.json`;
      return {
        edit: { path, format: 'json', before: boardFileOf(tickets), changes },
        summary: `moved ${numbersOf(moved)} on the board`,
        asks: () => ({ path }),
        lines,
      };
    },
  ),
  taskKind(
    'weekly-figures',
    ({ figures }) => figures.length > 0,
    (scene, { facts }) => {
      const figures = some(scene.random, scene.day.figures, sizeFor(scene, 4));
      const project = figures[0]?.project ?? '';
      const title = `${project} in figures`;
      const document = documentOf(scene, nameWords(project, 'weekly figures'), 'figures.json', [
        ['title', text(title, 'title')],
        ['figures', list(figures.map(figureEntry))],
      ]);
      return {
        document,
        summary: `wrote the figures of ${project}`,
        asks: () => ({ project, title }),
        lines: figures.map(({ name, value, unit, source, at }) =>
          say(scene, facts, { name, value: String(value), unit, source, at: tellTime(scene, at) }),
        ),
      };
    },
  ),
  taskKind(
    'handover',
    ({ tickets, world }) => tickets.length > 1 && world.people.length > 1,
    (scene, { facts }) => {
      const { day, random, folders } = scene;
      const tickets = some(random, day.tickets, 5);
      const given = pick(random, tickets);
      const { number, owner: from, estimateHours } = given;
      const to = colleagueOf(scene, from);
      const at = { ...scene.now, minute: 5 * random.below(12), hour: scene.now.hour - 1 };
      const title = `handover of ${number}`;
      const path = `${folders[1]}/board.json`;
      const changes = [{ at: ['tickets', tickets.indexOf(given), 'owner'], to: text(to, 'person') }];
      const words = { from, to, ticket: String(number) };
      return {
        edit: { path, format: 'json', before: boardFileOf(tickets), changes },
        document: documentOf(scene, nameWords(`ticket ${number} handover`), 'handover.json', [
          ['title', text(title, 'title')],
          ['ticket', ticket(number)],
          ['from', text(from, 'person')],
          ['to', text(to, 'person')],
          ['handed_over_at', time(at)],
          ['remaining', amount(estimateHours, 'hours')],
        ]),
        summary: `handed ${number} over to ${to}`,
        asks: () => ({ ...words, path, title }),
        lines: [() => say(scene, facts, { ...words, at: tellTime(scene, at), hours: String(estimateHours) })],
      };
    },
  ),
  taskKind(
    'meeting-summary',
    ({ decisions, tickets }) => decisions.length > 0 && tickets.length > 0,
    (scene, { facts, open: openTicket }) => {
      const { day, random } = scene;
      const { project, at, by, decision, reviewAt } = pick(random, day.decisions);
      const [open] = day.difficulty >= 0.3 ? some(random, day.tickets, 1) : [];
      const fields: Fields = [
        ['Topic', text(project)],
        ['Held at', time(at)],
        ['Chair', text(by, 'person')],
        ['Outcome', text(decision)],
        ['Next meeting', time(reviewAt)],
        ...(open === undefined ? [] : [['Open ticket', ticket(open.number)] as const]),
      ];
      return {
        document: documentOf(
          scene,
          nameWords(project, 'meeting summary'),
          'meeting-summary.md',
          fields,
          'md',
        ),
        summary: `summed up the ${project} meeting`,
        asks: () => ({ project, chair: by, held: tellTime(scene, at) }),
        lines: [
          () => say(scene, facts, { project, outcome: decision, next: tellTime(scene, reviewAt) }),
          ...(open === undefined ? [] : [() => say(scene, openTicket, { ticket: String(open.number) })]),
        ],
      };
    },
  ),
  taskKind(
    'figure-change',
    ({ figures }) => figures.length > 1,
    (scene, { facts }) => {
      const { day, random, folders, split } = scene;
      const figures = some(random, day.figures, 5);
      const changed = some(random, figures, sizeFor(scene, 2));
      const lines: string[] = [];
      const changes: ValueChange[] = [];
      for (const { name, value, unit } of changed) {
        const at = figures.findIndex((figure) => figure.name === name);
        const to = numberFor(value + between(random, 4, 60), split);
        const when = earlierToday(scene, 7);
        lines.push(say(scene, facts, { name, value: String(to), unit, at: tellTime(scene, when) }));
        changes.push({ at: ['figures', at, 'value'], to: amount(to, unit) });
        changes.push({ at: ['figures', at, 'measured_at'], to: time(when) });
      }
      const path = `${folders[0]}/figures.json`;
      const sheet = record([
        ['title', text(`figures of ${day.world.company}`)],
        ['figures', list(figures.map(figureEntry))],
      ]);
      return {
        edit: { path, format: 'json', before: fileOf(sheet), changes },
        summary: `corrected ${changed.length} of the figures`,
        asks: () => ({ path }),
        lines,
      };
    },
  ),
  taskKind(
    'incident-report',
    ({ deploys, tickets }) => deploys.length > 0 && tickets.length > 0,
    (scene, { facts }) => {
      const { day, random, split } = scene;
      const { project, version, environment, at, by } = pick(random, day.deploys);
      const { number } = pick(random, day.tickets);
      const minutes = numberFor(between(random, 6, 90), split);
      const title = `${project} ${version} outage`;
      const document = documentOf(scene, nameWords(project, 'incident report'), 'incident.json', [
        ['title', text(title, 'title')],
        ['project', text(project)],
        ...(day.difficulty < 0.3 ? [] : [['environment', text(environment)] as const]),
        ['version', text(version)],
        ['started_at', time(at)],
        ['downtime', amount(minutes, 'minutes')],
        ['reported_by', text(by, 'person')],
        ['ticket', ticket(number)],
      ]);
      const words = { at: tellTime(scene, at), by, minutes: String(minutes), ticket: String(number) };
      return {
        document,
        summary: `reported the ${project} outage`,
        asks: () => ({ project, version, environment, title }),
        lines: [() => say(scene, facts, words)],
      };
    },
  ),
  taskKind(
    'deploy-record',
    ({ deploys, tickets }) => deploys.length > 1 && tickets.length > 0,
    (scene, { facts, keys }) => {
      const { day, random, folders } = scene;
      const fresh = pick(random, day.deploys);
      const older = day.deploys.filter((deploy) => deploy !== fresh).slice(0, 3);
      const tickets = some(random, day.tickets, sizeFor(scene, 3));
      const adds = deployEntry(fresh, tickets);
      const path = `${folders[0]}/deploys.json`;
      const before = fileOf(record([['deploys', list(older.map((deploy) => deployEntry(deploy, [])))]]));
      const { version, project, environment, by, outcome } = fresh;
      const words = { version, project, environment, by, at: tellTime(scene, fresh.at) };
      const members = keysOf(adds.is === 'record' ? adds.fields : []);
      return {
        edit: { path, format: 'json', before, changes: [{ at: ['deploys'], adds }] },
        summary: `recorded ${project} ${version}`,
        asks: () => ({ path }),
        lines: [
          () => say(scene, facts, { ...words, outcome: OUTCOMES[outcome], tickets: numbersOf(tickets) }),
          () => say(scene, keys, { keys: members, outcome }),
        ],
      };
    },
  ),
  taskKind(
    'due-date',
    ({ tickets, decisions, world }) => tickets.length > 1 && decisions.length > 0 && world.people.length > 1,
    (scene, { moves, owners }) => {
      const { day, random, folders } = scene;
      const steps = some(random, day.tickets, 5);
      const project = pick(random, day.world.projects);
      const moved = some(random, steps, sizeFor(scene, 2));
      const lines: string[] = [];
      const changes: ValueChange[] = [];
      for (const one of moved) {
        const at = steps.indexOf(one);
        const to = differentFrom(one.dueAt, pick(random, day.decisions).reviewAt);
        lines.push(say(scene, moves, { name: one.title, at: tellTime(scene, to) }));
        changes.push({ at: ['milestones', at, 'due'], to: time(to) });
        if (day.difficulty < 0.5) continue;
        const owner = colleagueOf(scene, one.owner);
        lines.push(say(scene, owners, { owner }));
        changes.push({ at: ['milestones', at, 'owner'], to: text(owner, 'person') });
      }
      const path = `${folders[0]}/plan.json`;
      return {
        edit: { path, format: 'json', before: planFileOf(project, steps), changes },
        summary: `moved ${moved.length} due in the ${project} plan`,
        asks: () => ({ path }),
        lines,
      };
    },
  ),
  taskKind(
    'survey-sheet',
    ({ figures, world }) => figures.length > 0 && world.people.length > 0,
    (scene, { facts, labels }) => {
      const { day, random, split } = scene;
      const { project, at } = pick(random, day.figures);
      const by = pick(random, day.world.people).name;
      const tags = some(random, forSplit(TAGS, split), random.below(4));
      const asked = numberFor(between(random, 24, 480), split);
      const answered = numberFor(between(random, 4, 96), split);
      const title = `${project} survey`;
      const document = documentOf(scene, nameWords(project, 'survey sheet'), 'survey.json', [
        ['title', text(title, 'title')],
        ['by', text(by, 'person')],
        ['held_on', date(at)],
        ['asked', countValue(asked)],
        ['answered', share(answered)],
        ['labels', list(tags.map((tag) => text(tag, 'item')))],
      ]);
      const words = { by, on: tellDate(at, scene.now), asked: String(asked), answered: String(answered) };
      return {
        document,
        summary: `wrote the ${project} survey sheet`,
        asks: () => ({ project, title }),
        lines: [
          () => say(scene, facts, words),
          () => say(scene, labels, { labels: tags.length === 0 ? 'none' : tags.join(', ') }),
        ],
      };
    },
  ),
  taskKind(
    'convert',
    ({ tickets }) => tickets.length > 2,
    (scene, { lines }) => {
      const { day, random, folders } = scene;
      const tickets = some(random, day.tickets, 1 + sizeFor(scene, 4));
      const path = `${folders[1]}/tickets.txt`;
      const title = `tickets of ${day.world.company}`;
      const document = documentOf(scene, nameWords('open tickets'), 'tickets.json', [
        ['title', text(title, 'title')],
        ['tickets', list(tickets.map(ticketEntry))],
      ]);
      return {
        document,
        given: { [path]: tickets.map((one) => `${ticketLine(scene, lines, one)}\n`).join('') },
        summary: `turned ${tickets.length} tickets into JSON`,
        asks: () => ({ path, title }),
      };
    },
  ),
];

/** Never the time that is there already. */
const differentFrom = (old: LocalTime, other: LocalTime): LocalTime =>
  JSON.stringify(old) === JSON.stringify(other) ? { ...other, hour: (other.hour + 1) % 24 } : other;

const ticketLine = (scene: Scene, lines: SplitWordings, one: Ticket): string =>
  say(scene, lines, {
    ticket: String(one.number),
    title: one.title,
    owner: one.owner,
    at: tellTime(scene, one.dueAt),
    hours: String(one.estimateHours),
  });
