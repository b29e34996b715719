import type { Random } from '../../../../src/base/random.ts';
import { fill, pick } from '../../../workdays/draw.ts';
import type { WorkStep } from '../../../workdays/files/draft.ts';
import type { Plan } from '../../../workdays/files/plan.ts';
import { newWord } from '../placeholders.ts';
import { type AuxiliaryRule, renameFiles, type TaskSteps, withSteps } from './task-steps.ts';
import { drawSign, drawWord } from './value-rules.ts';

interface NameParts {
  readonly folder: string;
  readonly name: string;
  readonly ending: string;
}

const partsOf = (path: string): NameParts => {
  const [, folder = '', name = '', ending = ''] = /^(?:(.*)\/)?([^/]+?)(\.[^./]*)?$/.exec(path) ?? [];
  return { folder, name, ending };
};
const pathOf = ({ folder, name, ending }: NameParts): string =>
  `${folder === '' ? '' : `${folder}/`}${name}${ending}`;

interface NameOperation {
  readonly name: string;
  draw(random: Random): {
    readonly change: (parts: NameParts, plan: Plan) => NameParts;
    readonly words: Readonly<Record<string, string>>;
  };
  readonly says: readonly string[];
}

const JOINTS = ['-', '_', '.', '+', '--'];
const namedBy = (
  name: string,
  says: readonly string[],
  change: (parts: NameParts, plan: Plan) => NameParts,
): NameOperation => ({ name, says, draw: () => ({ change, words: {} }) });

const NAME_OPERATIONS: readonly NameOperation[] = [
  {
    name: 'begin',
    draw: (random) => {
      const a = `${drawWord(random)}${pick(random, JOINTS)}`;
      return { change: (parts) => ({ ...parts, name: a + parts.name }), words: { a } };
    },
    says: [
      'Names of new files begin with {a}, such as {to}.',
      'Put {a} in front of a new file name: {to}.',
      'A new file is called {to}, with {a} first.',
      'Name new files like {to}.',
    ],
  },
  {
    name: 'end',
    draw: (random) => {
      const a = `${pick(random, JOINTS)}${drawWord(random)}`;
      return { change: (parts) => ({ ...parts, name: parts.name + a }), words: { a } };
    },
    says: [
      'Names of new files end in {a} before the dot, such as {to}.',
      'Put {a} behind the name of a new file: {to}.',
      'A new file is called {to}, with {a} after its words.',
      'Name new files like {to}.',
    ],
  },
  {
    name: 'joint',
    draw: (random) => {
      const a = pick(random, ['.', '+', '--', '__', '=', '']);
      return {
        change: (parts) => ({ ...parts, name: parts.name.replace(/[-_]/g, a) }),
        words: { a: a === '' ? 'nothing' : a },
      };
    },
    says: [
      'The words of a file name are joined by {a}: {to}.',
      'Use {a} between the words of a new file name, as in {to}.',
      'New files are named like {to}, {a} between words.',
    ],
  },
  namedBy(
    'letters',
    ['File names are in capital letters: {to}.', 'Write names of new files in upper case, like {to}.'],
    (parts) => ({ ...parts, name: parts.name.toUpperCase() }),
  ),
  namedBy(
    'task',
    [
      'The name of a new file begins with the id of the task: {to}.',
      'Put the task id and a dash in front of the name, as in {to}.',
      'New files are called after their task first, like {to}.',
    ],
    (parts, { task }) => ({ ...parts, name: `${task}-${parts.name}` }),
  ),
  namedBy(
    'author',
    [
      'New files end in the name of whoever asked: {to}.',
      'Put who asked for it behind the file name, as in {to}.',
    ],
    (parts, { author }) => ({ ...parts, name: `${parts.name}-${author.toLowerCase()}` }),
  ),
  namedBy(
    'turned',
    ['The kind of document comes first in a file name: {to}.', 'Name files by kind, then topic, like {to}.'],
    (parts) => ({ ...parts, name: parts.name.split('-').toReversed().join('-') }),
  ),
  {
    name: 'folder',
    draw: (random) => {
      const a = newWord(random);
      return { change: (parts) => ({ ...parts, folder: `${parts.folder}/${a}` }), words: { a } };
    },
    says: [
      'New files go into a folder {a} inside the one that was named: {to}.',
      'Put new files one level deeper, in {a}, as in {to}.',
      'The place of a new file is the subfolder {a}.',
    ],
  },
  {
    name: 'ending',
    draw: (random) => {
      const a = newWord(random).slice(0, 4);
      return { change: (parts) => ({ ...parts, ending: `.${a}` }), words: { a: `.${a}` } };
    },
    says: [
      'New files end in {a}, like {to}.',
      'Use {a} as the ending of new files.',
      'The ending of a new file is {a} and not .json.',
    ],
  },
];

/** A rule on the names of new files. */
export function drawNameRule(random: Random): AuxiliaryRule {
  const operation = pick(random, NAME_OPERATIONS);
  const { change, words } = operation.draw(random);
  const rename = (path: string, plan: Plan): string => pathOf(change(partsOf(path), plan));
  return {
    form: `name ${operation.name}`,
    aspect: 'name',
    apply: (task) => renameFiles(task, rename),
    tell: ({ created, plan }, own) => {
      const to = rename(created[0] ?? 'notes/plan.json', plan);
      return fill(pick(own, operation.says), {
        to: own.next() < 0.5 ? to : (to.split('/').at(-1) ?? to),
        ...words,
      });
    },
  };
}

/** What a line may be put together from. */
const GAPS: readonly (readonly [string, (task: TaskSteps) => string])[] = [
  ['task', ({ plan }) => plan.task],
  ['who', ({ plan }) => plan.author],
  ['file', ({ created, plan }) => created[0] ?? plan.edits[0]?.path ?? ''],
  ['work', ({ plan }) => plan.summary],
];

interface LineForm {
  readonly said: string;
  write(task: TaskSteps): string;
}

function drawLine(random: Random): LineForm {
  const pieces: (string | (typeof GAPS)[number])[] = [];
  const count = 1 + random.below(3);
  const gaps = [...GAPS].sort(() => random.next() - 0.5).slice(0, count);
  const joint = pick(random, [' ', ' ', `${drawSign(random)}`, ` ${drawSign(random)} `, ', ']);
  if (random.next() < 0.5) pieces.push(drawWord(random));
  for (const gap of gaps) pieces.push(gap);
  if (random.next() < 0.25) pieces.push(drawWord(random));
  const put = (read: (gap: (typeof GAPS)[number]) => string): string =>
    pieces.map((piece) => (typeof piece === 'string' ? piece : read(piece))).join(joint);
  return { said: put(([name]) => `<${name}>`), write: (task) => put(([, read]) => read(task)) };
}

const drawFile = (random: Random): string =>
  `${newWord(random)}${pick(random, ['.txt', '.log', '.md', '.list', `.${newWord(random).slice(0, 3)}`])}`;

interface StepOperation {
  readonly name: string;
  draw(random: Random): {
    readonly where: 'before' | 'after';
    readonly make: (task: TaskSteps) => readonly WorkStep[];
    readonly words: Readonly<Record<string, string>>;
    readonly line?: LineForm;
  };
  readonly says: readonly string[];
}

const WHEN = {
  before: ['Before you start', 'First of all', 'At the beginning of a task', 'Before any work'],
  after: ['When you are finished', 'At the end of a task', 'After the work', 'Last of all'],
};
const drawWhere = (random: Random): 'before' | 'after' => (random.next() < 0.35 ? 'before' : 'after');

const STEP_OPERATIONS: readonly StepOperation[] = [
  {
    name: 'line',
    draw: (random) => {
      const [where, file, line] = [drawWhere(random), drawFile(random), drawLine(random)];
      return {
        where,
        line,
        make: (task) => [{ do: 'append', path: file, line: line.write(task) }],
        words: { file, when: pick(random, WHEN[where]) },
      };
    },
    says: [
      '{when}, append "{line}" to {file}.',
      '{when}, {file} gets the line "{line}", here "{example}".',
      '{when}, add a line like "{example}" to {file}.',
      '{when}, write "{line}" into {file}, a line of its own.',
      'A line "{line}" goes into {file} {end}.',
    ],
  },
  {
    name: 'copy-out',
    draw: (random) => {
      const folder = newWord(random);
      return {
        where: 'after',
        make: ({ created, plan }) =>
          [...plan.edits.map(({ path }) => path), ...created].map((path) => ({
            do: 'copy',
            from: path,
            to: `${folder}/${path.split('/').at(-1) ?? ''}`,
          })),
        words: { folder, when: pick(random, WHEN.after) },
      };
    },
    says: [
      '{when}, copy each file that you wrote or changed to {folder}.',
      'A copy of every file of the task goes into {folder} {end}.',
      '{when}, {folder} gets a copy of the file: {command}.',
    ],
  },
  {
    name: 'beside',
    draw: (random) => {
      const [ending, text] = [newWord(random).slice(0, 4), drawWord(random)];
      return {
        where: 'after',
        make: ({ created }) =>
          created.map((path) => ({ do: 'write', path: path.replace(/\.[^./]*$/, `.${ending}`), text })),
        words: { ending: `.${ending}`, text },
      };
    },
    says: [
      'Beside each new file there is one of the same name with {ending} that says {text}.',
      'Write {text} into a second file next to the new one, same name but {ending}.',
      'A new file comes with a {ending} file of its name; its content is "{text}".',
    ],
  },
  {
    name: 'mark',
    draw: (random) => {
      const [key, value] = [newWord(random), drawWord(random)];
      return {
        where: 'after',
        make: ({ plan }) =>
          plan.edits.flatMap(({ path, format }): readonly WorkStep[] =>
            format === 'json' ? [{ do: 'set', path, keys: [key], value }] : [],
          ),
        words: { key, value },
      };
    },
    says: [
      'After a change set {key} to {value} in the same file.',
      'A JSON file that you change gets {key} {value}.',
      'Whoever edits a file sets its {key} to {value} as well.',
      'With each change in a file goes another: {key} becomes {value}.',
    ],
  },
  {
    name: 'sign',
    draw: (random) => {
      const [key, [what, read]] = [
        newWord(random),
        pick(random, [
          ['the id of the task', ({ plan }: TaskSteps) => plan.task] as const,
          ['who asked', ({ plan }: TaskSteps) => plan.author] as const,
        ]),
      ];
      return {
        where: 'after',
        make: (task) =>
          task.plan.edits.flatMap(({ path, format }): readonly WorkStep[] =>
            format === 'json' ? [{ do: 'set', path, keys: [key], value: read(task) }] : [],
          ),
        words: { key, what },
      };
    },
    says: [
      'After a change set {key} to {what} in the same file.',
      'An edited file says {what} under {key}.',
      'Note {what} as {key} in every JSON file that you change.',
    ],
  },
];

/** A rule on something that is done before or after the work. */
export function drawStepRule(random: Random): AuxiliaryRule {
  const operation = pick(random, STEP_OPERATIONS);
  const { where, make, words, line } = operation.draw(random);
  return {
    form: `step ${operation.name}`,
    aspect: `step ${operation.name}`,
    apply: (task) => withSteps(task, where, make(task)),
    tell: (example, own) => {
      const [first] = make(example);
      return fill(pick(own, operation.says), {
        line: line?.said ?? '',
        example: line?.write(example) ?? '',
        end: where === 'before' ? 'before the work' : 'at the end',
        command: first?.do === 'copy' ? `cp ${first.from} ${first.to}` : '',
        when: pick(own, WHEN[where]),
        ...words,
      });
    },
  };
}
