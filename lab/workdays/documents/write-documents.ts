import type { DayFacts } from '../make-world/day-facts.ts';
import { writeDecisionMemo, writeEarlierMemo } from './decision-memo.ts';
import { writeAssumptions, writeMail, writeMarketNote, writeValidationMemo } from './figure-papers.ts';
import { writeBoard, writeDeployLog } from './json-papers.ts';
import { writeMeetingNotes } from './meeting-notes.ts';
import { PAPERS, type Paper, papersOf, pathOf } from './paths.ts';
import { writeBudgets } from './write-budget.ts';
import { writeDate } from './write-moment.ts';

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

/** The texts of a day by path. They say all that its facts say, and nothing of the house's rules. */
export const writeDocuments = (facts: DayFacts): Readonly<Record<string, string>> =>
  Object.fromEntries(papersOf(facts.day).map((paper) => [pathOf(facts.day, paper), WRITERS[paper](facts)]));
