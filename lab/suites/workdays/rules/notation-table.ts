import type { Random } from '../../../../src/base/random.ts';
import { between, pick } from '../draw.ts';
import type { DrawnForm } from './drawn-form.ts';
import { JOINTS, lettersOf } from './first-forms.ts';
import { createNotationForm, type OperationName, type TargetName } from './notation-forms.ts';
import { notationWordings } from './notation-wordings.ts';
import type { AnyRuleForm } from './rule-set.ts';
import type { ValueDraw } from './split-values.ts';

/** Signs that need no quoting and are in no value. */
const SIGNS = [...'@#~+*=&^%!|<>:;/_$?'];
const MARK_WORDS =
  'team desk our new old main the no art item case ref day key for side line part open base true big wide far own raw set top plus half'.split(
    ' ',
  );

/** Signs, letters with a sign, or a word: always with something that no plain value begins or ends with. */
function drawMark(random: Random, isBefore: boolean, isWord = false): string {
  const sign = pick(random, SIGNS);
  const letters = random.below(2) === 0 ? lettersOf(random, 1, 4) : pick(random, MARK_WORDS);
  const stem = random.below(3) === 0 ? letters.toUpperCase() : letters;
  const joint = pick(random, [' ', '-', '.', sign, sign, ': ']);
  const luck = isWord ? 2 : random.below(8);
  if (luck === 0) return sign;
  if (luck === 1) return sign + (random.below(2) === 0 ? sign : pick(random, SIGNS));
  return isBefore ? stem + joint : joint.trimEnd() + (joint === ': ' ? ' ' : joint === ' ' ? ' ' : '') + stem;
}

const LEFT_SIGNS: readonly (readonly [string, string])[] = [
  ...[
    '()',
    '[]',
    '<>',
    '**',
    '__',
    '||',
    '//',
    '~~',
    '==',
    '##',
    '!!',
    '++',
    '::',
    '%%',
    '^^',
    '??',
    '&&',
    '@@',
    '..',
  ].map(([a = '', b = '']) => [a, b] as const),
  ...['(())', '[[]]', '<<>>', '----', '****', '____', '::..'].map(
    (signs) =>
      [signs.slice(0, Math.floor(signs.length / 2)), signs.slice(Math.floor(signs.length / 2))] as const,
  ),
];
function drawSurround({ random, made }: ValueDraw): object {
  if (random.below(3) > 0) {
    const [left = '', right = ''] = made(() => pick(random, LEFT_SIGNS).join('\n')).split('\n');
    return { left, right };
  }
  return { left: made(() => drawMark(random, true, true)), right: made(() => drawMark(random, false, true)) };
}

const DATE_SIGNS = ['-', '/', '.', '_', ' ', '~', ''];
const drawDateFormat = (random: Random): string => {
  const sign = pick(random, DATE_SIGNS);
  const parts = pick(random, [
    ['DD', 'MM', 'YYYY'],
    ['MM', 'DD', 'YYYY'],
    ['YYYY', 'MM', 'DD'],
    ['YYYY', 'DD', 'MM'],
    ['DD', 'MM', 'YYYY'],
  ]);
  const format = parts.join(sign);
  const decorated = pick(random, [
    format,
    format,
    `${format}.`,
    `(${format})`,
    `d ${format}`,
    `${format} AD`,
    `on ${format}`,
    `${format}T`,
    `day ${format}`,
  ]);
  return decorated === 'YYYY-MM-DD' ? 'DD-MM-YYYY' : decorated;
};

/** States of tasks, and other words for them. */
const STATES = ['todo', 'doing', 'done', 'waiting', 'closed'];
const OTHER_STATES =
  'open busy shut parked gone queued alive asleep settled later now fixed idle hot cold ended begun held next past ripe green'.split(
    ' ',
  );
function drawNames({ random, words }: ValueDraw): object {
  const count = between(random, 2, 3);
  const to = words(OTHER_STATES, count);
  const first = random.below(STATES.length);
  return {
    names: Object.fromEntries(to.map((word, at) => [STATES[(first + 2 * at) % STATES.length] ?? '', word])),
  };
}

type Draw = DrawnForm['draw'];
const prefix: Draw = ({ random, made }) => ({ mark: made(() => drawMark(random, true)) });
const suffix: Draw = ({ random, made }) => ({ mark: made(() => drawMark(random, false)) });
const decimals: Draw = ({ random, few }) => ({
  places: few([1, 2, 3, 4, 5], [2, 4]),
  sign: pick(random, ['.', ',']),
});
const SHARE_ENDS = [
  '%',
  ' %',
  ' percent',
  ' pct',
  'p',
  ' of 100',
  '/100',
  ' in 100',
  ' per cent',
  'pc',
  ' points',
  ' P',
  '%%',
  ' cent',
  ' out of 100',
  '-pct',
  '_pc',
  ' hundredths',
  ' of all',
];
const COUNT_ENDS = [
  ' seats',
  ' pcs',
  'x',
  ' units',
  ' pieces',
  ' places',
  ' heads',
  ' chairs',
  ' pax',
  ' of them',
  ' pers',
  ' items',
  '-fold',
  ' all told',
  ' in all',
  ' qty',
  ' total',
  '#',
  ' nr',
];
const LEADS = ['0.', '.', '0,', '0.0', '+0.', '~0.', 'p=0.', 'x0.', '=0.', 'f.', '0:', '/'];

/** `[target, operation, generator of parameters, held out]`: what is not here is a form that nobody has drawn yet. */
const TABLE: readonly (readonly [TargetName, OperationName, Draw, DrawnForm['heldOut']?])[] = [
  ['ticket', 'surround', drawSurround],
  ['ticket', 'pad', ({ few }) => ({ width: few([5, 6, 7, 8, 9, 10], [7, 9]) })],
  ['amount', 'unit-first', ({ word }) => ({ separator: word(JOINTS) })],
  ['amount', 'decimals', decimals],
  ['share', 'suffix', ({ word }) => ({ mark: word(SHARE_ENDS) })],
  ['share', 'prefix', prefix],
  ['count', 'suffix', ({ word }) => ({ mark: word(COUNT_ENDS) })],
  ['count', 'surround', drawSurround],
  ['person', 'prefix', prefix],
  ['person', 'case', ({ few }) => ({ case: few(['upper', 'lower'], ['lower']) })],
  ['title', 'case', ({ few }) => ({ case: few(['upper', 'capital'], ['upper']) })],
  ['title', 'suffix', suffix],
  ['title', 'surround', drawSurround],
  ['state', 'prefix', prefix],
  ['state', 'replace', drawNames],
  ['state', 'suffix', suffix],
  ['date', 'format', ({ made }) => ({ format: made(drawDateFormat) })],
  ['date', 'prefix', prefix],
  ['item', 'prefix', prefix],
  ['ticket', 'suffix', suffix, 'new pair'],
  ['person', 'suffix', suffix, 'new pair'],
  ['person', 'surround', drawSurround, 'new pair'],
  ['title', 'prefix', prefix, 'new pair'],
  ['state', 'surround', drawSurround, 'new pair'],
  ['count', 'pad', ({ few }) => ({ width: few([4, 5, 6, 7, 8, 9], [4, 7, 9]) }), 'new pair'],
  ['share', 'decimals', decimals, 'new pair'],
  ['item', 'suffix', suffix, 'new pair'],
  ['date', 'suffix', suffix, 'new pair'],
  ['title', 'shorten', ({ few }) => ({ length: few([2, 3, 4], [2, 3, 4]) }), 'new operation'],
  ['share', 'fraction', ({ random }) => ({ lead: pick(random, LEADS) }), 'new operation'],
];

const ABOUT: Readonly<Record<TargetName, string>> = {
  ticket: 'how a ticket is written',
  count: 'how a count is written',
  share: 'how a share is written',
  amount: 'how an amount is written',
  date: 'how a date without a time is written',
  person: 'how a name is written',
  title: 'how a topic is written',
  state: 'how a state is written',
  item: 'how a tag is written',
};

/** Lists decide about their items as well. */
const claimOf = (target: TargetName): string => (target === 'item' ? 'list' : target);

export const NOTATION_FORMS: readonly AnyRuleForm[] = TABLE.map(([target, operation]) =>
  createNotationForm(target, operation),
);

export const NOTATION_DRAWS: readonly DrawnForm[] = TABLE.map(([target, operation, draw, heldOut]) => ({
  name: `${target}-${operation}`,
  about: ABOUT[target],
  claims: [claimOf(target)],
  draw,
  wordings: notationWordings(target, operation),
  ...(heldOut !== undefined && { heldOut }),
}));
