import { forSplit } from '../workdays/draw.ts';
import type { Split } from '../workdays/world.ts';
import type { DeskFamily, DeskTask } from './desk-tasks.ts';

/**
 * A convention of the house for one family of files. A form has several values; a house has one of them. The wordings are what a
 * user says who got a file that breaks it.
 */
interface DeskForm {
  readonly id: string;
  readonly family: DeskFamily;
  /** What it is about, for people, and for feedback that says no more. */
  readonly about: string;
  readonly values: readonly string[];
  /** `{v}` is the value. The first two are for training, the others for reports. */
  readonly wordings: readonly [string, string, string, string];
  /** Whether a file follows the rule with this value. */
  isFollowed(file: string, value: string, task: DeskTask): boolean;
}

/** A form with a value: a rule that a house has. */
export interface DeskRule {
  readonly id: string;
  readonly form: DeskForm;
  readonly value: string;
}

/** The parameters of the function that a task asks for. */
function parametersOf(file: string, task: DeskTask): readonly string[] | undefined {
  const found = new RegExp(`def\\s+${escapePattern(task.facts.name ?? '')}\\s*\\(([^)]*)\\)`).exec(file);
  return found?.[1]
    ?.split(',')
    .map((one) => one.replace(/[:=].*$/s, '').trim())
    .filter((one) => one !== '');
}

/** The two words of a switch, such as `on/off`. */
const switchWord = (value: string, task: DeskTask): string =>
  value.split('/')[task.facts.switch === 'on' ? 0 : 1] ?? '';

const POINTS = 3;

/** Sixteen forms in five families. None is a form of `workdays`, and none is in what the embedded policy was trained on. */
export const DESK_FORMS: readonly DeskForm[] = [
  {
    id: 'last-parameter',
    family: 'python',
    about: 'the parameters',
    values: ['audit', 'trace', 'ctx', 'run_id', 'tenant', 'actor', 'span', 'dry_run', 'caller'],
    wordings: [
      'Every function of ours takes {v} as its last parameter.',
      'You forgot the parameter {v}. It goes last, in all functions.',
      'Where is {v}? We pass it to each function, behind the other parameters.',
      'With us a function always has one more parameter at the end, named {v}.',
    ],
    isFollowed: (file, value, task) => parametersOf(file, task)?.at(-1) === value,
  },
  {
    id: 'error-class',
    family: 'python',
    about: 'the error',
    values: [
      'LedgerFault',
      'DeskError',
      'PlainFault',
      'InputRefused',
      'WorkStopped',
      'RecordFault',
      'HouseError',
      'CallRejected',
      'DataRefused',
    ],
    wordings: [
      'Raise {v}, not a built-in exception.',
      'Our code knows one exception only: {v}. Use it whenever something is wrong.',
      'ValueError and the like are not caught anywhere here. {v} is.',
      'Please no built-in exceptions, our handlers wait for {v}.',
    ],
    isFollowed: (file, value) => {
      const raised = [...file.matchAll(/\braise\s+([\w.]+)/g)].map(([, name = '']) => name.split('.').at(-1));
      return raised.length > 0 && raised.every((name) => name === value);
    },
  },
  {
    id: 'owner-comment',
    family: 'python',
    about: 'the end of the file',
    values: ['platform', 'billing', 'growth', 'search', 'mobile', 'support', 'ingest', 'risk', 'data'],
    wordings: [
      'The last line of a Python file is "# owner: {v}".',
      'End the file with the comment "# owner: {v}", nothing behind it.',
      'At the very bottom I miss our line "# owner: {v}".',
      'A file without "# owner: {v}" as its closing line does not pass our check.',
    ],
    isFollowed: (file, value) => lastLineOf(file) === `# owner: ${value}`,
  },
  {
    id: 'docstring-word',
    family: 'python',
    about: 'the docstring',
    values: ['Contract', 'Purpose', 'Promise', 'Job', 'Effect', 'Gives', 'Task', 'Role', 'Result'],
    wordings: [
      'Docstrings begin with "{v}: ".',
      'Write a docstring in each function and let it start with "{v}: ".',
      'The docstring has to open with the word {v} and a colon.',
      'Our docs tool reads only docstrings whose first word is "{v}:".',
    ],
    isFollowed: (file, value) => new RegExp(`("""|''')\\s*${value}: \\S`).test(file),
  },
  {
    id: 'duration-key',
    family: 'yaml',
    about: 'the time-out',
    values: ['_secs', '_s', '_in_seconds', '_sec', '_seconds_total', '_sek', '_dur_s', '_wait_s', '_tsec'],
    wordings: [
      'A key with a duration ends in {v}, and the value is a plain number of seconds.',
      'Name durations with the ending {v} (number of seconds behind it, no unit).',
      'Our loader finds a duration by its key: it must end with {v}; the value is only the number.',
      'Please put {v} at the end of the key of every duration, and just the seconds as its value.',
    ],
    isFollowed: (file, value, { facts }) =>
      new RegExp(`^[\\s-]*\\w+${value}:\\s*${facts.seconds}\\s*$`, 'm').test(file),
  },
  {
    id: 'switch-words',
    family: 'yaml',
    about: 'the switch',
    values: [
      'on/off',
      'yes/no',
      'enabled/disabled',
      'active/idle',
      'up/down',
      'open/closed',
      'live/dark',
      'in/out',
      'ja/nein',
    ],
    wordings: [
      'No true or false in our settings: switches are written {v}.',
      'A switch has the value {v} with us, never a boolean.',
      'true/false breaks our loader, write {v} instead.',
      'For anything that can be switched we write {v}.',
    ],
    isFollowed: (file, value, task) => {
      const word = switchWord(value, task);
      return (
        new RegExp(`:\\s*["']?${word}["']?\\s*$`, 'm').test(file) && !/:\s*["']?(true|false)\b/i.test(file)
      );
    },
  },
  {
    id: 'port-mark',
    family: 'yaml',
    about: 'the port',
    values: ['tcp/', 'p', 'port-', 'tcp:', 'srv-', 'in/', 'net.', 'at-', 'no.'],
    wordings: [
      'A port is a string that begins with {v}, directly before the number.',
      'Write ports as text, with {v} in front of the number.',
      'The port needs our mark: {v} and then the number, no space.',
      'Put {v} right before each port number, please.',
    ],
    isFollowed: (file, value, { facts }) =>
      new RegExp(`:\\s*["']?${escapePattern(value)}${facts.port}["']?\\s*$`, 'm').test(file),
  },
  {
    id: 'first-words',
    family: 'note',
    about: 'the beginning',
    values: [
      'In short',
      'Gist',
      'Bottom line',
      'The point',
      'Essence',
      'Key news',
      'Headline',
      'What matters',
      'Upshot',
    ],
    wordings: [
      'A note begins with "{v}: " and one sentence.',
      'First line of a note: "{v}: ", then what it comes down to.',
      'I only read the first line, so it has to start with "{v}:".',
      'Open each note with the words "{v}:" please.',
    ],
    isFollowed: (file, value) => firstLineOf(file).startsWith(`${value}: `),
  },
  {
    id: 'point-mark',
    family: 'note',
    about: 'the list',
    values: ['>>', '=>', '~', '+', '::', '»', '->', '|', '##'],
    wordings: [
      'Each point of a list is a line that begins with "{v} ".',
      'We mark points with {v} and a space, one to a line.',
      'Not dashes, stars or numbers: a point starts with "{v} ".',
      'Points on lines of their own with {v} in front, please, that is how our reader finds them.',
    ],
    isFollowed: (file, value) => {
      const lines = fileLines(file).map((line) => line.trimStart());
      return (
        lines.filter((line) => line.startsWith(`${value} `)).length >= POINTS &&
        !lines.some((line) => /^(?:[-*•]|\d+[.)])\s/.test(line))
      );
    },
  },
  {
    id: 'closing-line',
    family: 'note',
    about: 'the end',
    values: [
      'No reply needed.',
      'Over and out.',
      'Questions to the desk.',
      'Thanks, all.',
      'End of note.',
      'More tomorrow.',
      'Shout if stuck.',
      'That is all for now.',
      'Back at nine.',
    ],
    wordings: [
      'A note ends with the line "{v}" and nothing else behind it.',
      'Last line of every note: {v}',
      'Please close with "{v}" on a line of its own, without a name below.',
      'How our notes end: "{v}". No greeting, no signature.',
    ],
    isFollowed: (file, value) => lastLineOf(file) === value,
  },
  {
    id: 'query-comment',
    family: 'sql',
    about: 'the first line',
    values: [
      'read only',
      'desk query',
      'reviewed: no',
      'source: desk',
      'nightly ok',
      'not for reports',
      'safe to rerun',
      'ask first',
      'one-off',
    ],
    wordings: [
      'The first line of a query is the comment "-- {v}".',
      'Begin each query with "-- {v}" on a line of its own.',
      'Our gate refuses a query that does not open with the comment "-- {v}".',
      'On top of the query I need a line "-- {v}".',
    ],
    isFollowed: (file, value) => firstLineOf(file) === `-- ${value}`,
  },
  {
    id: 'schema',
    family: 'sql',
    about: 'the table',
    values: ['core', 'app', 'dw', 'ops', 'pub', 'raw', 'mart', 'base', 'live'],
    wordings: [
      'Tables are in the schema {v}: write {v}.name, never the bare name.',
      'Put the schema in front of each table: {v} and a dot.',
      'A table without its schema is not found, ours is called {v}.',
      'You left out the schema. It is {v} for every table.',
    ],
    isFollowed: (file, value, { facts }) =>
      new RegExp(`\\b(?:from|join)\\s+${value}\\.${facts.table}\\b`, 'i').test(file) &&
      !new RegExp(`\\b(?:from|join)\\s+${facts.table}\\b`, 'i').test(file),
  },
  {
    id: 'row-limit',
    family: 'sql',
    about: 'the number of rows',
    values: ['250', '300', '40', '75', '1200', '60', '350', '90', '640'],
    wordings: [
      'Every query ends with LIMIT {v}.',
      'No query without a limit: {v} rows at most, at the end.',
      'Our viewer shows {v} rows, so limit each query to that.',
      'Close the query with a limit of {v}, always.',
    ],
    isFollowed: (file, value) => new RegExp(`\\blimit\\s+${value}\\s*;?\\s*$`, 'i').test(file.trimEnd()),
  },
  {
    id: 'area-mark',
    family: 'commit',
    about: 'the beginning of the subject',
    values: [
      '[area] ',
      'area | ',
      '(area) ',
      '<area> ',
      'area >> ',
      'area / ',
      '{area} ',
      '#area ',
      '@area ',
    ],
    wordings: [
      'The subject begins with the area, written "{v}".',
      'Start the subject with the area in this form: "{v}".',
      'I sort commits by area. It stands at the very beginning, as "{v}" (with the real area).',
      'Subject lines open with "{v}", where area is the part of the code.',
    ],
    isFollowed: (file, value, { facts }) =>
      firstLineOf(file).startsWith(value.replace('area', facts.area ?? '')),
  },
  {
    id: 'risk-line',
    family: 'commit',
    about: 'the risk',
    values: ['Risk', 'Impact', 'Danger', 'Exposure', 'Care', 'Hazard', 'Threat', 'Stakes', 'Blast'],
    wordings: [
      'The last line of a commit message is "{v}: " and low, medium or high.',
      'Say at the end how risky it is, as "{v}: low" (or medium, high).',
      'Below everything goes one line {v}: with the risk in one word.',
      'We want the risk on the last line, behind the word {v} and a colon.',
    ],
    isFollowed: (file, value, { facts }) =>
      lastLineOf(file).toLowerCase() === `${value}: ${facts.risk}`.toLowerCase(),
  },
  {
    id: 'ticket-line',
    family: 'commit',
    about: 'the ticket',
    values: ['Refs', 'For', 'Part of', 'Ticket', 'Asked in', 'See', 'Work on', 'From', 'Done for'],
    wordings: [
      'Name the ticket on a line of its own: "{v} #" and its number.',
      'A line with only "{v} #NUMBER" links the ticket.',
      'The link to the ticket is missing: a separate line, {v} #NUMBER.',
      'Our board looks for a line such as "{v} #12", with nothing else on it.',
    ],
    isFollowed: (file, value, { facts }) =>
      fileLines(file).some((line) => line.trim() === `${value} #${facts.ticket}`),
  },
];

/** The rule of a form with a value of a split, chosen by a number. */
export function deskRule(form: DeskForm, split: Split, nth: number): DeskRule {
  const values = forSplit(form.values, split);
  const value = values[nth % values.length] ?? form.values[0] ?? '';
  return { id: form.id, form, value };
}

/** What a user says about a rule: in the wordings of the training split, or in the others. */
export function tellRule({ form, value }: DeskRule, split: Split, nth: number): string {
  const wordings = split === 'train' ? form.wordings.slice(0, 2) : form.wordings.slice(2);
  return (wordings[nth % wordings.length] ?? form.wordings[0]).replaceAll('{v}', value);
}

/** What the checks of rules read in a small file. Lines are those with text, without spaces at their end. */
const fileLines = (file: string): readonly string[] =>
  file
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '');
const firstLineOf = (file: string): string => fileLines(file)[0] ?? '';
const lastLineOf = (file: string): string => fileLines(file).at(-1) ?? '';
/** A text as a part of a regular expression that matches it alone. */
const escapePattern = (text: string): string => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&');
