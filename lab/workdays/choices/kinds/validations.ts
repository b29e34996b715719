import { CHECKED, writeAssumption, writeFinding, writeValidation } from '../../documents/figure-papers.ts';
import { pick, some } from '../../draw.ts';
import { CHECKS, type Validation } from '../../make-world/day-facts.ts';
import { cite, valueClaims, verdictClaims } from '../claim.ts';
import type { Kind } from '../kind.ts';

/** A figure that was signed off was not for that checked; and what was checked may still be wrong. */
export const validations: Kind = {
  name: 'validations',
  papers: ['validation', 'assumptions', 'market'],
  draft(facts, random) {
    const { day } = facts;
    const subjects = some(random, facts.validations, 2);
    const list = subjects.map(({ assumption }) => `the ${assumption.figure.name}`).join(' and ');
    const quote = (validation: Validation) => cite(day, 'validation', writeValidation(validation));
    return {
      stem: pick(random, [
        `What was really checked before ${list} were signed off? Go by the memo and the papers behind it.`,
        `Which statements about the validation of ${list} are borne out by the papers?`,
        `How far can we lean on the sign-off of ${list}? Select what is right.`,
      ]),
      claims: subjects.flatMap((validation) => {
        const { assumption, checks, by } = validation;
        const { name } = assumption.figure;
        const finding = facts.findings.find(({ figure }) => figure.name === name);
        return [
          ...CHECKS.flatMap((check) =>
            verdictClaims({
              slot: `${name}/${check}`,
              isSo: checks.includes(check),
              yes: [
                `Checked for the ${name}: ${CHECKED[check]}`,
                `${by} did check ${CHECKED[check]} of the ${name}`,
              ],
              no: [
                `Not checked for the ${name}: ${CHECKED[check]}`,
                `${by} did not check ${CHECKED[check]} of the ${name}`,
              ],
              evidence: [quote(validation)],
            }),
          ),
          ...valueClaims({
            slot: `${name}/by`,
            actual: by,
            others: facts.validations.map((other) => other.by),
            say: (value) => [
              `The figure for the ${name} was validated by ${value}`,
              `It was ${value} who validated the ${name}`,
            ],
            evidence: [quote(validation)],
          }),
          ...(finding === undefined
            ? []
            : verdictClaims({
                slot: `${name}/missed`,
                isSo: !checks.includes('sample') && assumption.segment !== finding.segment,
                yes: [
                  `${by} passed the ${name} for ${assumption.segment} though the sample is of others, and did not check it`,
                ],
                no: [
                  `${by} did not miss a sample of the wrong segment when passing the ${name} for ${assumption.segment}`,
                ],
                evidence: [
                  quote(validation),
                  cite(day, 'assumptions', writeAssumption(assumption)),
                  cite(day, 'market', writeFinding(finding)),
                ],
              })),
        ];
      }),
    };
  },
};
