import { phraseFor } from '../draw.ts';
import type { DayFacts, Estimate, Report, Wish } from '../make-world/day-facts.ts';
import type { Ticket } from '../world.ts';

export const writeWish = ({ by, way, ruling: { topic, decision } }: Wish): string =>
  phraseFor(`wish/${by}/${topic}/${way}`, [
    `- On ${decision.id}, the ${topic}: ${by} would rather have ${way}.`,
    `- ${by} spoke for ${way} in the matter of the ${topic} (${decision.id}).`,
    `- ${by} finds that ${way} would be best for the ${topic} (${decision.id}).`,
  ]);

export const writeEstimate = ({ by, low, high, figure }: Estimate): string =>
  phraseFor(`estimate/${by}/${figure.name}/${low}`, [
    `- ${by} guesses the ${figure.name} at ${low} to ${high} ${figure.unit}.`,
    `- For the ${figure.name}, ${by} would expect between ${low} and ${high} ${figure.unit}.`,
  ]);

/** The word people use for a state when they talk. */
export const SPOKEN: Readonly<Record<Ticket['state'], string>> = {
  todo: 'not begun',
  doing: 'under way',
  done: 'finished',
};

export const writeReport = ({ by, ticket, state }: Report): string =>
  phraseFor(`report/${by}/${ticket.number}`, [
    `- ${ticket.number}: ${by} calls it ${SPOKEN[state]}.`,
    `- ${by} says that ${ticket.number} is ${SPOKEN[state]}.`,
  ]);

export const writeMeetingNotes = ({ day, wishes, estimates, reports }: DayFacts): string =>
  [
    `# Meeting of the ${day.world.product} team`,
    '',
    'Notes of what people said. Nothing was decided.',
    '',
    '## On decisions already made',
    '',
    ...wishes.map(writeWish),
    '',
    '## Guesses',
    '',
    ...estimates.map(writeEstimate),
    '',
    '## Round of tickets',
    '',
    ...reports.map(writeReport),
    '',
  ].join('\n');
