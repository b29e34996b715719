import { MONTH_NAMES } from '../../../src/text/calendar-names.ts';
import { phraseFor } from '../draw.ts';
import { twoDigits } from '../files/plan.ts';
import {
  type Assumption,
  type AssumptionCheck,
  CHECKS,
  type Citation,
  type DayFacts,
  type Deploy,
  type Estimate,
  type Finding,
  type LocalTime,
  type ProjectBudget,
  type Ruling,
  type Ticket,
  type TicketReport,
  type Validation,
  type Wish,
} from '../world.ts';

/** `4 March 2026` */
export const writeDate = ({ year, month, day }: LocalTime): string =>
  `${day} ${MONTH_NAMES[month - 1] ?? ''} ${year}`;

/** `4 March 2026, 09:15`: a notation that no house rule asks for. */
export const writeMoment = (moment: LocalTime): string =>
  `${writeDate(moment)}, ${twoDigits(moment.hour)}:${twoDigits(moment.minute)}`;

/** An object indented as in a list, so that the text can be quoted verbatim. */
const asEntry = (value: object): string => JSON.stringify(value, null, 2).replaceAll('\n', '\n    ');

export const writeTicket = (ticket: Ticket): string =>
  asEntry({
    number: ticket.number,
    title: ticket.title,
    project: ticket.project,
    owner: ticket.owner,
    state: ticket.state,
    due: writeMoment(ticket.dueAt),
    estimate_hours: ticket.estimateHours,
  });

export const writeDeploy = (deploy: Deploy): string =>
  asEntry({
    version: deploy.version,
    project: deploy.project,
    environment: deploy.environment,
    when: writeMoment(deploy.at),
    by: deploy.by,
    outcome: deploy.outcome,
    changes: deploy.changes,
  });

const asList = (head: Readonly<Record<string, string>>, name: string, entries: readonly string[]): string =>
  [
    '{',
    ...Object.entries(head).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},`),
    `  ${JSON.stringify(name)}: [`,
    entries.map((entry) => `    ${entry}`).join(',\n'),
    '  ]',
    '}',
    '',
  ].join('\n');

export const writeBoard = ({ day }: DayFacts): string =>
  asList(
    { team: day.world.product, exported: writeMoment(day.today) },
    'tickets',
    day.tickets.map(writeTicket),
  );

export const writeDeployLog = ({ day }: DayFacts): string =>
  asList({ product: day.world.product }, 'deploys', day.deploys.map(writeDeploy));

/** An entry in force. It names the date of the entry it replaces, not its contents. */
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

/** Empty for a topic that was decided once. */
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

export function writeFinding({ figure, statistic, segment, sample }: Finding): string {
  const key = `${figure.name}/${figure.value}/${sample}`;
  const measured = phraseFor(key, [
    `The ${statistic} over ${sample} ${segment} is ${figure.value} ${figure.unit}.`,
    `Among ${sample} ${segment} we find a ${statistic} of ${figure.value} ${figure.unit}.`,
    `${figure.value} ${figure.unit}: that is the ${statistic} of ${sample} ${segment}.`,
  ]);
  const origin = phraseFor(`origin/${key}`, [
    `Taken from ${figure.source} on ${writeMoment(figure.at)}, for ${figure.project}.`,
    `Asked for by ${figure.project}; read off ${figure.source} on ${writeMoment(figure.at)}.`,
  ]);
  return `### ${figure.name}\n\n${measured} ${origin}`;
}

export const writeMarketNote = ({ day, findings }: DayFacts): string =>
  [
    '# Market note',
    '',
    `What was measured for ${day.world.product}. A figure holds for the segment it was measured on; nothing here was carried over to another.`,
    ...findings.map((finding) => `\n${writeFinding(finding)}`),
    '',
  ].join('\n');

export const writeAssumption = ({ figure, value, segment, source, by }: Assumption): string =>
  `| ${figure.name} | ${value} ${figure.unit} | ${segment} | ${source} | ${by} |`;

export const writeAssumptions = ({ day, assumptions }: DayFacts): string =>
  [
    `# Assumptions of the plan for ${day.world.product}`,
    '',
    '| figure | value | applied to | source as entered | entered by |',
    '|---|---|---|---|---|',
    ...assumptions.map(writeAssumption),
    '',
  ].join('\n');

/** The names of the checks in the memo and in the options. */
export const CHECKED: Readonly<Record<AssumptionCheck, string>> = {
  arithmetic: 'the sums',
  source: 'the source',
  sample: 'the sample',
};

export function writeValidation({ assumption: { figure, value }, checks, by }: Validation): string {
  const list = (of: readonly AssumptionCheck[]): string =>
    of.map((check) => CHECKED[check]).join(', ') || 'nothing';
  const verdict = phraseFor(`${figure.name}/${value}/${by}`, [
    'Cleared for the plan.',
    'No objection to its use.',
    'Signed off.',
  ]);
  return [
    `### ${figure.name}, ${value} ${figure.unit}`,
    '',
    `- Checked by ${by}: ${list(checks)}`,
    `- Not checked: ${list(CHECKS.filter((check) => !checks.includes(check)))}`,
    `- ${verdict}`,
  ].join('\n');
}

export const writeValidationMemo = ({ day, validations }: DayFacts): string =>
  [
    '# Validation memo',
    '',
    `On the assumptions as they stood on ${writeDate(day.today)}. There are three checks: whether the sums are right, whether the`,
    'source is the one that the market note gives, and whether the sample is of the segment to which the figure is applied.',
    ...validations.map((validation) => `\n${writeValidation(validation)}`),
    '',
  ].join('\n');

export const writeCitation = ({ figure, value }: Citation): string =>
  phraseFor(`cited/${figure.name}/${value}`, [
    `For the ${figure.name} we can count on ${value} ${figure.unit}.`,
    `The figure for the ${figure.name} stands at ${value} ${figure.unit}.`,
    `As to the ${figure.name}: ${value} ${figure.unit}.`,
  ]);

export const writeMail = ({ day, citations }: DayFacts): string => {
  const [reader, writer] = day.world.people;
  return [
    `To: ${reader?.name ?? ''}`,
    `From: ${writer?.name ?? ''}`,
    'Subject: where we stand, from memory',
    '',
    ...citations.map(writeCitation),
    '',
    'I wrote this on the train, so please rely on the papers where they differ.',
    '',
  ].join('\n');
};

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

/** The spoken names of states. */
export const SPOKEN: Readonly<Record<Ticket['state'], string>> = {
  todo: 'not begun',
  doing: 'under way',
  done: 'finished',
};

export const writeReport = ({ by, ticket, state }: TicketReport): string =>
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

export const writeBudget = ({ project, planned, spent }: ProjectBudget): string =>
  `${project},${planned},${spent},EUR`;

export const writeBudgets = ({ budgets }: DayFacts): string =>
  ['project,planned,spent,currency', ...budgets.map(writeBudget), ''].join('\n');
