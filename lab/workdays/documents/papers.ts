import type { DayFacts, DayWorld } from '../world.ts';
import {
  writeAssumptions,
  writeBoard,
  writeBudgets,
  writeDate,
  writeDecisionMemo,
  writeDeployLog,
  writeEarlierMemo,
  writeMail,
  writeMarketNote,
  writeMeetingNotes,
  writeValidationMemo,
} from './paper-text.ts';

/** A day's papers: file name, the first day (from 0) that has one, and its description in the README. */
const PAPERS = {
  readme: { file: 'README.md', since: 0, about: 'this list' },
  decisions: {
    file: 'decision_memo.md',
    since: 0,
    about: 'what was decided, by whom and until when; the entries in force',
  },
  board: { file: 'board.json', since: 0, about: 'the tickets as the tracker has them this morning' },
  deploys: {
    file: 'deploy_log.json',
    since: 0,
    about: 'what was brought to staging and production, and how it went',
  },
  market: {
    file: 'market_note.md',
    since: 0,
    about: 'figures as they were measured, with sample and segment',
  },
  assumptions: { file: 'assumptions.md', since: 0, about: 'what the plan takes the figures to be' },
  validation: { file: 'validation_memo.md', since: 1, about: 'which questions were put to the assumptions' },
  earlier: {
    file: 'decision_memo_earlier.md',
    since: 2,
    about: 'entries of the memo that were replaced later',
  },
  meeting: {
    file: 'meeting_notes.md',
    since: 3,
    about: 'what was said on the last meeting; a conversation, no decisions',
  },
  budget: { file: 'budget.csv', since: 5, about: 'money planned and spent per project' },
  mail: { file: 'status_mail.md', since: 7, about: 'a mail that repeats some of the figures' },
} as const;

export type Paper = keyof typeof PAPERS;
const ALL = Object.keys(PAPERS) as readonly Paper[];

/** `day01/board.json` */
export const paperPath = ({ id }: Pick<DayWorld, 'id'>, paper: Paper): string =>
  `${id}/${PAPERS[paper].file}`;

export const papersOf = ({ index }: Pick<DayWorld, 'index'>): readonly Paper[] =>
  ALL.filter((paper) => PAPERS[paper].since <= index);

const writeReadme = ({ day }: DayFacts): string =>
  [
    `# ${writeDate(day.today)}`,
    '',
    `The papers of the day for ${day.world.product} at ${day.world.company}.`,
    'They come from different hands and do not always agree; each is authority for its own subject only.',
    '',
    ...papersOf(day).map((paper) => `- \`${PAPERS[paper].file}\`: ${PAPERS[paper].about}`),
    '',
    '## People',
    '',
    ...day.world.people.map(({ name, role }) => `- ${name}, ${role}`),
    '',
  ].join('\n');

const WRITERS: Readonly<Record<Paper, (facts: DayFacts) => string>> = {
  readme: writeReadme,
  decisions: writeDecisionMemo,
  board: writeBoard,
  deploys: writeDeployLog,
  market: writeMarketNote,
  assumptions: writeAssumptions,
  validation: writeValidationMemo,
  earlier: writeEarlierMemo,
  meeting: writeMeetingNotes,
  budget: writeBudgets,
  mail: writeMail,
};

/** The texts of a day by path. They contain all its facts and no house rule. */
export const writeDocuments = (facts: DayFacts): Readonly<Record<string, string>> =>
  Object.fromEntries(
    papersOf(facts.day).map((paper) => [paperPath(facts.day, paper), WRITERS[paper](facts)]),
  );
