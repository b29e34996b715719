import type { HouseRule } from '../../../suites/workdays/rules/rule-set.ts';
import {
  ABOUT_BLOCK,
  FIELD,
  HEADER,
  JOINED,
  KEEP_OLD,
  LISTED,
  LOGGED,
  NAMED_BY,
  ORDERED,
  RENAME,
  SUMS,
} from './file-clauses.ts';
import { drawNoun, type NounName } from './nouns.ts';
import type { Meaning } from './tell.ts';
import {
  AROUND,
  BEHIND,
  type Clauses,
  DECIMALS,
  FORMAT,
  FRONT,
  LETTERS,
  SWAP,
  UNIT_FIRST,
  UNIT_LAST,
  ZEROS,
} from './value-clauses.ts';

type Words = Readonly<Record<string, string>>;

/** Other words for letters of a case, as `how` and as a thing. */
export const LETTER_WORDS: Readonly<Record<string, readonly (readonly [how: string, thing: string])[]>> = {
  'in capital letters': [
    ['in capital letters', 'capital letters'],
    ['in capitals', 'capitals'],
    ['in upper case', 'upper case'],
    ['all in capitals', 'capital letters only'],
    ['in big letters', 'big letters'],
  ],
  'in small letters': [
    ['in small letters', 'small letters'],
    ['in lower case', 'lower case'],
    ['without capitals', 'small letters only'],
    ['all in small letters', 'lower-case letters'],
  ],
  'with a capital first letter': [
    ['with a capital first letter', 'a capital first letter'],
    ['with its first letter as a capital', 'a capital at the beginning'],
    ['with a big first letter', 'a big first letter'],
    ['with an initial capital', 'an initial capital'],
  ],
};

/** Other words for orders. */
const ORDER_WORDS: Readonly<Record<string, readonly string[]>> = {
  alphabetical: ['alphabetically', 'from A to Z', 'by the alphabet', 'in alphabetical order'],
  'reverse alphabetical': [
    'in reverse alphabetical order',
    'from Z to A',
    'backwards by the alphabet',
    'alphabetically but the other way round',
  ],
  'from the shortest to the longest': [
    'from the shortest to the longest',
    'the shorter the earlier',
    'by length, short ones first',
  ],
  'from the longest to the shortest': [
    'from the longest to the shortest',
    'the longer the earlier',
    'by length, long ones first',
  ],
  'by their last letter': ['by their last letter', 'by the letter they end in', 'by final letter'],
  'by their second letter': [
    'by their second letter',
    'by the letter after the first',
    'by letter number two',
  ],
};

interface Kind {
  readonly clauses: Clauses;
  readonly noun?: NounName;
  readonly mustShow?: boolean;
  /** What its example has to say by itself; a rule on another file needs more than a line. */
  readonly isShownWhole?: boolean;
  more?(words: Words, at: number): Words;
}

const value = (clauses: Clauses, noun: NounName, more?: Kind['more']): Kind => ({
  ...{ clauses, noun, isShownWhole: true },
  ...(more !== undefined && { more }),
});
const chosen = (list: readonly string[] | undefined, at: number, otherwise: string): string =>
  list?.[at % list.length] ?? otherwise;
const marked = ({ mark = '' }: Words): Words => ({ left: mark, right: mark });
const lettered = ({ case: name = '' }: Words, at: number): Words => {
  const list = LETTER_WORDS[name] ?? [[name, name] as const];
  const [how = name, thing = name] = list[at % list.length] ?? [];
  return { case: how, letters: thing };
};
const ordered = ({ order = '' }: Words, at: number): Words => ({
  order: chosen(ORDER_WORDS[order], at, order),
});
const TASK_WORDS = [
  'the id of the task',
  'the task id',
  'its task number',
  'the id in the task, which begins with t',
];
const PERSON_WORDS = [
  'the name of whoever asked',
  'who asked for it',
  'the name of the one who asked',
  'the sender of the task',
];
const given =
  (list: readonly string[]): NonNullable<Kind['more']> =>
  (_, at) => ({ what: chosen(list, at, ''), place: '' });

/** By form; a form of values is `target-operation`. */
const KINDS: Readonly<Record<string, Kind>> = {
  times: value(FORMAT, 'time'),
  'ticket-prefix': value(FRONT, 'ticket', ({ prefix = '', number = '' }) => ({
    left: prefix,
    plain: number,
  })),
  units: { ...value(UNIT_LAST, 'amount', ({ number = '' }) => ({ plain: number })), mustShow: true },
  'sorted-keys': { ...value(ORDERED, 'keys', ordered), isShownWhole: false },
  'list-sorted': { ...value(ORDERED, 'tags', ordered), isShownWhole: false },
  'list-joined': value(JOINED, 'tags'),
  'file-names': { ...value(NAMED_BY, 'file'), mustShow: true },
  'file-prefix': value(FRONT, 'file', marked),
  'key-prefix': value(FRONT, 'key', marked),
  'key-rename': { clauses: RENAME, more: () => ({ example: '' }) },
  metadata: { clauses: ABOUT_BLOCK },
  backup: { clauses: KEEP_OLD, more: ({ copy = '' }) => ({ example: copy }) },
  'done-log': { clauses: LOGGED },
  'new-line': { clauses: LISTED },
  checksums: { clauses: SUMS },
  'header-comment': { clauses: HEADER, more: ({ example = '' }) => ({ shown: example, example: '' }) },
  'field-fixed': { clauses: FIELD, more: ({ value: said = '' }) => ({ what: `"${said}"`, place: '' }) },
  'field-task': { clauses: FIELD, more: given(TASK_WORDS) },
  'field-person': { clauses: FIELD, more: given(PERSON_WORDS) },
};

const OPERATIONS: Readonly<Record<string, readonly [Clauses, Kind['more']?]>> = {
  prefix: [FRONT],
  suffix: [BEHIND],
  surround: [AROUND],
  case: [LETTERS, lettered],
  pad: [ZEROS],
  decimals: [DECIMALS],
  'unit-first': [UNIT_FIRST],
  format: [FORMAT],
  replace: [SWAP],
};

function kindOf(form: string): Kind | undefined {
  const known = KINDS[form];
  if (known !== undefined) return known;
  const [target = '', ...rest] = form.split('-');
  const [clauses, more] = OPERATIONS[rest.join('-')] ?? [];
  if (clauses === undefined) return undefined;
  const kind = value(clauses, target, more);
  return clauses === UNIT_FIRST
    ? { ...kind, mustShow: true }
    : clauses === SWAP
      ? { ...kind, isShownWhole: false }
      : kind;
}

/** What a rule of the suite says, for the grammar; undefined for a form that it has no clauses for. `at` chooses among synonyms. */
export function meaningOf(rule: HouseRule, given: Words, at: number): Meaning | undefined {
  const kind = kindOf(rule.form);
  if (kind === undefined) return undefined;
  const words = { ...given, ...kind.more?.(given, at) };
  const { plain = '', example = '' } = words;
  return {
    demands: [{ clauses: kind.clauses, words }],
    ...(kind.noun !== undefined && { noun: (random) => drawNoun(kind.noun ?? '', random) }),
    ...(example !== '' && { example }),
    ...(plain !== '' && kind.isShownWhole && { plain }),
    ...(kind.mustShow !== undefined && { mustShow: kind.mustShow }),
    ...(kind.isShownWhole !== undefined && { isShownWhole: kind.isShownWhole }),
  };
}
