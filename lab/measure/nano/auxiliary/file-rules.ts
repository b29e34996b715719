import type { Random } from '../../../../src/base/random.ts';
import { pick } from '../../../suites/workdays/draw.ts';
import type { WorkStep } from '../../../suites/workdays/files/draft.ts';
import { newWord } from '../placeholders.ts';
import { COPY_OLD, EDIT_MARK, ENDING, NAME_JOINT, NAME_TURNED, SUBFOLDER } from '../tell/file-clauses.ts';
import { drawNoun } from '../tell/nouns.ts';
import { LETTER_WORDS } from '../tell/rule-meaning.ts';
import { type Demand, tell } from '../tell/tell.ts';
import { AROUND, FRONT, LETTERS } from '../tell/value-clauses.ts';
import { drawSource, drawWord } from './draw-marks.ts';
import { type AuxiliaryRule, renameFiles, type TaskSteps, withSteps } from './task-steps.ts';

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

/** One thing that is done with the name of a new file. Nothing is put behind it: that is kept back. */
interface NameChange {
  readonly name: string;
  write(parts: NameParts, task: TaskSteps): NameParts | undefined;
  demand(random: Random): Demand;
}

const JOINTS = ['-', '_', '.', '+', '--', '=', '~'];
const BRACKETS = ['__', '--', '++', '==', '~~', '@@', '..'];
const asName = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, '-');

/** What is done with the words of a name, before anything is put to it. */
function drawWords(random: Random): NameChange {
  const luck = random.next();
  if (luck < 0.45) {
    const sign = pick(random, ['.', '+', '--', '__', '=', '~', '@']);
    return {
      name: 'joint',
      write: (parts) => ({ ...parts, name: parts.name.replace(/[-_]/g, sign) }),
      demand: () => ({ clauses: NAME_JOINT, words: { sign } }),
    };
  }
  if (luck < 0.7)
    return {
      name: 'turned',
      write: (parts) => ({ ...parts, name: parts.name.split('-').toReversed().join('-') }),
      demand: () => ({ clauses: NAME_TURNED, words: {} }),
    };
  return {
    name: 'letters',
    write: (parts) => ({ ...parts, name: parts.name.toUpperCase() }),
    demand: (own) => {
      const [how, thing] = pick(own, LETTER_WORDS['in capital letters'] ?? []);
      return { clauses: LETTERS, words: { case: how, letters: thing } };
    },
  };
}

function drawLead(random: Random): NameChange {
  const luck = random.next();
  if (luck < 0.25) {
    const sign = pick(random, BRACKETS);
    const [left = '', right = ''] = [...sign];
    return {
      name: 'around',
      write: (parts) => ({ ...parts, name: left + parts.name + right }),
      demand: () => ({ clauses: AROUND, words: { left, right } }),
    };
  }
  const sign = pick(random, JOINTS);
  if (luck < 0.6) {
    const left = `${drawWord(random)}${sign}`;
    return {
      name: 'front',
      write: (parts) => ({ ...parts, name: left + parts.name }),
      demand: () => ({ clauses: FRONT, words: { left } }),
    };
  }
  const source = drawSource(random, ['owner', 'ticket', 'state', 'version']);
  return {
    name: `front ${source.name}`,
    write: (parts, task) => {
      const own = source.read(task);
      return own === undefined ? undefined : { ...parts, name: asName(own) + sign + parts.name };
    },
    demand: (own) => ({
      clauses: FRONT,
      words: { left: { as: `${pick(own, source.said)} and "${sign}"` } },
    }),
  };
}

function drawPlace(random: Random): NameChange {
  if (random.next() < 0.4) {
    const ending = `.${newWord(random).slice(0, 4)}`;
    return {
      name: 'ending',
      write: (parts) => ({ ...parts, ending }),
      demand: () => ({ clauses: ENDING, words: { ending } }),
    };
  }
  const folder = newWord(random);
  return {
    name: 'folder',
    write: (parts) => ({ ...parts, folder: `${parts.folder}/${folder}` }),
    demand: () => ({ clauses: SUBFOLDER, words: { folder } }),
  };
}

/** A rule on the names of new files: their words, what stands before or around them, where they go; some of these. */
export function drawNameRule(random: Random): AuxiliaryRule {
  const luck = random.next();
  const changes: readonly NameChange[] = [
    ...(luck < 0.35 ? [drawWords(random)] : []),
    ...(luck >= 0.2 && luck < 0.8 ? [drawLead(random)] : []),
    ...(luck >= 0.65 ? [drawPlace(random)] : []),
  ];
  const rename = (path: string, task: TaskSteps): string | undefined => {
    let parts: NameParts | undefined = partsOf(path);
    for (const { write } of changes) parts = parts === undefined ? undefined : write(parts, task);
    return parts === undefined ? undefined : pathOf(parts);
  };
  return {
    form: `name ${changes.map(({ name }) => name).join('+')}`,
    aspects: ['name'],
    apply: (task) =>
      task.created.every((path) => rename(path, task) !== undefined)
        ? renameFiles(task, (path) => rename(path, task) ?? path)
        : undefined,
    tell: (example, own, longest) => {
      const plain = example.created[0] ?? 'notes/plan.json';
      const to = rename(plain, example) ?? plain;
      const isWhole = changes.some(({ name }) => name === 'folder') || own.next() < 0.3;
      const shown = (path: string): string => (isWhole ? path : (path.split('/').at(-1) ?? path));
      return tell(
        {
          demands: changes.map((one) => one.demand(own)),
          noun: (teller) => drawNoun('file', teller),
          ...{ plain: shown(plain), example: shown(to), isShownWhole: true },
        },
        own,
        longest,
      );
    },
  };
}

/** A rule on a copy of what is changed: into which folder, under which name. */
function drawCopyRule(random: Random): AuxiliaryRule {
  const [folder, lead] = [
    newWord(random),
    random.next() < 0.5 ? `${drawWord(random)}${pick(random, JOINTS)}` : '',
  ];
  const isByTask = lead === '' && random.next() < 0.4;
  const target = (path: string, { plan }: TaskSteps): string =>
    `${folder}/${isByTask ? `${plan.task}-` : lead}${path.split('/').at(-1) ?? ''}`;
  const steps = (task: TaskSteps): readonly WorkStep[] =>
    task.plan.edits.map(({ path }) => ({ do: 'copy', from: path, to: target(path, task) }));
  return {
    form: `copy ${isByTask ? 'task' : lead === '' ? 'folder' : 'lead'}`,
    aspects: ['copy'],
    apply: (task) => withSteps(task, 'before', steps(task)),
    tell: (example, own, longest) => {
      const path = example.plan.edits[0]?.path;
      const name = isByTask
        ? pick(own, [', the task id and "-" before its name', ', its name led by the task id and "-"'])
        : lead === ''
          ? ''
          : pick(own, [`, "${lead}" before its name`, `, with "${lead}" in front of its name`]);
      return tell(
        {
          demands: [{ clauses: COPY_OLD, words: { folder, name: { as: name } } }],
          ...(path !== undefined && { example: `cp ${path} ${target(path, example)}` }),
        },
        own,
        longest,
      );
    },
  };
}

/** A rule on a further field of a JSON file that is changed: fixed, or something that the task has. */
function drawMarkRule(random: Random): AuxiliaryRule {
  const key = newWord(random);
  const fixed = random.next() < 0.5 ? drawWord(random) : undefined;
  const source = drawSource(random, []);
  const read = (task: TaskSteps): string | undefined => fixed ?? source.read(task);
  const steps = (task: TaskSteps): readonly WorkStep[] =>
    task.plan.edits.flatMap(({ path, format }): readonly WorkStep[] => {
      const value = read(task);
      return format === 'json' && value !== undefined ? [{ do: 'set', path, keys: [key], value }] : [];
    });
  return {
    form: `mark ${fixed === undefined ? source.name : 'fixed'}`,
    aspects: ['mark'],
    apply: (task) => withSteps(task, 'after', steps(task)),
    tell: (_, own, longest) =>
      tell(
        {
          demands: [
            {
              clauses: EDIT_MARK,
              words: { key, what: { as: fixed === undefined ? pick(own, source.said) : `"${fixed}"` } },
            },
          ],
        },
        own,
        longest,
      ),
  };
}

/** A rule on what happens to a file that is changed. */
export const drawEditRule = (random: Random): AuxiliaryRule =>
  random.next() < 0.5 ? drawCopyRule(random) : drawMarkRule(random);
