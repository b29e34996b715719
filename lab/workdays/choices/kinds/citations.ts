import { writeAssumption, writeCitation, writeFinding } from '../../documents/figure-papers.ts';
import { pick, some } from '../../draw.ts';
import { type Claim, cite, valueClaims, verdictClaims } from '../claim.ts';
import type { Kind } from '../kind.ts';

/** A mail written from memory: does it repeat the note, the sheet, or neither? */
export const citations: Kind = {
  name: 'citations',
  papers: ['mail', 'market', 'assumptions'],
  draft(facts, random) {
    const { day } = facts;
    const subjects = some(random, facts.citations, 3);
    const list = subjects.map(({ figure }) => `the ${figure.name}`).join(', ');
    const [, writer] = day.world.people;
    return {
      stem: pick(random, [
        `The mail of ${writer?.name ?? 'a colleague'} repeats figures: ${list}. How do they stand to the papers?`,
        `Compare mail, market note and sheet of assumptions for ${list}. Which statements hold?`,
        `Is what the status mail says of ${list} what was measured, what is assumed, or neither?`,
      ]),
      claims: subjects.flatMap((citation): readonly Claim[] => {
        const { figure, value } = citation;
        const assumption = facts.assumptions.find((other) => other.figure.name === figure.name);
        const finding = facts.findings.find((other) => other.figure.name === figure.name);
        if (assumption === undefined || finding === undefined) return [];
        const evidence = [
          cite(day, 'mail', writeCitation(citation)),
          cite(day, 'market', writeFinding(finding)),
          cite(day, 'assumptions', writeAssumption(assumption)),
        ];
        return [
          ...valueClaims({
            slot: `${figure.name}/mail`,
            actual: value,
            others: [figure.value, assumption.value],
            say: (said) => [`The mail puts the ${figure.name} at ${said} ${figure.unit}`],
            evidence,
          }),
          ...verdictClaims({
            slot: `${figure.name}/note`,
            isSo: value === figure.value,
            yes: [`For the ${figure.name}, the mail repeats what was measured`],
            no: [`For the ${figure.name}, the mail has another value than the market note`],
            evidence,
          }),
          ...verdictClaims({
            slot: `${figure.name}/sheet`,
            isSo: value === assumption.value,
            yes: [`For the ${figure.name}, the mail has the value of the plan`],
            no: [`For the ${figure.name}, the mail has another value than the plan`],
            evidence,
          }),
          ...verdictClaims({
            slot: `${figure.name}/higher`,
            isSo: value > figure.value,
            yes: [`The figure for the ${figure.name} is higher in the mail than in the market note`],
            no: [`The figure for the ${figure.name} is no higher in the mail than in the market note`],
            evidence,
          }),
        ];
      }),
    };
  },
};
