import type { Random } from '../../../src/base/random.ts';
import { fill, gapsIn, pick } from '../../workdays/draw.ts';
import type { HouseRule } from '../../workdays/rules/rule-set.ts';
import { OPERATION_FRAMES } from './operation-frames.ts';

/*
 * Sentences of our own that say a rule by what they show: what was written, what should have been, and what it is about. They go with every
 * form of rule that has these words, so that a policy learns to take a rule from what is shown, in whatever words.
 */

/** What a rule may be about, by the first word of its form. */
const NOUNS: Readonly<Record<string, string>> = {
  ticket: 'ticket|ticket number|number of a ticket|case|issue|job number|ticket reference',
  units: 'amount|sum|cost|effort|price|budget figure',
  amount: 'amount|sum|cost|effort|price|expense',
  share: 'share|percentage|rate|ratio|portion|part in hundred',
  count: 'count|number of seats|seats|capacity|number of chairs|headcount|seat count|quantity of seats',
  person: 'name|person|owner|colleague|first name|member of staff|employee',
  title: 'topic|title|subject|heading|theme|name of the topic|matter|headline',
  state: 'state|status|stage|progress|standing|status word|condition',
  date: 'date|day|start|start date|first day',
  times: 'time|date and time|deadline|due time|hour',
  item: 'tag|label|keyword|tag word|catchword',
  list: 'list of tags|tags|labels|keywords',
  key: 'key|field name|name of a field|JSON key',
  file: 'file name|new file name|name on the drive|new file',
  sorted: 'order of keys|order of the fields|sequence of keys',
  header: 'first line of a file|beginning of a file|first key',
  field: 'new file|new document|document|JSON file',
};

const CONTRAST = [
  ...[
    'Not {plain} but {example}.',
    'You put {plain}. Right is {example}.',
    '{plain} is wrong here, {example} is right.',
  ],
  ...[
    'Turn {plain} into {example}.',
    'Where you have {plain} there has to be {example}.',
    'I do not want {plain}, I want {example}.',
  ],
  ...[
    'Replace {plain} by {example}.',
    'We never say {plain}, we say {example}.',
    '{example} and not {plain}.',
  ],
  ...[
    'Please correct {plain} to {example}.',
    'Change {plain} into {example}, and do so each time.',
    'If it is {plain}, put {example}.',
  ],
  ...[
    'So {plain} turns into {example}.',
    'With us {plain} has the form {example}.',
    'The clerk types {example} for {plain}.',
  ],
  ...[
    'Better {example} than {plain}.',
    'On paper {plain} is {example}.',
    'You had {plain}; have {example}.',
    '{plain} -> {example}',
  ],
  ...[
    '{plain} is how you did it, {example} is how we do it.',
    'Somebody typed {plain} again. {example}!',
    '{plain}? {example}.',
  ],
];
const SUBJECT = [
  ...[
    'Each {noun} has the form {example}.',
    'For a {noun} take {example}.',
    'The form of a {noun} is {example}.',
    'A {noun} of ours: {example}.',
  ],
  ...[
    'The {noun} was off. {example} is it.',
    'Fix the {noun}: {example}.',
    'About the {noun}: {example} is the way.',
    '{noun}: {example}',
  ],
  ...[
    'The {noun} wants another form, {example}.',
    'Any {noun} goes down as {example}.',
    'Type the {noun} as {example}.',
  ],
  ...[
    'Concerning a {noun}, use {example}.',
    'One more {noun} in the wrong form; {example} is correct.',
    'I told Ada how a {noun} looks: {example}.',
  ],
  ...[
    'The {noun} in your file is not ours. Ours is {example}.',
    'A {noun} without its form is of no use, so {example}.',
  ],
  ...[
    'Whenever there is a {noun}, we have {example}.',
    'Give the {noun} its form, {example}.',
    'The {noun} is {example} and nothing else.',
  ],
  ...[
    'As to the {noun}, {example}.',
    'My {noun} would be {example}.',
    'Wrong {noun}. Try {example}.',
    'See how the {noun} is done: {example}.',
  ],
];
const MARKED = [
  ...[
    'The {noun} has {mark} to it, as in {example}.',
    '{mark} belongs to every {noun}: {example}.',
    'I want {mark} with the {noun}, like {example}.',
  ],
  ...[
    'Use {mark} for a {noun}, so {example}.',
    'A {noun} without {mark} is wrong.',
    'Do not leave out {mark}: {example}.',
  ],
];
const KEPT = [
  ...[
    '{file} needs this: {line}',
    'Your work has to appear in {file}: {line}',
    'Put {line} into {file}.',
    'In {file} we keep {line}, one a task.',
  ],
  ...[
    'Go to {file} and write {line} there.',
    '{file} is where {example} goes.',
    'No task ends without {example} in {file}.',
    'For {file}: {example}.',
  ],
];
const COPIED = [
  ...[
    '{copy} first, then {file}.',
    'Have {copy} ready before {file} changes.',
    'Leave {copy} behind when you touch {file}.',
    'I need {copy} next to {file}.',
  ],
  ...[
    '{file} may change after cp {file} {copy}.',
    'A file like {file} is kept as {copy} before an edit.',
    'The old {file} lives on as {copy}.',
  ],
];
const BLOCK = [
  ...[
    'Give new files "{under}", made of {time}, {author} and {state}; {state} is {states}.',
    '"{under}": {time}, {author}, {state} ({states}) in each file.',
  ],
  ...[
    'We need {time}, {author} and {state} inside "{under}". For {state} there are {states}.',
    'Your file has no "{under}" with {time}, {author}, {state}, {states}.',
  ],
];
const FRAMES = [CONTRAST, SUBJECT, MARKED, KEPT, COPIED, BLOCK];

/** The rule in a sentence of ours; undefined where none fits its words. */
export function ownFrame(
  rule: HouseRule,
  words: Readonly<Record<string, string>>,
  random: Random,
): string | undefined {
  const nouns = NOUNS[rule.form.split('-')[0] ?? '']?.split('|');
  const plain = words.plain ?? words.number;
  const all: Record<string, string> = {
    ...words,
    ...(nouns === undefined ? {} : { noun: pick(random, nouns) }),
    ...(plain === undefined ? {} : { plain }),
  };
  // Two marks side by side are no mark.
  const isAround = (words.left ?? '') !== '' && (words.right ?? '') !== '';
  if (isAround) delete all.mark;
  // Without its file, a line says nothing.
  const needed = 'copy' in words ? ['copy'] : 'file' in words ? ['file', 'line'] : [];
  const isQuoted = random.next() < 0.5;
  for (const name of ['example', 'mark', 'line', 'left', 'right'])
    if ((isQuoted || all[name]?.trim() !== all[name]) && all[name] && !all[name].includes('"'))
      all[name] = `"${all[name]}"`;
  const has = (name: string): boolean => (words[name] ?? '') !== '';
  const own = OPERATION_FRAMES.filter(
    ({ form = '', needs }) =>
      rule.form.startsWith(form) &&
      needs.split(' ').every((name) => (name.startsWith('!') ? !has(name.slice(1)) : has(name))),
  );
  const fitting = [...FRAMES, ...own.flatMap(({ frames }) => [frames, frames])]
    .map((frames) =>
      frames.filter((frame) => {
        const gaps = gapsIn(frame);
        const isWhole =
          needed.length === 0 ||
          own.some(({ frames: ours }) => ours === frames) ||
          needed.some((name) => gaps.includes(name)) ||
          (gaps.includes('file') && gaps.includes('example'));
        // A frame for one side would say half of a rule on both.
        const isHalf = isAround && gaps.includes('left') !== gaps.includes('right');
        return isWhole && !isHalf && gaps.every((gap) => all[gap] !== undefined && all[gap] !== '');
      }),
    )
    .filter((frames) => frames.length > 0);
  return fitting.length === 0 ? undefined : fill(pick(random, pick(random, fitting)), all);
}
