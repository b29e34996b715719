import { MONTH_NAMES } from '../../../../src/text/calendar-names.ts';
import { between, fill, forSplit, numberFor, pick, some } from '../draw.ts';
import { GIVEN_NAMES, PROJECTS, TAGS } from '../make-world/pools.ts';
import type { LocalTime } from '../world.ts';
import {
  amount,
  countValue,
  date,
  type Fields,
  type FileEdit,
  list,
  type NewDocument,
  PLAIN_STYLE,
  record,
  share,
  styled,
  text,
  ticket,
  time,
  type Value,
} from './plan.ts';
import {
  FOLDER_WORDS,
  nameWords,
  planFor,
  type Scene,
  type SplitWordings,
  say,
  sizeFor,
  type Task,
  type TaskKind,
} from './scene.ts';
import { tellClock, tellDate, tellToday } from './spoken-time.ts';

/** The wordings of short tasks: few words and regular sentences. */
const SHORT_LEAD = '{task}, {date}, {clock}, from {person}.';

const CREATE_WORDINGS: SplitWordings = {
  train: [
    'Write a JSON {type} in {folder}: {fields}.',
    'New JSON {type} in {folder}: {fields}.',
    'Put a JSON {type} into {folder}: {fields}.',
  ],
  gate: [
    'Make a JSON {type} in {folder} with {fields}.',
    'A JSON {type} for {folder}: {fields}.',
    'We want a JSON {type} in {folder}: {fields}.',
  ],
  report: [
    'Create a JSON {type} in {folder}: {fields}.',
    'Leave a JSON {type} in {folder} with {fields}.',
    'Into {folder} goes a JSON {type}: {fields}.',
  ],
};

const UPDATE_WORDINGS: SplitWordings = {
  train: ['In {path} set {changes}.', 'Set {changes} in {path}.', 'Change {path}: {changes}.'],
  gate: ['Update {path}: {changes}.', 'In {path} change {changes}.', 'Move {changes} in {path}.'],
  report: ['Edit {path}: {changes}.', 'For {path}: {changes}.', 'In {path} turn {changes}.'],
};

const APPEND_WORDINGS: SplitWordings = {
  train: [
    'Add a line to {path}: {fields}.',
    'One more line for {path}: {fields}.',
    'Append to {path}: {fields}.',
  ],
  gate: [
    'Extend {path} by a line: {fields}.',
    'The next line of {path}: {fields}.',
    '{path} gets a line: {fields}.',
  ],
  report: [
    'Log this in {path}: {fields}.',
    'A new line in {path}: {fields}.',
    'Continue {path} with {fields}.',
  ],
};

/** The kinds of documents and their keys, in order. */
const SHORT_DOCUMENTS: readonly (readonly [type: string, keys: readonly ShortKey[]])[] = [
  ['note', ['topic', 'owner', 'due']],
  ['card', ['topic', 'ticket', 'due']],
  ['quote', ['topic', 'cost', 'due']],
  ['memo', ['topic', 'owner', 'ticket', 'due']],
  ['plan', ['topic', 'effort', 'due', 'tags']],
  ['review', ['topic', 'owner', 'tags', 'effort']],
  ['brief', ['topic', 'tags', 'due']],
  ['status', ['topic', 'state', 'share', 'due']],
  ['roster', ['topic', 'owner', 'seats', 'start']],
  ['survey', ['topic', 'share', 'seats', 'tags']],
  ['order', ['topic', 'ticket', 'seats', 'cost']],
];

/** What an existing file has besides its topic. */
const SHORT_BOARDS: readonly (readonly ShortKey[])[] = [
  ['state', 'due', 'owner', 'cost'],
  ['state', 'due', 'owner', 'cost'],
  ['state', 'share', 'seats', 'start'],
];

/** What a line of a log has. */
const SHORT_ENTRIES: readonly (readonly ShortKey[])[] = [
  ['version', 'by', 'at', 'ticket'],
  ['version', 'by', 'at', 'ticket'],
  ['version', 'by', 'at', 'ticket'],
  ['by', 'start', 'seats', 'share'],
];

const SHORT_KEYS = [
  'topic',
  'owner',
  'due',
  'ticket',
  'cost',
  'effort',
  'state',
  'version',
  'by',
  'at',
  'share',
  'seats',
  'start',
  'tags',
] as const;
type ShortKey = (typeof SHORT_KEYS)[number];

const SHORT_STATES: readonly string[] = ['todo', 'doing', 'done', 'waiting', 'closed'];
/** How many tags a document has: sometimes none. */
const TAG_COUNTS = [0, 2, 3, 3];
const SHORT_UNITS = { cost: 'EUR', effort: 'hours' } as const;
const BOARD_FILE = 'json';
const LOG_FILE = 'jsonl';

/** The kinds of tasks in their short form. */
export const SHORT_TASK_KINDS: readonly TaskKind[] = [
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
  const lead = fill(SHORT_LEAD, { task, date: tellToday(now), clock: tellClock(now), person });
  return {
    kind,
    plan: { ...plan, author: person },
    text: [lead, ...parts.map(({ said }) => said)].join(' '),
  };
}

function createPart(scene: Scene): Part {
  const [type, keys] = pick(scene.random, SHORT_DOCUMENTS);
  const topic = topicOf(scene);
  const folder = scene.folders[0];
  const fields: Fields = keys.map((key) => [key, key === 'topic' ? text(topic) : valueFor(scene, key)]);
  return {
    said: say(scene, CREATE_WORDINGS, { type, folder, fields: tellFields(scene, fields) }),
    summary: `wrote the ${topic} ${type}`,
    creates: [{ folder, format: 'json', about: nameWords(topic, type), fields }],
  };
}

function updatePart(scene: Scene, most: number): Part {
  const topic = topicOf(scene);
  const path = `${scene.folders[0]}/${topic}.${BOARD_FILE}`;
  const keys = pick(scene.random, SHORT_BOARDS);
  const old: Fields = [['topic', text(topic)], ...keys.map((key) => [key, valueFor(scene, key)] as const)];
  const changed = some(scene.random, keys, sizeFor(scene, most)).map((key) => {
    const before = old.find(([name]) => name === key)?.[1];
    return [key, otherThan(scene, key, before)] as const;
  });
  return {
    said: say(scene, UPDATE_WORDINGS, { path, changes: tellFields(scene, changed, ' to ') }),
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
  const keys = pick(scene.random, SHORT_ENTRIES);
  const entry = (): Fields => keys.map((key) => [key, valueFor(scene, key)]);
  const added = entry();
  return {
    said: say(scene, APPEND_WORDINGS, { path, fields: tellFields(scene, added) }),
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

/** The first word of a project's name. */
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
      return amount(numberFor(between(random, 20, 960), split), SHORT_UNITS.cost);
    case 'effort':
      return amount(numberFor(between(random, 3, 60), split), SHORT_UNITS.effort);
    case 'state':
      return text(pick(random, SHORT_STATES));
    case 'version':
      return text(`${between(random, 1, 9)}.${between(random, 0, 19)}`);
    case 'share':
      return share(numberFor(between(random, 3, 96), split));
    case 'seats':
      return countValue(numberFor(between(random, 3, 96), split));
    case 'start':
      return date(momentOf(scene));
    case 'tags':
      return list(
        some(random, forSplit(TAGS, split), TAG_COUNTS[random.below(4)] ?? 0).map((tag) => text(tag)),
      );
    case 'topic':
      return text(topicOf(scene));
  }
}

/** A value that differs from the present one. */
function otherThan(scene: Scene, key: ShortKey, before: Value | undefined): Value {
  for (let tries = 0; tries < 20; tries++) {
    const value = valueFor(scene, key);
    if (JSON.stringify(value) !== JSON.stringify(before)) return value;
  }
  throw new Error(`a day in which every ${key} is the same`);
}

/** A time that occurs on the day. */
const momentOf = ({ day, random }: Scene): LocalTime =>
  pick(random, [...day.tickets.map(({ dueAt }) => dueAt), ...day.decisions.map(({ reviewAt }) => reviewAt)]);

const firstName = (name: string): string => name.split(' ', 1)[0] ?? name;

/** `owner Ada, due March 5 at 9:30` */
const tellFields = (scene: Scene, fields: Fields, joint = ' '): string =>
  fields.map(([key, value]) => `${key}${joint}${tellValue(scene, value)}`).join(', ');

function tellValue({ now }: Scene, value: Value): string {
  if (value.is === 'date') return tellDate(value.at, now);
  if (value.is === 'share') return `${value.number} %`;
  if (value.is === 'list')
    return value.items.map((item) => String(styled(item, PLAIN_STYLE))).join(' and ') || 'none';
  if (value.is === 'time') return `${tellDate(value.at, now)} at ${tellClock(value.at)}`;
  if (value.is === 'amount') return `${value.number} ${value.unit}`;
  return String(styled(value, PLAIN_STYLE));
}

/** Commands, and the words that house rules require. */
const WRITTEN = `write append cp set done sha256sum wrote the of and set added a line on DONE log bak meta created_at author status
  pending in_progress _comment Internal not for customers checksums txt OPS T t`;

/** Every word of short tasks and their solutions, once: runs of letters. Numbers are spelt in digits. */
export function shortVocabulary(): readonly string[] {
  const phrasings = [CREATE_WORDINGS, UPDATE_WORDINGS, APPEND_WORDINGS].flatMap((one: SplitWordings) =>
    Object.values(one).flat(),
  );
  const texts = [
    ...phrasings.map((phrasing) => phrasing.replaceAll(/\{\w+\}/g, ' ')),
    ...MONTH_NAMES,
    ...SHORT_DOCUMENTS.map(([type]) => type),
    ...SHORT_KEYS,
    ...SHORT_STATES,
    ...Object.values(SHORT_UNITS),
    ...FOLDER_WORDS,
    ...GIVEN_NAMES,
    ...PROJECTS.flatMap((project) => nameWords(project)),
    ...TAGS,
    ...[BOARD_FILE, LOG_FILE, 'to', 'at', 'from', 'and', 'none', WRITTEN],
  ];
  return [...new Set(texts.flatMap(lettersIn))].sort();
}

/** Runs of letters. */
export const lettersIn = (text: string): readonly string[] => text.match(/[A-Za-z]+/g) ?? [];
