import { createRuleSet, type RuleSetData } from './create-rule-set.ts';
import type { RuleSet } from './rule-set.ts';

const DATA: RuleSetData = {
  name: 'other',
  rules: [
    {
      id: 'Q1',
      title: 'New JSON files have their keys sorted',
      about: 'the order in a JSON file',
      form: 'sorted-keys',
      since: 0,
      parameters: { order: 'ascending' },
      teaches: [['keys'], ['alphabetical', 'alphabetically', 'alphabet']],
      feedback: {
        train: [
          'Please sort the keys of every JSON file you write alphabetically, on every level: {example}.',
          'Keys in a JSON file must be in alphabetical order, from {first} to {last}.',
          'The keys of JSON objects should go by the alphabet, here {example}.',
        ],
        gate: [
          'We keep the keys in JSON files in alphabetical order, so {first} comes first and {last} last.',
          'Put all keys of a new JSON file in alphabetical order, nested ones too, e.g. {example}.',
          'A JSON file has to have its keys sorted alphabetically ({example}).',
        ],
        report: [
          'Whenever you write JSON, order the keys alphabetically: {example}.',
          'All keys of a new JSON file need to follow the alphabet, as in {example}.',
          'I want the keys in JSON files in alphabetical order, {first} before {last}.',
        ],
      },
    },
    {
      id: 'Q2',
      title: 'Tickets are written as OPS-412',
      about: 'how a ticket is written',
      form: 'ticket-prefix',
      since: 3,
      parameters: { prefix: 'OPS-' },
      teaches: [['ops-']],
      feedback: {
        train: [
          'Ticket numbers must have the prefix OPS-, so {number} is written {example}.',
          'Please write tickets with the prefix OPS-, for example {example}.',
          'A ticket is always written as {example} here, never as a bare {number}.',
        ],
        gate: [
          'We write ticket numbers with OPS- in front, like "{example}".',
          'Use {example} instead of {number} for a ticket; all of them start with OPS-.',
          'Every ticket needs its prefix OPS-, e.g. {example}.',
        ],
        report: [
          'Put OPS- in front of every ticket number you write down, as in {example}.',
          'Tickets should read {example}, not {number}.',
          'The ticket has to be {example}: each ticket number gets the prefix OPS-.',
        ],
      },
    },
    {
      id: 'Q3',
      title: 'Amounts carry their unit',
      about: 'how an amount is written',
      form: 'units',
      since: 5,
      parameters: { separator: ' ' },
      teaches: [
        ['unit', 'units'],
        ['amount', 'amounts', 'figure', 'figures'],
      ],
      feedback: {
        train: [
          'Amounts must be written with their unit behind them, like "{example}".',
          'Please write every amount as text with its unit, for example "{example}".',
          'An amount always needs its unit: "{example}", not {number}.',
        ],
        gate: [
          'We write each amount together with its unit, e.g. "{example}".',
          'Every figure should have a space and its unit behind it, such as "{example}".',
          'You forgot the unit behind the amount, as in "{example}"; a bare {number} is not enough for any figure.',
        ],
        report: [
          'Put the unit behind every amount you write: "{example}" and never just {number}.',
          'Figures in a file have to carry their unit, so it is "{example}".',
          'Use "{example}" instead of {number}, an amount has to have its unit.',
        ],
      },
    },
    {
      id: 'Q4',
      title: 'New files begin with a remark on who may see them',
      about: 'how a new file begins',
      form: 'header-comment',
      since: 7,
      parameters: { key: '_comment', text: 'Internal - not for customers' },
      teaches: [['_comment'], ['internal - not for customers'], ['<!--', 'markdown']],
      feedback: {
        train: [
          'Every new file must begin with our remark: {example} as the first key in JSON, {line} as the first line in Markdown.',
          'Please start each file you create with {example} if it is JSON, or with the line {line} if it is Markdown.',
          'New JSON files need {example} as their first key, and Markdown files {line} as their first line.',
        ],
        gate: [
          'We begin all new files with the same remark, that is {example} on top of JSON and {line} on top of Markdown.',
          'Put {example} first in every JSON file you create and {line} first in every Markdown file.',
          'You forgot to begin the new file with {example} (JSON) or {line} (Markdown).',
        ],
        report: [
          'A new file has to open with {example} as its first key, or with {line} as its first line when it is Markdown.',
          'Whenever you create a file, make {example} its first key (JSON) or {line} its first line (Markdown).',
          'The first key of a new JSON file should be {example}, the first line of a Markdown file {line}.',
        ],
      },
    },
    {
      id: 'Q5',
      title: 'checksums.txt lists every file that was written or changed',
      about: 'what is kept about files that were written or changed',
      form: 'checksums',
      since: 9,
      parameters: { file: 'checksums.txt' },
      teaches: [['checksums.txt'], ['sha256', 'sha-256', 'sha256sum']],
      feedback: {
        train: [
          'After each task, append the sha256 of every file you wrote or changed to checksums.txt, as sha256sum prints it.',
          'Every file you write or change must be listed in checksums.txt with its sha256, the sum first and then the path.',
          'Please add a line "<sha256>  <path>" to checksums.txt for each file that you create or change.',
        ],
        gate: [
          'You forgot to add the sha256 of each written or changed file to checksums.txt, one line with sum and path for each.',
          'When a file was created or changed, run sha256sum on it and append the line to checksums.txt.',
          'We keep the sha256 of all files that a task touches in checksums.txt, in lines like "<sha256>  <path>".',
        ],
        report: [
          'checksums.txt has to have a line with sha256 and path for every file that you wrote or changed.',
          'The last step of every task should be to append the output of sha256sum for each new or changed file to checksums.txt.',
          'I want the sha256 of each file you create or change at the end of checksums.txt, followed by its path.',
        ],
      },
    },
  ],
};

/** Five other rules, for which nothing was tuned. */
export const OTHER_RULES: RuleSet = createRuleSet(DATA, 'other-rules');
