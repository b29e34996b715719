import { between, pick, some } from '../../draw.ts';
import { numberFor } from '../../splits.ts';
import type { Moment } from '../../world.ts';
import { fill } from '../fill.ts';
import {
  amount,
  type Fields,
  type FileEdit,
  type NewDocument,
  PLAIN_STYLE,
  record,
  styled,
  text,
  ticket,
  time,
  type Value,
} from '../plan.ts';
import { nameWords, planFor, type Scene, say, sizeFor, type Task, type TaskKind } from '../scene.ts';
import { tellClock, tellDate, tellToday } from '../tell-moment.ts';
import {
  APPEND,
  BOARD_FILE,
  CREATE,
  DOCUMENTS,
  LEAD,
  LOG_FILE,
  type ShortKey,
  STATES,
  UNITS,
  UPDATE,
} from './short-words.ts';

/** The kinds of tasks in their short form. */
export const SHORT_KINDS: readonly TaskKind[] = [
  { name: 'create', suits: () => true, make: (scene) => finish(scene, 'create', [createPart(scene)]) },
  { name: 'update', suits: () => true, make: (scene) => finish(scene, 'update', [updatePart(scene, 2)]) },
  { name: 'append', suits: () => true, make: (scene) => finish(scene, 'append', [appendPart(scene)]) },
  {
    name: 'both',
    suits: () => true,
    make: (scene) =>
      finish(scene, 'both', [
        updatePart({ ...scene, folders: [scene.folders[1], ''] }, 1),
        createPart(scene),
      ]),
  },
];

interface Part {
  readonly said: string;
  readonly summary: string;
  readonly creates?: readonly NewDocument[];
  readonly edits?: readonly FileEdit[];
}

function finish(scene: Scene, kind: string, parts: readonly Part[]): Task {
  const { task, now } = scene;
  const plan = planFor(scene, {
    summary: parts.map(({ summary }) => summary).join(' and '),
    creates: parts.flatMap(({ creates }) => creates ?? []),
    edits: parts.flatMap(({ edits }) => edits ?? []),
  });
  const person = firstName(plan.author);
  const lead = fill(LEAD, { task, date: tellToday(now), clock: tellClock(now), person });
  return {
    kind,
    plan: { ...plan, author: person },
    text: [lead, ...parts.map(({ said }) => said)].join(' '),
  };
}

function createPart(scene: Scene): Part {
  const [type, keys] = pick(scene.random, DOCUMENTS);
  const topic = topicOf(scene);
  const folder = scene.folders[0];
  const fields: Fields = keys.map((key) => [key, key === 'topic' ? text(topic) : valueFor(scene, key)]);
  return {
    said: say(scene, CREATE, { type, folder, fields: tellFields(scene, fields) }),
    summary: `wrote the ${topic} ${type}`,
    creates: [{ folder, format: 'json', about: nameWords(topic, type), fields }],
  };
}

function updatePart(scene: Scene, most: number): Part {
  const topic = topicOf(scene);
  const path = `${scene.folders[0]}/${topic}.${BOARD_FILE}`;
  const keys: readonly ShortKey[] = ['state', 'due', 'owner', 'cost'];
  const old: Fields = [['topic', text(topic)], ...keys.map((key) => [key, valueFor(scene, key)] as const)];
  const changed = some(scene.random, keys, sizeFor(scene, most)).map((key) => {
    const before = old.find(([name]) => name === key)?.[1];
    return [key, otherThan(scene, key, before)] as const;
  });
  return {
    said: say(scene, UPDATE, { path, changes: tellFields(scene, changed, ' to ') }),
    summary: `set ${changed.map(([key]) => key).join(' and ')} of ${topic}`,
    edits: [
      {
        path,
        format: 'json',
        before: `${JSON.stringify(styled(record(old), PLAIN_STYLE))}\n`,
        changes: changed.map(([key, to]) => ({ at: [key], to })),
      },
    ],
  };
}

function appendPart(scene: Scene): Part {
  const topic = topicOf(scene);
  const path = `${scene.folders[0]}/${topic}.${LOG_FILE}`;
  const entry = (): Fields =>
    (['version', 'by', 'at', 'ticket'] as const).map((key) => [key, valueFor(scene, key)]);
  const added = entry();
  return {
    said: say(scene, APPEND, { path, fields: tellFields(scene, added) }),
    summary: `added a line on ${topic}`,
    edits: [
      {
        path,
        format: 'jsonl',
        before: `${JSON.stringify(styled(record(entry()), PLAIN_STYLE))}\n`,
        changes: [{ at: [], adds: record(added) }],
      },
    ],
  };
}

/** A project of the world in one small word. */
const topicOf = ({ day, random }: Scene): string =>
  nameWords(pick(random, day.world.projects))[0] ?? 'office';

function valueFor(scene: Scene, key: ShortKey): Value {
  const { day, random, split } = scene;
  switch (key) {
    case 'owner':
    case 'by':
      return text(firstName(pick(random, day.world.people).name));
    case 'due':
    case 'at':
      return time(momentOf(scene));
    case 'ticket':
      return ticket(pick(random, day.tickets).number);
    case 'cost':
      return amount(numberFor(between(random, 20, 960), split), UNITS.cost);
    case 'effort':
      return amount(numberFor(between(random, 3, 60), split), UNITS.effort);
    case 'state':
      return text(pick(random, STATES));
    case 'version':
      return text(`${between(random, 1, 9)}.${between(random, 0, 19)}`);
    case 'topic':
      return text(topicOf(scene));
  }
}

/** Another value than the one that is there. */
function otherThan(scene: Scene, key: ShortKey, before: Value | undefined): Value {
  for (let tries = 0; tries < 20; tries++) {
    const value = valueFor(scene, key);
    if (JSON.stringify(value) !== JSON.stringify(before)) return value;
  }
  throw new Error(`a day in which every ${key} is the same`);
}

/** A time that the day knows of. */
const momentOf = ({ day, random }: Scene): Moment =>
  pick(random, [...day.tickets.map(({ dueAt }) => dueAt), ...day.decisions.map(({ reviewAt }) => reviewAt)]);

const firstName = (name: string): string => name.split(' ', 1)[0] ?? name;

/** `owner Ada, due March 5 at 9:30` */
const tellFields = (scene: Scene, fields: Fields, joint = ' '): string =>
  fields.map(([key, value]) => `${key}${joint}${tellValue(scene, value)}`).join(', ');

function tellValue({ now }: Scene, value: Value): string {
  if (value.is === 'time') return `${tellDate(value.at, now)} at ${tellClock(value.at)}`;
  if (value.is === 'amount') return `${value.number} ${value.unit}`;
  return String(styled(value, PLAIN_STYLE));
}
