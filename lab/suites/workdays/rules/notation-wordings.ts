import type { SplitWordings } from '../files/scene.ts';
import type { Split } from '../world.ts';
import type { OperationName, TargetName } from './notation-forms.ts';

type Nouns = readonly (readonly [one: string, many: string])[];

/** What people call the values. The first pair of each split is the common word. */
const NOUNS: Readonly<Record<TargetName, Readonly<Record<Split, Nouns>>>> = {
  ticket: {
    train: [
      ['ticket', 'tickets'],
      ['ticket number', 'ticket numbers'],
    ],
    gate: [
      ['ticket', 'tickets'],
      ['ticket reference', 'ticket references'],
    ],
    report: [
      ['ticket', 'tickets'],
      ['ticket id', 'ticket ids'],
    ],
  },
  count: {
    train: [
      ['count', 'counts'],
      ['number of seats', 'numbers of seats'],
    ],
    gate: [
      ['count', 'counts'],
      ['seat count', 'seat counts'],
    ],
    report: [
      ['count', 'counts'],
      ['tally', 'tallies'],
    ],
  },
  share: {
    train: [
      ['share', 'shares'],
      ['percentage', 'percentages'],
    ],
    gate: [
      ['share', 'shares'],
      ['per cent value', 'per cent values'],
    ],
    report: [
      ['share', 'shares'],
      ['proportion', 'proportions'],
    ],
  },
  amount: {
    train: [
      ['amount', 'amounts'],
      ['cost or effort', 'costs and efforts'],
    ],
    gate: [
      ['amount', 'amounts'],
      ['sum', 'sums'],
    ],
    report: [
      ['amount', 'amounts'],
      ['quantity', 'quantities'],
    ],
  },
  date: {
    train: [
      ['date', 'dates'],
      ['start date', 'start dates'],
    ],
    gate: [
      ['date', 'dates'],
      ['calendar day', 'calendar days'],
    ],
    report: [
      ['date', 'dates'],
      ['day', 'days'],
    ],
  },
  person: {
    train: [
      ['name', 'names'],
      ['person', 'people'],
      ['owner', 'owners'],
    ],
    gate: [
      ['name', 'names'],
      ['colleague', 'colleagues'],
    ],
    report: [
      ['name', 'names'],
      ['staff member', 'staff members'],
    ],
  },
  title: {
    train: [
      ['topic', 'topics'],
      ['title', 'titles'],
    ],
    gate: [
      ['topic', 'topics'],
      ['subject', 'subjects'],
    ],
    report: [
      ['topic', 'topics'],
      ['theme', 'themes'],
    ],
  },
  state: {
    train: [
      ['state', 'states'],
      ['status word', 'status words'],
    ],
    gate: [
      ['state', 'states'],
      ['stage', 'stages'],
    ],
    report: [
      ['state', 'states'],
      ['progress word', 'progress words'],
    ],
  },
  item: {
    train: [
      ['tag', 'tags'],
      ['label', 'labels'],
    ],
    gate: [
      ['tag', 'tags'],
      ['keyword', 'keywords'],
    ],
    report: [
      ['tag', 'tags'],
      ['catchword', 'catchwords'],
    ],
  },
};

/** For every operation: what it makes of a value. */
const BY_EXAMPLE: SplitWordings = {
  train: [
    'Write {things} like "{example}".',
    '{plain} is written "{example}" here.',
    'For {plain} write "{example}".',
    'Put "{example}" instead of {plain}.',
    'A {thing} looks like "{example}" in our files.',
    'Use "{example}", not {plain}, and so for all {things}.',
  ],
  gate: [
    'I wanted "{example}" where you have {plain}.',
    'Here {things} read "{example}" and the like.',
    '{plain} came out wrong: "{example}".',
  ],
  report: [
    'You left {plain} as it was; let it say "{example}".',
    '{Things} such as {plain} become "{example}" with us.',
    'Our readers know it as "{example}".',
  ],
};

const BY_OPERATION: Readonly<Record<OperationName, SplitWordings>> = {
  prefix: {
    train: [
      'Put "{mark}" in front of each {thing}.',
      '{Things} begin with "{mark}", e.g. "{example}".',
      'Every {thing} gets "{mark}" before it.',
    ],
    gate: ['"{mark}" has to precede any {thing}.', 'Start every {thing} off by "{mark}": "{example}"'],
    report: ['Without "{mark}" ahead of it no {thing} counts.', 'Let "{mark}" lead the {thing} in.'],
  },
  suffix: {
    train: [
      'Put "{mark}" behind each {thing}.',
      '{Things} end in "{mark}", e.g. "{example}".',
      'Add "{mark}" after every {thing}.',
    ],
    gate: ['Close any {thing} off by "{mark}".', '"{mark}" follows the {thing}: "{example}"'],
    report: ['A {thing} lacking "{mark}" at its tail is sent back.', 'Let "{mark}" trail the {thing}.'],
  },
  surround: {
    train: [
      'Put each {thing} between "{left}" and "{right}".',
      '{Things} stand between "{left}" and "{right}", e.g. "{example}".',
      'Every {thing} has "{left}" before it and "{right}" after it.',
    ],
    gate: ['Enclose any {thing}: "{left}" opens, "{right}" closes.', 'Frame {things} as in "{example}".'],
    report: [
      '"{left}" and "{right}" go round whatever is a {thing}.',
      'A {thing} lives inside "{left}" … "{right}".',
    ],
  },
  case: {
    train: [
      'Write each {thing} {case}.',
      '{Things} are written {case}: "{example}".',
      'Every {thing} goes {case}.',
    ],
    gate: ['Spell any {thing} {case}.', 'I would like {things} {case}, so "{example}".'],
    report: ['The letters of a {thing} come {case}.', 'Our print has {things} {case}.'],
  },
  pad: {
    train: [
      'Fill {things} up with zeros to {width} digits.',
      '{Things} have {width} digits, zeros in front: "{example}".',
      'Write each {thing} with {width} digits.',
    ],
    gate: [
      'Lead with zeros until a {thing} is {width} digits long.',
      '{width} digits per {thing}, as "{example}" shows.',
    ],
    report: [
      'A {thing} short of {width} digits gets zeros at its head.',
      'Zeros first: {width} digits make a {thing}.',
    ],
  },
  decimals: {
    train: [
      'Write {things} with {places} decimal places, like "{example}".',
      'Each {thing} has {places} digits after the "{sign}".',
      'Give {things} {places} decimal places.',
    ],
    gate: [
      'Behind "{sign}" a {thing} carries {places} digits.',
      'More precision, {places} decimals: "{example}"',
    ],
    report: [
      'Our ledger wants {places} decimals on a {thing}.',
      'Let "{sign}" and {places} zeros complete the {thing}.',
    ],
  },
  'unit-first': {
    train: [
      'Put the unit in front of the {thing}, like "{example}".',
      'Write {things} as text with the unit first: "{example}".',
      'The unit comes before the {thing}.',
    ],
    gate: ['Unit, then figure, that is "{example}".', 'Let the unit precede any {thing} ("{example}").'],
    report: ['State the unit ahead of the {thing}, "{example}".', 'What it is in comes first: "{example}".'],
  },
  format: {
    train: [
      'Write {things} as {format}.',
      'The format of a {thing} is {format}, e.g. "{example}".',
      'Put {things} down in the form {format}.',
    ],
    gate: ['Our pattern for a {thing} is {format}.', 'Arrange {things} as {format}, here "{example}".'],
    report: ['{format} is how a {thing} gets spelt.', 'Set each {thing} in {format}.'],
  },
  replace: {
    train: [
      'Say {pairs}.',
      'Use other words for a {thing}: {pairs}.',
      'The {things} have other names here: {pairs}.',
    ],
    gate: ['We call {things} differently: {pairs}.', 'Our vocabulary has {pairs}.'],
    report: ['Nobody here says "{plain}"; take "{example}".', 'Our words are {pairs}.'],
  },
  shorten: {
    train: [
      'Cut {things} to {length} letters.',
      'A {thing} has at most {length} letters, e.g. "{example}".',
      'Keep each {thing} to {length} letters.',
    ],
    gate: ['{length} letters suffice for any {thing}.', 'Abbreviate {things}: "{example}"'],
    report: [
      'The column fits {length} letters of a {thing}.',
      'Trim the {thing} down until "{example}" is left.',
    ],
  },
  fraction: {
    train: [
      'Write {things} as a fraction, "{example}".',
      'A {thing} is a part of one: "{example}".',
      'Give {things} with "{lead}" and two digits.',
    ],
    gate: ['Not in per cent but as "{example}".', 'Divide a {thing} by a hundred, writing "{lead}" first.'],
    report: [
      'Our tool reads {things} as "{lead}" plus two digits.',
      'Per cent is for people; "{example}" is for us.',
    ],
  },
};

/** The wordings of a form: every frame of its operation with every noun of its target. */
export function notationWordings(target: TargetName, operation: OperationName): SplitWordings {
  const ofSplit = (split: Split): readonly string[] =>
    [...BY_EXAMPLE[split], ...BY_OPERATION[operation][split]].flatMap((frame) => {
      const nouns =
        frame.includes('{thing') || frame.includes('{Thing')
          ? NOUNS[target][split]
          : NOUNS[target][split].slice(0, 1);
      return nouns.map(([one, many]) =>
        frame.replaceAll('{thing}', one).replaceAll('{things}', many).replaceAll('{Things}', capital(many)),
      );
    });
  return { train: ofSplit('train'), gate: ofSplit('gate'), report: ofSplit('report') };
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
