/*
 * More sentences of our own, for what the forms of rules do: put something in front or behind, enclose, spell, fill up, name, list. They use
 * the words that the forms give; `{noun}` is what the rule is about.
 */
const ahead = [
  ...[
    'The {noun} is led by {left}, so {example}.',
    'Have {left} precede the {noun}.',
    'Let the {noun} follow {left}: {example}.',
    '{left} comes ahead of the {noun}.',
  ],
  ...[
    'Preface each {noun} by {left}.',
    'At the head of a {noun} stands {left}.',
    'A {noun} opens on {left}, e.g. {example}.',
    'Attach {left} on the left of a {noun}.',
  ],
  ...[
    'First {left}, then the {noun}: {example}.',
    'The {noun} bears {left} at its front.',
    'Prefix a {noun} by {left}, giving {example}.',
    'Introduce each {noun} through {left}.',
  ],
];
const behind = [
  ...[
    'The {noun} is followed by {right}, so {example}.',
    'Have {right} follow the {noun}.',
    'Let {right} come after the {noun}: {example}.',
    '{right} trails the {noun}.',
  ],
  ...[
    'Finish each {noun} by {right}.',
    'At the tail of a {noun} stands {right}.',
    'A {noun} runs out in {right}, e.g. {example}.',
    'Attach {right} on the right of a {noun}.',
  ],
  ...[
    'First the {noun}, then {right}: {example}.',
    'The {noun} bears {right} at its back.',
    'Tack {right} onto a {noun}, giving {example}.',
    'Complete a {noun} by {right}.',
  ],
];
const around = [
  ...[
    'The {noun} sits between {left} and {right}, so {example}.',
    'Bracket the {noun}: {left} on the left, {right} on the right.',
    'Embrace a {noun} by {left} and {right}.',
  ],
  ...[
    '{left} before, {right} after each {noun}: {example}.',
    'Flank the {noun} by {left} and {right}.',
    'A {noun} is fenced in, {example}.',
    'Box the {noun} in: {example}.',
  ],
  ...[
    'Enclose a {noun} like {example}.',
    'Frame the {noun}, giving {example}.',
    'Open a {noun} by {left} and shut it by {right}.',
    'The {noun} wears {left} and {right}: {example}.',
  ],
];
const spelt = [
  ...[
    'Spell a {noun} {case}: {example}.',
    'A {noun} comes {case}.',
    'We like a {noun} {case}, so {example}.',
    'Letters of a {noun}: {case}.',
    'Keep each {noun} {case}.',
  ],
];
const exact = [
  ...[
    'Be exact: {places} digits past the "{sign}" for a {noun}.',
    'A {noun} is given to {places} places, {example}.',
    '{places} decimals in a {noun}, after "{sign}".',
    'Extend a {noun} by "{sign}" and {places} zeros: {example}.',
  ],
];
const filled = [
  ...[
    'Fill a {noun} up by zeros to {width} digits.',
    'Zeros on the left until the {noun} has {width} digits: {example}.',
    'A {noun} is {width} digits wide, {example}.',
    '{width} digits for any {noun}, zeros lead.',
  ],
];
const called = [
  ...[
    'Call the key {to} and not {from}.',
    'The field {from} goes by {to} with us.',
    'Under {to}, please, what you have under {from}.',
    '{from} is an old key; the new one is {to}.',
    'Our key for {from}: {to}.',
  ],
];
const stated = [
  ...[
    'State {key} as well: {value}.',
    'Every file names its {key}, {value} in this one.',
    'There is no {key} in it, so {example}.',
    'Also tell {key} ({value}).',
    'Let new files include {example}.',
    '{key} = {value} has to be part of it.',
  ],
];
const glued = [
  ...[
    'Tags are one text, {separator} between them.',
    'Glue the tags by "{separator}": {example}.',
    'No list for tags: {example}.',
    'String the labels together, "{separator}" in the middle.',
  ],
];
const ranked = ['Rank the tags {order}.', 'Tags line up {order}: {example}.', 'Line the labels up {order}.'];
const aligned = [
  'Keys line up {order}, so {first} leads and {last} is at the end.',
  'Rank keys {order}.',
  'Keys line up {order}: {example}.',
];
const noted = [
  ...[
    'Mention a new file in {file}: {line}',
    '{file} is the list of new files, each as {line}.',
    'Whatever is new goes on {file}, as {example}.',
    'Register {path} in {file} by {example}.',
  ],
];
const proved = [
  ...[
    'Hash what you made (sha256) into {file}.',
    'sha256sum {path} >> {file}, and so for each file.',
    '{file} collects the sha256 of each file of a task.',
    'Each file has its sha256 sum noted in {file}.',
  ],
];
const clocked = [
  ...[
    'The layout of a {noun} is {format}.',
    'Lay a {noun} out as {format}, so {example}.',
    'Our layout for a {noun}: {format}.',
    '{format} is the mask for a {noun}.',
    'Follow the mask {format} ({example}).',
  ],
];
const titled = [
  ...[
    'On the drive a file is {example}: {date} for the date, {words} for the rest.',
    'Build file names from {date} and {words}, so {example}.',
    'A name such as {example} has {date} and {words} in it.',
  ],
];
const swapped = [
  ...[
    'We say {pairs}.',
    'Use our words: {pairs}.',
    'States have other names here, {pairs}.',
    'Translate the {noun}: {pairs}.',
  ],
];

interface OperationFrames {
  /** How the names of its forms begin. */
  readonly form?: string;
  /** Words that a form must give; those after `!` it must not give. */
  readonly needs: string;
  readonly frames: readonly string[];
}

/** A form that gives the words can be said so. */
export const OPERATION_FRAMES: readonly OperationFrames[] = [
  { needs: 'left !right', frames: ahead },
  { needs: 'right !left', frames: behind },
  { needs: 'left right', frames: around },
  { needs: 'case', frames: spelt },
  { needs: 'places', frames: exact },
  { needs: 'width', frames: filled },
  { form: 'key', needs: 'from to', frames: called },
  { form: 'field', needs: 'key value', frames: stated },
  { form: 'list', needs: 'separator', frames: glued },
  { form: 'list', needs: 'order', frames: ranked },
  { form: 'sorted', needs: 'order', frames: aligned },
  { form: 'new', needs: 'file line path', frames: noted },
  { form: 'checksums', needs: 'file path', frames: proved },
  { needs: 'format', frames: clocked },
  { form: 'file', needs: 'date words', frames: titled },
  { needs: 'pairs', frames: swapped },
];
