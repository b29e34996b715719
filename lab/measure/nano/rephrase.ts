import type { Random } from '../../../src/base/random.ts';
import { fill, pick } from '../../suites/workdays/draw.ts';

/*
 * The suite has three wordings for each kind of training task. These are additional ones, none of them from the gate or report split, so
 * that the policy learns the meaning of a task and not its wording.
 */
const CREATE: readonly string[] = [
  'Prepare a JSON {type} in {folder}: {fields}.',
  'Start a JSON {type} in {folder}, {fields}.',
  'Please file a JSON {type} under {folder}: {fields}.',
  '{folder} needs a JSON {type}: {fields}.',
  'I need a JSON {type} in {folder} that says {fields}.',
  'Compose a JSON {type} inside {folder} from {fields}.',
  'JSON {type} to {folder}: {fields}.',
  'Save a JSON {type} at {folder}: {fields}.',
  'Set up a JSON {type} in {folder} with {fields}.',
  '{word} a JSON {type} in {folder}: {fields}.',
  '{word} {word2} JSON {type} in {folder} {word3} {fields}.',
  'Another JSON {type} in {folder}: {fields}.',
];
const UPDATE: readonly string[] = [
  'Adjust {path}: {changes}.',
  'Correct {changes} in {path}.',
  '{path}: {changes}.',
  '{path} needs {changes}.',
  'Please bring {changes} in {path}.',
  'On {path}, {changes}.',
  'Switch {changes} in {path}.',
  'Rework {path} with {changes}.',
  '{word} {path}: {changes}.',
  '{word} {changes} in {path}.',
  'In {path} {word2} {changes}.',
];
const APPEND: readonly string[] = [
  'Put a line into {path}: {fields}.',
  '{path} needs another line: {fields}.',
  'Record in {path}: {fields}.',
  'Write one line more to {path}: {fields}.',
  'Enter {fields} in {path}.',
  'For the end of {path}: {fields}.',
  'Attach a line to {path} with {fields}.',
  'Note in {path}: {fields}.',
  '{word} {path}: {fields}.',
  '{word} {word2} {word3} of {path}: {fields}.',
  '{path} {word2} {word3} line: {fields}.',
];

/** Put together from parts, so that no wording of a task is like the next. */
const VERBS =
  'Prepare|Start|Draft|Compose|Produce|Build|Store|Set down|Draw up|Type|Fill in|Deliver|Get me|Give me|Bring|Do|Take down|Save|Begin'.split(
    '|',
  );
const PLACES = 'in|under|at|inside|within|to|below'.split('|');
const JOINTS = [
  ': ',
  ', ',
  ' with ',
  ' that says ',
  ' saying ',
  ' - ',
  '; ',
  ' containing ',
  ' which has ',
  ' from ',
  ' (',
  ' holding ',
  ' having ',
];

function composed(
  kind: 'create' | 'update' | 'append',
  words: Readonly<Record<string, string>>,
  random: Random,
): string {
  const verb = random.next() < 0.3 ? '{word}' : pick(random, VERBS);
  const joint = random.next() < 0.2 ? ' {word2} ' : pick(random, JOINTS);
  const end = joint === ' (' ? ')' : '';
  const noun = random.next() < 0.2 ? '{word3}' : pick(random, ['a', 'the', 'one', 'this', 'my', 'our']);
  const place = random.next() < 0.15 ? '{word2}' : pick(random, PLACES);
  if (kind === 'create')
    return fill(`${verb} ${noun} JSON {type} ${place} {folder}${joint}{fields}${end}.`, words);
  if (kind === 'append')
    return fill(
      pick(random, [
        `${verb} ${noun} line ${place} {path}${joint}{fields}${end}.`,
        `${verb} {fields} ${place} {path}, ${noun} line.`,
        `{path}${joint}${noun} line, {fields}${end}.`,
      ]),
      words,
    );
  return fill(
    pick(random, [
      `${verb} {changes} ${place} {path}.`,
      `${verb} {path}${joint}{changes}${end}.`,
      `{path}${joint}{changes}${end}.`,
      `${place === '{word2}' ? 'At' : place} {path}, ${verb === '{word}' ? '{word3}' : verb.toLowerCase()} {changes}.`,
    ]),
    words,
  );
}

const LEAD = /^t\d+, [^.]*\. /;
const CREATED = /(?:Write a|New|Put a) JSON (\w+) (?:in|into) ([\w]+): ([^.]*)\.$/;
const UPDATED = [
  /^In (?<path>\S+) set (?<changes>.*)\.$/,
  /^Set (?<changes>.*) in (?<path>\S+)\.$/,
  /^Change (?<path>\S+): (?<changes>.*)\.$/,
];
const APPENDED = /^(?:Add a line to|One more line for|Append to) (\S+): (.*)\.$/;

/** The same task in other words; unchanged if its wording is unknown. */
export function rephrase(text: string, random: Random, newWord: () => string): string {
  const lead = LEAD.exec(text)?.[0] ?? '';
  const words = () => {
    const [first, word2, word3] = [newWord(), newWord(), newWord()];
    return { word: first.charAt(0).toUpperCase() + first.slice(1), word2, word3 };
  };
  const sayAs = (
    kind: 'create' | 'update' | 'append',
    templates: readonly string[],
    given: Readonly<Record<string, string>>,
  ): string => (random.next() < 0.4 ? fill(pick(random, templates), given) : composed(kind, given, random));
  let rest = text.slice(lead.length);
  const parts: string[] = [];
  const created = CREATED.exec(rest);
  if (created !== null) {
    const [, type = '', folder = '', fields = ''] = created;
    parts.unshift(sayAs('create', CREATE, { type, folder, fields, ...words() }));
    rest = rest.slice(0, created.index).trimEnd();
  }
  const appended = APPENDED.exec(rest);
  const updated = UPDATED.map((form) => form.exec(rest)?.groups).find((groups) => groups !== undefined);
  if (appended !== null) {
    const [, path = '', fields = ''] = appended;
    parts.unshift(sayAs('append', APPEND, { path, fields, ...words() }));
  } else if (updated !== undefined) {
    const { path = '', changes = '' } = updated;
    parts.unshift(sayAs('update', UPDATE, { path, changes, ...words() }));
  } else if (rest !== '') return text;
  return lead + parts.join(' ');
}
