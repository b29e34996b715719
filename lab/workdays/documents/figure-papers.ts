import { phraseFor } from '../draw.ts';
import {
  type Assumption,
  CHECKS,
  type Check,
  type Citation,
  type DayFacts,
  type Finding,
  type Validation,
} from '../make-world/day-facts.ts';
import { writeDate, writeMoment } from './write-moment.ts';

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

/** What is checked, as the memo and the options call it. */
export const CHECKED: Readonly<Record<Check, string>> = {
  arithmetic: 'the sums',
  source: 'the source',
  sample: 'the sample',
};

export function writeValidation({ assumption: { figure, value }, checks, by }: Validation): string {
  const list = (of: readonly Check[]): string => of.map((check) => CHECKED[check]).join(', ') || 'nothing';
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
