import type { DayFacts, Ruling } from '../make-world/day-facts.ts';
import { writeDate, writeMoment } from './write-moment.ts';

/** One entry in force. That it replaces another is said, what the other was is not. */
export const writeRuling = ({ decision, topic, ways, earlier }: Ruling): string =>
  [
    `## ${decision.id} (${topic})`,
    '',
    `- Project: ${decision.project}`,
    `- Considered: ${ways.join('; ')}`,
    `- Decision: ${decision.decision}`,
    `- Rationale: ${decision.rationale}`,
    `- Decided by: ${decision.by}, ${writeMoment(decision.at)}`,
    `- Review: ${writeMoment(decision.reviewAt)}`,
    ...(earlier === undefined ? [] : [`- Replaces the entry of ${writeDate(earlier.at)}`]),
  ].join('\n');

export const writeDecisionMemo = ({ day, rulings }: DayFacts): string =>
  [
    `# Decisions at ${day.world.company}`,
    '',
    `As of ${writeMoment(day.today)}. An entry holds until its review.`,
    ...rulings.map((ruling) => `\n${writeRuling(ruling)}`),
    '',
  ].join('\n');

/** Empty for a matter that was decided once. */
export const writeEarlier = ({ decision, topic, earlier }: Ruling): string =>
  earlier === undefined
    ? ''
    : [
        `## ${decision.id} (${topic})`,
        '',
        `- Decision: For the ${topic}, choose ${earlier.way}`,
        `- Decided by: ${earlier.by}, ${writeMoment(earlier.at)}`,
      ].join('\n');

export const writeEarlierMemo = ({ rulings }: DayFacts): string =>
  [
    '# Decisions, earlier entries',
    '',
    'Kept for the record. Each of these was replaced by an entry of the same number in the current memo.',
    ...rulings.filter(({ earlier }) => earlier !== undefined).map((ruling) => `\n${writeEarlier(ruling)}`),
    '',
  ].join('\n');
