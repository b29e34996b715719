import { createRuleSet, type RuleSetData } from './create-rule-set.ts';
import type { RuleSet } from './rule-set.ts';

const DATA: RuleSetData = {
  name: 'house',
  rules: [
    {
      id: 'P1',
      title: 'Times are ISO 8601 with +08:00',
      about: 'how a date or a time is written',
      form: 'times',
      since: 0,
      parameters: { format: 'YYYY-MM-DDTHH:mm:ss+08:00' },
      teaches: [['+08:00'], ['iso 8601', '####-##-##t##:##:##+', 'yyyy-mm-ddthh:mm:ss+']],
      feedback: {
        train: [
          'Please write every time as {example}: ISO 8601 with the offset +08:00.',
          'Dates and times must be in the form {format}, so this one is {example}.',
          'All times need to be ISO 8601 with seconds and our offset +08:00, for example {example}.',
        ],
        gate: [
          'We write dates and times as {example} here, with the offset +08:00 at the end.',
          'Times should follow ISO 8601 and end in +08:00, like "{example}".',
          'I want every date and time as {example}, down to the seconds and with +08:00.',
        ],
        report: [
          'Whenever you put down a date or a time, use ISO 8601 with our offset, as in {example}.',
          'A time in a file has to look like {example}; it always ends in +08:00.',
          'Use {format} for each date and time you write, e.g. {example}.',
        ],
      },
    },
    {
      id: 'P2',
      title: 'New files are named YYYYMMDD_snake_case',
      about: 'how a new file is named',
      form: 'file-names',
      since: 3,
      parameters: { date: 'YYYYMMDD', place: 'front', words: 'snake_case' },
      teaches: [
        ['yyyymmdd', '########_'],
        ['snake_case', 'snake case', 'underscores'],
      ],
      feedback: {
        train: [
          'File names must start with the date as YYYYMMDD and go on in snake_case, for example {example}.',
          'Please name new files YYYYMMDD_description.{ending} in snake_case, so this one is {example}.',
          'Name each new file after the day and its content in snake_case, like "{example}".',
        ],
        gate: [
          'New files should be named {example}: the date as {today}, then snake_case.',
          'We name files with the date in front (YYYYMMDD) and snake_case behind it, e.g. {example}.',
          'The name of a new file has to be the date, an underscore and a description in snake_case, such as {example}.',
        ],
        report: [
          'A new file needs a name like {example}, that is YYYYMMDD and a few words in snake_case.',
          'Use YYYYMMDD_words_in_snake_case.{ending} as the name of a new file, here {example}.',
          'Put the date in front of every file name as YYYYMMDD and write the rest in snake_case: {example}.',
        ],
      },
    },
    {
      id: 'P3',
      title: 'New files carry created_at, author and status',
      about: 'what a new file says about itself',
      form: 'metadata',
      since: 5,
      parameters: {
        under: 'meta',
        time: 'created_at',
        author: 'author',
        state: 'status',
        states: ['pending', 'in_progress', 'done'],
      },
      teaches: [
        ['created_at'],
        ['author'],
        ['status'],
        ['in_progress'],
        ['meta'],
        ['front matter', 'frontmatter'],
      ],
      feedback: {
        train: [
          'Every new file needs created_at, author and status ({states}): JSON in an object "meta", Markdown in front matter.',
          'New files must have created_at, author and status, with a status of {states}; put them under "meta" in JSON and in the front matter of Markdown.',
          'Please add created_at, author and status ({states}) to each file you create, as "meta" in JSON and as front matter in Markdown.',
        ],
        gate: [
          'A file you create has to say created_at, author and status in a "meta" object (JSON) or in its front matter (Markdown), where status is one of {states}.',
          'We put created_at, author and status into every new file: a "meta" object in JSON, front matter in Markdown, and only {states} as status.',
          'You forgot to give the new file created_at, author and status ({states}), which go under "meta" in JSON and into front matter in Markdown.',
        ],
        report: [
          'Include created_at, author and status in whatever you create: under "meta" in JSON, as front matter in Markdown, the status being one of {states}.',
          'New documents should carry created_at, author and status, JSON in "meta" and Markdown in front matter, where status is one of {states}.',
          'I need created_at, author and status (one of {states}) in each new file, in "meta" for JSON and in front matter for Markdown.',
        ],
      },
    },
    {
      id: 'P4',
      title: 'A .bak copy is made before a file is changed',
      about: 'what is done around a change to a file',
      form: 'backup',
      since: 7,
      parameters: { suffix: '.bak' },
      teaches: [['.bak'], ['before', 'first', 'prior to']],
      feedback: {
        train: [
          'Before you change a file that is already there, copy it to {copy}.',
          'Please make a .bak copy of an existing file before you edit it, here {copy}.',
          'You have to save the old version as {copy} before you touch {file}; the same goes for every existing file.',
        ],
        gate: [
          'Always keep a copy with .bak behind the name before you modify an existing file, e.g. {copy}.',
          'You forgot to copy {file} to {copy} before changing it, as we do with every existing file.',
          'An existing file must first be copied to its name with .bak at the end (like {copy}), then changed.',
        ],
        report: [
          'Whenever you edit a file that exists, first make a copy of it that ends in .bak, such as {copy}.',
          'We never change an existing file before there is a .bak of it: copy {file} to {copy} first.',
          'Each file you update needs a backup from before the change, named like the file with .bak behind it: {copy}.',
        ],
      },
    },
    {
      id: 'P5',
      title: 'Every task leaves a line in done.log',
      about: 'how a finished task is noted',
      form: 'done-log',
      since: 9,
      parameters: { file: 'done.log', line: '[DONE] <timestamp> | <task id> | <summary>', longest: 80 },
      teaches: [
        ['done.log'],
        ['[done] <', '[done] #'],
        ['| '],
        ['80 characters', '80 letters', '80 signs', '80 chars'],
      ],
      feedback: {
        train: [
          'After each task, append a line to done.log: "{line}", with a summary of at most 80 characters.',
          'Please add one line to done.log when a task is finished, in the form "{line}" and with at most 80 characters of summary.',
          'Every task must end with a line in done.log like "{example}", where the summary has at most 80 characters.',
        ],
        gate: [
          'You forgot to append "{line}" to done.log, with a summary of at most 80 characters.',
          'When you are done with a task, write a line "{line}" at the end of done.log, the summary in no more than 80 characters.',
          'Each finished task needs its line in done.log, such as "{example}", with no more than 80 characters of summary.',
        ],
        report: [
          'We log every finished task in done.log as "{line}", the summary in 80 characters or less.',
          'The last step of every task should be to append "{line}" to done.log, with at most 80 characters for the summary.',
          'I want a line for each task at the end of done.log, here "{example}", and at most 80 characters of summary.',
        ],
      },
    },
  ],
};

/** The five rules of the house that the suite is about. */
export const HOUSE_RULES: RuleSet = createRuleSet(DATA, 'house-rules');
