import type { Random } from '../../../../src/base/random.ts';
import { pick, some } from '../../../suites/workdays/draw.ts';
import type { WorkStep } from '../../../suites/workdays/files/draft.ts';
import { newWord } from '../placeholders.ts';
import { STEP_LINE } from '../tell/file-clauses.ts';
import { tell } from '../tell/tell.ts';
import { drawMark, drawSign, drawSigns, drawWord } from './draw-marks.ts';
import { type AuxiliaryRule, givenValue, type TaskSteps, typeOf, withSteps } from './task-steps.ts';

/** What a line may be put together from: its name in a pattern, and its value. */
type Gap = readonly [name: string, read: (task: TaskSteps) => string | undefined];

const GAPS: readonly Gap[] = [
  ['task', ({ plan }) => plan.task],
  ['who', ({ plan }) => plan.author],
  ['work', ({ plan }) => plan.summary],
  ['kind', ({ plan }) => typeOf(plan)],
];
const fieldGap = (key: string): Gap => [
  key,
  (task) => {
    const value = givenValue(task, key);
    return value === undefined || typeof value === 'object' ? undefined : String(value);
  },
];
/** Only where files are new: a line with the path of a changed file is kept back. */
const PATH: Gap = ['path', ({ created }) => created[0]];
const FIELD_KEYS = ['topic', 'owner', 'ticket', 'version', 'state'];

interface Pattern {
  readonly said: string;
  write(task: TaskSteps): string | undefined;
}

function drawPattern(random: Random, isNew: boolean): Pattern {
  const known = [...GAPS, ...some(random, FIELD_KEYS, 1).map(fieldGap), ...(isNew ? [PATH, PATH] : [])];
  const gaps = some(random, known, 1 + random.below(3)).filter(
    (gap, at, all) => all.findIndex(([name]) => name === gap[0]) === at,
  );
  const joint = pick(random, [' ', ' ', drawSign(random), ` ${drawSign(random)} `, ', ']);
  const [left, right] =
    random.next() < 0.25 ? drawSigns(random) : [random.next() < 0.2 ? drawMark(random, 'before') : '', ''];
  const pieces: readonly (string | Gap)[] = [
    ...(random.next() < 0.45 ? [drawWord(random)] : []),
    ...gaps,
    ...(random.next() < 0.25 ? [drawWord(random)] : []),
  ];
  const put = (read: (gap: Gap) => string | undefined): string | undefined => {
    const texts = pieces.map((piece) => (typeof piece === 'string' ? piece : read(piece)));
    return texts.some((text) => text === undefined) ? undefined : left + texts.join(joint) + right;
  };
  return { said: put(([name]) => `<${name}>`) ?? '', write: (task) => put(([, read]) => read(task)) };
}

interface Place {
  readonly said: string;
  path(task: TaskSteps): string;
}

const ENDINGS = ['.txt', '.log', '.md', '.list'];
/** A file of its own, or one for each person; never one for each task, which is kept back. */
function drawPlace(random: Random): Place {
  const [name, ending] = [
    newWord(random),
    random.next() < 0.7 ? pick(random, ENDINGS) : `.${newWord(random).slice(0, 3)}`,
  ];
  const folder = random.next() < 0.3 ? `${newWord(random)}/` : '';
  if (random.next() < 0.2)
    return {
      said: `${folder}<who>${ending}`,
      path: ({ plan }) => `${folder}${plan.author.toLowerCase()}${ending}`,
    };
  return { said: `${folder}${name}${ending}`, path: () => `${folder}${name}${ending}` };
}

/** When the line is written: the event, whether it comes before or after the work, and what people call that. */
type Moment = readonly [on: 'all' | 'new' | 'edited', where: 'before' | 'after', said: readonly string[]];
const MOMENTS: readonly Moment[] = [
  [
    'all',
    'before',
    [
      'before you start',
      'first of all',
      'at the beginning of a task',
      'before any work',
      'as your first step',
    ],
  ],
  [
    'all',
    'after',
    [
      'when you are through',
      'at the close of a task',
      'after the work',
      'as your last step',
      'once all is written',
    ],
  ],
  [
    'new',
    'after',
    ['when you made a file', 'for a new file', 'after you created something', 'whenever a file is born'],
  ],
  ['new', 'before', ['before you make a file', 'ahead of a new file', 'before creating anything']],
  ['edited', 'after', ['when you changed files', 'after an edit', 'for a task that changes a file']],
  [
    'edited',
    'before',
    ['before you change files', 'ahead of an edit', 'before touching a file that is there'],
  ],
];

/** A rule on a line in another file: when, where, and what it is put together from. */
export function drawLineRule(random: Random): AuxiliaryRule {
  const [on, where, said] = pick(random, MOMENTS);
  const [place, pattern] = [drawPlace(random), drawPattern(random, on === 'new')];
  const steps = (task: TaskSteps): readonly WorkStep[] => {
    const { edits } = task.plan;
    const line = pattern.write(task);
    const isMeant = on === 'all' || (on === 'new' ? task.created.length > 0 : edits.length > 0);
    return isMeant && line !== undefined ? [{ do: 'append', path: place.path(task), line }] : [];
  };
  return {
    form: `line ${on} ${where}`,
    aspects: [`line ${where}`],
    apply: (task) => withSteps(task, where, steps(task)),
    tell: (example, own, longest) => {
      const shown = pattern.write(example);
      return tell(
        {
          demands: [
            {
              clauses: STEP_LINE,
              words: { when: { as: pick(own, said) }, line: pattern.said, file: place.said },
            },
          ],
          ...(shown !== undefined && { example: shown }),
        },
        own,
        longest,
      );
    },
  };
}
