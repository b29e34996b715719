import { between, pick } from '../draw.ts';
import type { Decision, Deploy, LocalTime, MeasuredFigure, Ticket } from '../world.ts';
import {
  amount,
  type Fields,
  type FileEdit,
  list,
  type NewDocument,
  PLAIN_STYLE,
  type Plan,
  record,
  styled,
  text,
  ticket,
  time,
  type Value,
} from './plan.ts';
import { leadOf, nameFor, placeSentence, planFor, type Scene, say, type TaskKind } from './scene.ts';
import { TASK_WORDINGS } from './task-wordings.ts';

/** What a kind decides about one task; the rest is the same for all. */
interface TaskParts {
  readonly document?: NewDocument;
  readonly edit?: FileEdit;
  readonly given?: Plan['given'];
  readonly summary: string;
  /** The words of the request. */
  asks(): Readonly<Record<string, string>>;
  /** What follows the request. A function draws its wording only when it is written: the order of draws decides every later word. */
  readonly lines?: readonly (string | (() => string))[];
}

type KindName = keyof typeof TASK_WORDINGS;

/** A task is its lead, the request, its facts and, for a new document, where that goes. */
export const taskKind = <K extends KindName>(
  kind: K,
  suits: TaskKind['suits'],
  parts: (scene: Scene, wordings: (typeof TASK_WORDINGS)[K]) => TaskParts,
): TaskKind => ({
  name: kind,
  suits,
  make: (scene) => {
    const wordings = TASK_WORDINGS[kind];
    const { document, edit, given, summary, asks, lines = [] } = parts(scene, wordings);
    const plan = planFor(scene, {
      summary,
      ...(document !== undefined && { creates: [document] }),
      ...(edit !== undefined && { edits: [edit] }),
      ...(given !== undefined && { given }),
    });
    const sentences = [
      leadOf(scene),
      say(scene, wordings.asks, asks()),
      ...lines.map((line) => (typeof line === 'string' ? line : line())),
      ...(document === undefined ? [] : [placeSentence(scene, document)]),
    ];
    return { kind, plan, text: sentences.join(' ') };
  },
});

/** A new document in the task's first folder. Some tasks name the file. */
export const documentOf = (
  scene: Scene,
  about: readonly string[],
  name: string,
  fields: Fields,
  format: NewDocument['format'] = 'json',
): NewDocument => ({ folder: scene.folders[0], format, about, ...nameFor(scene, name), fields });

/** A file as it exists before the task, written without house rules. */
export const fileOf = (value: Value): string => `${JSON.stringify(styled(value, PLAIN_STYLE), null, 2)}\n`;

/** Some time today before the task is given. */
export const earlierToday = ({ now, random }: Scene, from: number): LocalTime => ({
  ...now,
  hour: between(random, from, now.hour),
  minute: 5 * random.below(12),
});

/** Somebody else of the team. */
export const colleagueOf = ({ day, random }: Scene, person: string): string =>
  pick(
    random,
    day.world.people.filter(({ name }) => name !== person),
  ).name;

export const decisionEntry = ({ id, at, decision, rationale, by, reviewAt }: Decision): Value =>
  record([
    ['id', text(id)],
    ['decided_at', time(at)],
    ['decision', text(decision)],
    ['rationale', text(rationale)],
    ['decided_by', text(by, 'person')],
    ['review_at', time(reviewAt)],
  ]);

export const figureEntry = ({ name, value, unit, source, at }: MeasuredFigure): Value =>
  record([
    ['name', text(name)],
    ['value', amount(value, unit)],
    ['measured_at', time(at)],
    ['source', text(source)],
  ]);

export const deployEntry = (deploy: Deploy, tickets: readonly Ticket[]): Value =>
  record([
    ['version', text(deploy.version)],
    ['project', text(deploy.project)],
    ['environment', text(deploy.environment)],
    ['deployed_at', time(deploy.at)],
    ['by', text(deploy.by, 'person')],
    ['outcome', text(deploy.outcome)],
    ...(tickets.length === 0
      ? []
      : [['tickets', list(tickets.map(({ number }) => ticket(number)))] as const]),
  ]);

export const ticketEntry = ({ number, title, owner, dueAt, estimateHours }: Ticket): Value =>
  record([
    ['ticket', ticket(number)],
    ['title', text(title, 'title')],
    ['owner', text(owner, 'person')],
    ['due', time(dueAt)],
    ['estimate', amount(estimateHours, 'hours')],
  ]);

export const boardFileOf = (tickets: readonly Ticket[]): string =>
  fileOf(
    record([
      [
        'tickets',
        list(
          tickets.map(({ number, title, owner, state, dueAt }) =>
            record([
              ['ticket', ticket(number)],
              ['title', text(title, 'title')],
              ['owner', text(owner, 'person')],
              ['state', text(state, 'state')],
              ['due', time(dueAt)],
            ]),
          ),
        ),
      ],
    ]),
  );

export const planFileOf = (project: string, milestones: readonly Ticket[]): string =>
  fileOf(
    record([
      ['title', text(`${project} plan`)],
      [
        'milestones',
        list(
          milestones.map(({ title, owner, dueAt }) =>
            record([
              ['name', text(title)],
              ['owner', text(owner, 'person')],
              ['due', time(dueAt)],
            ]),
          ),
        ),
      ],
    ]),
  );

export const numbersOf = (tickets: readonly Ticket[]): string =>
  tickets.map(({ number }) => number).join(', ');
