import type { DeskForm } from './desk-rules.ts';
import type { DeskFacts, FileFamily } from './desk-tasks.ts';
import { escapePattern, fileLines, firstLineOf, lastLineOf } from './file-lines.ts';
import { valueList, WIDE_CODE_FORMS } from './wide-code-forms.ts';
import { readJsonFile, readJsonRecord } from './wide-tasks.ts';

/*
 * Forms for training alone: they widen what a policy is trained on, and no report measures them. Any two of a family can be followed
 * together, also with the forms of `DESK_FORMS` that are trained. Their wordings are a plain, a terse, an annoyed and a roundabout
 * one; all four are for training, as are all values.
 *
 * None is a form that reports measure as unseen. Some are of a kind with one, in another family of files and at another place:
 * a given line at the top (`house-import`, `load-settings`: the kind of `query-comment`), a given last line (`last-echo`,
 * `postscript`: the kind of `owner-comment` and `risk-line`), a text in front of something (`error-code`, `command-prefix`,
 * `sign-before-link`, `row-number`: the kind of `port-mark`, `schema`, `point-mark` and `area-mark`), a line with a fixed key
 * (`stage-label`, `kind-field`: the kind of `ticket-line`). No form limits a number, as `row-limit` does.
 */

/** The separators that a CSV file may have, so that other rules of tables hold with any of them. */
const CSV_CUT = /[,;^#!%&@$=|\t]/;
const cellsOf = (line: string): readonly string[] =>
  line.split(CSV_CUT).map((cell) => cell.trim().replace(/^"(.*)"$/, '$1'));
const thingsOf = ({ things = '' }: DeskFacts): readonly (readonly [thing: string, number: number])[] =>
  things.split(', ').map((row) => [row.split(' ')[0] ?? '', Number(row.split(' ')[1])]);
const rowsOf = (file: string, facts: DeskFacts): readonly string[] =>
  fileLines(file).filter((line) =>
    thingsOf(facts).some(([thing]) => cellsOf(line.toLowerCase()).includes(thing)),
  );

/** Where a YAML file says something; -1 where it does not. */
const PLACES: Readonly<Record<string, (facts: DeskFacts) => RegExp>> = {
  port: ({ port }) => new RegExp(`(?<!\\d)${port}(?!\\d)`),
  'time-out': ({ seconds }) => new RegExp(`(?<!\\d)${seconds}(?!\\d)`),
  owner: ({ owner }) => new RegExp(owner ?? '', 'i'),
  tracing: () => /\btrac/i,
};

/** The lines of a note that hold its points, in their order. */
const pointLines = (file: string, { keys = '' }: DeskFacts): readonly number[] => {
  const lines = fileLines(file).map((line) => line.toLowerCase());
  return keys.split(' ').map((key) => lines.findLastIndex((line) => line.includes(key)));
};

const WIDE_TEXT_FORMS: readonly DeskForm<FileFamily>[] = [
  {
    id: 'kind-field',
    family: 'yaml',
    about: 'the kind',
    values: valueList('daemon | worker | helper | sidecar | batch | relay | agent | poller | broker'),
    wordings: [
      'Settings have one more key: kind, with the value {v}.',
      'Add kind: {v}',
      'The key kind is missing, once more. Always write "kind: {v}", whatever else is in the file.',
      'Our loader asks what kind of thing it starts, and the file answers with kind: {v}.',
    ],
    isFollowed: (file, value) => fileLines(file).some((line) => line.trim() === `kind: ${value}`),
  },
  {
    id: 'owner-address',
    family: 'yaml',
    about: 'the owner',
    values: valueList(
      'crew.example | staff.example | folk.example | people.example | ours.example | hq.example | post.example | east.example | hill.example',
    ),
    wordings: [
      'An owner is written as an address: the name in lower case, then @{v}.',
      'Owner: name@{v}, lower case.',
      'I cannot mail a first name! Owners are addresses at {v}, so name@{v} in lower case, always.',
      'Alerts go to whoever is the owner, so what stands there is their name in lower case and @{v}.',
    ],
    isFollowed: (file, value, { facts }) =>
      new RegExp(`:\\s*["']?${facts.owner?.toLowerCase()}@${escapePattern(value)}["']?\\s*$`, 'm').test(file),
  },
  {
    id: 'root-key',
    family: 'yaml',
    about: 'the outermost key',
    values: valueList('unit | deploy | spec0 | body | node | payload | manifest | stanza | entry'),
    wordings: [
      'All settings stand below one key, {v}, which is the first line.',
      'Everything under {v}:',
      'Flat again! The first line is "{v}:" and all the rest is indented below it, as always.',
      'We merge many files, so each keeps to itself: one key {v} on top, and the others inside it.',
    ],
    isFollowed: (file, value) => {
      const [first, ...rest] = fileLines(file);
      return first === `${value}:` && rest.length > 2 && rest.every((line) => /^\s/.test(line));
    },
  },
  {
    id: 'service-key',
    family: 'yaml',
    about: 'the name of the service',
    values: valueList('app_id | program | codename | handle | tag_name | known_as | called | ident | slug'),
    wordings: [
      'The key for the name of the service is {v}.',
      'Service name goes under {v}.',
      'Neither "service" nor "name", how often do I say this: the key is {v} in all our files.',
      'If you look for what a service is called in a file of ours, you look for the key {v}.',
    ],
    isFollowed: (file, value, { facts }) =>
      new RegExp(`^\\s*${value}:\\s*["']?${facts.service}["']?\\s*$`, 'm').test(file),
  },
  {
    id: 'key-order',
    family: 'yaml',
    about: 'the order',
    values: valueList(
      'tracing, owner, time-out, port | owner, tracing, port, time-out | time-out, port, tracing, owner | tracing, port, owner, time-out | owner, time-out, port, tracing | port, tracing, owner, time-out | time-out, tracing, port, owner | tracing, time-out, owner, port | time-out, owner, tracing, port',
    ),
    wordings: [
      'The settings stand in this order: {v}.',
      'Order: {v}.',
      'The order is a mess. We always write {v}, one after the other.',
      'I compare files line by line, which only works when they go {v}.',
    ],
    isFollowed: (file, value, { facts }) => {
      const places = value.split(', ').map((name) => PLACES[name]?.(facts).exec(file)?.index ?? -1);
      return places.every((place, at) => place > (places[at - 1] ?? -1));
    },
  },
  {
    id: 'team-word',
    family: 'note',
    about: 'how the team is called',
    values: valueList('crew | bunch | flock | gang | squad | circle | band | pack | troupe'),
    wordings: [
      'We do not say "team" in notes, we say "{v}". Each note names us so.',
      'Never "team". Say "{v}".',
      'Nobody here is a "team", for the last time. A note always addresses us as the {v}.',
      'There is a word for us, which is {v}, and every note has it where others would write team.',
    ],
    isFollowed: (file, value) => new RegExp(`\\b${value}\\b`, 'i').test(file) && !/\bteams?\b/i.test(file),
  },
  {
    id: 'line-between-points',
    family: 'note',
    about: 'what separates the points',
    values: valueList('*** | --- | === | -o- | =o= | ... | ___ | +++ | ooo'),
    wordings: [
      'Between two points of a note stands a line with only {v}.',
      'Separate points by a {v} line.',
      'It all runs together! Put a line with {v} and nothing else between the points, as always.',
      'My eyes need something between one point and the next, and we settled on a line of {v}.',
    ],
    isFollowed: (file, value, { facts }) => {
      const lines = fileLines(file).map((line) => line.trim());
      const points = pointLines(file, facts).toSorted((a, b) => a - b);
      return (
        new Set(points).size === points.length &&
        points.every((point, at) => at === 0 || lines.slice(points[at - 1], point).includes(value))
      );
    },
  },
  {
    id: 'week',
    family: 'note',
    about: 'the week',
    values: valueList(
      'week 14 | week 23 | week 31 | week 8 | week 46 | week 19 | week 37 | week 51 | week 27',
    ),
    wordings: [
      'Say in each note which week it is: {v}.',
      'Mention {v}.',
      'A note without its week goes to the bin, you know that. It is {v}.',
      'Somebody will read the note in a year and wonder when it was; {v} has to stand in it.',
    ],
    isFollowed: (file, value) => new RegExp(`\\b${value}\\b`, 'i').test(file),
  },
  {
    id: 'line-after-points',
    family: 'note',
    about: 'what follows the points',
    values: valueList(
      'Nothing else is open. | The list is complete. | Details are on the wall. | Ask Rosa for more. | The rest can wait. | Dates may change. | Order means nothing. | All of it is public. | Older news is gone.',
    ),
    wordings: [
      'After the last point of a note comes the line "{v}".',
      'Right below the points: {v}',
      'Again the line below the points is missing! It reads "{v}" in every note.',
      'Once the points are through, our notes say one thing on the next line: "{v}"',
    ],
    isFollowed: (file, value, { facts }) => {
      const last = Math.max(...pointLines(file, facts));
      return last >= 0 && fileLines(file)[last + 1]?.trim() === value;
    },
  },
  {
    id: 'true-field',
    family: 'json',
    about: 'the mark of the record',
    values: valueList('draft | checked | synced | shared | fresh | listed | billed | visible | kept'),
    wordings: [
      'Each record has a field {v} that is true.',
      'Add "{v}": true',
      'Rejected again, for want of "{v}": true. It is in every record, please remember it.',
      'The import takes over only what says of itself that it is {v}, with true as the value.',
    ],
    isFollowed: (file, value) => readJsonRecord(file)?.[value] === true,
  },
  {
    id: 'envelope',
    family: 'json',
    about: 'the envelope',
    values: valueList('row | doc | thing | datum | wrapped | message | blob | content0 | inner'),
    wordings: [
      'A record is wrapped in an object whose only key is {v}.',
      'Wrap it: {"{v}": { … }}',
      'Naked records break the reader, how many times now? Wrap each one in an object under the key {v}.',
      'From the outside a record of ours is an object with nothing but {v} in it, and the fields inside that.',
    ],
    isFollowed: (file, value) => {
      const whole = readJsonFile(file) ?? {};
      return Object.keys(whole).join() === value && readJsonRecord(file) !== whole;
    },
  },
  {
    id: 'price-unit',
    family: 'json',
    about: 'the price',
    values: valueList('EUR | CHF | NOK | DKK | SEK | PLN | CZK | HUF | ISK'),
    wordings: [
      'A price is a string: the amount, a space and {v}.',
      'Prices as text, "… {v}".',
      'A bare number is not a price! Write it as a string with {v} behind the amount, always.',
      'Nobody knows what currency a number has, so our prices are texts that end with a space and {v}.',
    ],
    isFollowed: (file, value, { facts }) =>
      Object.values(readJsonRecord(file) ?? {}).includes(`${facts.price} ${value}`),
  },
  {
    id: 'field-count',
    family: 'json',
    about: 'the count of the fields',
    values: valueList('fields | size | entries | n_keys | width | total_keys | parts | key_count | arity'),
    wordings: [
      'The last field of a record is {v}: the number of the other fields.',
      'Last field: {v} = how many others.',
      'The record does not say how many fields it has. That number goes last, as {v}, in every record.',
      'So that cut records are noticed, ours close with {v}, a number: how many fields come before it.',
    ],
    isFollowed: (file, value) => {
      const fields = Object.entries(readJsonRecord(file) ?? {});
      const [key, count] = fields.at(-1) ?? [];
      return key === value && count === fields.length - 1;
    },
  },
  {
    id: 'separator',
    family: 'csv',
    about: 'the separator',
    values: valueList('; | ^ | # | ! | % | & | @ | $ | ='),
    wordings: [
      'Cells are separated by {v}, not by commas.',
      'Separator: {v}',
      'Commas again! Our tables use {v} between the cells and nothing else.',
      'The program that reads our tables is old and cuts lines only where it finds a {v}.',
    ],
    isFollowed: (file, value, { facts }) => {
      const rows = rowsOf(file, facts);
      return (
        rows.length === thingsOf(facts).length &&
        fileLines(file).every((line) => line.includes(value) && !line.includes(','))
      );
    },
  },
  {
    id: 'sum-row',
    family: 'csv',
    about: 'the last row',
    values: valueList('Sum | All | Together | Overall | Altogether | Whole | Combined | Grand | Aggregate'),
    wordings: [
      'The last row of a table begins with {v} and has the sum of the numbers.',
      'Last row: {v} and the sum.',
      'I had to add it up myself again. A table always closes with a row {v} that has the sum.',
      'What people look at first is the bottom row, where ours say {v} and what the numbers come to.',
    ],
    isFollowed: (file, value, { facts }) => {
      const cells = cellsOf(lastLineOf(file));
      const sum = thingsOf(facts).reduce((all, [, number]) => all + number, 0);
      return cells[0] === value && cells.includes(String(sum));
    },
  },
  {
    id: 'row-number',
    family: 'csv',
    about: 'the first column',
    values: valueList('R | N- | L | row- | i | K | x | Nr | T'),
    wordings: [
      'The first column numbers the rows: {v}1, {v}2 and so on.',
      'First cell of a row: {v}1, {v}2, …',
      'How am I to refer to a row? Number them in the first column, {v}1, {v}2, {v}3, in every table.',
      'We talk about rows on the phone, so the first thing in each is its number, as in {v}1 and {v}2.',
    ],
    isFollowed: (file, value, { facts }) => {
      const rows = rowsOf(file, facts);
      return rows.length > 1 && rows.every((row, at) => cellsOf(row)[0] === `${value}${at + 1}`);
    },
  },
  {
    id: 'number-header',
    family: 'csv',
    about: 'the header',
    values: valueList('pcs | units | tally | on_hand | how_many | heads | noted | sightings | inventory'),
    wordings: [
      'The column with the numbers is headed {v}.',
      'Header of the numbers: {v}',
      'The header is wrong again. It says {v} above the numbers in all tables of ours.',
      'Charts are drawn from whatever column is called {v}, so the numbers have to be in that one.',
    ],
    isFollowed: (file, value) => cellsOf(firstLineOf(file)).includes(value),
  },
  {
    id: 'subject-end',
    family: 'mail',
    about: 'the subject',
    values: valueList(
      'no hurry | this week | for info | read later | by Friday | short one | good news | please file | to all',
    ),
    wordings: [
      'The subject of an e-mail ends with "({v})".',
      'Subject: … ({v})',
      'I sort by the end of the subject, and you left it off. It is always "({v})".',
      'At the end of our subjects you find in brackets how to take it, which is ({v}) for what you write.',
    ],
    isFollowed: (file, value) => new RegExp(`^Subject: .*\\w.* \\(${value}\\)$`, 'm').test(file),
  },
  {
    id: 'greeting',
    family: 'mail',
    about: 'the greeting',
    values: valueList('Moin | Salut | Ahoy | Howdy | Servus | Hei | Ciao | Aloha | Hola'),
    wordings: [
      'Greet people with "{v}" and their name, not with Dear, Hi or Hello.',
      'Greeting: {v} NAME,',
      'Nobody here says "Dear". We say {v} and the name, in every e-mail, is that so hard?',
      'You would notice where we come from by the first word of our e-mails, {v}, before the name.',
    ],
    isFollowed: (file, value, { facts }) =>
      new RegExp(`^${value},? ${facts.person}\\b`, 'm').test(file) && !/^(?:Dear|Hi|Hello|Hey)\b/m.test(file),
  },
  {
    id: 'sign-off',
    family: 'mail',
    about: 'the sign-off',
    values: valueList(
      'Warm wishes | Yours in haste | Until soon | With a nod | Cheerfully | In good faith | Stay curious | Onwards | Fair winds',
    ),
    wordings: [
      'Sign off with "{v}" on a line of its own, not with regards.',
      'Sign-off: {v},',
      'Enough of "Best regards"! Our e-mails say "{v}" there, on its own line, each of them.',
      'Above the name, where others send regards, a line of ours has the words "{v}".',
    ],
    isFollowed: (file, value) =>
      fileLines(file).some((line) => line.replace(/[,.!]$/, '') === value) &&
      !/^(?:(?:best|kind|warm)? ?regards|best|sincerely|thanks|yours truly)\b/im.test(file),
  },
  {
    id: 'postscript',
    family: 'mail',
    about: 'the postscript',
    values: valueList(
      'The office moves in June. | Parking is free now. | We have a new number. | The canteen is back. | Badges are at the gate. | Lunch is at one. | The lift is slow. | Bring a pen. | Dogs are welcome.',
    ),
    wordings: [
      'The last line of an e-mail is "P.S. {v}".',
      'Ends with: P.S. {v}',
      'The postscript is gone, and I had asked for it in every e-mail: the last line is "P.S. {v}"',
      'There is one thing that we add at the very end, below the name, to whatever we send: "P.S. {v}"',
    ],
    isFollowed: (file, value) => lastLineOf(file) === `P.S. ${value}`,
  },
];

export const WIDE_FORMS: readonly DeskForm<FileFamily>[] = [...WIDE_CODE_FORMS, ...WIDE_TEXT_FORMS];
